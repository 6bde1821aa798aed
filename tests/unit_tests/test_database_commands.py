"""`migrate` and `verify` as an operator runs them: what they say, and their exit codes."""

from __future__ import annotations

import importlib
import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite import SqliteSaver
from pydantic import SecretStr

from langgraph_once import SerdeConfig
from langgraph_once.checkpoint import open_sqlite_saver
from langgraph_once.serde import OnceSerializer
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
    out = once("migrate", "--to", "msgpack", "--database", f"sqlite:///{name}", cwd=tmp_path)
    assert out.returncode == 0, out.stderr
    assert "our tables, indexes and columns are dropped" in out.stdout
    assert "threads: 1 of 1" in out.stderr
    with SqliteSaver.from_conn_string(name) as upstream:
        found = upstream.get_tuple(CONFIG)
        assert found
        assert found.checkpoint["channel_values"] == {"channel": ["value"]}
    back = once("migrate", "--to", "once1", cwd=tmp_path, ONCE_DATABASE_URL=name)
    assert (back.returncode, "1 threads, 1 rows rewritten" in back.stdout) == (0, True)


def test_what_is_left_as_it_is_is_named(database: Path, tmp_path: Path) -> None:
    put(database, 2**80)
    run = once("migrate", "--to", "msgpack", "--database", str(database), cwd=tmp_path)
    assert run.returncode == 1
    assert "left as it is: thread 'thread', checkpoint" in run.stderr
    assert "channel 'channel'" in run.stderr
    assert str(2**80) not in run.stderr + run.stdout


def test_threads_are_copied_and_checked(database: Path, tmp_path: Path) -> None:
    run = once("migrate", "--into", "other.sqlite", "--database", str(database), cwd=tmp_path)
    assert (run.returncode, "1 threads copied, 1 checkpoints" in run.stdout) == (0, True)
    again = once("migrate", "--into", "other.sqlite", "--database", str(database), cwd=tmp_path)
    assert "0 threads copied, 0 checkpoints; 1 threads were there" in again.stdout
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as conn, conn:  # of a killed process
        conn.execute(
            "INSERT INTO writes SELECT thread_id, '', '1', 'task', 0, 'a', 'null', x'', "
            "'', NULL FROM checkpoints"
        )
    left = once("verify", "--database", "other.sqlite", cwd=tmp_path)
    assert (left.returncode, "`--repair` deletes writes" in left.stdout) == (1, True)
    sound = once("verify", "--repair", "--database", "other.sqlite", cwd=tmp_path)
    assert (sound.returncode, sound.stdout.endswith(": sound\n")) == (0, True)
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as conn, conn:
        conn.execute("UPDATE checkpoints SET checkpoint = x'00'")
    damaged = once("verify", "--json", "--database", "other.sqlite", cwd=tmp_path)
    assert damaged.returncode == 1
    (finding,) = json.loads(damaged.stdout)["findings"]
    assert finding["thread_id"] == "thread"
    assert finding["checkpoint_id"]


LINES = """
from dataclasses import dataclass
from typing import TypedDict

from langgraph.graph import START, StateGraph

@dataclass
class Line:
    number: int

class State(TypedDict):
    channel: Line

graph = StateGraph(State).add_node("node", lambda state: {}).add_edge(START, "node").compile()
print("this is said at import")
"""


def test_verify_names_what_is_damaged_in_the_order_of_the_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lines.py").write_text(LINES)
    manifest = {"dependencies": ["."], "graphs": {"lines": "lines:graph"}}
    (tmp_path / "langgraph.json").write_text(json.dumps(manifest))
    monkeypatch.syspath_prepend(tmp_path)
    line = importlib.import_module("lines").Line
    key = "MDEyMzQ1Njc4OWFiY2RlZg=="
    serde = OnceSerializer(SerdeConfig(encryption_keys={"key": SecretStr(key)}))
    database = tmp_path / "threads.sqlite"
    for number in range(6):
        put(database, line(number), thread_id=f"thread {number}", serde=serde)
    with closing(sqlite3.connect(database)) as conn, conn:
        for thread_id in ("thread 4", "thread 1"):
            sql = "UPDATE checkpoints SET checkpoint = x'00' WHERE thread_id = ?"
            conn.execute(sql, [thread_id])
    env = {
        "ONCE_DATABASE_URL": str(database),
        "ONCE_SERDE__ENCRYPTION_KEYS": json.dumps({"key": key}),
    }
    run = once("verify", cwd=tmp_path, **env)
    assert run.returncode == 1
    first, second, summary = run.stdout.splitlines()
    assert first.startswith("thread 'thread 1'")
    assert second.startswith("thread 'thread 4'")
    assert summary == "6 threads, 6 checkpoints, 6 values, 0 pieces: 2 findings"
    assert run.stderr.count("this is said at import") == 1
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["migrate"], "either --to or --into"),
        (["migrate", "--to", "msgpack", "--into", "x"], "either --to or --into"),
        (["migrate", "--into", "x", "--dry-run"], "--into goes with"),
        (["migrate", "--to", "msgpack"], "there is no such file"),
        (["verify"], "there is no such file"),
        (["verify", "--database", "mysql://x"], "'mysql' is no database that is known"),
        (["verify", "--config", "other.json"], "other.json: cannot be read"),
    ],
)
def test_a_mistake_is_told(arguments: list[str], words: str, tmp_path: Path) -> None:
    run = once(*arguments, cwd=tmp_path)
    assert run.returncode in (1, 2)
    assert words in run.stderr
    assert "Traceback" not in run.stderr
    assert not list(tmp_path.iterdir())
