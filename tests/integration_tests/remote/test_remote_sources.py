"""One corpus, five sources: whoever folds one of them has what the final state has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from tests.corpus.scenario import Scenario
from tests.corpus.scenarios import SCENARIOS
from tests.corpus.score import Outcome
from tests.integration_tests.remote.sources import (
    SOURCES,
    VARIANTS,
    corpus_server,
    reason,
    verdicts,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)

OF_EACH_CLASS = 3

ON_A_WIRE = {"as-dict", "final-unnamed", "id-last", "id-last-call", "retried-text-id-last"}
"""Where a wire differs: ids that come late, and messages without one."""


def sample() -> list[Scenario]:
    """A few of each class."""
    by_class = sorted(SCENARIOS, key=lambda scenario: scenario.kind)
    return [
        scenario
        for _, of_class in groupby(by_class, key=lambda scenario: scenario.kind)
        for at, scenario in enumerate(of_class)
        if at < OF_EACH_CLASS or scenario.name in ON_A_WIRE
    ]


SAMPLE = sample()
FEW = {scenario.name for scenario in SAMPLE[::6]} | {"id-last"}


PLAYS = [
    pytest.param(
        scenario,
        marks=() if scenario.name in FEW else pytest.mark.product,
        id=f"{scenario.kind}-{scenario.name}",
    )
    for scenario in SAMPLE
]


@pytest.fixture(scope="module")
def corpus_client(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SyncLangGraphClient]:
    """A client of a server with the scenarios that are played this time."""
    tests = {item.nodeid for item in request.session.items if item.path == request.path}
    played = [each for each in SAMPLE if any(f"-{each.name}]" in test for test in tests)]
    with (
        corpus_server(tmp_path_factory.mktemp("corpus"), played) as running,
        get_sync_client(url=running.url) as client,
    ):
        yield client


@pytest.mark.parametrize("scenario", PLAYS)
def test_a_scenario_from_all_sources(
    scenario: Scenario, corpus_client: SyncLangGraphClient
) -> None:
    for source in SOURCES:
        if scenario.only is not None and not scenario.only(VARIANTS[source]):
            continue
        found = verdicts(scenario, source, corpus_client)
        wrong = [str(verdict) for verdict in found if verdict.outcome is not Outcome.RIGHT]
        why = reason(scenario.name, source)
        if why is None:
            assert not wrong, f"{source}: {wrong}"
        else:
            assert wrong, f"{source} gets this right now, although it cannot know: {why}"


def test_the_sampled_scenarios_are_of_every_class() -> None:
    assert len(SAMPLE) >= 40
    assert {s.kind for s in SAMPLE} == {s.kind for s in SCENARIOS}
    assert 8 <= len(FEW) <= 13
