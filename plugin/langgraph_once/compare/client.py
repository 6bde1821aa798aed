"""An SDK client that counts the bytes of its event streams as they are sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple

import httpx
from langgraph_sdk.client import LangGraphClient


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
    streams: list[httpx.Response] = []
    told = 0

    async def note(response: httpx.Response) -> None:
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            streams.append(response)

    def taken() -> int:
        nonlocal told
        before, told = told, sum(each.num_bytes_downloaded for each in streams)
        return told - before

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
