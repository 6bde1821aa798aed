"""One connection to an event stream: its bytes into frames, and the client that it is made with.

A frame as a LangGraph server writes it (`event`, one line of `data`, `id`) is cut out and read at
once. Everything else goes to the SDK's decoder. The decoder reads any event stream, line by line,
and would take more than half of the time that a client spends on a token.

Nearly every token is like the one before it. What repeats is not read again: of a token that
follows another of the same message only the text is read; of any other message only the part before
its metadata. The tokens are made without validation, which would not change them.

The client is the user's, with its headers, its authentication and its timeouts. The SDK's own
streams reconnect by themselves after a cut, with the last id; on `langgraph dev` that repeats
events and loses some. The streams here connect once and end when the connection does. They take the
place of the HTTP client in the SDK's `RunsClient`, which still makes the requests.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple, Self
from zlib import crc32

import httpx
import orjson
from langchain_core.messages import AIMessageChunk, BaseMessage
from langgraph_sdk.client import (
    HttpClient,
    SyncHttpClient,
    _aencode_json as aencode_json,
    _encode_json as encode_json,
)
from langgraph_sdk.errors import (
    _araise_for_status_typed as araise_for_status,
    _raise_for_status_typed as raise_for_status,
)
from langgraph_sdk.sse import BytesLineDecoder, SSEDecoder

from langgraph_once.config import RemoteConfig
from langgraph_once.errors import StreamError
from langgraph_once.remote.alignment import Frame, without_number
from langgraph_once.remote.shapes import put_tuples
from langgraph_once.serde import rebuild_message
from langgraph_once.stream import NUMBER_KEY, annotation_of, revive

CHUNK: Final = (AIMessageChunk.__module__, AIMessageChunk.__name__)

BEGIN: Final = b'[{"content":"'
BEFORE_METADATA: Final = b'},{"'
"""Between two objects; within a string, the quote would be escaped."""

NUMBER: Final = f',"{NUMBER_KEY}":'.encode()
TOKEN_END: Final = b"}]"
MAX_NUMBER_BYTES: Final = len(NUMBER) + 24
"""Where the number is: in front of the end."""

MAX_METADATA_BYTES: Final = 16_384
"""The longest metadata to remember; with `MAX_METADATA` it bounds memory at 1 MB."""

MAX_METADATA: Final = 64
"""How many to remember: those of 64 tasks that send tokens in turn."""

PLAIN: Final = frozenset({bool, float, int, str, type(None)})

_new: Final = object.__new__
_set: Final = object.__setattr__


class TokenReader:
    """Reads the data of `messages` events.

    The metadata of a message is one object for all its tokens, as in a local graph.
    """

    def __init__(self) -> None:
        self._metadata: dict[bytes, Any] = {}
        self._last: _TokenTemplate | None = None
        self._annotated: Any = None

    def read(self, line: bytes) -> tuple[Any, int | None]:
        """A message and its metadata as a local graph has them; anything else stays JSON.

        Returns:
            That, and the number that our server has put behind the metadata, without which they
            are the same for all tokens of a message.

        Raises:
            ValueError: It is no JSON, or not on one line.
        """
        at = line.rfind(NUMBER, -MAX_NUMBER_BYTES)
        digits = line[at + len(NUMBER) : -len(TOKEN_END)]
        if at < 0 or not digits.isdigit():
            return self._read(line), None
        found = self._read(line[:at] + TOKEN_END)
        metadata = found[1]
        if metadata is not self._annotated:
            if annotation_of(metadata) is None:  # no server of ours: a user's metadata are so
                return self._read(line), None
            self._annotated = metadata
        return found, int(digits)

    def _read(self, line: bytes) -> Any:
        last = self._last
        if last is not None and line.endswith(last.rest) and line.startswith(BEGIN):
            with suppress(orjson.JSONDecodeError):  # more fields than the text come before `rest`
                text = orjson.loads(line[len(BEGIN) - 1 : len(line) - len(last.rest) + 1])
                return last.with_text(text), last.metadata
        at = line.find(BEFORE_METADATA) + 1
        if not at or line[:2] != b"[{":
            return read_line(line)
        rest = line[at:]
        metadata = self._metadata.get(rest)
        if metadata is None:
            return self._read_new(line, rest)
        return self._message(read_line(line[1:at]), metadata, rest)

    def _read_new(self, line: bytes, rest: bytes) -> Any:
        """Read all of it, and know the metadata again, which is all but the bracket after it."""
        value = read_line(line)
        if len(value) != 2 or len(rest) > MAX_METADATA_BYTES:
            return value
        try:
            metadata = orjson.loads(rest[1:-1])
        except orjson.JSONDecodeError:
            return value
        put_tuples(metadata)
        if len(self._metadata) >= MAX_METADATA:
            self._metadata.clear()
        self._metadata[rest] = metadata
        return self._message(value[0], metadata, rest)

    def _message(self, message: dict[str, Any], metadata: Any, rest: bytes) -> Any:
        token = rebuild_message([*CHUNK, message, "model_validate_json"])
        if token is not None:
            self._last = _TokenTemplate.of(token, metadata, rest)
            return token, metadata
        other = revive(message)
        return (other, metadata) if isinstance(other, BaseMessage) else [message, metadata]


class _TokenTemplate(NamedTuple):
    """A token; the next ones are made of it, with another text."""

    fields: Mapping[str, Any]
    containers: Mapping[str, Any]
    """The fields that are copied for each token."""

    fields_set: frozenset[str]
    metadata: Any
    rest: bytes
    """What follows the text in its line."""

    @classmethod
    def of(cls, token: AIMessageChunk, metadata: Any, end: bytes) -> Self | None:
        """What the next tokens are made of; None if this one is more than text with plain fields.

        Args:
            token: The token.
            metadata: Its metadata.
            end: What follows the message in its line.
        """
        fields = {**vars(token)}
        if type(fields.pop("content")) is not str:
            return None
        containers = {
            key: value.copy() for key, value in fields.items() if isinstance(value, dict | list)
        }
        for value in containers.values():
            held = value.values() if isinstance(value, dict) else value
            if not PLAIN.issuperset(map(type, held)):
                return None
        # As the server writes it, or no line will match.
        rest = b'",' + orjson.dumps(fields)[1:] + end
        return cls(fields, containers, frozenset(token.model_fields_set), metadata, rest)

    def with_text(self, text: str) -> AIMessageChunk:
        """The next token."""
        fields = {"content": text, **self.fields}
        for key, value in self.containers.items():
            fields[key] = value.copy()
        # Past pydantic, which would validate each token anew.
        made = _new(AIMessageChunk)
        _set(made, "__dict__", fields)
        _set(made, "__pydantic_fields_set__", set(self.fields_set))
        _set(made, "__pydantic_extra__", {})
        _set(made, "__pydantic_private__", None)
        return made


def read_line(line: bytes) -> Any:
    """The value of a line of JSON.

    Raises:
        ValueError: It is no JSON, or more than a line.
    """
    if b"\n" in line or b"\r" in line:
        raise ValueError("this is more than a line")
    return orjson.loads(line)


LINE_END: Final = b"\r\n"
END: Final = LINE_END * 2
EVENT: Final = b"event: "
DATA: Final = b"data: "
ID: Final = LINE_END + b"id: "

CHECKED: Final = (b"data", b"event")
"""How the lines begin that say something: `data` and `event`."""


class FrameReader:
    """Reads frames. What is left at the end of a connection is dropped: it is no frame."""

    def __init__(self) -> None:
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
            StreamError: A frame holds no JSON.
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
        if end < 0:
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
                if line.startswith(CHECKED):
                    self._check = crc32(line, self._check)
                self._decoder.decode(line)
            elif (frame := self._frame()) is not None:
                yield frame

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


ASKED = {"Accept": "text/event-stream", "Cache-Control": "no-store"}

Noted = Callable[[httpx.Response], None]

Opened = Callable[[Mapping[str, str], str], float | None]
"""Notes that a stream begins, given the headers and the HTTP version of the response.

Returns how long it may be silent; None for the client's timeout.
"""


class NoEventStreamError(httpx.TransportError):
    """The answer is no event stream. Perhaps a proxy answered in place of the server."""


class _Terms(NamedTuple):
    """What sync and async connections have in common."""

    idle_timeout_s: float | None
    opened: Opened

    def request(
        self,
        method: str,
        timeout: httpx.Timeout,
        encoded: tuple[Mapping[str, str], Any],
        headers: Mapping[str, str] | None,
    ) -> dict[str, Any]:
        """The arguments of a request for an event stream. The caller's headers win.

        A run that is there answers soon; a server may take long to begin one.
        """
        content_headers, content = encoded
        if method == "GET":  # to join; a POST begins a run, and may wait for a worker
            read_s = _shorter(timeout.read, self.idle_timeout_s)
            timeout = httpx.Timeout(**{**timeout.as_dict(), "read": read_s})
        headers = {**content_headers, **ASKED, **(headers or {})}
        return {"content": content, "headers": headers, "timeout": timeout}

    def frames(self, response: httpx.Response, timeout: httpx.Timeout) -> FrameReader:
        """Reads the body of a response, whose silence is bounded from now on.

        `httpcore` (1.0.9) takes the timeout from the request when it begins to read the body. So
        it is set there: the one for the head would apply to the body, too.
        """
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type != "text/event-stream":
            raise NoEventStreamError(
                f"expected an event stream, got {media_type or 'no content type'}; check the URL, "
                "and that no proxy answers in place of the server"
            )
        read_s = _shorter(timeout.read, self.opened(response.headers, response.http_version))
        response.request.extensions.get("timeout", {})["read"] = read_s
        return FrameReader()


class Connection(HttpClient):
    """Streams of one connection each.

    Args:
        http: The user's client, which stays as it is.
        config: How long a stream may be silent.
        opened: Called with the response when a stream begins.
    """

    def __init__(self, http: HttpClient, config: RemoteConfig, opened: Opened) -> None:
        super().__init__(http.client)
        self._terms = _Terms(config.idle_timeout_s, opened)

    async def stream(  # type: ignore[override]  # frames have one field more than `StreamPart`s
        self,
        path: str,
        method: str,
        *,
        json: dict[str, Any] | None = None,
        params: Any = None,
        headers: Mapping[str, str] | None = None,
        on_response: Noted | None = None,
    ) -> AsyncGenerator[Frame]:
        """The frames that come until the connection ends.

        Raises:
            APIError: The server refuses, as the SDK says it.
            httpx.RequestError: The connection was cut.
            StreamError: A frame is malformed.
        """
        asked = self._terms.request(method, self.client.timeout, await aencode_json(json), headers)
        async with self.client.stream(method, path, params=params, **asked) as response:
            if on_response is not None:
                on_response(response)
            await araise_for_status(response)
            frames = self._terms.frames(response, self.client.timeout)
            async for data in response.aiter_bytes():
                for frame in frames.feed(data):
                    yield frame


class SyncConnection(SyncHttpClient):
    """`Connection`, sync."""

    def __init__(self, http: SyncHttpClient, config: RemoteConfig, opened: Opened) -> None:
        super().__init__(http.client)
        self._terms = _Terms(config.idle_timeout_s, opened)

    def stream(  # type: ignore[override]  # as in `Connection`
        self,
        path: str,
        method: str,
        *,
        json: dict[str, Any] | None = None,
        params: Any = None,
        headers: Mapping[str, str] | None = None,
        on_response: Noted | None = None,
    ) -> Generator[Frame]:
        """The frames that come until the connection ends; raises as `Connection.stream`."""
        asked = self._terms.request(method, self.client.timeout, encode_json(json), headers)
        with self.client.stream(method, path, params=params, **asked) as response:
            if on_response is not None:
                on_response(response)
            raise_for_status(response)
            frames = self._terms.frames(response, self.client.timeout)
            for data in response.iter_bytes():
                yield from frames.feed(data)


def _shorter(one: float | None, other: float | None) -> float | None:
    given = [each for each in (one, other) if each is not None]
    return min(given) if given else None
