"""What is counted: each decision once."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from langgraph_once.stream import Deduplicator, Part
from langgraph_once.stream.forms import Because, DedupStats, Kind, Operation

PART = Part((), "messages", AIMessage("Yes.", id="m"))


def counted(stats: DedupStats) -> dict[str, Any]:
    return {name: count for name, count in asdict(stats).items() if count and name != "reasons"}


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        (Operation(Kind.REPLACE, Because.EDITED, PART), "replaced"),
        (Operation(Kind.APPEND, Because.REST, PART), "repaired"),
        (Operation(Kind.REMOVE, Because.EARLIER_ATTEMPT, PART), "retracted"),
        (Operation(Kind.HOLD, Because.EARLIER_ATTEMPT), "held"),
        (Operation(Kind.COMMIT, Because.EARLIER_STREAM), "held"),
        (Operation(Kind.COMMIT, Because.SAME_ID), "suppressed"),
        (Operation(Kind.COMMIT, Because.SAME_ID, PART), None),
        (Operation(Kind.HOLD, Because.NO_ID_YET), None),
        (Operation(Kind.REMOVE, Because.REMOVED, PART), None),
    ],
    ids=lambda each: "-".join(each[:2]) if isinstance(each, Operation) else str(each),
)
def test_each_decision_has_its_count(operation: Operation, name: str | None) -> None:
    stats = DedupStats()
    stats.count(operation)
    assert counted(stats) == ({name: 1} if name else {})


def test_a_state_and_an_update_that_come_again_are_suppressed() -> None:
    state = Part((), "values", {"n": 1})
    first = Deduplicator()
    assert [out for part in (state, state) for out in first.feed(part)] == [state]
    assert counted(first.stats) == {"suppressed": 1}
    update = {"node": {"n": 1}}
    assert len(list(first.feed(Part((), "updates", update)))) == 1
    second = Deduplicator(ledger=first.ledger)
    cached = Part((), "updates", {**update, "__metadata__": {"cached": True}})
    assert list(second.feed(cached)) == []
    assert counted(second.stats) == {"suppressed": 1}
    third = Deduplicator(ledger=first.ledger)
    assert len(list(third.feed(Part((), "updates", update)))) == 1, "its node ran again"
