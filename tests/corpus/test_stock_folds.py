"""The corpus before readers that know nothing of this package: never worse than LangGraph alone.

`test_stock_readers` counts the pieces by id; here are the ways in which such readers show them.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.judge import judged
from tests.corpus.scenario import Scenario
from tests.corpus.scenarios import SCENARIOS
from tests.corpus.variants import Variant

VARIANTS = [
    Variant("sync", "v1", ("messages",), state="full"),
    Variant("async", "v1", ("messages", "values"), subgraphs=True, state="full"),
]

IN_TWO = "LangGraph shows the text in two halves under two ids, in each of two runs; ours is whole."

TOLD_AGAIN = (
    "LangGraph tells the answer of the first turn again in the second; who adds up a run has it."
)

OTHERWISE = {
    "history-sent": TOLD_AGAIN,
    "interrupted-text-id-first": IN_TWO,
}


def marked(scenario: Scenario) -> Any:
    why = OTHERWISE.get(scenario.name)
    marks = [pytest.mark.xfail(strict=True, reason=why)] if why else []
    return pytest.param(scenario, id=f"{scenario.kind}-{scenario.name}", marks=marks)


@pytest.mark.parametrize("scenario", [marked(each) for each in SCENARIOS])
def test_no_reader_is_worse_off(scenario: Scenario) -> None:
    assert judged(scenario, VARIANTS) == [], scenario.what
