"""What a state holds that was streamed before a gap, under another id."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langgraph_once.stream import Ledger
from langgraph_once.stream.content import content_of
from langgraph_once.stream.entries import Entry, State
from langgraph_once.stream.state_cut import alias_messages_after_gap

SAID = AIMessage("Yes.", id="lost")
AGAIN = AIMessage("Yes.", id="kept")


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


@pytest.fixture
def entry(ledger: Ledger) -> Entry:
    """What a model said in a task that left no trace."""
    entry = Entry("n:1", "lost", content_of(SAID))
    entry.is_model = True
    ledger.add(entry)
    return entry


def state(*messages: Any) -> Any:
    return {"messages": list(messages)}


def test_a_message_after_a_gap_that_says_the_same_is_the_streamed_one(
    ledger: Ledger, entry: Entry
) -> None:
    alias_messages_after_gap(ledger, state(HumanMessage("Well?", id="h"), AGAIN))
    assert entry.ids == ["lost", "kept"]
    assert ledger.entries("kept") == ledger.entries("lost")


@pytest.mark.parametrize(
    "messages",
    [
        [AIMessage("No.", id="kept")],
        [AIMessage("Yes.")],
        [SAID, AGAIN],
    ],
    ids=["other", "nameless", "both"],
)
def test_no_other_message_is_taken_for_it_behind_a_gap(
    ledger: Ledger, entry: Entry, messages: list[Any]
) -> None:
    alias_messages_after_gap(ledger, state(*messages))
    assert entry.ids == ["lost"]


def test_a_streamed_message_stands_for_one_message_after_a_gap(
    ledger: Ledger, entry: Entry
) -> None:
    alias_messages_after_gap(ledger, state(AGAIN, AIMessage("Yes.", id="second")))
    assert entry.ids == ["lost", "kept"]
    assert not ledger.entries("second")


def test_what_the_consumer_has_under_its_id_stays_what_it_is(ledger: Ledger, entry: Entry) -> None:
    ledger.add(Entry("m:1", "kept", content_of(AGAIN)))
    alias_messages_after_gap(ledger, state(AGAIN))
    assert entry.ids == ["lost"]


@pytest.mark.parametrize("other", [each for each in State if each is not State.COMPLETE])
def test_only_a_models_whole_message_that_no_other_was_found_to_be(
    ledger: Ledger, entry: Entry, other: State
) -> None:
    entry.state = other
    alias_messages_after_gap(ledger, state(AGAIN))
    assert entry.ids == ["lost"]
