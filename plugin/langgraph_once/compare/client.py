"""An SDK client that counts the bytes of its event streams: of the events, and as they are sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple

import httpx
from langgraph_sdk.client import LangGraphClient


class Taken(NamedTuple):
    """Bytes of event streams."""

    events: int
    """As events: the same measure for every consumer, whatever compresses its stream."""
    wire: int
    """As they were sent."""


class Counting(NamedTuple):
    """A client, and what came to it."""

    client: LangGraphClient
    taken: Callable[[], Taken]
    """What came since this was asked last."""


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
    streams: list[httpx.Response] = []
    unpacked, told = 0, Taken(0, 0)

    async def note(response: httpx.Response) -> None:
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            return
        streams.append(response)
        unpacking = response.aiter_bytes

        async def counted(chunk_size: int | None = None) -> AsyncIterator[bytes]:
            nonlocal unpacked
            async for data in unpacking(chunk_size):
                unpacked += len(data)
                yield data

        response.aiter_bytes = counted  # type: ignore[method-assign]  # the SDK reads by it

    def taken() -> Taken:
        nonlocal told
        before, told = told, Taken(unpacked, sum(each.num_bytes_downloaded for each in streams))
        return Taken(told.events - before.events, told.wire - before.wire)

    # To read certificates would block the event loop of the server, which asks itself by http.
    transport = httpx.AsyncHTTPTransport(verify=not url.startswith("http:"))
    async with httpx.AsyncClient(
        base_url=url,
        headers=headers,
        timeout=timeout_s,
        transport=transport,
        trust_env=False,
        event_hooks={"response": [note]},
    ) as http:
        yield Counting(LangGraphClient(http), taken)
