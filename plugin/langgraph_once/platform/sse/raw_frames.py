"""Bytes of an event stream into its frames, and back. The SDK does the parsing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson
from langgraph_sdk.sse import BytesLineDecoder, SSEDecoder
from sse_starlette import ServerSentEvent

__all__ = ["RawFrame", "RawFrameReader", "frame_bytes", "id_line"]

NEWLINE = b"\r\n"


class RawFrame(NamedTuple):
    """What stands between two empty lines."""

    raw: bytes
    """Its bytes, with the empty line after it."""

    event: str = ""
    """Name of the event; empty for a comment, as heartbeats are, and for what is malformed."""

    data: Any = None
    """What came with it, from JSON."""

    id: str | None = None
    """Its own id."""


class RawFrameReader:
    """Takes bytes as they come and gives the frames that are complete."""

    def __init__(self) -> None:
        self._lines = BytesLineDecoder()
        self._frame: list[bytes] = []

    def feed(self, body: bytes) -> Iterator[RawFrame]:
        """The frames that end in `body`."""
        for found in self._lines.decode(body):
            line = bytes(found)
            self._frame.append(line)
            if not line:
                lines, self._frame = self._frame, []
                yield _frame(lines)

    def rest(self) -> bytes:
        """What came after the last complete frame."""
        lines = [line + NEWLINE for line in self._frame]
        return b"".join((*lines, *map(bytes, self._lines.flush())))


def frame_bytes(event: str, data: Any, event_id: str | None) -> bytes:
    """A frame as the server writes it."""
    text = orjson.dumps(data, default=_jsonable).decode()
    return ServerSentEvent(text, event=event, id=event_id).encode()


def id_line(event_id: str) -> bytes:
    """The line that tells an id; it takes effect with the next empty line."""
    return b"id: " + event_id.encode() + NEWLINE


def _frame(lines: list[bytes]) -> RawFrame:
    raw = NEWLINE.join((*lines, b""))
    decoder = SSEDecoder()  # a new one, which knows no id but this frame's
    try:
        found = [part for part in map(decoder.decode, lines) if part is not None]
    except ValueError:  # no JSON
        return RawFrame(raw, id=decoder.last_event_id or None)
    if not found:
        return RawFrame(raw)
    return RawFrame(raw, found[0].event, found[0].data, found[0].id)


def _jsonable(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump()
    raise TypeError(f"{type(value).__name__} is not JSON")
