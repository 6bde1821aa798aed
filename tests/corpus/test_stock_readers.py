"""The corpus, as a server streams it to stock readers: in no unit worse than plain LangGraph."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest
from langchain_core.messages import (
    BaseMessage,
    BaseMessageChunk,
    RemoveMessage,
    message_chunk_to_message,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.stream.annotation import ANNOTATION_KEY
from tests.agents.judge import PLAYS, Check, violations
from tests.corpus.ids import misnamed
from tests.corpus.play import BEGUN, Event, applies
from tests.corpus.scenario import Scenario
from tests.corpus.scenarios import SCENARIOS
from tests.corpus.score import Outcome, Verdict, score, verdicts
from tests.corpus.variants import ALL, Variant

every_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: f"{s.kind}-{s.name}")

VARIANTS = (
    Variant("async", "v1", ("messages",), subgraphs=True, state="full"),
    Variant("async", "v1", ALL, state="full"),
    Variant("sync", "v2", ALL, subgraphs=True, state="full"),
)
"""Those that servers ask for, and their like."""

SHOWN = (
    Variant("sync", "v1", ("messages",), state="full"),
    Variant("async", "v1", ("messages", "values"), subgraphs=True, state="full"),
)
"""More of them, which are held against plain LangGraph also in the ways that readers show them."""

IN_TWO = "LangGraph shows the text in two halves under two ids, in each of two runs; ours is whole."

TOLD_AGAIN = (
    "LangGraph tells the answer of the first turn again in the second; who adds up a run has it."
)

OTHERWISE = {
    "history-sent": TOLD_AGAIN,
    "interrupted-text-id-first": IN_TWO,
}
"""Where some way to show a stream is worse off than with LangGraph alone, and why."""


@every_scenario
def test_a_stock_reader_is_nowhere_worse_off(scenario: Scenario) -> None:
    """In one variant each: every class of scenarios meets all of them."""
    assert_not_worse(scenario, VARIANTS[SCENARIOS.index(scenario) % len(VARIANTS)])


@pytest.mark.slow
@every_scenario
def test_a_stock_reader_is_nowhere_worse_off_in_any_variant(scenario: Scenario) -> None:
    for variant in VARIANTS:
        assert_not_worse(scenario, variant)


def assert_not_worse(scenario: Scenario, variant: Variant) -> None:
    """Assert that each unit comes as well as from plain LangGraph, and that all adds up."""
    if applies(scenario, variant, "stock"):
        worse = [_worse(scenario, variant)]
        while worse[-1] and len(worse) < PLAYS and not scenario.ordered:
            worse.append(_worse(scenario, variant))
        assert not worse[-1], f"{variant.name}: {scenario.what}\n" + "\n".join(worse[-1])


@every_scenario
def test_no_way_to_show_a_stream_is_worse_off(scenario: Scenario) -> None:
    """Units are counted by id here, too, and whole messages bear the ids of the states."""
    worse = []
    for variant in (each for each in SHOWN if applies(scenario, each, "stock")):
        also: dict[str, Check] = {
            "units": partial(_worse_units, scenario, variant),
            "ids": _misnamed,
        }
        worse += violations(scenario, variant, also)
    known = [line for line in worse if "units: " not in line and "ids: " not in line]
    assert worse == (known if scenario.name in OTHERWISE else []), scenario.what
    assert worse or scenario.name not in OTHERWISE, "no way to show it is worse off any more"


def _misnamed(ours: list[Event], plain: list[Event]) -> list[str]:
    return misnamed(ours)


def _worse_units(
    scenario: Scenario, variant: Variant, ours: list[Event], plain: list[Event]
) -> list[str]:
    return _lines(
        verdicts(scenario, variant, "plain", plain), verdicts(scenario, variant, "stock", ours)
    )


def _worse(scenario: Scenario, variant: Variant) -> list[str]:
    events: list[Event] = []
    stock = score(scenario, variant, "stock", events.append)
    _tells_nothing_of_ours(events)
    _add_up(events)
    if all(now.outcome is Outcome.RIGHT for now in stock):
        return []
    return _lines(score(scenario, variant, "plain"), stock)


def _lines(plain: list[Verdict], stock: list[Verdict]) -> list[str]:
    return [
        f"{now}, plain: {then.outcome.name}"
        for then, now in zip(plain, stock, strict=True)
        if now.outcome > then.outcome
    ]


def _tells_nothing_of_ours(events: list[Event]) -> None:
    messages = [event.data for event in events if event.mode == "messages"]
    removed = {message.id for message, _ in messages if isinstance(message, RemoveMessage)}
    assert removed <= {REMOVE_ALL_MESSAGES}  # which plain LangGraph sends, once
    assert not any(ANNOTATION_KEY in metadata for _, metadata in messages)


def _add_up(events: list[Event]) -> None:
    """As the server does for `stream_mode="messages"` (langgraph-api 0.16.7, stream.py)."""
    sums: dict[str | None, Any] = {}
    for event in events:
        if event == BEGUN:
            sums.clear()
        if event.mode != "messages":
            continue
        message = event.data[0]
        known = sums.get(message.id)
        sums[message.id] = message if known is None else known + message
        so_far = sums[message.id]
        assert isinstance(so_far, BaseMessage), f"{type(so_far).__name__} is no message"
        if isinstance(so_far, BaseMessageChunk):
            message_chunk_to_message(so_far)


def test_once_repeats_less_to_stock_readers_than_a_plain_graph() -> None:
    counts: Counter[tuple[str, Outcome]] = Counter()
    for scenario in SCENARIOS:
        if scenario.kind in ("D1", "D2", "D4") and applies(scenario, VARIANTS[0], "stock"):
            for source in ("plain", "stock"):
                for verdict in score(scenario, VARIANTS[0], source):
                    counts[source, verdict.outcome] += 1
    assert counts["stock", Outcome.REPEATED] < counts["plain", Outcome.REPEATED] / 2
    assert counts["stock", Outcome.LOST] <= counts["plain", Outcome.LOST]
