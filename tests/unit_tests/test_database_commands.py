"""`migrate` as an operator runs it: what it says, and its exit codes."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite import SqliteSaver

from langgraph_once.checkpoint import open_sqlite_saver
from tests.forked import run_once

CONFIG: Any = {"configurable": {"thread_id": "thread", "checkpoint_ns": ""}}


def once(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return run_once(*arguments, cwd=cwd, **env)


def put(
    path: Path,
    value: Any,
    *,
    thread_id: str = "thread",
    serde: SerializerProtocol | None = None,
) -> None:
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"channel": value}
    checkpoint["channel_versions"] = {"channel": "1"}
    config: Any = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
    with open_sqlite_saver(path, serde=serde) as saver:
        saver.put(config, checkpoint, {"source": "loop", "step": 1}, {"channel": "1"})


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "threads.sqlite"
    put(path, ["value"])
    return path


def test_the_way_out_and_back(database: Path, tmp_path: Path) -> None:
    name = str(database)
    dry = once("migrate", "--to", "msgpack", "--dry-run", "--database", name, cwd=tmp_path)
    assert (dry.returncode, "1 threads, 1 rows would be rewritten" in dry.stdout) == (0, True)
    assert "grows" not in dry.stderr
    out = once("migrate", "--to", "msgpack", "--database", f"sqlite:///{name}", cwd=tmp_path)
    assert out.returncode == 0, out.stderr
    assert "our tables, indexes and columns are dropped" in out.stdout
    assert "threads: 1 of 1" in out.stderr
    assert out.stderr.startswith("The database grows first")
    with SqliteSaver.from_conn_string(name) as upstream:
        found = upstream.get_tuple(CONFIG)
        assert found
        assert found.checkpoint["channel_values"] == {"channel": ["value"]}
    back = once("migrate", "--to", "once2", cwd=tmp_path, ONCE_DATABASE_URL=name)
    assert (back.returncode, "1 threads, 1 rows rewritten" in back.stdout) == (0, True)


def test_what_is_left_as_it_is_is_named(database: Path, tmp_path: Path) -> None:
    put(database, 2**80)
    run = once("migrate", "--to", "msgpack", "--database", str(database), cwd=tmp_path)
    assert run.returncode == 1
    assert "left as it is: thread 'thread', checkpoint" in run.stderr
    assert "channel 'channel'" in run.stderr
    assert str(2**80) not in run.stderr + run.stdout


def test_threads_are_copied(database: Path, tmp_path: Path) -> None:
    run = once("migrate", "--into", "other.sqlite", "--database", str(database), cwd=tmp_path)
    assert (run.returncode, "1 threads copied, 1 checkpoints" in run.stdout) == (0, True)
    again = once("migrate", "--into", "other.sqlite", "--database", str(database), cwd=tmp_path)
    assert "0 threads copied, 0 checkpoints; 1 threads were there" in again.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["migrate"], "either --to or --into"),
        (["migrate", "--to", "msgpack", "--into", "x"], "either --to or --into"),
        (["migrate", "--into", "x", "--dry-run"], "--into goes with"),
        (["migrate", "--to", "msgpack"], "there is no such file"),
        (
            ["migrate", "--into", "x", "--database", "mysql://x"],
            "'mysql' is no database that is known",
        ),
        (["migrate", "--into", "x", "--config", "other.json"], "other.json: cannot be read"),
    ],
)
def test_a_mistake_is_told(arguments: list[str], words: str, tmp_path: Path) -> None:
    run = once(*arguments, cwd=tmp_path)
    assert run.returncode in (1, 2)
    assert words in run.stderr
    assert "Traceback" not in run.stderr
    assert not list(tmp_path.iterdir())
