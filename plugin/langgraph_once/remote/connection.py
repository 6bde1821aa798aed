"""One connection of a user's SDK client: its headers, its authentication, its timeouts.

The SDK's own streams come back after a cut by themselves, with the last id, which on
`langgraph dev` repeats events and loses some. Given to the SDK's `RunsClient` in place of its
HTTP client, these connect once and say when they end; what is asked for stays the SDK's.
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
from langgraph_once.remote.frames import Frame, FrameReader

__all__ = ["Connection", "NoEventStreamError", "SyncConnection"]

ASKED = {"Accept": "text/event-stream", "Cache-Control": "no-store"}

Opened = Callable[[httpx.Response], None]


class NoEventStreamError(httpx.TransportError):
    """The answer is no event stream: that of a proxy, perhaps, in place of the server."""


class Connection(HttpClient):
    """Streams of one connection each.

    Args:
        http: The user's client, which stays as it is.
        config: Timeout and bounds.
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
        on_response: Opened | None = None,
    ) -> AsyncGenerator[Frame]:
        """The frames that come until the connection ends.

        Raises:
            APIError: The server refuses, as the SDK says it.
            httpx.RequestError: The connection was cut.
            StreamError: A frame is malformed.
        """
        asked = _request(await aencode_json(json), headers, self.client.timeout, self._config)
        async with self.client.stream(method, path, params=params, **asked) as response:
            if on_response is not None:
                on_response(response)
            await araise_for_status(response)
            _check_type(response)
            self._opened(response)
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

    def stream(  # type: ignore[override]
        self,
        path: str,
        method: str,
        *,
        json: dict[str, Any] | None = None,
        params: Any = None,
        headers: Mapping[str, str] | None = None,
        on_response: Opened | None = None,
    ) -> Generator[Frame]:
        """The frames that come until the connection ends; raises as `Connection.stream`."""
        asked = _request(encode_json(json), headers, self.client.timeout, self._config)
        with self.client.stream(method, path, params=params, **asked) as response:
            if on_response is not None:
                on_response(response)
            raise_for_status(response)
            _check_type(response)
            self._opened(response)
            frames = FrameReader(self._config.max_frame_bytes)
            for data in response.iter_bytes():
                yield from frames.feed(data)


def _request(
    encoded: tuple[Mapping[str, str], Any],
    headers: Mapping[str, str] | None,
    timeout: httpx.Timeout,
    config: RemoteConfig,
) -> dict[str, Any]:
    """The arguments of a request for an event stream: of its headers the caller's win."""
    content_headers, content = encoded
    return {
        "content": content,
        "headers": {**content_headers, **ASKED, **(headers or {})},
        "timeout": _timeout(timeout, config),
    }


def _timeout(timeout: httpx.Timeout, config: RemoteConfig) -> httpx.Timeout:
    if config.idle_timeout_s is None:
        return timeout
    return httpx.Timeout(
        connect=timeout.connect,
        read=config.idle_timeout_s,
        write=timeout.write,
        pool=timeout.pool,
    )


def _check_type(response: httpx.Response) -> None:
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "text/event-stream":
        raise NoEventStreamError(
            f"expected an event stream, got {media_type or 'no content type'}; check the URL, "
            "and that no proxy answers in place of the server"
        )
