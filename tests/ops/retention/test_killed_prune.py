"""A prune that was killed at any moment, and is run again, ends as one that nobody disturbed."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.databases import is_postgres
from tests.integration_tests.killed import kills, run
from tests.ops.retention.test_retention import DAY, put
from tests.stock_threads import copy, fill, stock
from tests.unit_tests.checkpoint import whole_databases as whole

RULES = ("--older-than", "90d", "--keep-last", "3", "--status", "idle")


def count(here: str) -> int:
    return int(whole.ask(here, "SELECT count(*) FROM checkpoints")[0][0])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["stock", "ours"])
def test_killed_twenty_times_and_run_again_it_ends_the_same(
    here: str, kind: str, tmp_path: Path
) -> None:
    with stock(here) if kind == "stock" else whole.once(here, whole.serde()) as saver:
        fill(saver, 10, longest=5)
        for number in range(80):
            first = 1000 if number % 2 else 10
            ages: Any = [(first - step) * DAY / 2 for step in range(10)]
            put(saver, f"thread-{number}", timedelta(days=600), *ages)
    copy(here, 6) if kind == "stock" else None
    beside = tmp_path / "undisturbed.sqlite"
    if is_postgres(here):
        for table in whole.tables(here):
            whole.ask(here, f"CREATE TABLE kept_{table} AS TABLE {table}")
    else:
        shutil.copy(here, beside)
    command = ("prune", "--database", here, *RULES)
    for _ in kills(*command, cwd=tmp_path, done=lambda: -count(here)):
        pass
    run(*command, cwd=tmp_path)
    left = whole.rows(here)
    if is_postgres(here):
        for table in whole.tables(here):
            whole.ask(here, f"DELETE FROM {table}")
            whole.ask(here, f"INSERT INTO {table} TABLE kept_{table}")
    else:
        here = str(beside)
    run("prune", "--database", here, *RULES, cwd=tmp_path)
    assert left == whole.rows(here)
    assert count(here) < sum(map(len, left.values()))
