"""What the view counts, over every scenario of the corpus: with `once` nothing is wrong."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import replace

import pytest

from langgraph_once.compare import Counts, Follower, Side, View
from langgraph_once.compare.comparison import part_for
from langgraph_once.stream import Part
from tests.corpus.play import BEGUN, Event, Source, applies, play
from tests.corpus.scenario import Scenario
from tests.corpus.scenarios import BY_NAME, SCENARIOS
from tests.corpus.variants import Variant

WATCHED = Variant(
    "async", "v2", ("messages", "updates", "values", "custom"), subgraphs=True, state="full"
)

UNDECIDED = "retried-text-id-last"
"""No id of its stream is in a state. To the judge such a state proves nothing."""

APART: tuple[tuple[Source, Side], ...] = (("plain", "stock"), ("once", "once"))

RETRIED = [each for each in SCENARIOS if each.kind == "D4" and each.name != UNDECIDED]


@functools.cache
def played(scenario: Scenario, source: Source) -> list[Event]:
    """Play it once for all tests: a worker has all that are of one scenario."""
    events: list[Event] = []
    play(scenario, WATCHED, source, events.append)
    return events


def followed(scenario: Scenario, source: Source, side: Side, *, is_wired: bool = False) -> Counts:
    """What a side counts of its own play."""
    return counted(played(scenario, source), side, is_wired=is_wired)


def counted(events: Iterable[Event], side: Side, *, is_wired: bool = False) -> Counts:
    """What a side counts; if wired, each message has metadata of its own, as over a server."""
    follower, view = Follower(side), View()
    begun = False
    for event in events:
        if event is BEGUN:
            told = [*(follower.end() if begun else ()), *follower.begin()]
            begun = True
        else:
            data = event.data if event.mode == "messages" else (event.data,)
            mine = part_for(side, Part(event.ns, event.mode, *data))
            if mine is not None and is_wired and event.mode == "messages":
                mine = mine._replace(meta={**mine.meta})
            told = [] if mine is None else list(follower.feed(mine))
        for each in told:
            view.apply(each)
    for each in follower.end():
        view.apply(each)
    return view.sides[side].counts


@pytest.mark.parametrize(
    "scenario",
    [each for each in SCENARIOS if applies(each, WATCHED, "once")],
    ids=lambda each: f"{each.kind}-{each.name}",
)
def test_once_has_no_faults_and_one_run_recorded_for_both_sides_counts_what_two_runs_count(
    scenario: Scenario,
) -> None:
    counts = followed(scenario, "once", "once")
    assert (counts.repeated, counts.missing, counts.left_out) == (0, 0, 0)
    apart = {side: followed(scenario, source, side, is_wired=True) for source, side in APART}
    both = played(scenario, "recorded")
    stock, ours = (counted(both, side, is_wired=True) for _, side in APART)
    assert replace(stock, parts=0) == replace(apart["stock"], parts=0)
    assert faults(ours) == faults(apart["once"])


def faults(counts: Counts) -> tuple[int, int, int]:
    """What is wrong. How it is put right differs: the copy of a message has an id of its own."""
    return counts.repeated, counts.missing, counts.not_kept


@pytest.mark.parametrize("scenario", RETRIED, ids=lambda each: each.name)
def test_what_failed_attempts_said_stays_with_a_stock_consumer(scenario: Scenario) -> None:
    counts = followed(scenario, "plain", "stock")
    assert counts.repeated + counts.not_kept > 0
    assert counts.retracted == 0


@pytest.mark.parametrize(
    "scenario", [each for each in SCENARIOS if each.kind == "L1"], ids=lambda each: each.name
)
def test_a_stock_consumer_never_gets_a_hand_off(scenario: Scenario) -> None:
    assert followed(scenario, "plain", "stock").missing > 0


@pytest.mark.parametrize(
    "scenario", [each for each in SCENARIOS if each.kind == "plain"], ids=lambda each: each.name
)
def test_nothing_is_said_against_a_stock_stream_that_is_right(scenario: Scenario) -> None:
    counts = followed(scenario, "plain", "stock")
    assert (counts.repeated, counts.missing) == (0, 0)


@pytest.mark.parametrize("name", ["parallel-equal-answers", "asked-twice", "ha-ha-ha"])
def test_equal_answers_that_are_meant_are_no_repetition(name: str) -> None:
    assert followed(BY_NAME[name], "plain", "stock").repeated == 0
