"""`verify` as an operator runs it: what it says, and its exit codes."""

from __future__ import annotations

import importlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from langgraph_once import SerdeConfig
from langgraph_once.serde import OnceSerializer
from tests.unit_tests.test_database_commands import once, put


def test_what_is_damaged_is_told_and_what_belongs_to_nothing_is_repaired(tmp_path: Path) -> None:
    put(tmp_path / "other.sqlite", ["value"])
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
        ([], "there is no such file"),
        (["--database", "mysql://x"], "'mysql' is no database that is known"),
        (["--config", "other.json"], "other.json: cannot be read"),
    ],
)
def test_a_mistake_is_told(arguments: list[str], words: str, tmp_path: Path) -> None:
    run = once("verify", *arguments, cwd=tmp_path)
    assert run.returncode == 1
    assert words in run.stderr
    assert "Traceback" not in run.stderr
    assert not list(tmp_path.iterdir())
