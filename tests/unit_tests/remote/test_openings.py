"""What a run is begun with, or joined with, before its first event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import orjson
import pytest
from langgraph_sdk.client import SyncLangGraphClient

from langgraph_once import Ledger, OnceRemoteGraph, join_run, stream_run
from langgraph_once.config import READER_CHECKPOINT
from langgraph_once.remote.reconnect import run_steps
from tests.unit_tests.remote.clients import BEGUN
from tests.unit_tests.remote.raw_server import RUN, THREAD, events

MEDIA_TYPE = {"content-type": "text/event-stream"}
SENT = [BEGUN, ("values", {"n": 1}, "2-0"), ("end", None, "3-0")]


class Server:
    """Streams one state, and tells what a run was begun with."""

    def __init__(self, **kwargs: Any) -> None:
        self.kwargs = kwargs
        self.begun: list[Any] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json={"status": "running", "kwargs": self.kwargs})
        self.begun.append(orjson.loads(request.content))
        return httpx.Response(200, content=events(SENT), headers=MEDIA_TYPE)

    def client(self) -> SyncLangGraphClient:
        transport = httpx.MockTransport(self)
        return SyncLangGraphClient(httpx.Client(transport=transport, base_url="http://server"))


@pytest.mark.parametrize("checkpoint", [None, {"checkpoint_id": "c"}])
def test_a_run_announces_its_reader(checkpoint: Any) -> None:
    server = Server()
    given: Any = {"input": {}, "checkpoint": checkpoint}
    list(stream_run(server.client(), None, "g", **given))
    list(OnceRemoteGraph("g", sync_client=server.client()).stream({}, checkpoint=checkpoint))
    expected = {**(checkpoint or {}), **READER_CHECKPOINT}
    assert [body["checkpoint"] for body in server.begun] == [expected] * 2


@pytest.mark.parametrize(
    ("given", "may_repeat"),
    [
        ({"input": None}, True),
        ({"command": {"resume": "yes"}}, True),
        ({"input": {"n": 1}}, False),
        ({"command": {"goto": "node"}}, False),
    ],
)
def test_updates_of_an_earlier_stream_come_again_only_where_its_step_goes_on(
    given: Any, may_repeat: bool
) -> None:
    ledger = Ledger()
    ledger.updates[b"before"] = 0
    stream: Iterator[Any] = stream_run(Server().client(), None, "g", ledger=ledger, **given)
    next(stream)
    assert (b"before" in ledger.updates) is may_repeat


@pytest.mark.parametrize(
    ("kwargs", "goes_on"),
    [
        ({"input": None, "command": {"resume": "yes"}}, True),
        ({"input": {"n": 1}}, False),
        ({}, False),
    ],
    ids=["answer", "input", "unknown"],
)
def test_a_run_that_is_joined_goes_on_where_the_server_says_so(kwargs: Any, goes_on: bool) -> None:
    client = Server(**kwargs).client()
    reading = run_steps(client, join_run(client, THREAD, RUN)._open())
    assert reading.reader.goes_on is goes_on
