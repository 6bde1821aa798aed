"""`print_mode="messages"`: printed is what the reader gets.

LangGraph prints what a graph streams. A wrapped graph streams more than its reader gets: what a
node returns it tells once more, for the deduplicator to decide on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from langchain_core.utils.input import get_bolded_text, get_colored_text

from langgraph_once.stream.chunk_filter import ChunkFilter
from langgraph_once.stream.part.envelope import Part

__all__ = ["PrintingFilter"]


class PrintingFilter(ChunkFilter):
    """Prints the messages that another filter lets through.

    Args:
        inner: The other filter.
        read: Reads the chunks that it gives.
        subgraphs: Whether the graphs of messages are printed, as the reader asked for them.
    """

    def __init__(self, inner: ChunkFilter, read: Callable[[Any], Part], *, subgraphs: bool) -> None:
        self._inner = inner
        self._read = read
        self._subgraphs = subgraphs
        self.passes = lambda _: False
        self.write_token = None

    def new(self, chunk: Any) -> Iterable[Any]:
        """What the consumer lacks of a chunk."""
        return map(self._printed, self._inner.new(chunk))

    def undelivered(self) -> Iterable[Any]:
        """Parts to send before the first chunk."""
        return map(self._printed, self._inner.undelivered())

    def keep_undelivered(self, left: Iterable[Part]) -> None:
        """Queue what the run produced after its consumer disconnected."""
        self._inner.keep_undelivered(left)

    def close(self) -> Iterable[Any]:
        """Parts left to send at the end of a stream that did not fail."""
        return map(self._printed, self._inner.close())

    def publish(self) -> None:
        """Add what was decided to the metrics."""
        self._inner.publish()

    def _printed(self, chunk: Any) -> Any:
        """A chunk, printed as LangGraph does (1.2.24, `_output` in langgraph/pregel/main.py)."""
        part = self._read(chunk)
        if part.mode == "messages":
            words = [get_bolded_text("[messages]"), repr((part.data, part.meta))]
            if self._subgraphs and part.ns:
                words.insert(1, get_colored_text(f"[graph={part.ns}]", color="yellow"))
            print(*words)  # noqa: T201  # as was asked for
        return chunk
