"""The table of `Lifecycle.rules`: an example of each case, and what a new form costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    RemoveMessage,
    ToolMessageChunk,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once import DedupConfig, Deduplicator, Ledger
from langgraph_once.stream import Part
from langgraph_once.stream.entries import State
from langgraph_once.stream.forms import DedupStats, ExactForm, Kind, Operation
from langgraph_once.stream.identity import MessageFact
from langgraph_once.stream.lifecycle import Case, Lifecycle
from tests.corpus.play import play
from tests.corpus.scenarios import SCENARIOS
from tests.corpus.variants import VARIANTS

TASK = "n:1"


def part(message: BaseMessage, source: str = "", *, task: str = TASK, **flags: Any) -> Part:
    """A part; with a source it is annotated as our handler does."""
    meta: dict[str, Any] = {"langgraph_checkpoint_ns": task}
    if source:
        meta["once"] = {"v": 1, "source": source, "attempt": 1, "at": task, **flags}
    return Part((), "messages", message, meta)


def token(text: str, message_id: str = "m", source: str = "", *, last: bool = False) -> Part:
    position: Any = "last" if last else None
    chunk = AIMessageChunk(content=text, id=message_id, chunk_position=position)
    return part(chunk, source, **({"run": "r"} if source else {}))


def whole(text: str, message_id: str = "m", source: str = "node", **how: Any) -> Part:
    return part(AIMessage(text, id=message_id), source, **how)


def gone(source: str = "node", message_id: str = "m", **how: Any) -> Part:
    return part(RemoveMessage(id=message_id), source, **how)


MARK = part(AIMessageChunk(content="", id="m", chunk_position="last"), "model", run="r", draft=True)
SAID = (token("To", source="model"), token(" be.", source="model", last=True))
HOLD = DedupConfig(reexecution="hold")

EXAMPLES: dict[Case, tuple[list[Part], list[str]]] = {
    Case.FIRST: ([token("To")], ["begin new"]),
    Case.ANOTHER: ([*SAID, token("Or not", "k")], ["begin new"]),
    Case.NEXT: ([token("To"), token("", last=True)], ["append next"]),
    Case.AFTER_END: ([token("To", last=True), token("")], ["append next"]),
    Case.HELD: (
        [*SAID, gone("retry"), token("To", "k", "model"), token(" be.", "k", "model", last=True)],
        ["commit D4"],
    ),
    Case.GOES_ON: (
        [token("To"), token("To", "k"), token(" be", "k"), token(" be")],
        ["begin next", "append next"],
    ),
    Case.NOT_KEPT: ([*SAID, MARK], ["discard not kept"]),
    Case.KEPT_BY_NOW: ([*SAID, whole("To be."), MARK], []),
    Case.NEW: ([whole("To be.")], ["begin new"]),
    Case.SAME: ([*SAID, whole("To be.")], ["commit D7"]),
    Case.LONGER: ([*SAID, whole("To be. Or not.")], ["append rest"]),
    Case.EDITED: ([*SAID, whole("Not.")], ["remove L2", "replace L2"]),
    Case.COPY: ([*SAID, whole("To be.", "k")], ["commit D1"]),
    Case.RESPACED_COPY: (
        [*SAID, whole(" To be.", "k")],
        ["remove white space", "replace white space"],
    ),
    Case.NO_ID_YET: ([whole("To be.", "k", unnamed=True)], ["hold no id yet"]),
    Case.OF_OUTER_GRAPH: ([whole("To be."), gone(task="n:1|k:1|l:1")], []),
    Case.RUNS_AGAIN: ([*SAID, gone("retry")], []),
    Case.CUT_SHORT: ([gone("resume")], ["remove D3"]),
    Case.REMOVED: ([*SAID, gone()], ["remove L3"]),
    Case.ALL_REMOVED: ([*SAID, gone(message_id=REMOVE_ALL_MESSAGES)], ["remove L3"]),
    Case.OVERRIDES: (
        [whole("A", task="a:1"), whole("B", task="b:1", wins=True)],
        ["remove concurrent write", "replace concurrent write"],
    ),
}
"""The parts, and what follows the last of them."""


class Traced(Lifecycle):
    """Notes each case with the operations that followed."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        super().__init__(self.ledger, HOLD, DedupStats(), ExactForm())
        self.seen: list[tuple[Case, list[Operation]]] = []

    def feed(self, part: Part) -> Iterator[Operation]:
        case, _ = self.case_of(MessageFact(part))
        operations = list(super().feed(part))
        self.seen.append((case, operations))
        return iter(operations)


@pytest.mark.parametrize("case", EXAMPLES)
def test_each_case_has_an_example(case: Case) -> None:
    parts, expected = EXAMPLES[case]
    lifecycle = Traced()
    lifecycle.ledger.begin()
    for each in parts[:-1]:
        lifecycle.feed(each)
    before = [*lifecycle.ledger.known()]
    lifecycle.feed(parts[-1])
    found, operations = lifecycle.seen[-1]
    assert (found, [f"{op.kind} {op.because}" for op in operations]) == (case, expected)
    record = [*lifecycle.ledger.entries(parts[-1].data.id), *before][:1]
    assert {entry.state for entry in record} <= {*Lifecycle.rules[case].becomes}


def test_the_table_has_a_rule_for_each_case_and_each_case_an_example() -> None:
    assert {*Lifecycle.rules} == {*Case} == {*EXAMPLES}


def test_the_table_leads_to_each_state() -> None:
    assert {state for rule in Lifecycle.rules.values() for state in rule.becomes} == {*State}


SOME = [scenario for scenario in SCENARIOS[::9] if scenario.only is None]


@pytest.mark.parametrize("scenario", SOME, ids=lambda s: s.name)
@pytest.mark.parametrize("source", ["once", "stock", "dedup"])
def test_no_operation_follows_that_the_table_does_not_name(
    scenario: Any, source: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    surprises: list[str] = []
    feed = Lifecycle.feed

    def checked(self: Lifecycle, part: Part) -> Iterator[Operation]:
        case, _ = self.case_of(MessageFact(part))
        for operation in feed(self, part):
            if operation.kind not in self.rules[case].kinds:
                surprises.append(f"{case}: {operation.kind}")
            yield operation

    monkeypatch.setattr(Lifecycle, "feed", checked)
    play(scenario, VARIANTS[0], source, lambda _: None)
    assert surprises == []


class Counting:
    """A form for a reader that wants to know how many characters each message has, and no more.

    It is all that a new reader costs: a function from operations to what that reader gets.
    """

    def __init__(self) -> None:
        self.sizes: Counter[str] = Counter()

    def sent(self, operations: Iterable[Operation]) -> None:
        """Count what comes, and forget what goes."""
        for kind, _, part in operations:
            if part is None or kind in (Kind.STATE, Kind.PASS):
                continue
            if kind is Kind.REMOVE:
                self.sizes.pop(part.data.id, None)
            else:
                self.sizes[part.data.id] += len(part.data.text)


def test_a_new_reader_is_a_form_and_nothing_else() -> None:
    dedup, form = Deduplicator(), Counting()
    said = [*SAID, whole("To be.", "a-copy"), whole("Not to be.", "l"), gone(message_id="a-copy")]
    for each in said:
        form.sent(dedup.decide(each))
    assert form.sizes == {"l": len("Not to be.")}


@pytest.mark.parametrize("said", [SAID, (whole("To be."),)], ids=["streamed", "whole"])
@pytest.mark.parametrize(
    "again", [whole("To be.", "k"), whole("To be.", "k", "model"), whole("To be.")]
)
def test_what_the_next_attempt_returns_again_is_kept(said: tuple[Part, ...], again: Part) -> None:
    dedup = Deduplicator(HOLD)
    sent = [new.data for each in (*said, gone("retry"), again) for new in dedup.feed(each)]
    assert sent == [part.data for part in said]
    assert not list(dedup.close())


def test_what_no_later_attempt_says_is_taken_back_at_the_end() -> None:
    dedup = Deduplicator(HOLD)
    for each in (*SAID, gone("retry")):
        list(dedup.feed(each))
    assert [part.data for part in dedup.close()] == [RemoveMessage(id="m")]


def test_what_an_attempt_said_in_a_stream_that_broke_off_is_stale_no_more() -> None:
    dedup = Deduplicator(HOLD)
    for each in (*SAID, gone("retry")):
        list(dedup.feed(each))
    [entry] = dedup.ledger.entries("m")
    states = [entry.state]
    Deduplicator(HOLD, ledger=dedup.ledger)
    assert [*states, entry.state] == [State.STALE, State.COMPLETE]


def test_chunks_of_a_tools_result_are_chunks() -> None:
    """They have no `chunk_position`; servers that send JSON make them of whole results."""
    dedup = Deduplicator()
    chunks = [ToolMessageChunk(content=text, tool_call_id="c", id="t") for text in ("4", "2")]
    sent = [new.data.text for chunk in chunks for new in dedup.feed(part(chunk))]
    assert sent == ["4", "2"]


def test_each_decision_is_counted_with_its_reason() -> None:
    dedup = Deduplicator()
    for each in (*SAID, whole("To be."), whole("To be. Or not."), whole("Not.", "k")):
        list(dedup.feed(each))
    assert dedup.stats.reasons == {
        "begin new": 2,
        "append next": 1,
        "commit D7": 1,
        "append rest": 1,
    }
