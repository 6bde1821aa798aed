"""Bytes into frames of an event stream, within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from zlib import crc32

import orjson
from langgraph_sdk.sse import BytesLineDecoder, SSEDecoder

from langgraph_once.errors import StreamError

__all__ = ["Frame", "FrameReader"]

CHECKED = (b"data", b"event")
"""How the lines begin that say something: `data` and `event`."""


class Frame(NamedTuple):
    """One event."""

    event: str
    data: Any
    id: str | None
    """The id that a reader may go on after; None until the stream names one."""

    check: int
    """CRC-32 of its name and data, as they came."""


class FrameReader:
    """Reads frames; what is left at the end of a connection is no frame.

    Args:
        max_bytes: The longest frame to take.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lines = BytesLineDecoder()
        self._decoder = SSEDecoder()
        self._bytes = 0
        self._check = 0

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that end in these bytes.

        Raises:
            StreamError: A frame is too long, or holds no JSON.
        """
        decode, max_bytes = self._decoder.decode, self._max_bytes
        lines: list[Any] = self._lines.decode(data)
        for line in lines:
            if line:
                self._bytes += len(line)
                if self._bytes > max_bytes:
                    break
                if line.startswith(CHECKED):
                    self._check = crc32(line, self._check)
                decode(line)
            elif (frame := self._frame()) is not None:
                yield frame
        self._bound(len(self._lines.buffer))

    def _frame(self) -> Frame | None:
        """The frame that an empty line ends, if it says anything."""
        size, check = self._bytes, self._check
        self._bytes = self._check = 0
        try:
            found = self._decoder.decode(b"")
        except orjson.JSONDecodeError as error:
            raise StreamError(f"a frame of {size} bytes in the event stream is no JSON") from error
        if found is None or not (found.event or self._decoder.has_data):
            return None  # a comment, or an id alone
        return Frame(found.event, found.data, found.id, check)

    def _bound(self, pending: int) -> None:
        if self._bytes + pending > self._max_bytes:
            raise StreamError(
                f"a frame of the event stream is longer than {self._max_bytes} bytes; "
                "raise RemoteConfig.max_frame_bytes if the run sends such states"
            )
