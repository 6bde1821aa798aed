"""One connection of a user's SDK client: its headers, its authentication, its timeouts.

The SDK's own streams reconnect by themselves after a cut, with the last id; on `langgraph dev`
that repeats events and loses some. The streams here connect once and end when the connection
does. They take the place of the HTTP client in the SDK's `RunsClient`, which still makes the
requests.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from typing import Any, NamedTuple

import httpx
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

from langgraph_once.config import RemoteConfig
from langgraph_once.remote.following.numbers import Frame
from langgraph_once.remote.frames import FrameReader

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
