"""`SseDeduplication`: the event streams of graphs that are not wrapped, each thing once.

It knows one connection only, and does not assume that an earlier one delivered anything. A client
that re-joins a run may see again what came before the cut; `OnceRemoteGraph` does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from langgraph_once.config import DedupConfig
from langgraph_once.platform.sse.headers import event_stream_headers, with_headers
from langgraph_once.platform.sse.raw_frames import RawFrame, RawFrameReader, frame_bytes, id_line
from langgraph_once.stream import Deduplicator, Part, sdk_part
from langgraph_once.stream.part.from_json import revive
from langgraph_once.stream.part.render import sdk_chunk

__all__ = ["SseDeduplication"]

HEADER = "X-Once"
ANSWERS = {"1": True, "0": False}


class SseDeduplication:
    """ASGI middleware: leaves out of event streams what their reader has.

    Args:
        app: What it wraps.
        by_default: What happens to a stream whose request has no header `X-Once: 1` or `0`; then
            in the form that stock clients understand.
        config: What counts as a repetition. Nothing is held back, whatever it says.
    """

    def __init__(self, app: ASGIApp, *, by_default: bool, config: DedupConfig) -> None:
        self._app = app
        self._by_default = by_default
        # A client that reconnects sends the last id it saw. An event that was held back has an
        # earlier id, so the client would never get it: nothing is held back here.
        holds = config.reexecution == "hold"
        self._config = replace(config, reexecution="retract") if holds else config

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        # The v3 protocol has its own order and numbers: `/threads/…/stream/events` is left alone.
        if scope["type"] == "http" and scope["path"].endswith("/stream"):
            asked = Headers(scope=scope).get(HEADER)
            # Another value is ignored: only what authenticates a request may refuse it.
            wanted = ANSWERS.get((asked or "").strip())
            if self._by_default if wanted is None else wanted:
                # A client that asks by the header understands a `RemoveMessage`; others may not.
                dedup = Deduplicator(self._config, for_stock=not wanted)
                response = _DeduplicatedResponse(scope, send, dedup)
                try:
                    await self._app(scope, receive, response.send)
                finally:
                    response.publish()
                return
        await self._app(scope, receive, send)


class _DeduplicatedResponse:
    """One response on its way out."""

    def __init__(self, scope: Scope, send: Send, dedup: Deduplicator) -> None:
        self._scope = scope
        self._send = send
        self._dedup = dedup
        self._frames: FrameFilter | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = event_stream_headers(self._scope, message)
            if headers is not None:
                self._frames = FrameFilter(self._dedup)
                message = with_headers(message, headers)
        elif message["type"] == "http.response.body" and self._frames is not None:
            more_body = message.get("more_body", False)
            body = self._frames.feed(message.get("body", b""))
            if not more_body:
                body += self._frames.close()
            elif not body:
                return
            message = {**message, "body": body}
        await self._send(message)

    def publish(self) -> None:
        """Add what was decided to the metrics, if this was an event stream."""
        if self._frames is not None:
            self._dedup.stats.publish()


class FrameFilter:
    """Turns the bytes of an event stream into those that its reader lacks.

    The id of a frame that is left out must not be lost, or a reader that re-joins gets the frame
    again. A frame that holds only an id would tell it at once, but the JavaScript SDK (2.0.0)
    shows such a frame to the user as an empty event. So the id waits for the next frame without
    one, at the latest the next heartbeat, and no user sees it.

    Args:
        dedup: Decides what the reader lacks.
    """

    def __init__(self, dedup: Deduplicator) -> None:
        self._dedup = dedup
        self._reader = RawFrameReader()
        self._id_left_out: str | None = None

    def feed(self, body: bytes) -> bytes:
        """What the reader lacks of the frames that end in `body`."""
        return b"".join(new for frame in self._reader.feed(body) for new in self._new(frame))

    def close(self) -> bytes:
        """What is still to be sent at the end of the stream."""
        held = (_written(part, None) for part in self._dedup.close())
        return b"".join((*held, self._reader.rest()))

    def _new(self, frame: RawFrame) -> Iterator[bytes]:
        part = _part(frame)
        if part is None:
            yield self._with_id_left_out(frame.id) + frame.raw
            return
        kept = list(self._dedup.feed(part))
        if not kept:
            self._id_left_out = frame.id or self._id_left_out
            return
        # The id goes with the last, so that a client cut between them gets all of them again.
        *first, last = kept
        for other in first:
            yield self._with_id_left_out(None) + _written(other, None)
        own = frame.raw if last is part else _written(last, frame.id)
        yield self._with_id_left_out(frame.id) + own

    def _with_id_left_out(self, event_id: str | None) -> bytes:
        left_out, self._id_left_out = self._id_left_out, None
        return b"" if event_id or not left_out else id_line(left_out)


def _part(frame: RawFrame) -> Part | None:
    """The part in a frame; None where there is none that the deduplicator understands."""
    if not frame.event or not isinstance(frame.data, dict | list):
        return None
    try:
        part = sdk_part((frame.event, revive(frame.data), frame.id))
    except ValueError:  # a `StreamError`: another shape; or no message that we know
        return None
    return part if part is not None and isinstance(part.meta, Mapping) else None


def _written(part: Part, event_id: str | None) -> bytes:
    event, data, _ = sdk_chunk(part)
    return frame_bytes(event, data, event_id)
