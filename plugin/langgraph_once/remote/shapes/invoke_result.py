"""The result of `invoke`: the parts of a run, folded as a local graph folds them."""

from __future__ import annotations

from typing import Any

from langgraph.types import GraphOutput, Interrupt

from langgraph_once.stream import Part
from langgraph_once.stream.part.shapes import INTERRUPT_KEY, StreamModes, Version, mode_set, writer

__all__ = ["Result"]


class Result:
    """Folds a run.

    Args:
        stream_mode: `values` for the last state; any other, or a list, for all chunks.
        subgraphs: Whether chunks of the graphs inside are among them.
        version: As `stream`.
    """

    def __init__(self, stream_mode: StreamModes, subgraphs: bool, version: Version) -> None:
        self._is_state = stream_mode == "values"
        self._version = version
        self.modes = frozenset({"updates", "values"}) if self._is_state else mode_set(stream_mode)
        self._write = writer(stream_mode, subgraphs=subgraphs, version=version)
        self._chunks: list[Any] = []
        self._state: Any = None
        self._interrupts: list[Interrupt] = []

    def feed(self, part: Part) -> None:
        """Take the next part."""
        if not self._is_state:
            self._chunks.append(self._write(part))
        elif part.mode == "values":
            self._state = part.data
            if self._version == "v2":
                self._interrupts += part.meta.get("interrupts", ())
        elif self._version == "v1" and isinstance(part.data, dict):
            self._interrupts += part.data.get(INTERRUPT_KEY, ())

    def close(self) -> Any:
        """What the run came to."""
        if not self._is_state:
            return self._chunks
        if self._version == "v2":
            return GraphOutput(value=self._state, interrupts=tuple(self._interrupts))
        if not self._interrupts:
            return self._state
        state = self._state if isinstance(self._state, dict) else {}
        return {**state, INTERRUPT_KEY: self._interrupts}
