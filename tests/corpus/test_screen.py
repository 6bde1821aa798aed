"""v3 over a network, over the corpus: no wrapped graph is shown worse than the plain one."""

from __future__ import annotations

import copy
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest

from langgraph_once import once
from tests.corpus.scenario import Scenario
from tests.corpus.scenarios import SCENARIOS
from tests.corpus.screen import SERVED, Screen
from tests.corpus.variants import VARIANTS

pytestmark = pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)

V3 = next(variant for variant in VARIANTS if variant.is_v3 and variant.api == "sync")
PLAYED = [each for each in SCENARIOS if each.only is None or each.only(V3)]


def shown(scenario: Scenario, *, wrapped: bool) -> Screen:
    plain: Any = scenario.graph()
    graph = once(plain) if wrapped else plain
    screen = Screen()
    for run in scenario.runs:
        config = run.at(graph, {"configurable": {"thread_id": run.thread}})
        served = {**config, "metadata": {**config.get("metadata", {}), **SERVED["metadata"]}}
        with suppress(*filter(None, (run.raises,))):
            for event in graph.stream_events(copy.deepcopy(run.input), served, version="v3"):
                screen.show(event)
    return screen


def wrong(screen: Screen) -> tuple[int, int]:
    """How many texts of the state a person misses, and how many are on the screen besides."""
    shows, state = Counter(screen.said), Counter(screen.state)
    return (state - shows).total(), (shows - state).total()


def is_worse(ours: tuple[int, int], plain: tuple[int, int]) -> bool:
    return any(a > b for a, b in zip(ours, plain, strict=True))


@pytest.mark.slow
def test_of_all_scenarios_none_is_shown_worse_and_many_right() -> None:
    plain = {each.name: wrong(shown(each, wrapped=False)) for each in PLAYED}
    ours = {each.name: wrong(shown(each, wrapped=True)) for each in PLAYED}
    worse = [each for each in PLAYED if is_worse(ours[each.name], plain[each.name])]
    # How parallel nodes mix their texts is chance: the plain graph may have had luck.
    for _ in range(5):
        again = [wrong(shown(each, wrapped=False)) for each in worse]
        pairs = zip(worse, again, strict=True)
        worse = [each for each, seen in pairs if is_worse(ours[each.name], seen)]
    assert [each.name for each in worse] == []
    right = [sum(each == (0, 0) for each in counts.values()) for counts in (plain, ours)]
    assert right[0] < 170
    assert (right[1], len(ours)) == (261, 274)
