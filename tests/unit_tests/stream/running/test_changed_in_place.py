"""Lists that nodes change in place: what they add is shown, as plain LangGraph shows it, late."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import RetryPolicy, Send
from pydantic import BaseModel
from typing_extensions import TypedDict

from langgraph_once import DedupConfig, adedup, dedup, once

ASKED = "asked"


class State(TypedDict, total=False):
    topic: str
    messages: list[Any]
    deep: dict[str, Any]


@dataclass
class Data:
    topic: str = ""
    messages: list[Any] = field(default_factory=list)


class Model(BaseModel):
    topic: str = ""
    messages: list[Any] = []


def messages_in(state: Any) -> Any:
    return state["messages"] if isinstance(state, dict) else state.messages


def begin(_: Any) -> Any:
    return {"messages": [AIMessage("begun")]}


def add(id_: str | None, text: str = "found", wait_s: float = 0) -> Callable[[Any], Any]:
    """A node that adds a message in place, and does not return it."""

    def node(state: Any) -> Any:
        messages_in(state).append(AIMessage(text, id=id_))
        time.sleep(wait_s)
        return {"topic": "t"}

    return node


def hand_on(state: Any) -> Any:
    return {"messages": messages_in(state)}


def chain(schema: Any, *nodes: Any) -> Any:
    builder = StateGraph(schema)
    for at, node in enumerate(nodes):
        builder.add_node(f"n{at}", node)
        builder.add_edge(f"n{at - 1}" if at else START, f"n{at}")
    return builder.compile()


def in_a_chain(id_: str | None) -> Any:
    return chain(State, begin, add(id_), hand_on), {"topic": "a"}


def by_a_dataclass(id_: str | None) -> Any:
    return chain(Data, begin, add(id_), hand_on), {"topic": "a"}


def by_a_model(id_: str | None) -> Any:
    return chain(Model, begin, add(id_), hand_on), {"topic": "a"}


def in_the_callers_list(id_: str | None) -> Any:
    asked = HumanMessage(ASKED, id=id_ and ASKED)
    return chain(State, add(id_), hand_on), {"messages": [asked]}


def by_who_returns_it(id_: str | None) -> Any:
    def node(state: Any) -> Any:
        state["messages"].append(AIMessage("found", id=id_))
        return state

    return chain(State, node, hand_on), {"messages": [HumanMessage(ASKED, id=id_ and ASKED)]}


def what_the_caller_asked(id_: str | None) -> Any:
    asked = {"messages": [AIMessage("found", id=id_ and ASKED)]}
    return chain(State, hand_on, add(id_), hand_on), asked


def nested(id_: str | None) -> Any:
    def begin(_: Any) -> Any:
        return {"deep": {"a": {"said": [AIMessage("begun")]}}}

    def add(state: Any) -> Any:
        state["deep"]["a"]["said"].extend([AIMessage("found", id=id_)])
        return {"topic": "t"}

    return chain(State, begin, add, lambda state: {"deep": state["deep"]}), {"topic": "a"}


def side_by_side(id_: str | None, wait_s: float = 0) -> Any:
    later_runs = Event()

    def add_beside(state: Any) -> Any:
        # What stands in the list as the other starts has come in, so LangGraph does not show it.
        later_runs.wait(timeout=10)
        return add(id_, wait_s=wait_s)(state)

    def later(state: Any) -> Any:
        later_runs.set()
        time.sleep(0.1)
        return hand_on(state)

    builder: Any = StateGraph(State)
    builder.add_node("begin", begin)
    builder.add_node("add", add_beside)
    builder.add_node("later", later)
    builder.add_node("last", hand_on)
    builder.add_edge(START, "begin")
    builder.add_edge("begin", "add")
    builder.add_edge("begin", "later")
    builder.add_edge(["add", "later"], "last")
    return builder.compile(), {"topic": "a"}


def side_by_side_and_slow(id_: str | None) -> Any:
    return side_by_side(id_, wait_s=0.3)


def in_a_graph(id_: str | None) -> Any:
    return chain(State, begin, chain(State, add(id_), hand_on)), {"topic": "a"}


def in_what_a_send_gives(id_: str | None) -> Any:
    builder: Any = StateGraph(State)
    builder.add_node("begin", begin)
    builder.add_node("sent", add(id_))
    builder.add_node("last", hand_on)
    builder.add_edge(START, "begin")
    builder.add_conditional_edges(
        "begin", lambda state: [Send("sent", {"messages": state["messages"]})], ["sent"]
    )
    builder.add_edge("sent", "last")
    return builder.compile(), {"topic": "a"}


def in_an_attempt_that_fails(id_: str | None) -> Any:
    begun = []

    def node(state: Any) -> Any:
        begun.append(1)
        state["messages"].append(AIMessage(f"found {len(begun) % 2}"))
        if len(begun) % 2:
            raise ValueError
        return add(id_)(state)

    builder: Any = StateGraph(State)
    builder.add_node("begin", begin)
    again = RetryPolicy(initial_interval=0.01, retry_on=ValueError)
    builder.add_node("node", node, retry_policy=again)
    builder.add_node("last", hand_on)
    builder.add_edge(START, "begin").add_edge("begin", "node").add_edge("node", "last")
    return builder.compile(), {"topic": "a"}


GRAPHS = [
    in_a_chain,
    by_a_dataclass,
    by_a_model,
    in_the_callers_list,
    by_who_returns_it,
    what_the_caller_asked,
    nested,
    side_by_side,
    side_by_side_and_slow,
    in_a_graph,
    in_what_a_send_gives,
    in_an_attempt_that_fails,
]


def texts(chunks: Any, version: str) -> Counter[str]:
    pairs = [chunk["data"] if version == "v2" else chunk for chunk in chunks]
    told = [message for message, _ in pairs if message.type != "remove"]
    return Counter(message.text for message in told)


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("form", ["stock", "exact", "plain deduplicated"])
@pytest.mark.parametrize("id_", [None, "f"], ids=["unnamed", "named"])
@pytest.mark.parametrize("make", GRAPHS)
async def test_what_a_node_adds_in_place_is_shown_as_by_plain_langgraph(
    make: Callable[[str | None], Any], id_: str | None, form: str, version: Any
) -> None:
    graph, given = make(id_)
    plain = texts(graph.stream(given, stream_mode="messages", version=version), version)
    is_async = make in (in_a_chain, in_a_graph)
    graph, given = make(id_)
    ours = graph if form == "plain deduplicated" else once(graph)
    reads: dict[str, Any] = {"stream_mode": "messages", "version": version}
    if is_async:
        chunks = ours.astream(given, **reads)
        seen = chunks if form == "stock" else adedup(chunks, **reads)
        told = texts([chunk async for chunk in seen], version)
    else:
        # Sync nodes of a sync graph run where no loop is.
        def read() -> Counter[str]:
            chunks = ours.stream(given, **reads)
            return texts(chunks if form == "stock" else dedup(chunks, **reads), version)

        told = await asyncio.to_thread(read)
    stood = Counter({message.text for message in given.get("messages", [])[:1]})
    missing = plain - told
    assert not missing or missing == stood
    if form != "plain deduplicated" and make is not by_a_model:  # each task has a list of its own
        assert told["found"] == 1


def test_what_stood_in_the_thread_is_not_told_again() -> None:
    builder: Any = StateGraph(State)
    for name in ("a", "b"):
        builder.add_node(name, hand_on)
    builder.add_edge(START, "a").add_edge("a", "b")
    graph = once(builder.compile(checkpointer=InMemorySaver()), DedupConfig())
    on: Any = {"configurable": {"thread_id": "1"}}
    graph.update_state(on, {"messages": [HumanMessage("old"), AIMessage("older")]}, as_node="b")
    given = {"topic": "t"}
    assert texts(graph.stream(given, on, stream_mode="messages"), "v1") == Counter()
