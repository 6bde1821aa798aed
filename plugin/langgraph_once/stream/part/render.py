"""Parts back into the chunks that a graph streams: the inverse of `intake`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph_once.stream.part.envelope import INTERRUPT_KEY, Part
from langgraph_once.stream.part.intake import StreamModes, Version

__all__ = ["writer"]


def writer(
    stream_mode: StreamModes, *, subgraphs: bool = False, version: Version = "v1"
) -> Callable[[Part], Any]:
    """The function that writes parts in the shape that these arguments ask `intake.reader` for."""
    if version == "v2":
        return _v2_chunk
    if isinstance(stream_mode, str):
        if subgraphs:
            return lambda part: (part.ns, _payload(part))
        return _payload
    if subgraphs:
        return lambda part: (part.ns, part.mode, _payload(part))
    return lambda part: (part.mode, _payload(part))


def _payload(part: Part) -> Any:
    if part.mode == "messages":
        return part.data, part.meta
    if part.mode == "values" and part.meta.get("interrupts") and isinstance(part.data, dict):
        return {**part.data, INTERRUPT_KEY: tuple(part.meta["interrupts"])}
    return part.data


def _v2_chunk(part: Part) -> dict[str, Any]:
    if part.mode == "messages":
        return {"type": part.mode, "ns": part.ns, "data": (part.data, part.meta)}
    chunk = {"type": part.mode, "ns": part.ns, "data": part.data}
    if part.mode == "values":
        chunk["interrupts"] = part.meta.get("interrupts", ())
    return chunk
