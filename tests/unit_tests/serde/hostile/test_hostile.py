"""Rows that somebody made to do harm are met soon, cheaply, and without running anything."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from tests.forked import run_python
from tests.unit_tests.serde.cpu import within
from tests.unit_tests.serde.hostile.data import ONE_BY_ONE
from tests.unit_tests.serde.hostile.table import HOSTILE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="measures in a fork")

MAX_SECONDS = 2.0
MAX_MEGABYTES = 512
TRIES = 3
_PARTS = 6
_QUICK_PARTS = 2
SOON = [name for name in HOSTILE if "compressed" not in name]
LATER = [name for name in HOSTILE if "compressed" in name]


def measured(names: list[str]) -> dict[str, dict[str, Any]]:
    done = run_python("-m", "tests.unit_tests.serde.hostile.run", *names)
    assert done.returncode == 0, done.stderr[-2000:]
    return {facts["name"]: facts for facts in map(json.loads, done.stdout.splitlines())}


def harm_of(facts: dict[str, Any]) -> dict[str, Any] | None:
    is_met = (
        not facts["outcome"].startswith(("killed", "not ours", "nothing said", "MemoryError"))
        and not facts["written"].startswith("not ours")
        and facts["harms"] == []
        and within(facts["seconds"], MAX_SECONDS)
        and within(facts["writing"], MAX_SECONDS)
        and facts["mb"] < MAX_MEGABYTES
    )
    return None if is_met else facts


def check(names: list[str]) -> None:
    found = measured(names)
    assert [*found] == names
    for _ in range(TRIES - 1):
        harmful = [name for name, facts in found.items() if harm_of(facts)]
        if harmful:  # a busy machine may explain it
            found |= measured(harmful)
    assert [harm for facts in found.values() if (harm := harm_of(facts))] == []


def test_there_are_as_many_kinds_as_we_say() -> None:
    kinds = {name for name in HOSTILE if "compressed" not in name}
    assert len(kinds) >= 152
    assert len({name for name in kinds if name.startswith(("LangGraph", "JSON"))}) >= 50
    assert all(len(HOSTILE[name].row()) <= 1 << 20 for name in [*kinds][::7])


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(part, marks=[] if part < _QUICK_PARTS else [pytest.mark.slow])
        for part in range(_PARTS)
    ],
)
def test_hostile_rows_do_no_harm(part: int) -> None:
    check(SOON[part::_PARTS])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(_PARTS))
def test_hostile_rows_that_are_compressed_do_no_harm(part: int) -> None:
    check(LATER[part::_PARTS])


def test_wrong_data_for_each_form_and_each_type_of_values_do_no_harm() -> None:
    """In one process: none takes time, and none leaves anything behind."""
    done = run_python("-m", "tests.unit_tests.serde.hostile.one_by_one")
    assert done.returncode == 0, done.stderr[-2000:]
    outcomes = json.loads(done.stdout)
    assert sum(outcomes.values()) == len(ONE_BY_ONE)
    assert {*outcomes} <= {"value", "PayloadError", "SizeLimitError"}
    assert min(outcomes["value"], outcomes["PayloadError"]) > 100, "else nothing was tried"
