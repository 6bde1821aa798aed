"""A client whose `runs.stream` is the user's own, to trace or to test: it is called."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from langgraph.pregel.remote import RemoteException
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.schema import StreamPart

from langgraph_once import OnceRemoteGraph, stream_run
from tests.unit_tests.remote.clients import BEGUN, custom
from tests.unit_tests.remote.raw_server import RUN, THREAD, RawServer, events, stream

GIVEN = [StreamPart(*BEGUN), StreamPart("custom", {"n": 1}), StreamPart("custom|team:1", {"n": 2})]
FAILED = StreamPart("error", {"error": "ValueError", "message": "no"})
ASKED: Any = {"stream_mode": "custom"}
NOWHERE = "http://127.0.0.1:1"


def given(*parts: StreamPart) -> Callable[..., Iterator[StreamPart]]:
    return lambda *_, **__: iter(parts)


def agiven(*parts: StreamPart) -> Callable[..., AsyncIterator[StreamPart]]:
    async def streamed(*_: Any, **__: Any) -> AsyncIterator[StreamPart]:
        for part in parts:
            yield part

    return streamed


@pytest.mark.parametrize("whole", [False, True], ids=["the method", "all methods"])
async def test_what_it_gives_is_what_is_told(whole: bool) -> None:
    with get_sync_client(url=NOWHERE) as client:
        vars(client.runs)["stream"] = given(*GIVEN)
        if whole:
            client.runs = SimpleNamespace(stream=given(*GIVEN))  # type: ignore[assignment]  # as users do
        graph = OnceRemoteGraph("g", sync_client=client)
        assert list(graph.stream({}, **ASKED, subgraphs=True)) == [
            ((), {"n": 1}),
            (("team:1",), {"n": 2}),
        ]
        run = stream_run(client, THREAD, "g", **ASKED)
        assert [part.data["n"] for part in run] == [1, 2]
        assert run.run_id == RUN
    async with get_client(url=NOWHERE) as aclient:
        vars(aclient.runs)["stream"] = agiven(*GIVEN)
        if whole:
            aclient.runs = SimpleNamespace(stream=agiven(*GIVEN))  # type: ignore[assignment]  # as users do
        agraph = OnceRemoteGraph("g", client=aclient)
        assert [chunk async for chunk in agraph.astream({}, **ASKED)] == [{"n": 1}]
        assert [p.data["n"] async for p in stream_run(aclient, THREAD, "g", **ASKED)] == [1, 2]


def test_an_error_that_it_gives_is_raised() -> None:
    with get_sync_client(url=NOWHERE) as client:
        vars(client.runs)["stream"] = given(*GIVEN[:2], FAILED)
        with pytest.raises(RemoteException, match="no"):
            OnceRemoteGraph("g", sync_client=client).invoke({})


def test_a_watching_client_sees_the_call_and_what_comes() -> None:
    seen: list[Any] = []
    answer = stream(events([BEGUN, *custom(1), ("end", None, "3-0")]))
    with RawServer(answer) as server, get_sync_client(url=server.url) as client:
        sdk = client.runs.stream

        def watched(*args: Any, **kwargs: Any) -> Iterator[Any]:
            seen.append(kwargs["assistant_id"])
            for part in sdk(*args, **kwargs):
                seen.append(part.event)
                yield part

        vars(client.runs)["stream"] = watched
        graph = OnceRemoteGraph("g", sync_client=client)
        assert list(graph.stream({}, **ASKED)) == [{"n": 1}]
    assert seen == ["g", "metadata", "custom", "end"]
