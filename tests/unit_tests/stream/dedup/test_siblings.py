"""Tasks side by side that write under one id into one list, of which the list keeps one."""

from __future__ import annotations

import asyncio
import contextlib
import operator
import threading
import time
from collections.abc import Callable
from threading import Event
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, Send, interrupt

from langgraph_once import DedupConfig, Ledger, dedup, once
from langgraph_once.stream import Deduplicator, Part
from tests.corpus.models import answers
from tests.exact import exactly
from tests.unit_tests.stream.scenes import folded

FIRST = AIMessage("The first text.", id="one")
ASKED: Any = {"messages": [("user", "Please begin.")]}

Node = Callable[[Any], Any]


def edits(text: str) -> Node:
    return lambda _: {"messages": [AIMessage(text, id="one")]}


def streams(text: str) -> Node:
    return lambda _: {"messages": [answers(AIMessage(text, id="one")).invoke("?")]}


def returns_it(state: Any) -> Any:
    return {"messages": state["messages"][-1:]}


async def test_a_resume_does_not_undo_what_the_last_task_in_order_wrote_before_it() -> None:
    """`b` is done and told, `c` dies, `a` is cancelled; the resume runs `a` and `c` alone."""
    is_told, is_resumed = asyncio.Event(), asyncio.Event()

    async def a(_: Any) -> Any:
        await is_resumed.wait()
        return {"messages": [AIMessage("The text of a.", id="one")]}

    async def c(_: Any) -> Any:
        if not is_resumed.is_set():
            await is_told.wait()
            raise RuntimeError
        return {"messages": []}

    builder: Any = StateGraph(MessagesState).add_node("begin", lambda _: {"messages": [FIRST]})
    builder.add_edge(START, "begin")
    for name, work in (("a", a), ("b", edits("The text of b.")), ("c", c)):
        builder.add_node(name, work).add_edge("begin", name)
    graph = exactly(builder.compile(checkpointer=InMemorySaver()))
    thread: Any = {"configurable": {"thread_id": "1"}}
    told = []
    with contextlib.suppress(RuntimeError):
        async for chunk in graph.astream(ASKED, thread, stream_mode="messages"):
            told.append(chunk)
            if chunk[0].text == "The text of b.":
                is_told.set()
    is_resumed.set()
    told += [each async for each in graph.astream(None, thread, stream_mode="messages")]
    state = (await graph.aget_state(thread)).values["messages"]
    assert [m.text for m in state if m.id == "one"] == ["The text of b."]
    assert list(folded(told).values()) == ["The text of b."]


def asks(work: Node) -> Node:
    """`work`, after an interrupt."""

    def run(state: Any) -> Any:
        interrupt("Go on?")
        return work(state)

    return run


def asks_after_streaming(text: str) -> Node:
    """A model says it, then the task is interrupted; it is streamed anew on the resume."""

    def run(state: Any) -> Any:
        said = streams(text)(state)
        interrupt("Go on?")
        return said

    return run


@pytest.mark.parametrize("modes", [["messages"], ["messages", "updates"]])
@pytest.mark.parametrize("is_behind", [False, True])
@pytest.mark.parametrize(
    ("a", "b", "c"),
    [
        (edits("From a."), asks(edits("From b.")), edits("From c.")),
        (edits("From a."), edits("From b."), asks(edits("From c."))),
        (edits("From a."), asks(streams("From b.")), returns_it),
        (asks(edits("From a.")), edits("From b."), returns_it),
        (asks(streams("From a.")), edits("From b."), returns_it),
        (asks(streams("From a.")), asks(streams("From b.")), streams("From c.")),
        (asks_after_streaming("From a."), streams("From b."), returns_it),
        (asks(edits("The same.")), edits("The same."), returns_it),
    ],
)
def test_after_a_resume_a_reader_has_the_write_of_a_step_that_the_list_keeps(
    a: Node, b: Node, c: Node, is_behind: bool, modes: list[str]
) -> None:
    """Of one new id: what a task wrote before the interrupt, and what one writes after it."""
    builder: Any = StateGraph(MessagesState)
    for name, work in (("a", a), ("b", b), ("c", c)):
        builder.add_node(name, work).add_edge(START, name)
    graph = exactly(builder.compile(checkpointer=InMemorySaver()))
    thread: Any = {"configurable": {"thread_id": "1"}}
    asked, told, ledger = ASKED, list[Any](), Ledger()
    while asked is not None:
        chunks = graph.stream(asked, thread, stream_mode=modes)
        if is_behind:  # a second reader
            chunks = dedup(chunks, stream_mode=modes, ledger=ledger)
        told += [data for mode, data in chunks if mode == "messages"]
        waiting = [each.id for each in graph.get_state(thread).interrupts]
        asked = Command(resume=dict.fromkeys(waiting, "Yes.")) if waiting else None
    kept = {m.id: m.text for m in graph.get_state(thread).values["messages"][1:]}
    assert folded(told) == kept


def test_a_later_step_takes_the_place_of_what_a_step_wrote_before_a_resume() -> None:
    builder: Any = StateGraph(MessagesState)
    for name, work in (("b", edits("From b.")), ("c", asks(returns_it))):
        builder.add_node(name, work).add_edge(START, name).add_edge(name, "a")
    builder.add_node("a", edits("From a."))
    graph = exactly(builder.compile(checkpointer=InMemorySaver()))
    thread: Any = {"configurable": {"thread_id": "1"}}
    told = list[Any]()
    asked: Any
    for asked in (ASKED, Command(resume="Yes.")):
        told += graph.stream(asked, thread, stream_mode="messages")
    assert folded(told) == {"one": "From a."}


class Added(TypedDict):
    messages: Annotated[list[Any], operator.add]


LOST = pytest.mark.xfail(
    strict=True, reason="What is taken back of the task that runs again clears the id of both."
)


@pytest.mark.parametrize("first", ["a", pytest.param("b", marks=LOST)])
def test_of_a_list_that_holds_two_of_one_id_neither_is_lost_with_a_resume(first: str) -> None:
    """`a` is done and `b` asks; the order in which they speak decides what is told."""
    has_spoken = threading.Event()

    def in_turn(name: str, work: Node) -> Node:
        def run(state: Any) -> Any:
            if name != first:
                has_spoken.wait()
                time.sleep(0.1)  # what the other has said is on its way
            try:
                return work(state)
            finally:
                has_spoken.set()

        return run

    builder: Any = StateGraph(Added)
    for name, work in (("a", streams("From a.")), ("b", asks_after_streaming("From b."))):
        builder.add_node(name, in_turn(name, work)).add_edge(START, name)
    graph = exactly(builder.compile(checkpointer=InMemorySaver()))
    thread: Any = {"configurable": {"thread_id": "1"}}
    told = list[Any]()
    asked: Any
    for asked in ({"messages": []}, Command(resume="Yes.")):
        told += graph.stream(asked, thread, stream_mode="messages")
    assert folded(told) == {"one": "From a.From b."}


@pytest.mark.parametrize("config", [DedupConfig(), DedupConfig(hide={"nodes": ["other"]})])
@pytest.mark.parametrize("asking", [{2}, {1}, {0, 1}])
def test_workers_of_whom_some_are_done_before_a_resume(
    asking: set[int], config: DedupConfig
) -> None:
    def worker(sent: Any) -> Any:
        work = edits(sent["text"])
        return asks(work)(sent) if sent["asks"] else work(sent)

    builder: Any = StateGraph(MessagesState)
    builder.add_node("worker", worker)
    sends = [Send("worker", {"text": f"Worker {at}.", "asks": at in asking}) for at in range(3)]
    builder.add_conditional_edges(START, lambda _: sends, ["worker"])
    graph = exactly(builder.compile(checkpointer=InMemorySaver()), config)
    thread: Any = {"configurable": {"thread_id": "1"}}
    asked, told = ASKED, list[Any]()
    while asked is not None:
        told += graph.stream(asked, thread, stream_mode="messages")
        waiting = [each.id for each in graph.get_state(thread).interrupts]
        asked = Command(resume={waiting[0]: "Yes."}) if waiting else None
    assert list(folded(told).values()) == ["Worker 2."]


def side_by_side(order: str, a: Node, b: Node) -> Any:
    """A graph whose nodes `a` and `b` run side by side and end in this order."""
    done = {name: threading.Event() for name in order}

    def node(name: str, work: Node) -> Node:
        def run(state: Any) -> Any:
            if name == order[1]:
                done[order[0]].wait(5)
            result = work(state)
            done[name].set()
            return result

        return run

    builder: Any = StateGraph(MessagesState)
    builder.add_node("begin", lambda _: {"messages": [FIRST]})
    builder.add_edge(START, "begin")
    for name, work in (("a", a), ("b", b)):
        builder.add_node(name, node(name, work))
        builder.add_edge("begin", name)
    return builder.compile()


def fold(graph: Any, config: DedupConfig | None = None) -> list[str]:
    return list(folded(exactly(graph, config).stream(ASKED, stream_mode="messages")).values())


def state(graph: Any) -> list[str]:
    return [message.text for message in graph.invoke(ASKED)["messages"][1:]]


@pytest.mark.parametrize("order", ["ab", "ba"])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (edits("From a."), edits("From b.")),
        (edits("The same."), edits("The same.")),
        (streams("From a."), streams("From b.")),
        (streams("From a."), edits("From b.")),
        (edits("From a."), streams("From b.")),
        (streams("The same."), streams("The same.")),
        (edits("From a."), returns_it),
        (returns_it, edits("From b.")),
    ],
)
def test_the_consumer_has_the_one_that_the_list_keeps(order: str, a: Node, b: Node) -> None:
    assert fold(side_by_side(order, a, b)) == state(side_by_side(order, a, b))


def test_workers_in_the_order_of_their_sends() -> None:
    builder: Any = StateGraph(MessagesState)
    builder.add_node("worker", lambda sent: edits(sent["text"])(sent))
    texts = [f"Worker {at}." for at in range(12)]
    sends = [Send("worker", {"text": text}) for text in texts]
    builder.add_conditional_edges(START, lambda _: sends, ["worker"])
    graph = builder.compile()
    assert fold(graph) == state(graph) == texts[-1:]


def test_the_next_step_writes_anew() -> None:
    graph = side_by_side("ba", edits("From a."), edits("From b."))
    builder: Any = StateGraph(MessagesState)
    builder.add_node("both", graph)
    builder.add_node("again", edits("From the last."))
    builder.add_edge(START, "both").add_edge("both", "again")
    assert fold(builder.compile()) == ["From the last."]


def test_a_second_reader_of_it_has_the_same() -> None:
    graph = exactly(side_by_side("ba", streams("From a."), streams("From b.")))
    chunks = dedup(graph.stream(ASKED, stream_mode="messages"), stream_mode="messages")
    assert list(folded(chunks).values()) == ["From b."]


def test_what_two_tasks_hand_on_as_they_were_given_it_is_not_said() -> None:
    builder: Any = StateGraph(MessagesState)
    for name in "ab":
        builder.add_node(name, returns_it).add_edge(START, name)
    graph = exactly(builder.compile())
    assert list(graph.stream({"messages": [FIRST]}, stream_mode="messages")) == []


def test_a_message_that_parallel_tasks_return_unchanged_is_said_once() -> None:
    chunks = list(
        exactly(side_by_side("ab", returns_it, returns_it)).stream(ASKED, stream_mode="messages")
    )
    assert [str(m.text) for m, _ in chunks] == ["The first text."]
    assert not [m for m, _ in chunks if isinstance(m, RemoveMessage)]


def test_what_a_task_was_given_is_not_taken_for_what_another_is_just_saying() -> None:
    """Tasks side by side were given a message under an id, and say theirs under it."""

    def meta(task: str) -> Any:
        note = {"v": 1, "source": "model", "attempt": 1, "steps": [1], "run": task, "id": "same"}
        return {"langgraph_checkpoint_ns": task, "once": {**note, "at": task}}

    def given(task: str) -> Any:
        note = {**meta(task)["once"], "source": "node", "given": True}
        return {"langgraph_checkpoint_ns": task, "once": {**note, "at": task}}

    dedup = Deduplicator()
    says: list[tuple[Any, Any]] = [
        (AIMessageChunk(content="First.", id="same"), meta("n:1")),
        (AIMessageChunk(content="", id="same"), meta("n:2")),
        (AIMessage("First.", id="same"), given("n:1")),
        (AIMessageChunk(content="Second.", id="same"), meta("n:2")),
    ]
    parts = [Part((), "messages", message, about) for message, about in says]
    new = [out for part in parts for out in dedup.feed(part)]
    assert [out.data.content for out in new] == ["First.", "", "Second."]


@pytest.mark.parametrize("graph", ["", "inside:1|"])
def test_a_sibling_that_wins_takes_the_place_of_those_of_its_graph_alone(graph: str) -> None:
    def meta(task: str, **more: Any) -> Any:
        note = {"v": 1, "source": "node", "attempt": 1, "steps": [1], **more}
        return {"langgraph_checkpoint_ns": task, "once": {**note, "at": task}}

    dedup = Deduplicator()
    others = ["deeper:1|n:1", "inside:2|n:1"]
    said: list[tuple[str, Any]] = [(task, {}) for task in (*others, f"{graph}n:1", f"{graph}n:2")]
    parts = [
        Part((), "messages", AIMessage(task, id="same"), meta(task, **more))
        for task, more in [*said, (f"{graph}n:3", {"wins": True})]
    ]
    for part in parts:
        list(dedup.feed(part))
    kept = {entry.task for entry in dedup.ledger.entries("same")}
    assert kept == {*others, f"{graph}n:3"}


@pytest.mark.parametrize("form", ["exact", "stock"])
def test_what_the_graph_was_given_is_not_told_when_a_change_of_it_loses(form: Any) -> None:
    """`b` returns what was given and comes last in order; `a`, which changes it, is done last."""

    b_returns = Event()

    def a(_: Any) -> Any:
        b_returns.wait(timeout=10)
        time.sleep(0.1)  # till LangGraph has heard of it
        return {"messages": [AIMessage("Changed.", id="one")]}

    def b(state: Any) -> Any:
        b_returns.set()
        return returns_it(state)

    builder: Any = StateGraph(MessagesState)
    builder.add_node("a", a).add_node("b", b).add_edge(START, "a").add_edge(START, "b")
    graph = once(builder.compile(), DedupConfig(form=form))
    assert list(graph.stream({"messages": [FIRST]}, stream_mode="messages")) == []
