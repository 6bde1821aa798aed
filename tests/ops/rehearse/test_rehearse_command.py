"""`rehearse` as an operator and a CI job run it: what it says, and its exit codes."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from tests.forked import run_once
from tests.ops.rehearse.changes import USUAL

OLD = """
from tests.ops.rehearse.changes import Plain, USUAL, ask, line
print("said at import")
graph = USUAL().compile()
"""
NEW = OLD.replace("USUAL()", "line(Plain, 'draft', 'question', 'send', question=ask)()")
ROOT = Path(__file__).parents[3]


def once(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    env = {"PYTHONPATH": str(ROOT), "ONCE_DATABASE_URL": "threads.sqlite", **env}
    return run_once("rehearse", *arguments, cwd=folder, **env)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "deployed.py").write_text(OLD)
    (folder / "changed.py").write_text(NEW)
    (folder / "broken.py").write_text("raise RuntimeError('a secret')\n")
    (folder / "other.json").write_text("[]")
    config: Any = {"configurable": {"thread_id": "first"}}
    with SqliteSaver.from_conn_string(str(folder / "threads.sqlite")) as saver:
        USUAL().compile(saver).invoke({"trail": ["private"]}, config)
    return folder


def test_a_graph_that_breaks_a_thread(folder: Path) -> None:
    run = once(folder, "--graph", "changed:graph")
    assert run.returncode == 1
    assert run.stdout.splitlines()[:5] == [
        "1 thread, 1 of them under way, with 0 subgraphs",
        "",
        "certain:",
        "  1 thread: the thread ends without a word: `ask` was next",
        "    e.g. thread first",
    ]
    assert run.stderr.splitlines() == ["said at import", "threads: 1 of 1"]
    assert "private" not in run.stdout


def test_a_graph_that_goes_on(folder: Path) -> None:
    run = once(folder, "--graph", "deployed:graph")
    assert (run.returncode, run.stdout.splitlines()[-1]) == (0, "Nothing found.")


def test_a_graph_of_which_there_is_no_thread(folder: Path) -> None:
    """A name that is misspelt must not pass for a graph that breaks nothing."""
    run = once(folder, "--graph", "deployed:graph", "--graph-id", "agnet")
    told = "No thread is of the graph 'agnet': none here names its graph."
    assert (run.returncode, run.stdout.splitlines()[-1]) == (0, told)
    config: Any = {"configurable": {"thread_id": "first"}, "metadata": {"graph_id": "agent"}}
    with SqliteSaver.from_conn_string(str(folder / "served.sqlite")) as saver:
        USUAL().compile(saver).invoke({"trail": ["private"]}, config)
    served = {"ONCE_DATABASE_URL": "served.sqlite"}
    run = once(folder, "--graph", "deployed:graph", "--graph-id", "agnet", **served)
    assert run.stdout.splitlines()[-1].endswith("those here are of agent (1).")


def test_for_machines_and_against_what_was_described(folder: Path) -> None:
    described = once(folder, "--graph", "deployed:graph", "--describe")
    assert (described.returncode, json.loads(described.stdout)["nodes"]["ask"]) == (0, ["send"])
    (folder / "shape.json").write_text(described.stdout)
    run = once(folder, "--graph", "changed:graph", "--against", "shape.json", "--json")
    found = json.loads(run.stdout)
    assert (run.returncode, found["threads"], found["under_way"]) == (1, 1, 1)
    assert {each["kind"] for each in found["findings"]} == {"ends", "node-gone", "interrupt-gone"}
    assert {each["thread_id"] for each in found["findings"]} == {"first"}


def test_where_no_thread_can_be_read_it_is_not_done(folder: Path) -> None:
    serde = EncryptedSerializer.from_pycryptodome_aes(key=b"0123456789abcdef")
    with closing(sqlite3.connect(folder / "locked.sqlite", check_same_thread=False)) as conn:
        config: Any = {"configurable": {"thread_id": "first"}}
        USUAL().compile(SqliteSaver(conn, serde=serde)).invoke({"trail": ["private"]}, config)
    locked = {"ONCE_DATABASE_URL": "locked.sqlite", "LANGGRAPH_AES_KEY": "another-16-bytes"}
    run = once(folder, "--graph", "deployed:graph", **locked)
    assert run.returncode == 2
    assert "no thread could be read" in run.stderr.splitlines()[-1]
    locked["LANGGRAPH_AES_KEY"] = "0123456789abcdef"
    assert once(folder, "--graph", "deployed:graph", **locked).returncode == 0


def test_how_sure_it_must_be(folder: Path) -> None:
    (folder / "retyped.py").write_text(NEW.replace("Plain", "Retyped").replace("question", "ask"))
    arguments = ["--graph", "retyped:graph", "--against", "deployed:graph"]
    assert once(folder, *arguments).returncode == 0
    run = once(folder, *arguments, "--fail-on", "likely")
    assert (run.returncode, "the channel `count` holds" in run.stdout) == (1, True)


def test_both_graphs_may_be_named_by_their_files(folder: Path) -> None:
    run = once(folder, "--graph", "./changed.py:graph", "--against", "./deployed.py:graph")
    assert run.returncode == 1
    assert "the thread ends without a word: `ask` was next" in run.stdout
    same = once(folder, "--graph", "./deployed.py:graph", "--against", "./deployed.py:graph")
    assert (same.returncode, same.stdout.splitlines()[-1]) == (0, "Nothing found.")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--graph", "nowhere:graph"], "--graph: there is no module 'nowhere'"),
        (["--graph", "./nowhere.py:graph"], "--graph: there is no file './nowhere.py'"),
        (["--graph", "./changed.py:grap"], "'changed.py' has no 'grap'; did you mean 'graph'?"),
        (["--graph", "changed"], "--graph: must be written as module:name, got 'changed'"),
        (["--graph", "./changed.py"], "'./changed.py' names no graph of a file"),
        (["--graph", "broken:graph"], "broken:graph cannot be loaded: RuntimeError"),
        (["--graph", "changed:ask"], "cannot be loaded: TypeError"),
        (["--graph", "changed:Plain"], "changed:Plain is no graph"),
        (["--graph", "changed:graph", "--against", "nowhere:graph"], "--against: there is no mod"),
        (["--graph", "changed:graph", "--against", "other.json"], "is not what --describe printed"),
        (["--graph", "changed:graph", "--against", "no.json"], "cannot be read"),
        (["--graph", "changed:graph", "--database", "no.sqlite"], "there is no such file"),
        (["--graph", "changed:graph", "--database", "mysql://x"], "is no database that is known"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    folder: Path, arguments: list[str], part: str
) -> None:
    run = once(folder, *arguments)
    assert (run.returncode, run.stdout) == (2, "")
    said = [line for line in run.stderr.splitlines() if line != "said at import"]
    assert len(said) == 1
    assert said[0].startswith("langgraph-once: ")
    assert part in said[0]
    assert "secret" not in run.stderr
