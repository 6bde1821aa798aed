"""A prune that was killed at any moment, and is run again, ends as one that nobody disturbed."""

from __future__ import annotations

import os
import random
import shutil
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from langgraph_once.checkpoint.by_url import is_postgres
from tests.forked import SCRIPT, Forked
from tests.integration_tests.survey.stock_threads import copy, fill, stock
from tests.unit_tests.checkpoint import whole_databases as whole
from tests.unit_tests.retention.test_retention import DAY, put

KILLS = 20
RULES = ("--older-than", "90d", "--keep-last", "3", "--status", "idle")


def prune(here: str, cwd: Path) -> Forked:
    env = {name: value for name, value in os.environ.items() if not name.startswith("ONCE_")}
    return Forked("-c", SCRIPT, "prune", "--database", here, *RULES, cwd=cwd, env=env)


def tables(here: str) -> list[str]:
    names = {name for name, _ in whole.columns(here)}
    known = {"checkpoints", "writes", "checkpoint_writes", "checkpoint_blobs", *whole.OURS}
    return sorted(names & known)


def contents(here: str) -> dict[str, list[str]]:
    """Every row, by table."""
    return {
        table: sorted(map(repr, whole.ask(here, f"SELECT * FROM {table}")))
        for table in tables(here)
    }


def count(here: str) -> int:
    return int(whole.ask(here, "SELECT count(*) FROM checkpoints")[0][0])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["stock", "ours"])
def test_killed_twenty_times_and_run_again_it_ends_the_same(
    here: str, kind: str, tmp_path: Path
) -> None:
    with stock(here) if kind == "stock" else whole.once(here, whole.serde()) as saver:
        fill(saver, 10, longest=5)
        for number in range(50):
            first = 1000 if number % 2 else 10
            ages: Any = [(first - step) * DAY / 2 for step in range(10)]
            put(saver, f"thread-{number}", timedelta(days=600), *ages)
    copy(here, 6) if kind == "stock" else None
    beside = tmp_path / "undisturbed.sqlite"
    if is_postgres(here):
        for table in tables(here):
            whole.ask(here, f"CREATE TABLE kept_{table} AS TABLE {table}")
    else:
        shutil.copy(here, beside)
    dice = random.Random(7)
    killed = 0
    for _ in range(KILLS * 3):
        with prune(here, tmp_path) as run:
            before = count(here)
            while run.returncode is None and count(here) >= before:
                time.sleep(0.002)
            time.sleep(dice.random() / 50)
            killed += run.returncode is None
            run.kill()
            run.wait()
        if killed == KILLS:
            break
    with prune(here, tmp_path) as run:
        assert run.wait().returncode == 0
    assert killed >= KILLS / 2
    left = contents(here)
    if is_postgres(here):
        for table in tables(here):
            whole.ask(here, f"DELETE FROM {table}")
            whole.ask(here, f"INSERT INTO {table} TABLE kept_{table}")
    else:
        here = str(beside)
    with prune(here, tmp_path) as run:
        assert run.wait().returncode == 0
    assert left == contents(here)
    assert count(here) < sum(map(len, left.values()))
