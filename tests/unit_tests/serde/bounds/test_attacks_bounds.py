"""Hostile rows are dealt with in bounded time and memory, measured in a process of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit_tests.serde.bounds.attacks import ATTACKS
from tests.unit_tests.serde.cpu import within

if sys.platform != "win32":
    import fcntl

ROOT = Path(__file__).parents[4]
TRIES = 3

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="measures in a fork")


def measure(names: list[str]) -> dict[str, dict[str, Any]]:
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "tests.unit_tests.serde.bounds.attacks",
        *names,
    ]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=400
    )
    return {facts["name"]: facts for facts in map(json.loads, done.stdout.splitlines())}


@pytest.fixture(scope="module")
def measured(
    tmp_path_factory: pytest.TempPathFactory, testrun_uid: str
) -> dict[str, dict[str, Any]]:
    """Return what was measured, by whichever worker came first."""
    found = tmp_path_factory.getbasetemp().parent / f"bounds-{testrun_uid}.json"
    with found.open("a+") as shared:
        fcntl.flock(shared, fcntl.LOCK_EX)
        shared.seek(0)
        if not (told := shared.read()):
            told = json.dumps(measured_at_last())
            shared.write(told)
    facts: dict[str, dict[str, Any]] = json.loads(told)
    return facts


def measured_at_last() -> dict[str, dict[str, Any]]:
    """Measure; again where it took too long, which a busy machine may explain."""
    found = measure([*ATTACKS])
    for _ in range(TRIES - 1):
        slow = [
            name for name, facts in found.items() if facts["seconds"] >= ATTACKS[name].max_seconds
        ]
        if slow:
            found |= measure(slow)
    return found


@pytest.mark.parametrize("name", ATTACKS)
def test_it_is_met_soon_and_cheaply(name: str, measured: dict[str, dict[str, Any]]) -> None:
    attack, facts = ATTACKS[name], measured[name]
    assert facts["outcome"] in attack.outcomes
    assert within(facts["seconds"], attack.max_seconds)
    assert facts["mb"] < attack.max_mb
