"""The corpus: `once` gets all of it right, `dedup` what a filter can know.

Each time in few variants, which have each option and each set of modes; all are in the product.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from tests.corpus.ids import misnamed
from tests.corpus.play import Event, Source, applies
from tests.corpus.reasons import REASONS
from tests.corpus.scenario import CLASSES, Scenario
from tests.corpus.scenarios import BY_NAME, SCENARIOS
from tests.corpus.score import Outcome, score, score_two
from tests.corpus.variants import FEW, FULL_PRODUCT, V3, VARIANTS, Variant

pytestmark = pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)

every_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: f"{s.kind}-{s.name}")

SPEAKS_ALIKE = (
    "chat",
    "copied-openai",
    "wrapped-said",
    "copied-3-deep",
    "equal-ids-in-graphs",
    "edited-by-next-node",
    "parallel-equal-answers",
    "ha-ha-ha-copied",
)
"""Scenarios of one run that say the same each time."""

TWO_AT_ONCE = [variant for variant in VARIANTS if variant.api == "sync" and not variant.is_v3]

CHAINED = [each for each in VARIANTS if each.modes == ("messages",) and not each.is_v3]

STATE = Variant("sync", "v1", ("values",), state="full")


def some(scenario: Scenario) -> tuple[Variant, ...]:
    """Half of the few, in turn: every class of scenarios meets all of them, and both of v3."""
    at = list(BY_NAME).index(scenario.name)
    return (*FEW[at % 2 :: 2], V3[at // 2 % 2])


@every_scenario
def test_once_is_right_in_every_scenario(scenario: Scenario) -> None:
    told = [line for _, line in deviations(scenario, "once", some(scenario))]
    assert not told, _page(scenario, told)


@pytest.mark.slow
@every_scenario
def test_once_is_right_in_every_scenario_and_variant(scenario: Scenario) -> None:
    told = [line for _, line in deviations(scenario, "once", (*FEW, *V3))]
    assert not told, _page(scenario, told)


@every_scenario
def test_a_filter_behind_once_takes_nothing(scenario: Scenario) -> None:
    """In one variant each: every class of scenarios meets all of them."""
    variant = CHAINED[list(BY_NAME).index(scenario.name) % len(CHAINED)]
    told = [line for _, line in deviations(scenario, "chain", [variant])]
    assert not told, _page(scenario, told)


@pytest.mark.product
@every_scenario
def test_a_filter_behind_once_takes_nothing_in_any_variant(scenario: Scenario) -> None:
    told = [line for _, line in deviations(scenario, "chain", CHAINED)]
    assert not told, _page(scenario, told)


@every_scenario
def test_dedup_is_right_in_every_scenario_but_for_known_reasons(scenario: Scenario) -> None:
    told = unexplained(scenario, deviations(scenario, "dedup", some(scenario)))
    assert not told, _page(scenario, told)


@pytest.mark.slow
@every_scenario
def test_dedup_is_right_in_every_scenario_and_variant_but_for_known_reasons(
    scenario: Scenario,
) -> None:
    found = list(deviations(scenario, "dedup", FEW))
    told = unexplained(scenario, found)
    assert not told, _page(scenario, told)
    for reason in (r for r in REASONS.get(scenario.name, ()) if any(map(r.holds, FEW))):
        still = any(reason.holds(variant) for variant, _ in found)
        assert still, f"`dedup` gets this right now, although a filter cannot: {reason.why}"


@pytest.mark.product
@every_scenario
@pytest.mark.parametrize("source", ["once", "dedup"])
def test_the_full_product(scenario: Scenario, source: Source) -> None:
    found = deviations(scenario, source, FULL_PRODUCT)
    told = unexplained(scenario, found) if source == "dedup" else [line for _, line in found]
    assert not told, _page(scenario, told)


@every_scenario
def test_the_oracle_is_what_the_final_state_holds(scenario: Scenario) -> None:
    """LangGraph itself is the judge: its last `values` is the state."""
    if scenario.only is None or scenario.only(STATE):
        told = [line for _, line in deviations(scenario, "plain", [STATE])]
        assert not told, _page(scenario, told)


@pytest.mark.parametrize("variant", TWO_AT_ONCE, ids=lambda v: v.name)
@pytest.mark.parametrize("name", SPEAKS_ALIKE)
def test_two_streams_of_one_graph_at_once(name: str, variant: Variant) -> None:
    scenario = BY_NAME[name]
    told = [str(v) for v in score_two(scenario, variant, "once") if v.outcome]
    assert not told, _page(scenario, told)


def test_the_corpus_has_scenarios_of_every_class() -> None:
    assert {scenario.kind for scenario in SCENARIOS} == set(CLASSES)
    assert set(REASONS) <= set(BY_NAME)


def unexplained(scenario: Scenario, found: Iterable[tuple[Variant, str]]) -> list[str]:
    """What `dedup` gets wrong although a filter can know it."""
    reasons = REASONS.get(scenario.name, ())
    return [line for variant, line in found if not any(r.holds(variant) for r in reasons)]


def deviations(
    scenario: Scenario, source: Source, variants: Iterable[Variant]
) -> Iterator[tuple[Variant, str]]:
    """What is not right, each with a line that tells it."""
    for variant in variants:
        if not applies(scenario, variant, source):
            continue
        events: list[Event] = []
        try:
            verdicts = score(scenario, variant, source, events.append)
        except Exception as error:  # told with the variant it happened in
            yield variant, f"{variant.name}: {type(error).__name__}: {error}"
            continue
        for verdict in verdicts:
            if verdict.outcome is not Outcome.RIGHT:
                yield variant, f"{variant.name}: {verdict}"
        if source == "once" and {"messages", "values"} <= {*variant.modes}:
            for line in misnamed(events):
                yield variant, f"{variant.name}: not under the id of the state: {line}"


def _page(scenario: Scenario, told: list[str]) -> str:
    return "\n".join([f"{scenario.kind} {scenario.name}: {scenario.what}", *told])
