"""An SDK client that counts the bytes of its event streams as they are sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple

import httpx
from langgraph_sdk.client import LangGraphClient

__all__ = ["Counting", "counting_client"]


class Counting(NamedTuple):
    """A client, and what came to it."""

    client: LangGraphClient
    taken: Callable[[], int]
    """The bytes of event streams since this was asked last, before they were unpacked."""


@asynccontextmanager
async def counting_client(
    url: str, headers: Mapping[str, str] | None = None, *, timeout_s: float = 300
) -> AsyncIterator[Counting]:
    """Open a client.

    Args:
        url: Of the server.
        headers: To send with each request.
        timeout_s: How long the server may be silent.
    """
    # To read certificates would block the event loop of the server, which asks itself by http.
    transport = _Transport(httpx.AsyncHTTPTransport(verify=not url.startswith("http:")))
    async with httpx.AsyncClient(
        base_url=url, headers=headers, timeout=timeout_s, transport=transport, trust_env=False
    ) as http:
        yield Counting(LangGraphClient(http), transport.taken)


class _Transport(httpx.AsyncBaseTransport):
    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self._size_bytes = 0

    def taken(self) -> int:
        size, self._size_bytes = self._size_bytes, 0
        return size

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        kind = response.headers.get("content-type", "")
        if kind.startswith("text/event-stream") and isinstance(
            response.stream, httpx.AsyncByteStream
        ):
            response.stream = _Counted(response.stream, self._count)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _count(self, size: int) -> None:
        self._size_bytes += size


class _Counted(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, count: Callable[[int], None]) -> None:
        self._inner = inner
        self._count = count

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._inner:
            self._count(len(data))
            yield data

    async def aclose(self) -> None:
        await self._inner.aclose()
