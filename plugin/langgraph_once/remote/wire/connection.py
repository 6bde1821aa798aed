"""One connection of a user's SDK client: its headers, its authentication, its timeouts.

The SDK's own streams reconnect by themselves after a cut, with the last id; on `langgraph dev`
that repeats events and loses some. The streams here connect once and end when the connection
does. They take the place of the HTTP client in the SDK's `RunsClient`, which still makes the
requests.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from typing import Any

import httpx
from langgraph_sdk.client import HttpClient, SyncHttpClient
from langgraph_sdk.client import _aencode_json as aencode_json
from langgraph_sdk.client import _encode_json as encode_json
from langgraph_sdk.errors import _araise_for_status_typed as araise_for_status
from langgraph_sdk.errors import _raise_for_status_typed as raise_for_status

from langgraph_once.config import RemoteConfig
from langgraph_once.remote.following.frame import Frame
from langgraph_once.remote.wire.frames import FrameReader

__all__ = ["Connection", "NoEventStreamError", "SyncConnection"]

ASKED = {"Accept": "text/event-stream", "Cache-Control": "no-store"}

Noted = Callable[[httpx.Response], None]

Opened = Callable[[httpx.Response], float | None]
"""Notes that a stream begins. Returns how long it may be silent; None for the client's timeout."""


class NoEventStreamError(httpx.TransportError):
    """The answer is no event stream. Perhaps a proxy answered in place of the server."""


class Connection(HttpClient):
    """Streams of one connection each.

    Args:
        http: The user's client, which stays as it is.
        config: Bounds.
        opened: Called with the response when a stream begins.
    """

    def __init__(self, http: HttpClient, config: RemoteConfig, opened: Opened) -> None:
        super().__init__(http.client)
        self._config = config
        self._opened = opened

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
        asked = _request(
            await aencode_json(json),
            headers,
            _timeout_of_head(method, self.client.timeout, self._config),
        )
        async with self.client.stream(method, path, params=params, **asked) as response:
            if on_response is not None:
                on_response(response)
            await araise_for_status(response)
            _check_type(response)
            _set_read_timeout(response, self.client.timeout, self._opened(response))
            frames = FrameReader(self._config.max_frame_bytes)
            async for data in response.aiter_bytes():
                for frame in frames.feed(data):
                    yield frame


class SyncConnection(SyncHttpClient):
    """`Connection`, sync."""

    def __init__(self, http: SyncHttpClient, config: RemoteConfig, opened: Opened) -> None:
        super().__init__(http.client)
        self._config = config
        self._opened = opened

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
        asked = _request(
            encode_json(json), headers, _timeout_of_head(method, self.client.timeout, self._config)
        )
        with self.client.stream(method, path, params=params, **asked) as response:
            if on_response is not None:
                on_response(response)
            raise_for_status(response)
            _check_type(response)
            _set_read_timeout(response, self.client.timeout, self._opened(response))
            frames = FrameReader(self._config.max_frame_bytes)
            for data in response.iter_bytes():
                yield from frames.feed(data)


def _request(
    encoded: tuple[Mapping[str, str], Any],
    headers: Mapping[str, str] | None,
    timeout: httpx.Timeout,
) -> dict[str, Any]:
    """The arguments of a request for an event stream. The caller's headers win."""
    content_headers, content = encoded
    return {
        "content": content,
        "headers": {**content_headers, **ASKED, **(headers or {})},
        "timeout": timeout,
    }


def _timeout_of_head(method: str, timeout: httpx.Timeout, config: RemoteConfig) -> httpx.Timeout:
    """How long to wait for the head of a response. A server may take long to begin a run."""
    if method != "GET":
        return timeout
    read_s = _shorter(timeout.read, config.idle_timeout_s)
    return httpx.Timeout(
        connect=timeout.connect, read=read_s, write=timeout.write, pool=timeout.pool
    )


def _set_read_timeout(
    response: httpx.Response, timeout: httpx.Timeout, idle_s: float | None
) -> None:
    """Bound the silence in the body of a response by the client's timeout, and by `idle_s`.

    `httpcore` (1.0.9) looks it up when it begins to read the body. Otherwise the timeout of the
    head would apply to the body, too.
    """
    response.request.extensions.get("timeout", {})["read"] = _shorter(timeout.read, idle_s)


def _shorter(one: float | None, other: float | None) -> float | None:
    given = [each for each in (one, other) if each is not None]
    return min(given) if given else None


def _check_type(response: httpx.Response) -> None:
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "text/event-stream":
        raise NoEventStreamError(
            f"expected an event stream, got {media_type or 'no content type'}; check the URL, "
            "and that no proxy answers in place of the server"
        )
