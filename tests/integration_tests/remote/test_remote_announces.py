"""Our readers say who they are, and nothing of it stays behind them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast
from uuid import uuid4

import pytest
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command
from langgraph_sdk.client import SyncLangGraphClient

from langgraph_once import READER_CHECKPOINT, OnceRemoteGraph, join_run, once, stream_run
from langgraph_once.config import READER_KEY
from langgraph_once.events import ChannelStreamingProcessor
from tests.integration_tests.remote.conftest import Remote

ASKED: Any = {"messages": [{"role": "user", "content": "Who reads this?"}]}
CONTEXT: Any = {"user": "Ada"}
GRAPHS = ["overhears", "overhears_plain"]
ANNOUNCED = READER_CHECKPOINT[READER_KEY]

every_graph = pytest.mark.parametrize("name", GRAPHS)


def client_of(graph: OnceRemoteGraph) -> SyncLangGraphClient:
    assert graph.sync_client is not None
    return graph.sync_client


def thread() -> Any:
    return {"configurable": {"thread_id": str(uuid4())}}


def heard(told: Iterable[Any]) -> list[Any]:
    """Who read, as the graph says it; what it was told besides must be nothing."""
    found = list(told)
    assert not any(each["told"] for each in found)
    return [each["heard"] for each in found]


@every_graph
class TestRemoteGraphs:
    @pytest.mark.parametrize("context", [None, CONTEXT])
    async def test_a_remote_graph_that_streams_announces_itself(
        self, remote: Remote, name: str, context: Any
    ) -> None:
        graph = remote(name)
        asked: Any = {"stream_mode": "custom", "context": context}
        told = list(graph.stream(ASKED, **asked))
        told += [chunk async for chunk in graph.astream(ASKED, thread(), **asked)]
        assert heard(told) == [ANNOUNCED, ANNOUNCED]
        assert {each["user"] for each in told} == {"Ada" if context else "nobody"}

    async def test_a_remote_graph_that_is_invoked_announces_itself(
        self, remote: Remote, name: str
    ) -> None:
        graph = remote(name)
        told = graph.invoke(ASKED, stream_mode="custom")
        told += await graph.ainvoke(ASKED, thread(), stream_mode="custom")
        assert heard(told) == [ANNOUNCED, ANNOUNCED]

    def test_a_resume_and_a_fork(self, remote: Remote, name: str) -> None:
        graph, config = remote(name), thread()
        graph.invoke(ASKED, config)
        first = graph.get_state(config).config
        told = graph.invoke(Command(goto="overhear"), config, stream_mode="custom")
        told += graph.invoke(
            None, graph.update_state(first, ASKED, "__start__"), stream_mode="custom"
        )
        assert heard(told) == [ANNOUNCED, ANNOUNCED]

    def test_a_remote_graph_as_a_node_announces_itself(self, remote: Remote, name: str) -> None:
        builder = StateGraph(MessagesState).add_node("child", remote(name))
        graph = once(builder.add_edge(START, "child").compile())
        config: Any = {"configurable": {**READER_CHECKPOINT}}  # as in a run whose reader is ours
        told = graph.stream(ASKED, config, stream_mode="custom", subgraphs=True)
        assert heard(chunk for _, chunk in told) == [ANNOUNCED]


@every_graph
class TestClients:
    def test_a_client_that_streams_runs_announces_itself(self, remote: Remote, name: str) -> None:
        client = client_of(remote(name))
        asked: Any = {"stream_mode": "custom", "input": ASKED, "context": CONTEXT}
        thread_id = client.threads.create()["thread_id"]
        run = stream_run(client, thread_id, name, **asked)
        told = [part.data for part in run]
        told += [part.data for part in join_run(client, thread_id, str(run.run_id))]
        assert heard(told) == [ANNOUNCED, ANNOUNCED]

    def test_what_the_sdk_streams(self, remote: Remote, name: str) -> None:
        asked: Any = {"input": ASKED, "context": CONTEXT, "checkpoint": READER_CHECKPOINT}
        parts = client_of(remote(name)).runs.stream(None, name, stream_mode="custom", **asked)
        assert heard(part.data for part in parts if part.event == "custom") == [ANNOUNCED]

    def test_a_client_that_streams_events_announces_itself(self, remote: Remote, name: str) -> None:
        processor = ChannelStreamingProcessor(include=["custom"])
        ours = remote(name)
        for graph in (ours, RemoteGraph(name, sync_client=ours.sync_client)):
            events = processor.stream_sync(graph, ASKED, context=CONTEXT)
            assert heard(event.data for event in events if event.type == "custom") == [ANNOUNCED]


@every_graph
def test_the_next_reader_of_the_thread_is_not_taken_for_ours(remote: Remote, name: str) -> None:
    graph, config = remote(name), thread()
    graph.invoke(ASKED, config)
    stock = RemoteGraph(name, sync_client=graph.sync_client)
    assert heard(stock.stream(ASKED, config, stream_mode="custom")) == [None]
    history = list(graph.get_state_history(config))
    assert len(history) > 2
    assert READER_KEY not in repr(history)


@pytest.mark.filterwarnings("ignore:.*v3 streaming protocol")
@pytest.mark.filterwarnings("ignore:.*v3.*:langchain_core._api.LangChainBetaWarning")
def test_a_run_of_v3(remote: Remote) -> None:
    graph, config = remote("copying"), thread()
    with graph.stream_events(ASKED, config, version="v3") as run:
        assert list(run.extensions["once"])
    thread_id = config["configurable"]["thread_id"]
    (made,) = client_of(graph).runs.list(thread_id, select=["kwargs"])
    assert cast("Any", made)["kwargs"]["config"]["configurable"][READER_KEY] == ANNOUNCED
