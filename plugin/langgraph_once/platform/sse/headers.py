"""Which responses are streams of events that we may rewrite."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Scope


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
