"""An SDK client that counts the bytes of its event streams as they are sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
from langgraph_sdk.client import LangGraphClient

__all__ = ["Counting", "counting_client"]

Count = Callable[[int], None]


@dataclass(slots=True)
class Counting:
    """A client, and what came to it.

    Attributes:
        client: The client.
        size_bytes: Of event streams, before they were unpacked.
    """

    client: LangGraphClient
    size_bytes: int = 0

    def taken(self) -> int:
        """The bytes since this was asked last."""
        size, self.size_bytes = self.size_bytes, 0
        return size


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
    verify = not url.startswith("http:")
    counting: Counting | None = None

    def count(size: int) -> None:
        if counting is not None:
            counting.size_bytes += size

    async with httpx.AsyncClient(
        base_url=url,
        headers=headers,
        timeout=timeout_s,
        transport=_Transport(httpx.AsyncHTTPTransport(verify=verify), count),
        trust_env=False,
    ) as http:
        counting = Counting(LangGraphClient(http))
        yield counting


class _Transport(httpx.AsyncBaseTransport):
    def __init__(self, inner: httpx.AsyncBaseTransport, count: Count) -> None:
        self._inner = inner
        self._count = count

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


class _Counted(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, count: Count) -> None:
        self._inner = inner
        self._count = count

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._inner:
            self._count(len(data))
            yield data

    async def aclose(self) -> None:
        await self._inner.aclose()
