"""What is known of a graph before it runs, and what is made of it; no server is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.pregel.remote import RemoteGraph

from langgraph_once import DedupConfig, OnceRemoteGraph, once
from langgraph_once.events.sources import each_once, is_graph, is_once_remote, state_before

URL = "http://localhost:9"
THREAD: Any = {"configurable": {"thread_id": "1"}}
MINE = DedupConfig(reexecution="hold")


def local(*, memory: bool = False) -> Any:
    builder = StateGraph(MessagesState).add_node("n", lambda _: {}).add_edge(START, "n")
    return builder.compile(checkpointer=InMemorySaver() if memory else None)


def test_a_remote_graph_that_tells_each_thing_once_keeps_its_own_configuration() -> None:
    graph = OnceRemoteGraph("agent", url=URL, dedup=MINE)
    made, is_once = each_once(graph, DedupConfig())
    assert is_once
    assert made is not graph
    assert isinstance(made, OnceRemoteGraph)
    assert made.dedup == replace(MINE, state="changed", form="exact")
    assert graph.dedup == MINE
    assert is_once_remote(graph)


def test_a_remote_graph_of_langgraph_is_asked_as_it_is() -> None:
    graph = RemoteGraph("agent", url=URL)
    assert each_once(graph, DedupConfig()) == (graph, False)
    assert not is_once_remote(graph)
    assert not is_once_remote(local())


def test_a_wrapped_graph_is_copied_and_a_plain_one_is_wrapped() -> None:
    wrapped = once(local(), DedupConfig(state="full"))
    made, is_once = each_once(wrapped, DedupConfig())
    assert (is_once, made.dedup_config.state) == (True, "changed")
    assert wrapped.dedup_config.state == "full"
    made, is_once = each_once(local(), DedupConfig())
    assert (is_once, made.dedup_config.state) == (True, "changed")


@pytest.mark.parametrize(
    ("graph", "config", "needs", "is_asked"),
    [
        (local(memory=True), THREAD, True, True),
        (local(memory=True).with_config(THREAD), None, True, True),
        (local(memory=True), THREAD, False, False),
        (local(memory=True), None, True, False),
        (local(), THREAD, True, False),
        (once(local(memory=True)), THREAD, True, False),
        (RemoteGraph("agent", url=URL), THREAD, True, True),
        (RemoteGraph("agent", url=URL), None, True, False),
        (iter([]), THREAD, True, False),
    ],
)
def test_only_a_graph_of_a_thread_that_does_not_tell_its_state_is_asked_for_it(
    graph: Any, config: Any, needs: bool, is_asked: bool
) -> None:
    assert (state_before(graph, config, needs=needs) is not None) is is_asked


def test_is_graph_takes_local_and_remote_graphs() -> None:
    assert is_graph(local())
    assert is_graph(RemoteGraph("agent", url=URL))
    assert not is_graph(iter([]))
