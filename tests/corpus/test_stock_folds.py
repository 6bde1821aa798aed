"""The corpus before readers that know nothing of this package: never worse than LangGraph alone.

`test_stock_readers` counts the pieces by id; here are the ways in which such readers show them.
"""

from __future__ import annotations

import pytest

from tests.agents.judge import judged
from tests.corpus.scenario import Scenario
from tests.corpus.scenarios import SCENARIOS
from tests.corpus.variants import Variant

VARIANTS = [
    Variant("sync", "v1", ("messages",), state="full"),
    Variant("async", "v1", ("messages", "values"), subgraphs=True, state="full"),
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: f"{s.kind}-{s.name}")
def test_no_reader_is_worse_off(scenario: Scenario) -> None:
    assert judged(scenario, VARIANTS) == [], scenario.what
