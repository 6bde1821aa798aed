"""Event streams of a server on their way out: the same in fewer bytes, without delay. Pure ASGI.

The server does not compress event streams. A token of four bytes takes a thousand bytes, because
the metadata of its run comes again with each token.

A server has many streams open at once, so each encoder keeps little: gzip about 0.2 MB, zstd 0.6,
Brotli 1.9. A window of some hundred tokens is enough, because what repeats is the metadata of
each token.

The package `starlette-compress` 2.0 flushes per event as well. It is not used because it
compresses every other response too, follows its own order instead of the client's weights,
needs two more libraries, and loses what it compressed when a `send` is cancelled, as the
server does with the last heartbeat of a stream; the rest then cannot be decoded.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Protocol

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


class StreamEncoder(Protocol):
    """Compresses one stream."""

    def compress(self, data: bytes) -> bytes:
        """Take `data`, and give what of the compressed stream is ready."""

    def flush(self) -> bytes:
        """What the receiver needs to decode everything that was taken."""

    def finish(self) -> bytes:
        """The end of the stream."""


class Gzip:
    """What every client understands."""

    def __init__(self) -> None:
        # 31: a gzip header, and the largest window, 32 KB.
        self._stream = zlib.compressobj(level=4, wbits=31)
        self.compress = self._stream.compress

    def flush(self) -> bytes:
        return self._stream.flush(zlib.Z_SYNC_FLUSH)

    def finish(self) -> bytes:
        return self._stream.flush(zlib.Z_FINISH)


class Zstd:
    """The smallest at the least cost."""

    OPTIONS: Final[dict[int, int]] = {
        zstd.CompressionParameter.compression_level: 3,
        # Level 3 alone would keep 2 MB for each stream; HTTP allows a window of 8 MB at most.
        zstd.CompressionParameter.window_log: 18,
        zstd.CompressionParameter.hash_log: 15,
        zstd.CompressionParameter.chain_log: 15,
    }

    def __init__(self) -> None:
        self._stream = zstd.ZstdCompressor(options=self.OPTIONS)

    def compress(self, data: bytes) -> bytes:
        return self._stream.compress(data)

    def flush(self) -> bytes:
        return self._stream.flush(zstd.ZstdCompressor.FLUSH_BLOCK)

    def finish(self) -> bytes:
        return self._stream.flush(zstd.ZstdCompressor.FLUSH_FRAME)


class Brotli:
    """For whoever installed `brotli` or `brotlicffi`."""

    def __init__(self, library: Any) -> None:
        # Below quality 5 it hardly looks back; the window is 256 KB.
        self._stream = library.Compressor(quality=5, lgwin=18)
        self.compress = self._stream.process
        self.flush = self._stream.flush
        self.finish = self._stream.finish


def _available() -> dict[str, Callable[[], StreamEncoder]]:
    found: dict[str, Callable[[], StreamEncoder]] = {"zstd": Zstd, "gzip": Gzip}
    for name in ("brotlicffi", "brotli"):
        with contextlib.suppress(ImportError):
            library = importlib.import_module(name)
            if hasattr(library, "Compressor"):  # not any folder of that name
                found["br"] = functools.partial(Brotli, library)
    return found


ENCODERS: Final[Mapping[str, Callable[[], StreamEncoder]]] = MappingProxyType(_available())
"""What makes an encoder, by the name of the encoding; `br` where a library is installed."""


def chosen_encoding(accepted: Iterable[str], offered: Sequence[str]) -> str | None:
    """The encoding that a client likes best.

    Args:
        accepted: The values of its `Accept-Encoding` headers.
        offered: What there is, best first.

    Returns:
        The one of `offered` with the highest weight; the first, if several have it. None if the
        client accepts none of them, or prefers no encoding.
    """
    weights = dict(_weights(accepted))
    others = weights.get("*", 0.0)
    # Who does not mention `identity` takes it only for want of something better.
    least = weights.get("identity", 0.0)
    liked = {name: weights.get(name, others) for name in offered}
    return max(
        (name for name, weight in liked.items() if weight > 0 and weight >= least),
        key=liked.__getitem__,
        default=None,
    )


def _weights(accepted: Iterable[str]) -> Iterable[tuple[str, float]]:
    """Each encoding with its weight; what is malformed is not accepted."""
    for item in ",".join(accepted).lower().split(","):
        name, *parameters = (part.strip() for part in item.split(";"))
        weight = 1.0
        for parameter in parameters:
            key, _, value = parameter.partition("=")
            if key.strip() == "q":
                weight = _weight(value.strip())
        if name:
            yield name.removeprefix("x-"), weight


def _weight(text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        return 0.0
    return weight if 0 <= weight <= 1 else 0.0  # false for NaN, too


def event_stream_headers(scope: Scope, start: Message) -> MutableHeaders | None:
    """The headers of a response that is a readable event stream, to be changed; else None.

    Args:
        scope: Of its request.
        start: Its `http.response.start`, which is left as it is.
    """
    headers = MutableHeaders(raw=list(start.get("headers", ())))
    if (
        scope["method"] == "HEAD"  # has no body to encode
        or start["status"] != 200
        or _media_type(headers) != "text/event-stream"
        or headers.get("content-encoding", "identity").strip().lower() != "identity"
        or "no-transform" in headers.get("cache-control", "").lower()
    ):
        return None
    return headers


def with_headers(start: Message, headers: MutableHeaders) -> Message:
    """`start` with these headers, of a body whose length is not known."""
    del headers["content-length"]
    return {**start, "headers": headers.raw}


def _media_type(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


SLICE_BYTES = 64 * 1024
"""So much is compressed at once, for about a millisecond, before other tasks have a turn."""


class SseCompression:
    """ASGI middleware: compresses event streams as the client asks, and nothing else.

    Args:
        app: What it wraps.
        encodings: The encodings to offer, best first.
    """

    def __init__(self, app: ASGIApp, *, encodings: Sequence[str]) -> None:
        self._app = app
        self._offered = tuple(name for name in encodings if name in ENCODERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] == "http" and self._offered:
            send = _CompressedResponse(scope, send, self._offered).send
        await self._app(scope, receive, send)


class _CompressedResponse:
    """One response on its way out."""

    def __init__(self, scope: Scope, send: Send, offered: Sequence[str]) -> None:
        self._scope = scope
        self._send = send
        self._offered = offered
        self._encoder: StreamEncoder | None = None
        self._unsent = bytearray()
        # The server sends heartbeats from a task of their own.
        self._one_at_a_time = asyncio.Lock()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._send(self._started(message))
        elif message["type"] == "http.response.body" and self._encoder is not None:
            async with self._one_at_a_time:
                await self._send_encoded(
                    self._encoder, message.get("body", b""), message.get("more_body", False)
                )
        else:
            await self._send(message)

    def _started(self, start: Message) -> Message:
        headers = event_stream_headers(self._scope, start)
        if headers is None:
            return start
        headers.add_vary_header("Accept-Encoding")
        asked = Headers(scope=self._scope)
        encoding = chosen_encoding(asked.getlist("accept-encoding"), self._offered)
        if encoding is None or _is_reloaded_page(asked):
            return {**start, "headers": headers.raw}
        self._encoder = ENCODERS[encoding]()
        headers["content-encoding"] = encoding
        return with_headers(start, headers)

    async def _send_encoded(self, encoder: StreamEncoder, body: bytes, more_body: bool) -> None:
        for at in range(0, len(body), SLICE_BYTES):
            if at:
                await asyncio.sleep(0)
            self._unsent += encoder.compress(body[at : at + SLICE_BYTES])
        if body and more_body:
            self._unsent += encoder.flush()
        elif not more_body:
            self._unsent += encoder.finish()
        # A cancelled send leaves these to the next: without them the rest cannot be decoded.
        await self._send(
            {"type": "http.response.body", "body": bytes(self._unsent), "more_body": more_body}
        )
        self._unsent.clear()


def _is_reloaded_page(asked: Headers) -> bool:
    """Whether a page in a browser joins a run from its first event on.

    `useStream` (@langchain/langgraph-sdk 2.0.0) then shows the thread's state, and each replayed
    `values` in its place: what the page shows depends on which comes first, and on how long the
    replay takes. Decoding delays it, so a browser gets it as the server sends it.
    """
    is_browser = "origin" in asked or "sec-fetch-mode" in asked
    return is_browser and asked.get("last-event-id") == "-1"
