"""Bytes into frames of an event stream, within bounds.

A frame as a LangGraph server writes it (`event`, one line of `data`, `id`) is cut out and read at
once. Everything else goes to the SDK's decoder. The decoder reads any event stream, line by line,
and would take more than half of the time that a client spends on a token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final
from zlib import crc32

import orjson
from langgraph_sdk.sse import BytesLineDecoder, SSEDecoder

from langgraph_once.errors import StreamError
from langgraph_once.remote.following.numbers import Frame, without_number
from langgraph_once.remote.wire.tokens import TokenReader, read_line

__all__ = ["FrameReader"]

LINE_END: Final = b"\r\n"
END: Final = LINE_END * 2
EVENT: Final = b"event: "
DATA: Final = b"data: "
ID: Final = LINE_END + b"id: "

CHECKED: Final = (b"data", b"event")
"""How the lines begin that say something: `data` and `event`."""


class FrameReader:
    """Reads frames. What is left at the end of a connection is dropped: it is no frame.

    Args:
        max_bytes: The longest frame to take.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lines = BytesLineDecoder()
        self._decoder = SSEDecoder()
        self._tokens = TokenReader()
        self._name = ""
        self._begin, self._begin_check = END, 0  # no frame begins with what ends one
        self._read: Callable[[bytes], tuple[Any, int | None]] = _read_other
        self._id: str | None = None
        self._bytes = 0
        self._check = 0
        self._is_within = False

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that end in these bytes.

        Raises:
            StreamError: A frame is too long, or holds no JSON.
        """
        if self._is_within:
            rest, end, data = data.partition(END)
            yield from self._decoded(rest + end)
            if not end:
                return
            self._is_within = False
        *whole, begun = data.split(END)
        for text in whole:
            frame = self._usual(text)
            if frame is None:
                yield from self._decoded(text + END)
            else:
                yield frame
        if begun:
            yield from self._decoded(begun)
            self._is_within = True

    def _usual(self, text: bytes) -> Frame | None:
        """The frame in this text (without its end), if a LangGraph server wrote it."""
        if not text.startswith(self._begin) and not self._is_begun(text):
            return None
        end = text.rfind(ID)
        data = text[len(self._begin) : end]
        if end < 0 or len(text) > self._max_bytes:
            return None
        try:
            found, number = self._read(data)
            event_id = text[end + len(ID) :].decode()
        except ValueError:  # several lines of data, perhaps: the decoder joins them
            return None
        if not event_id or not event_id.isprintable():  # NUL, or an empty id, has a meaning
            return None
        self._id = event_id
        check = crc32(data, self._begin_check) if number is None else 0
        return Frame(self._name, found, event_id, check, number)

    def _is_begun(self, text: bytes) -> bool:
        """Whether it begins with an event's name and data; the next frames likely begin so, too."""
        event, mark, _ = text.partition(LINE_END + DATA)
        name = event[len(EVENT) :].decode(errors="replace")
        if not mark or not event.startswith(EVENT) or not name.isprintable():
            return False
        self._name, self._begin = name, event + mark
        self._begin_check = crc32(DATA, crc32(event))
        self._read = self._tokens.read if _is_of_messages(name) else _read_other
        return True

    def _decoded(self, data: bytes) -> Iterator[Frame]:
        """The frames that end in any bytes."""
        if not self._is_within and self._decoder.last_event_id != self._id:
            self._decoder = SSEDecoder(last_event_id=self._id)
        lines: list[Any] = self._lines.decode(data)
        for line in lines:
            if line:
                self._bytes += len(line)
                if self._bytes > self._max_bytes:
                    break
                if line.startswith(CHECKED):
                    self._check = crc32(line, self._check)
                self._decoder.decode(line)
            elif (frame := self._frame()) is not None:
                yield frame
        if self._bytes + len(self._lines.buffer) > self._max_bytes:
            raise StreamError(
                f"a frame of the event stream is longer than {self._max_bytes} bytes; "
                "raise RemoteConfig.max_frame_bytes if the run sends such states"
            )

    def _frame(self) -> Frame | None:
        """The frame that an empty line ends, if it says anything."""
        size, check, known_id = self._bytes, self._check, self._id
        self._bytes = self._check = 0
        try:
            found = self._decoder.decode(b"")
        except orjson.JSONDecodeError as error:
            raise StreamError(f"a frame of {size} bytes in the event stream is no JSON") from error
        self._id = self._decoder.last_event_id
        if found is None or not (found.event or self._decoder.has_data):
            has_moved = self._id and self._id != known_id
            return Frame("", None, self._id, 0) if has_moved else None  # or it is a comment
        data, number = found.data, None
        if _is_of_messages(found.event):
            data, number = without_number(data)
        return Frame(found.event, data, found.id, check if number is None else 0, number)


def _is_of_messages(event: str) -> bool:
    return event.partition("|")[0] == "messages"


def _read_other(line: bytes) -> tuple[Any, None]:
    return read_line(line), None
