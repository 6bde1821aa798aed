"""`langgraph-once types` reads rows of a PostgreSQL, ours and upstream's, and changes nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from tests.forked import run_once
from tests.unit_tests.checkpoint import whole_databases as whole

ON: Any = {"configurable": {"thread_id": "thread", "checkpoint_ns": ""}}


@dataclass
class Line:
    text: str


def types(folder: Path, database: str) -> dict[str, Any]:
    (folder / "langgraph.json").write_text('{"dependencies": ["."], "graphs": {}}')
    run = run_once("types", "--json", cwd=folder, ONCE_DATABASE_URL=database)
    assert run.returncode == 0, run.stderr
    report: dict[str, Any] = json.loads(run.stdout)
    return report


def put(saver: Any, value: Any) -> None:
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"line": value, "note": "kept in JSON"}
    checkpoint["channel_versions"] = {"line": "1", "note": "1"}
    config = saver.put(ON, checkpoint, {"step": 1}, checkpoint["channel_versions"])
    saver.put_writes(config, [("line", value)], "task")


@pytest.mark.parametrize("form", ["once", "stock"])
def test_types_of_a_postgres(database: str, form: str, tmp_path: Path) -> None:
    here = whole.url(database)
    long = [Line(f"{number} pieces") for number in range(2_000)]  # is cut
    with whole.stock(here) if form == "stock" else whole.once(here, whole.serde()) as saver:
        put(saver, long)
    before = whole.columns(here)
    report = types(tmp_path, here)
    assert whole.columns(here) == before
    assert (report["values"], report["unread"]) == (2, {})
    (found,) = report["types"]
    assert found["name"] == f"{__name__}:Line"
    assert (found["thread_id"], found["channel"], found["values"]) == ("thread", "line", 2)
    assert "@" not in report["database"]


def test_a_postgres_without_tables_is_no_database_yet(database: str, tmp_path: Path) -> None:
    here = whole.url(database)
    report = types(tmp_path, here)
    assert (report["database"], report["values"]) == (None, 0)
    assert whole.columns(here) == []
