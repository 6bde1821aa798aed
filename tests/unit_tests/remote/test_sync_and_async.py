"""Sync and async methods ask a server for the same, and make the same of its answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import orjson
import pytest
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient

from langgraph_once import OnceRemoteGraph
from langgraph_once.remote.v3 import aof_run, of_run
from tests.unit_tests.remote.clients import BEGUN
from tests.unit_tests.remote.raw_server import RUN, THREAD, events

CONFIG: Any = {"configurable": {"thread_id": THREAD}}
NAMED = {"thread_id": THREAD, "checkpoint_ns": "", "checkpoint_id": "c"}
STATE: dict[str, Any] = {
    "values": {"n": 1},
    "next": [],
    "tasks": [],
    "metadata": {},
    "created_at": "2026-01-01T00:00:00Z",
    "checkpoint": NAMED,
    "parent_checkpoint": None,
}
SENT = [
    BEGUN,
    ("values", {"n": 1}, "2-0"),
    ("updates", {"node": {"n": 1}}, "3-0"),
    ("end", None, "4-0"),
]


class Server:
    """Answers each kind of request; notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.asked.append((request.method, path, orjson.loads(request.content or b"null")))
        if path.endswith("/stream"):
            return httpx.Response(
                200, content=events(SENT), headers={"content-type": "text/event-stream"}
            )
        return httpx.Response(200, json=[STATE] if path.endswith("/history") else STATE)


def all_of(found: Any) -> Any:
    return list(found) if isinstance(found, Iterator) else found


async def aall_of(found: Any) -> Any:
    if isinstance(found, AsyncIterator):
        return [each async for each in found]
    return await found


CALLS: dict[str, Callable[[Any], Any]] = {
    "stream": lambda method: method({}, CONFIG, stream_mode=["values", "updates"]),
    "invoke": lambda method: method({}, CONFIG),
    "get_state": lambda method: method(CONFIG),
    "get_state_history": lambda method: method(CONFIG, limit=1),
    "update_state": lambda method: method(CONFIG, {"n": 2}, as_node="node"),
}


@pytest.mark.parametrize("name", CALLS)
def test_sync_and_async_clients_ask_and_answer_the_same(name: str) -> None:
    server, aserver = Server(), Server()
    base: Any = {"base_url": "http://server"}
    with httpx.Client(transport=httpx.MockTransport(server), **base) as http:
        graph = OnceRemoteGraph("g", sync_client=SyncLangGraphClient(http))
        found = all_of(CALLS[name](getattr(graph, name)))

    async def afind() -> Any:
        async with httpx.AsyncClient(transport=httpx.MockTransport(aserver), **base) as http:
            graph = OnceRemoteGraph("g", client=LangGraphClient(http))
            return await aall_of(CALLS[name](getattr(graph, f"a{name}")))

    assert asyncio.run(afind()) == found
    assert found
    assert aserver.asked == server.asked != []


def test_sync_and_async_clients_pick_the_same_events_of_a_thread() -> None:
    """Of a run that ends, those behind its end are not asked for."""

    def lifecycle(event: str, run: str = RUN) -> Any:
        params = {"namespace": [], "data": {"event": event}}
        return {"method": "lifecycle", "event_id": f"synth:{run}:1", "params": params}

    said = {"method": "values", "params": {"namespace": [], "data": {}}}
    other = lifecycle("started", "0" * 8 + RUN[8:])
    sent = [other, said, lifecycle("started"), said, lifecycle("completed"), said]

    async def asent() -> AsyncIterator[Any]:
        for event in sent:
            yield event

    async def afound() -> list[Any]:
        return [event async for event in aof_run(asent(), RUN)]

    assert asyncio.run(afound()) == list(of_run(sent, RUN)) == sent[2:5]
