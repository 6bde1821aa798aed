"""Every command on files of old savers: tables of their form, with the rows that they wrote."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from langgraph_once.__main__ import commands
from tests.data.checkpoints import files
from tests.data.checkpoints.write_upstream import build

graph = build(None)
"""The graph that wrote the rows, as the langgraph of today makes it."""

READING = [
    ["survey", "--exact"],
    ["survey", "--json"],
    ["inspect"],
    ["inspect", "thread"],
    ["inspect", "thread", "--json"],
    ["verify"],
    ["rehearse", "--graph", f"{__name__}:graph"],
    ["prune", "--keep-last", "1", "--dry-run"],
    ["migrate", "--to", "once2", "--dry-run"],
    ["migrate", "--to", "msgpack", "--dry-run"],
]


@pytest.fixture(params=files.names())
def old(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database as an old saver left it."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "threads.sqlite"
    with closing(sqlite3.connect(path)) as conn:
        conn.executescript(files.OLD_TABLES)
        files.load(request.param, conn)
    return path


def run(path: Path, *arguments: str) -> Result:
    result = CliRunner().invoke(commands, [*arguments, "--database", str(path)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_commands_that_read_are_done_and_leave_the_file_as_it_is(old: Path) -> None:
    before = hashlib.sha256(old.read_bytes()).hexdigest()
    for arguments in READING:
        result = run(old, *arguments)
        assert result.exit_code == 0, (arguments, result.output)
    assert [each.name for each in old.parent.iterdir()] == [old.name]
    assert hashlib.sha256(old.read_bytes()).hexdigest() == before


def test_a_tree_has_all_checkpoints_and_a_pruning_deletes_what_it_told(old: Path) -> None:
    tree = json.loads(run(old, "inspect", "thread", "--json").stdout)["checkpoints"]
    assert len(tree) == rows(old, "checkpoints WHERE thread_id = 'thread'")
    rules = ("prune", "--keep-last", "1", "--json")
    told = json.loads(run(old, *rules, "--dry-run").stdout)
    before = rows(old, "checkpoints"), rows(old, "writes")
    done = json.loads(run(old, *rules).stdout)
    after = rows(old, "checkpoints"), rows(old, "writes")
    assert {**told, "dry_run": False} == {**done, "dry_run": False}
    assert done["deleted_checkpoints"] == before[0] - after[0] > 0
    assert done["before"]["rows"] - done["after"]["rows"] == sum(before) - sum(after)


def rows(path: Path, where: str) -> int:
    with closing(sqlite3.connect(path)) as conn:
        ((count,),) = conn.execute(f"SELECT count(*) FROM {where}")
    return int(count)
