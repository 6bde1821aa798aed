"""Hostile rows are dealt with in bounded time and memory, measured in a process of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .bounds import ATTACKS

ROOT = Path(__file__).parents[3]
MAX_SECONDS = 4.0  # of CPU; under 1 s where nothing else runs: this one only tells a hang

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="measures in a fork")


@pytest.fixture(scope="module")
def measured() -> dict[str, dict[str, Any]]:
    command = [sys.executable, "-W", "ignore", "-m", "tests.unit_tests.serde.bounds"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    return {facts["name"]: facts for facts in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", ATTACKS)
def test_it_is_met_soon_and_cheaply(name: str, measured: dict[str, dict[str, Any]]) -> None:
    attack, facts = ATTACKS[name], measured[name]
    assert facts["outcome"] in attack.outcomes
    assert facts["seconds"] < MAX_SECONDS
    assert facts["mb"] < attack.max_mb
