"""Bytes into frames of an event stream, within bounds.

The SDK's decoder reads any event stream, a line at a time, and takes more than half of what a
client pays for a token. Frames as a LangGraph server writes them, an `event`, a line of `data`
and an `id`, need no such care where they come whole: they are cut out and read at once. All
else is the decoder's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final, NamedTuple
from zlib import crc32

import orjson
from langgraph_sdk.sse import BytesLineDecoder, SSEDecoder

from langgraph_once.errors import StreamError

__all__ = ["Frame", "FrameReader"]

LINE_END: Final = b"\r\n"
END: Final = LINE_END * 2
EVENT: Final = b"event: "
DATA: Final = b"data: "
ID: Final = b"id: "

MAX_METADATA: Final = 16_384
MAX_KNOWN: Final = 64
"""How long metadata may be, in bytes, and how many are kept, to be known again."""

CHECKED: Final = (b"data", b"event")
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
        self._values = _Values()
        self._event, self._name, self._event_check = b"", "", 0
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
        """The frame that this is, without its end, if it is as servers write them."""
        event, _, rest = text.partition(LINE_END)
        data, _, event_id = rest.rpartition(LINE_END)
        if event != self._event and not self._is_event(event):
            return None
        if data[:6] != DATA or event_id[:4] != ID or len(text) > self._max_bytes:
            return None
        try:
            found = self._values.read(data[6:])
            said_id = event_id[4:].decode()
        except ValueError:  # the decoder knows more ways
            return None
        if not said_id or not said_id.isprintable():
            return None
        self._id = said_id
        return Frame(self._name, found, said_id, crc32(data, self._event_check))

    def _is_event(self, line: bytes) -> bool:
        """Whether a line names an event, which is that of the frames to come, too."""
        name = line[7:].decode(errors="replace")
        if line[:7] != EVENT or not name.isprintable():
            return False
        self._event, self._name, self._event_check = line, name, crc32(line)
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
        self._bound(len(self._lines.buffer))

    def _frame(self) -> Frame | None:
        """The frame that an empty line ends, if it says anything."""
        size, check = self._bytes, self._check
        self._bytes = self._check = 0
        try:
            found = self._decoder.decode(b"")
        except orjson.JSONDecodeError as error:
            raise StreamError(f"a frame of {size} bytes in the event stream is no JSON") from error
        self._id = self._decoder.last_event_id
        if found is None or not (found.event or self._decoder.has_data):
            return None  # a comment, or an id alone
        return Frame(found.event, found.data, found.id, check)

    def _bound(self, pending: int) -> None:
        if self._bytes + pending > self._max_bytes:
            raise StreamError(
                f"a frame of the event stream is longer than {self._max_bytes} bytes; "
                "raise RemoteConfig.max_frame_bytes if the run sends such states"
            )


class _Values:
    """Reads the values of frames; metadata that comes again, as with each token, is not read again.

    The metadata of a message is one object for all its tokens then, as in a local graph.
    """

    def __init__(self) -> None:
        self._metadata: dict[bytes, Any] = {}

    def read(self, data: bytes) -> Any:
        """The value of a line of JSON.

        Raises:
            ValueError: It is none, or not of the form that is looked for here.
        """
        # Between two objects: within a string, the quote would be escaped.
        at = data.find(b'},{"') + 1
        if not at or data[:2] != b"[{":
            return orjson.loads(_line(data))
        message, rest = data[1:at], data[at:]
        metadata = self._metadata.get(rest)
        if metadata is None:
            return self._read_new(data, rest)
        return [orjson.loads(_line(message)), metadata]

    def _read_new(self, data: bytes, rest: bytes) -> Any:
        """Read all of it, and know the metadata again, which is all but the bracket after it."""
        value = orjson.loads(_line(data))
        if len(value) == 2 and len(rest) <= MAX_METADATA:
            with suppress(orjson.JSONDecodeError):
                metadata = orjson.loads(rest[1:-1])
                if len(self._metadata) >= MAX_KNOWN:
                    self._metadata.clear()
                self._metadata[rest] = value[1] = metadata
        return value


def _line(data: bytes) -> bytes:
    """What is one line.

    Raises:
        ValueError: It is more.
    """
    if b"\n" in data or b"\r" in data:
        raise ValueError("this is more than a line")
    return data
