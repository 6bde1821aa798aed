"""A process dies in a step of which tasks were done: its ledger is lost, its reader's is not."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, strategies as st
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from langgraph_once import Deduplicator, Ledger
from langgraph_once.stream import InMemoryStreamStateStore, Part, StreamAddress, v2_part
from tests.exact import exactly
from tests.examples import examples
from tests.unit_tests.stream.scenes import ASKED, chain, folded, model, says, says_copy
from tests.unit_tests.stream.test_law_graphs import TEXTS, Script, answer_to, said_at_last

THREAD: Any = {"configurable": {"thread_id": "1"}, "metadata": {"run_id": "r"}}
AGAIN: Any = {**THREAD, "metadata": {"run_id": "r", "run_attempt": 2}}
TEXT = "Well said."


class DiesWithItsProcess(InMemoryStreamStateStore):
    """Keeps nothing more, from some moment on."""

    is_dead = False

    def save_stream_state(self, address: StreamAddress, data: bytes) -> None:
        if not self.is_dead:
            super().save_stream_state(address, data)


def says_pair(_: Any) -> Any:
    return {"messages": [("ai", TEXT)]}


def says_new(_: Any) -> Any:
    return {"messages": [AIMessage(TEXT)]}


def says_twice(state: Any) -> Any:
    """Two that are equal: the one that was streamed comes last."""
    streamed = model(TEXT).invoke(state["messages"])
    return {"messages": [AIMessage(TEXT, id=f"before {streamed.id}"), streamed]}


def says_copies(state: Any) -> Any:
    texts = [str(model(TEXT).invoke(state["messages"]).text) for _ in range(2)]
    return {"messages": [AIMessage(text) for text in texts]}


def asks(_: Any) -> Any:
    """Holds the step open, so that its other tasks are done and no checkpoint has that."""
    interrupt("Go on?")
    return {}


def beside(*nodes: Any) -> Any:
    """A graph that begins with a step of its own; then `nodes` run beside one that waits."""
    builder: Any = StateGraph(MessagesState)
    builder.add_node("begins", says("Let me see."))
    builder.add_edge(START, "begins")
    for i, node in enumerate((*nodes, asks)):
        builder.add_node(f"n{i}", node)
        builder.add_edge("begins", f"n{i}")
    return builder.compile(checkpointer=InMemorySaver(), interrupt_after=["begins"])


NODES = {
    "same": [says(TEXT)],
    "copy": [says_copy(TEXT)],
    "new": [says_new],
    "pair": [says_pair],
    "twice": [says_twice],
    "copies": [says_copies],
    "graph": [chain(says(TEXT))],
    "graph of copies": [chain(says_copy(TEXT))],
    "all": [says(TEXT), says_copy(TEXT), says_new, says_pair],
}


ANSWER: Any = (Command(resume="Yes."), THREAD)
GOES_ON = {"resumed": [ANSWER], "begun again by the server": [(ASKED, AGAIN), ANSWER]}


def streams(graph: Any, goes_on: list[Any], *, subgraphs: bool) -> tuple[Any, Any, Any]:
    """What a reader is sent: of the first step, of the step that dies, and of what follows."""
    store = DiesWithItsProcess()
    wrapped = exactly(graph, stream_state=store)
    asked: Any = {"stream_mode": "messages", "subgraphs": subgraphs, "version": "v2"}
    first = list(wrapped.stream(ASKED, THREAD, **asked))
    store.is_dead = True
    died = list(wrapped.stream(None, THREAD, **asked))
    store.is_dead = False
    return first, died, [list(wrapped.stream(*each, **asked)) for each in goes_on]


@pytest.mark.parametrize("subgraphs", [False, True])
@pytest.mark.parametrize("kind", NODES)
@pytest.mark.parametrize("how", GOES_ON)
def test_a_reader_of_some_of_an_attempt_has_all_of_it_once(
    how: str, kind: str, subgraphs: bool
) -> None:
    graph = beside(*NODES[kind])
    first, died, later = streams(graph, GOES_ON[how], subgraphs=subgraphs)
    assert any(later)
    state = Counter(str(m.text) for m in graph.get_state(THREAD).values["messages"][1:])
    for came in range(len(died) + 1):
        ledger, got = Ledger(), list[Any]()
        for chunks in (first, died[:came], *later):
            dedup = Deduplicator(ledger=ledger)
            for chunk in chunks:
                part = Part(tuple(chunk["ns"]), "messages", *chunk["data"])
                got += [(out.data, out.meta) for out in dedup.feed(part)]
        assert Counter(folded(got).values()) == state, came
        assert sum(len(message.text) for message, _ in got) == sum(map(len, state.elements()))


KINDS = "streams copies strips echoes writes writes_pair streams_and_edits asks asks_twice"
SPEAKERS = st.tuples(st.sampled_from([*KINDS.split(), "fails_once", "dies_once"]), TEXTS)
WITHIN = st.tuples(st.just("graph"), st.lists(SPEAKERS, min_size=1, max_size=2))


@examples(15, suppress_health_check=[HealthCheck.too_slow])
@given(
    tasks=st.lists(SPEAKERS | WITHIN, min_size=1, max_size=3),
    lost=st.integers(1, 2),
    subgraphs=st.booleans(),
)
def test_nothing_is_lost_whatever_the_tasks_are(tasks: Any, lost: int, subgraphs: bool) -> None:
    """Graphs inside may say a copy twice then: the server that says it knows of no original."""
    nodes = [("streams", "Let me see."), ("branches", [*tasks, ("asks", "Well.")])]
    options: Any = {"checkpointer": InMemorySaver(), "interrupt_after": ["streams0"]}
    plain, store, ledger = Script().graph(nodes, **options), DiesWithItsProcess(), Ledger()
    asked: Any = ASKED
    got: list[Any] = []
    for run in range(20):
        store.is_dead = 1 <= run <= lost
        graph, dedup = exactly(plain, stream_state=store), Deduplicator(ledger=ledger)
        stream: Any = graph.stream(
            asked, THREAD, stream_mode="messages", subgraphs=subgraphs, version="v2"
        )
        with suppress(RuntimeError):
            for part in map(v2_part, stream):
                got += [(out.data, out.meta) for out in dedup.feed(part)]
        state = graph.get_state(THREAD)
        if not state.next:
            break
        asked = answer_to(state)
    assert not said_at_last(state) - Counter(folded(got).values())
