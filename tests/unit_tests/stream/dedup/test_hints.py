"""What is known of a run beside its states, and when it is known."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import RetryPolicy

from langgraph_once import DedupConfig, once
from langgraph_once.stream import Deduplicator, Ledger, Part
from langgraph_once.stream.content import content_of
from langgraph_once.stream.entries import Entry
from langgraph_once.stream.forms import DedupStats
from langgraph_once.stream.identity import Guess
from langgraph_once.stream.ledger import MAX_MESSAGES
from langgraph_once.stream.state_cut import Hints, StateCut
from tests.unit_tests.stream.scenes import ASKED, chain, messages_in

RETRY = RetryPolicy(initial_interval=0.0001, jitter=False, retry_on=ValueError)


def state(text: str, message_id: str, *ns: str) -> Part:
    return Part(ns, "values", {"messages": [AIMessage(text, id=message_id)]})


def test_a_state_that_is_read_after_its_task_ran_again_is_taken_back() -> None:
    hints = Hints()
    dedup = Deduplicator(DedupConfig(state="new_messages"), modes=["values"], hints=hints)
    hints.rerun.append("n:1")
    hints.void.add("old")
    late = list(dedup.feed(state("Hello.", "old", "n:1")))
    again = list(dedup.feed(state("Hello.", "new", "n:1", "1")))
    assert [part.data["messages"][0].id for part in late] == ["old"]
    gone, said = again[0].data["messages"]
    assert isinstance(gone, RemoveMessage)
    assert (gone.id, said.id) == ("old", "new")


def test_what_was_returned_inside_a_task_is_void_once_that_runs_again() -> None:
    hints = Hints()
    hints.note_returned("inside", ("n:1",), "n:1|m:2")
    hints.note_returned("in a graph with memory", ("n",), "n|m:2")
    hints.note_returned("beside", (), "n:10")
    hints.note_rerun("n:1")
    assert list(hints.rerun) == ["n:1"]
    assert hints.void == {"inside", "in a graph with memory"}
    hints.note_returned("inside", ("n:1",), "n:1|m:3")
    assert hints.void == {"in a graph with memory"}


def test_what_a_task_calls_is_inside_it_though_it_is_of_the_same_graph() -> None:
    hints = Hints()
    hints.note_returned("called", (), "entry:1|task:2")
    hints.note_returned("of a graph inside", ("n:1",), "n:1|m:2")
    assert hints.place("called", ()) == ("entry:1",)
    assert hints.place("of a graph inside", ("n:1",)) == ("n:1",)
    assert hints.place("of a graph inside", ()) == hints.place("of nobody known", ()) == ()


def test_the_oldest_messages_are_forgotten() -> None:
    hints = Hints()
    for number in range(MAX_MESSAGES + 1):
        hints.note_returned(str(number), (), "n:1|m:1")
        if number < 2:
            hints.note_rerun("n:1")
    assert len(hints.origins) == MAX_MESSAGES
    assert ("0" in hints.origins, hints.void) == (False, {"1"})


@pytest.mark.parametrize("mode", ["updates", "values"])
@pytest.mark.parametrize("subgraphs", [False, True])
def test_an_id_that_is_said_again_stays(subgraphs: bool, mode: Any) -> None:
    inner = chain(lambda _: {"messages": [AIMessage("Hello.", id="fixed")]})
    runs: list[Any] = []

    def outer(asked: Any) -> Any:
        runs.append(inner.invoke(asked))
        if len(runs) == 1:
            raise ValueError
        return runs[-1]

    builder: Any = StateGraph(MessagesState)
    builder.add_node("outer", outer, retry_policy=RETRY)
    builder.add_node("last", lambda _: {"messages": [AIMessage("Bye.", id="bye")]})
    builder.add_edge(START, "outer")
    builder.add_edge("outer", "last")
    graph = once(builder.compile(), DedupConfig(state="new_messages"))
    had: dict[str, str] = {}
    for chunk in graph.stream(ASKED, stream_mode=mode, subgraphs=subgraphs, version="v2"):
        for message in messages_in(chunk["data"]):
            if isinstance(message, RemoveMessage):
                had.pop(str(message.id))
            else:
                had[str(message.id)] = str(message.text)
    had.pop(next((known for known, text in had.items() if text == "Please begin."), ""), None)
    assert list(had.values()) == ["Hello.", "Bye."]


@pytest.mark.parametrize("new", [[AIMessage("Yes.", id="new")], []], ids=len)
def test_what_was_said_in_vain_is_taken_back_in_the_list_of_messages(new: list[Any]) -> None:
    ledger = Ledger()
    ledger.add(vain := Entry("n:1", "vain", content_of(AIMessage("No."))))
    data = {"notes": [], "n": {"messages": new}}
    cut = StateCut(
        Part((), "updates", data),
        ledger=ledger,
        stale=[vain],
        hints=None,
        is_message_key=lambda *_: False,
        guess=Guess(ledger, DedupStats()),
    )
    assert cut.cut() == {"notes": [], "n": {"messages": [RemoveMessage(id="vain"), *new]}}
