"""What a token costs on the wire, for a client that knows nothing of this package."""

from __future__ import annotations

from typing import Any

import httpx

from tests.clients.graphs.served import TOKENS
from tests.clients.graphs.zoo import asks
from tests.clients.server import BARE, ONCE

MODES: dict[str, list[str]] = {
    "messages-tuple": ["messages-tuple"],
    "messages-tuple, updates, values": ["messages-tuple", "updates", "values"],
    "messages, values": ["messages", "values"],
}


async def bytes_per_token(url: str, modes: str, *, wrapped: bool) -> float:
    """Stream one long answer and count the bytes of its body, which nothing compresses.

    Args:
        url: A `zoo_server`.
        modes: A key of `MODES`.
        wrapped: Whether the graph is wrapped.
    """
    asked: dict[str, Any] = {
        "assistant_id": ONCE if wrapped else BARE,
        "stream_mode": MODES[modes],
        **asks("Oslo"),
    }
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        thread = (await client.post("/threads", json={})).json()["thread_id"]
        path, headers = f"/threads/{thread}/runs/stream", {"accept-encoding": "identity"}
        async with client.stream("POST", path, json=asked, headers=headers) as response:
            response.raise_for_status()
            sizes = [len(piece) async for piece in response.aiter_raw()]
            assert "content-encoding" not in response.headers
    return sum(sizes) / TOKENS
