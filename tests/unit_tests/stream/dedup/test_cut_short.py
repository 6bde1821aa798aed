"""A stream that was cut short, and the next one, in which an update tells what its tasks wrote.

Such an update names nodes alone, and messages by ids that the first stream may never have told.
"""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage

from langgraph_once import Deduplicator, Ledger
from langgraph_once.stream import Part


def said(message: BaseMessage, source: str, task: str, **flags: Any) -> Part:
    note = {"v": 1, "source": source, "attempt": 1, **flags}
    return Part(
        (), "messages", message, {"langgraph_checkpoint_ns": task, "once": {**note, "at": task}}
    )


def streamed(text: str, task: str = "n:1") -> Part:
    return said(AIMessageChunk(content=text, id="first"), "model", task, run="r")


def returned(task: str = "n:1", text: str = "To be.", **flags: Any) -> Part:
    return said(AIMessage(text, id="first"), "node", task, **flags)


def resumed(text: str = "To be.", **flags: Any) -> Part:
    return said(AIMessage(text, id="later"), "node", "n", resumed=True, **flags)


def decided(*streams: list[Part]) -> list[str]:
    """What is decided on the last stream."""
    ledger, found = Ledger(), []
    for parts in streams:
        dedup = Deduplicator(ledger=ledger)
        found = [f"{op.kind} {op.because}" for part in parts for op in dedup.decide(part)]
    return found


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (streamed("To be."), ["commit D7"]),
        (streamed("To"), ["append rest"]),
        (streamed("To be.", "outer:1|n:1"), ["begin new"]),
        (streamed("Not"), ["begin new"]),
        (returned(), ["begin new"]),
    ],
    ids=["all of it", "its beginning", "of another task", "another text", "of no model"],
)
def test_what_a_model_had_said_of_it_is_known(before: Part, expected: list[str]) -> None:
    assert decided([before], [resumed()]) == expected


def test_a_message_that_was_cut_short_is_known_in_the_next_stream_alone() -> None:
    assert decided([streamed("To be.")], [], [resumed()]) == ["begin new"]


def test_a_message_without_an_id_that_was_cut_short_is_known_if_no_model_said_it() -> None:
    assert decided([returned()], [resumed(unnamed=True)]) == ["commit D7"]
    assert decided([returned(text="Not.")], [resumed(unnamed=True)]) == ["hold no id yet"]


@pytest.mark.parametrize(
    ("again", "waiting"),
    [
        (returned(unnamed=True), ["To be."]),
        (returned(unnamed=True, text="Not to be."), ["Not to be."]),
        (resumed(unnamed=True), ["To be."]),
        (resumed(unnamed=True, text="Not to be."), ["To be.", "Not to be."]),
        (returned("n:2", unnamed=True), ["To be.", "To be."]),
    ],
    ids=["the same", "another text", "in an update", "another in an update", "another task"],
)
def test_what_waited_for_an_id_waits_no_more_when_it_comes_again(
    again: Part, waiting: list[str]
) -> None:
    ledger = Ledger()
    for part in (returned(unnamed=True), again):
        list(Deduplicator(ledger=ledger).feed(part))
    assert [known.content.text for known in ledger.pending_ids] == waiting
