"""`langgraph-once inspect` on threads that LangGraph's own savers stored, and ours."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, RetryPolicy

from langgraph_once import OnceSerializer
from langgraph_once_ops.survey import open_snapshot, survey
from tests.forked import run_once
from tests.ops.history.forked_threads import (
    FIRST,
    PART_TOKENS,
    TOKENS,
    DeltaState,
    State,
    config,
    graph,
    play,
)
from tests.unit_tests.checkpoint.whole_databases import KEYS, once, serde, stock

ENCRYPTED = {"ONCE_SERDE__ENCRYPTION_KEYS": json.dumps({"old": KEYS["old"].get_secret_value()})}


def inspect(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return run_once("inspect", *arguments, cwd=cwd, **{"COLUMNS": "80", **env})


def read(*arguments: str, cwd: Path, **env: str) -> Any:
    run = inspect(*arguments, "--json", cwd=cwd, **env)
    assert (run.returncode, run.stderr) == (0, "")
    return json.loads(run.stdout)


@pytest.fixture(params=["stock", "ours", "ours, encrypted"])
def forked(here: str, request: pytest.FixtureRequest) -> tuple[str, dict[str, str]]:
    """A thread with forks in each form of rows, and the environment to read it."""
    keys = KEYS if "encrypted" in request.param else {}
    opened = stock(here) if request.param == "stock" else once(here, serde(encryption_keys=keys))
    with opened as saver:
        play(saver)
    return here, ENCRYPTED if keys else {}


def test_a_tree_tells_nodes_forks_tokens_and_calls_of_subgraphs(
    forked: tuple[str, dict[str, str]], tmp_path: Path
) -> None:
    url, env = forked
    tree = read("forked", "--database", url, cwd=tmp_path, **env)
    nodes = {each["checkpoint_id"]: each for each in tree["checkpoints"]}
    assert [*nodes] == sorted(nodes)
    root = [each for each in nodes.values() if not each["checkpoint_ns"]]
    assert [(each["step"], each["source"], each["wrote"], each["tokens"]) for each in root] == [
        (-1, "input", [], 0),
        (0, "loop", ["__start__"], 0),
        (1, "loop", ["model"], TOKENS),
        (2, "loop", ["part"], 3 * PART_TOKENS),
        (3, "loop", ["inner"], TOKENS),
        (2, "fork", [], 0),
        (3, "loop", ["part"], 3 * PART_TOKENS),
        (2, "update", [], 0),
    ]
    assert tree["tokens"] == 3 * TOKENS + 6 * PART_TOKENS
    assert (tree["status"], tree["forks"]) == ("idle", 2)
    parts = [each for each in root if each["wrote"] == ["part"]]
    assert [(each["interrupts"], each["waiting"]) for each in parts] == [(1, 0), (1, 1)]
    first_calls = [each for each in nodes.values() if each["checkpoint_ns"] and each["step"] == -1]
    assert [each["under"]["checkpoint_id"] for each in first_calls] == [
        each["checkpoint_id"] for each in parts
    ]
    thinking = [each for each in nodes.values() if each["wrote"] == ["think"]]
    assert [(each["tokens"], each["waiting"]) for each in thinking] == [(TOKENS, 0), (TOKENS, 1)]
    with open_snapshot(url) as snapshot:
        whole = survey(snapshot, OnceSerializer()).total
    assert sum(each["bytes"] for each in nodes.values()) + tree["shared_bytes"] == whole


def test_a_tree_is_drawn_in_eighty_columns_with_forks_beside_what_went_on(
    forked: tuple[str, dict[str, str]], tmp_path: Path
) -> None:
    url, env = forked
    run = inspect("forked", "--database", url, cwd=tmp_path, **env)
    head, _, title, *rows = run.stdout.splitlines()
    assert head.startswith("thread forked · idle · checkpoints 15 · forks 2 · subgraph calls 2 · ")
    assert [*title.split()] == ["step", "checkpoint", "wrote", "source", "tokens", "bytes"]
    drawn = [re.sub(r"(●|inner:).*", r"\1", row) for row in rows]
    assert drawn == [
        "  -1 ●",
        "   0 ●",
        "   1 ●",
        "   2 ├ ●",
        "     │ ├ inner:",
        "  -1 │ │ ●",
        "   0 │ │ ●",
        "   1 │ │ ●",
        "   2 │ │ ●",
        "   3 │ ●",
        "   2 ├ ●",
        "   3 │ ●",
        "     │ ├ inner:",
        "  -1 │ │ ●",
        "   0 │ │ ●",
        "   1 │ │ ●",
        "   2 ●",
    ]
    assert rows[-6].endswith("waits for an answer")
    assert rows[3].endswith("interrupt")
    assert FIRST not in run.stdout
    # Ids are as long as they must be to differ: longer, if two were made within 25 µs.
    longest_id = max(map(len, re.findall(r"[0-9a-f]{8}[0-9a-f-]*", "\n".join(rows))))
    assert len(head) <= 90
    assert max(map(len, rows)) - longest_id <= 75


def test_a_call_that_is_retried_stands_under_the_step_that_made_it(
    path: Path, tmp_path: Path
) -> None:
    calls: list[Any] = []

    def call(state: State) -> State:
        inner.invoke(state)
        calls.append(state)
        if len(calls) == 1:
            raise ConnectionError
        return {"parts": [1]}

    inner: Any = StateGraph(State).add_node("think", lambda _: {"parts": [2]})
    inner = inner.add_edge(START, "think").compile()
    again = RetryPolicy(initial_interval=0.01)
    outer = StateGraph(State).add_node("call", call, retry_policy=again).add_edge(START, "call")
    with stock(str(path)) as saver:
        outer.compile(saver).invoke({"parts": [0]}, config())
    run = inspect("forked", "--database", str(path), cwd=tmp_path)
    head, _, _, *rows = run.stdout.splitlines()
    assert "subgraph calls 2" in head
    assert [re.sub("(?<=●).*|:[0-9a-f]{8}", "", row) for row in rows] == [
        "  -1 ●",
        "   0 ●",
        "     ├ call",
        "  -1 │ ●",
        "   0 │ ●",
        "   1 │ ●",
        "     ├ call|1",
        "  -1 │ ●",
        "   0 │ ●",
        "   1 │ ●",
        "   1 ●",
    ]


def test_models_of_a_delta_channel_are_counted_once(here: str, tmp_path: Path) -> None:
    with stock(here) as saver:
        play(saver, DeltaState)
    tree = read("forked", "--database", here, cwd=tmp_path)
    told = [(each["step"], each["wrote"], each["tokens"]) for each in tree["checkpoints"]]
    assert (1, ["model"], TOKENS) in told
    assert (2, ["part"], 3 * PART_TOKENS) in told
    assert tree["tokens"] == 3 * TOKENS + 6 * PART_TOKENS


@pytest.mark.parametrize("state", [State, DeltaState])
def test_two_checkpoints_are_compared_by_channel_and_message(
    here: str, state: Any, tmp_path: Path
) -> None:
    with stock(here) as saver:
        play(saver, state)
        graph(saver, state).update_state(
            config(), {"messages": [HumanMessage("\x1b[31mred\nline", id="first")]}, as_node="inner"
        )
    tree = read("forked", "--database", here, cwd=tmp_path)
    root = [each for each in tree["checkpoints"] if not each["checkpoint_ns"]]
    pair = ["--diff", root[2]["checkpoint_id"], root[-1]["checkpoint_id"]]
    changed = {
        each["name"]: each for each in read("forked", *pair, "--database", here, cwd=tmp_path)
    }
    assert changed["messages"]["kind"] == "messages"
    (message,) = changed["messages"]["messages"]
    assert (message["id"], message["type"], message["how"]) == ("first", "human", "changed")
    assert "values" not in message
    back = read("forked", "--diff", *pair[:0:-1], "--database", here, cwd=tmp_path)
    assert {each["name"]: each["sizes"][::-1] for each in back} == {
        name: each["sizes"] for name, each in changed.items()
    }
    run = inspect("forked", *pair, "--database", here, cwd=tmp_path)
    assert (FIRST in run.stdout, "red" in run.stdout) == (False, False)
    assert "    ~ human first, " in run.stdout
    shown = inspect("forked", *pair, "--values", "--database", here, cwd=tmp_path)
    assert "\x1b" not in shown.stdout
    assert FIRST in shown.stdout
    assert "        + HumanMessage(content='\\x1b[31mred\\nline'" in shown.stdout


def test_messages_that_came_and_went_are_named(here: str, tmp_path: Path) -> None:
    with stock(here) as saver:
        play(saver)
    tree = read("forked", "--database", here, cwd=tmp_path)
    root = [each for each in tree["checkpoints"] if not each["checkpoint_ns"]]
    ids = [root[2]["checkpoint_id"], root[3]["checkpoint_id"]]
    there, back = (
        {
            each["name"]: each
            for each in read("forked", "--diff", *pair, "--database", here, cwd=tmp_path)
        }
        for pair in (ids, ids[::-1])
    )
    assert [(each["type"], each["how"]) for each in there["messages"]["messages"]] == [
        ("ai", "added")
    ] * 3
    assert {each["how"] for each in back["messages"]["messages"]} == {"removed"}
    same = inspect("forked", "--diff", ids[0], ids[0], "--database", here, cwd=tmp_path)
    assert same.stdout == "The same in all channels.\n"


class LostError(RuntimeError):
    pass


def fail(state: Any) -> Any:
    raise LostError


def test_threads_are_listed_newest_first_with_how_they_stand(here: str, tmp_path: Path) -> None:
    with stock(here) as saver:
        line: Any = StateGraph(State).add_node("fails", fail).add_edge(START, "fails")
        for name in ("3f0a5c7e-0000-6000-8000-000000000000", "second"):
            of_server = {"graph_id": "agent_of_a_long_name", "assistant_id": "an id"}
            named: Any = {**config(name), "metadata": of_server}
            graph(saver).invoke({"messages": [HumanMessage(FIRST)]}, named)
        graph(saver).invoke(Command(resume="yes"), config("second"))
        with pytest.raises(LostError):
            line.compile(saver).invoke({"messages": []}, config("failed"))
        stopped: Any = StateGraph(State).add_node("later", fail).add_edge(START, "later")
        stopped.compile(saver, interrupt_before=["later"]).invoke({"parts": []}, config("stopped"))
    found = read("--database", here, cwd=tmp_path)
    assert [(each["thread_id"], each["status"], each["graph"]) for each in found] == [
        ("stopped", "unfinished", ""),
        ("failed", "error", ""),
        ("second", "idle", ""),
        ("3f0a5c7e-0000-6000-8000-000000000000", "interrupted", "agent_of_a_long_name"),
    ]
    assert [each["checkpoints"] for each in found] == [2, 2, 9, 7]
    assert [each["last"] for each in found] == sorted(
        (each["last"] for each in found), reverse=True
    )
    assert min(each["bytes"] for each in found) > 500
    run = inspect("--database", here, "--limit", "4", cwd=tmp_path)
    lines = run.stdout.splitlines()
    assert (len(lines), max(map(len, lines))) == (5, 80)
    assert re.search(r" interrupted age[a-z_]*…$", lines[-1])
    assert FIRST not in run.stdout
    wide = inspect("--database", here, "--limit", "2", cwd=tmp_path, COLUMNS="120")
    assert [len(line.split()) for line in wide.stdout.splitlines()] == [6, 7, 7]
    piped = inspect("--database", here, cwd=tmp_path, COLUMNS="")
    assert piped.stdout.splitlines()[-1].endswith(" agent_of_a_long_name")


def test_only_the_newest_checkpoints_are_shown_if_asked(here: str, tmp_path: Path) -> None:
    with stock(here) as saver:
        play(saver)
    tree = read("forked", "--limit", "3", "--database", here, cwd=tmp_path)
    assert [each["tokens"] for each in tree["checkpoints"]] == [None, TOKENS, None]
    run = inspect("forked", "--limit", "3", "--database", here, cwd=tmp_path)
    assert len(run.stdout.splitlines()) == 6


def test_nothing_is_written_and_escapes_are_neutralised(path: Path, tmp_path: Path) -> None:
    red = "\x1b[31mred"
    with stock(str(path)) as saver:
        made: Any = StateGraph(State).add_node(red, lambda _: {"parts": [1]}).add_edge(START, red)
        named: Any = {**config(red), "metadata": {"graph_id": red}}
        made.compile(saver).invoke({"parts": []}, named)
    before = hashlib.sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns
    path.chmod(0o400)
    for arguments in ([], [red], [red, "--json"]):
        run = inspect(*arguments, "--database", str(path), cwd=tmp_path)
        assert (run.returncode, run.stderr) == (0, "")
        assert "\x1b" not in run.stdout
        assert "red" in run.stdout
    assert (hashlib.sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns) == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_checkpoint_that_says_it_goes_on_from_itself_stands_at_the_top(
    path: Path, tmp_path: Path
) -> None:
    with stock(str(path)) as saver:
        play(saver)
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("UPDATE checkpoints SET parent_checkpoint_id = checkpoint_id")
    tree = read("forked", "--database", str(path), cwd=tmp_path)
    assert not [each for each in tree["checkpoints"] if each["under"] == each]
    run = inspect("forked", "--database", str(path), cwd=tmp_path)
    assert run.stdout.count("●") == 15


def test_a_value_that_cannot_be_read_is_one_line_and_other_threads_are_listed(
    path: Path, tmp_path: Path
) -> None:
    with once(str(path), serde(encryption_keys=KEYS)) as saver:
        play(saver)
    with once(str(path), serde()) as saver:
        graph(saver).invoke({"messages": [HumanMessage(FIRST)]}, config("plain"))
    found = read("--database", str(path), cwd=tmp_path)
    assert [(each["thread_id"], each["status"]) for each in found] == [
        ("plain", "interrupted"),
        ("forked", "unreadable"),
    ]
    run = inspect("forked", "--database", str(path), cwd=tmp_path)
    assert (run.returncode, run.stdout, len(run.stderr.splitlines())) == (1, "", 1)
    assert "the value needs the key 'old'" in run.stderr


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["nobody"], "THREAD: no checkpoint of 'nobody' is stored"),
        (["nobody", "--diff", "1", "2"], "THREAD: no checkpoint of 'nobody' is stored"),
        (["thread", "--diff", "", "2"], "checkpoints of the thread begin so"),
        (["--database", "no.sqlite"], "there is no such file"),
        (["--database", "store.sqlite"], "it has no threads, only a store"),
    ],
)
def test_a_mistake_is_one_line(path: Path, tmp_path: Path, arguments: list[str], part: str) -> None:
    with SqliteSaver.from_conn_string(str(path)) as saver:
        graph(saver).invoke({"messages": [AIMessage("a", id="a")]}, config("thread"))
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as conn, conn:
        conn.execute("CREATE TABLE store (prefix text, key text, value text)")
    named = [] if "--database" in arguments else ["--database", str(path)]
    run = inspect(*arguments, *named, cwd=tmp_path)
    assert (run.returncode, run.stdout, len(run.stderr.splitlines())) == (1, "", 1)
    assert run.stderr.startswith("langgraph-once: ")
    assert part in run.stderr


def test_what_does_not_go_together_is_a_usage_error(tmp_path: Path) -> None:
    for arguments in (["--diff", "1", "2"], ["thread", "--values"]):
        assert inspect(*arguments, cwd=tmp_path).returncode == 2
