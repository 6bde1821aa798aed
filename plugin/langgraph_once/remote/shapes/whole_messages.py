"""Chunks into whole messages, for a v3 stream around a remote graph."""

from __future__ import annotations

from collections.abc import Iterator

from langchain_core.messages import BaseMessageChunk, ToolMessage

from langgraph_once.stream import Part
from langgraph_once.stream.part.content import as_whole

__all__ = ["WholeMessages"]


class WholeMessages:
    """Puts chunks together. v3 wants whole messages; its tokens are events of their own."""

    def __init__(self) -> None:
        self._open: dict[tuple[tuple[str, ...], str | None], Part] = {}

    def feed(self, part: Part) -> Iterator[Part]:
        """The message that is whole now, if one is."""
        message = part.data
        if not isinstance(message, BaseMessageChunk):
            if not isinstance(message, ToolMessage):  # v3 leaves them to the tools channel
                yield part
            return
        key = part.ns, message.id
        before = self._open.get(key)
        self._open[key] = part if before is None else part._replace(data=before.data + message)
        if getattr(message, "chunk_position", None) == "last":
            yield _whole(self._open.pop(key))

    def close(self) -> Iterator[Part]:
        """What is left when the stream ends."""
        while self._open:
            yield _whole(self._open.pop(next(iter(self._open))))


def _whole(part: Part) -> Part:
    return part._replace(data=as_whole(part.data))
