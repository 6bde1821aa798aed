"""The scenarios, by class."""

from __future__ import annotations

import importlib
import pkgutil

from tests.corpus.scenario import Scenario

__all__ = ["BY_NAME", "SCENARIOS"]

SCENARIOS: tuple[Scenario, ...] = tuple(
    scenario
    for module in pkgutil.iter_modules(__path__)
    for scenario in importlib.import_module(f"{__name__}.{module.name}").SCENARIOS
)

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
assert len(BY_NAME) == len(SCENARIOS), "two scenarios have one name"
