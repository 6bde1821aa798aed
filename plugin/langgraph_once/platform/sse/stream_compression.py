"""`SseCompression`: event streams in fewer bytes, without delay.

The server does not compress event streams. A token of four bytes takes a thousand bytes, because
the metadata of its run comes again with each token.

The package `starlette-compress` 2.0 flushes per event as well. It is not used because it
compresses every other response too, follows its own order instead of the client's weights,
needs two more libraries, and loses what it compressed when a `send` is cancelled, as the
server does with the last heartbeat of a stream; the rest then cannot be decoded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from langgraph_once.platform.sse.encodings import ENCODERS, StreamEncoder, chosen_encoding
from langgraph_once.platform.sse.headers import event_stream_headers, with_headers

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
