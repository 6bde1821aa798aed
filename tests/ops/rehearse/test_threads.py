"""Which threads, and which of their subgraphs, are looked at; what databases they are in."""

from __future__ import annotations

import importlib
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psycopg
import pytest
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from typing_extensions import TypedDict

from langgraph_once.checkpoint import open_sqlite_saver
from langgraph_once.checkpoint.sqlite.backend import OnceSqliteSaver
from langgraph_once_ops.rehearse import shape_of
from tests.ops.rehearse.changes import (
    USUAL,
    Delta,
    Holds,
    Plain,
    ask,
    draft,
    inner,
    line,
    outer,
    ran,
)
from tests.ops.rehearse.rehearsed import kinds, rehearsed


class Overwritten(TypedDict, total=False):
    trail: list[str]
    note: str
    count: int


RENAMED = line(Plain, "draft", "question", "send", question=ask)


def thread(name: str = "thread", **metadata: str) -> Any:
    return {"configurable": {"thread_id": name}, "metadata": metadata}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "threads.sqlite"


def run(path: Path, build: Any, *configs: Any, answers: int = 0) -> None:
    with SqliteSaver.from_conn_string(str(path)) as saver:
        graph = build().compile(saver)
        for config in configs or (thread(),):
            # Not "async": then it is chance whether a join is stored as complete too early.
            graph.invoke({"trail": []}, config, durability="sync")
            for _ in range(answers):
                graph.invoke(Command(resume="yes"), config)


def test_threads_are_counted_and_one_is_named(path: Path) -> None:
    run(path, USUAL, *(thread(f"waits {number}") for number in range(3)))
    run(path, USUAL, thread("done"), answers=1)
    report = rehearsed(path, RENAMED().compile())
    assert (report.threads, report.under_way) == (4, 3)
    ends = next(each for each in report.sorted() if each.kind == "ends")
    assert (ends.threads, ends.thread_id, ends.subject) == (3, "waits 0", "ask")


def test_a_thread_that_is_done_meets_nothing(path: Path) -> None:
    run(path, USUAL, answers=1)
    report = rehearsed(path, RENAMED().compile())
    assert (kinds(report), report.under_way) == (set(), 0)


def test_threads_of_another_graph_are_left_out(path: Path) -> None:
    run(path, USUAL, thread("a", graph_id="agent"), thread("b", graph_id="other"))
    new = line(Plain, "draft", "else")().compile()
    both, one = rehearsed(path, new), rehearsed(path, new, graph_id="other")
    assert both.graphs == {"agent": 1, "other": 1}
    assert (both.threads, one.threads) == (2, 1)
    assert {each.thread_id for each in one.sorted()} == {"b"}


def test_subgraphs_under_way_are_looked_into_and_those_that_are_done_are_not(path: Path) -> None:
    nested = outer("outer", lambda: outer("child", inner)().compile())
    run(path, nested)
    run(path, nested, thread("done"), answers=1)
    renamed = outer("outer", lambda: outer("child", lambda: inner("question"))().compile())
    report = rehearsed(path, renamed().compile())
    assert (report.threads, report.under_way, report.subgraphs) == (2, 1, 2)
    ends = next(each for each in report.sorted() if each.kind == "ends")
    assert ends.checkpoint_ns.startswith("outer:")
    assert "|child:" in ends.checkpoint_ns
    assert kinds(rehearsed(path, nested().compile())) == set()


def test_a_subgraph_that_is_done_inside_one_under_way(path: Path) -> None:
    def build(name: str) -> Any:
        child = line(Plain, "work")().compile()
        return outer("outer", lambda: line(Plain, name, "ask", **{name: child})().compile())

    run(path, build("child"))
    report = rehearsed(path, build("kid")().compile())
    assert (kinds(report), report.subgraphs) == (set(), 1)


def test_a_subgraph_that_is_none_any_more(path: Path) -> None:
    run(path, outer("child", inner))
    plain = line(Plain, "draft", "child", "send", child=ask)().compile()
    assert kinds(rehearsed(path, plain)) == {"subgraph-unknown"}
    old = shape_of(outer("child", inner)().compile())
    assert kinds(rehearsed(path, plain, old)) == {"subgraph-inline"}


def test_a_node_with_another_trigger_begins_anew(path: Path) -> None:
    run(path, USUAL)
    joined = USUAL().add_node("look", ran("look")).add_edge(START, "look")
    joined.add_edge(["look", "draft"], "ask")
    report = rehearsed(path, joined.compile())
    assert kinds(report) == {"task-anew"}
    assert not report.fails_at("certain")


def test_ways_that_are_new_to_a_node_that_ran_or_that_no_graph_declared(path: Path) -> None:
    def build(*ends: str, again: bool = False) -> Any:
        graph = USUAL().add_node("look", ran("look")).add_edge(START, "look")
        graph.add_conditional_edges("ask", lambda _: "send", [*ends] or None)
        return graph.add_edge("ask", "look") if again else graph

    run(path, build)
    old = shape_of(build("send").compile())
    assert kinds(rehearsed(path, build("send").compile(), old)) == set()
    assert kinds(rehearsed(path, build("send", again=True).compile(), old)) == {"run-again"}
    assert kinds(rehearsed(path, build().compile(), old)) == {"ways-unknown"}


def test_a_join_whose_nodes_have_all_run_when_another_takes_its_place(path: Path) -> None:
    def build(*before: str) -> Any:
        graph = USUAL().add_node("look", ran("look")).add_node("tell", ran("tell"))
        for name in before:
            graph.add_node(name, ran(name)).add_edge(name, "tell")
        return graph.add_edge("draft", "look").add_edge(["draft", "look"], [*before, "tell"][0])

    run(path, build)
    new = build("check").compile()
    assert kinds(rehearsed(path, new)) == {"join-changed"}
    assert kinds(rehearsed(path, new, shape_of(build().compile()))) == {"join-changed"}


def test_a_join_that_one_node_has_just_come_to_is_not_new(path: Path) -> None:
    def build() -> Any:
        graph = line(Plain, "ask")().add_node("look", ran("look")).add_edge(START, "look")
        graph.add_node("never", ran("never")).add_node("tell", ran("tell"))
        return graph.add_edge(["look", "ask", "never"], "tell")

    run(path, build)
    assert kinds(rehearsed(path, build().compile())) == set()


def test_a_node_that_is_done_and_gave_nothing_may_go(path: Path) -> None:
    def build(name: str, result: Any = None) -> Any:
        graph = line(Plain, "ask")().add_node(name, lambda _: result)
        return graph.add_edge(START, name)

    run(path, lambda: build("mail"))
    assert kinds(rehearsed(path, build("letter").compile())) == set()
    path.unlink()
    run(path, lambda: build("mail", {"note": "sent"}))
    assert kinds(rehearsed(path, build("letter").compile())) == {"node-gone"}


@pytest.mark.parametrize("was", [True, False])
def test_a_join_before_a_node_that_is_deferred_now_or_was(was: bool, path: Path) -> None:
    def build(*, defer: bool) -> Any:
        graph = USUAL().add_node("look", ran("look")).add_edge("draft", "look")
        graph.add_node("tell", ran("tell"), defer=defer)
        return graph.add_edge(["draft", "look", "send"], "tell")

    run(path, lambda: build(defer=was), answers=1)
    assert kinds(rehearsed(path, build(defer=was).compile())) == set()
    assert kinds(rehearsed(path, build(defer=not was).compile())) == {"join-unread"}


def test_a_delta_channel_that_becomes_one_that_is_overwritten(path: Path) -> None:
    run(path, line(Delta, "draft", "ask", "send"))
    report = rehearsed(path, line(Overwritten, "draft", "ask", "send")().compile())
    assert kinds(report) == {"delta-gone"}


def test_an_error_handler_that_asks(path: Path) -> None:
    def fails(state: Any) -> Any:
        raise ValueError

    def build(**handler: Any) -> Any:
        graph = StateGraph(Plain).add_node("work", fails, **handler).add_node("look", ran("look"))
        return graph.add_edge(START, "work").add_edge(START, "look")

    run(path, lambda: build(error_handler=ask))
    assert kinds(rehearsed(path, build(error_handler=ask).compile())) == set()
    assert kinds(rehearsed(path, build().compile())) == {"task-anew"}


def test_an_input_that_nobody_has_read(path: Path) -> None:
    with SqliteSaver.from_conn_string(str(path)) as saver:
        graph = USUAL().compile(saver)
        for _ in graph.stream({"trail": []}, thread(), stream_mode="debug", durability="sync"):
            break  # the process is gone
        assert graph.get_state(thread()).next == ("__start__",)
    report = rehearsed(path, RENAMED().compile())
    assert (report.under_way, kinds(report)) == (1, set())


def test_the_functional_api(path: Path) -> None:
    def build(name: str) -> Any:
        @task
        def work(asks: bool) -> Any:
            return interrupt("?") if asks else 1

        def flow(_: Any) -> Any:
            return [work(False).result(), work(True).result()]

        flow.__name__ = name
        return entrypoint(checkpointer=saver)(flow)

    with SqliteSaver.from_conn_string(str(path)) as saver:
        build("flow").invoke({}, thread())
        assert kinds(rehearsed(path, build("flow"))) == set()
        renamed = build("workflow")
        assert kinds(rehearsed(path, renamed)) == {"task-anew"}


def test_sends_of_an_older_checkpoint(path: Path) -> None:
    run(path, USUAL)
    with SqliteSaver.from_conn_string(str(path)) as saver:
        found = saver.get_tuple(thread())
        assert found
        old: Any = {**found.checkpoint, "v": 3, "pending_sends": [Send("work", {})]}
        old["id"] = "2" + old["id"][1:]
        saver.put(found.config, old, {"step": 2}, {})
    report = rehearsed(path, USUAL().compile())
    assert ("send-gone", "work") in {(each.kind, each.subject) for each in report.sorted()}


@pytest.mark.parametrize("row", ["c1", "80", "90", "81a17601"], ids=["damaged", "{}", "[]", "v"])
def test_what_cannot_be_read_is_told_and_the_others_are_looked_at(path: Path, row: str) -> None:
    run(path, USUAL, thread("a"), thread("b"))
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute(f"UPDATE checkpoints SET checkpoint = x'{row}' WHERE thread_id = 'a'")
    report = rehearsed(path, RENAMED().compile())
    assert "unread" in kinds(report)
    assert report.threads == 1


def test_names_of_a_hostile_row_are_made_harmless(path: Path) -> None:
    name = "\x1b[31mred" + "x" * 1000
    run(path, lambda: StateGraph(Plain).add_node(name, ask).add_edge(START, name))
    told = "\n".join(rehearsed(path, RENAMED().compile()).lines())
    assert "\x1b" not in told
    assert max(map(len, told.splitlines())) < 300


def test_our_own_rows_that_are_stored_in_pieces(path: Path) -> None:
    def long(state: Any) -> Any:
        return {**draft(state), "trail": [f"word {number} " * 20 for number in range(500)]}

    with open_sqlite_saver(path) as saver:
        assert isinstance(saver, OnceSqliteSaver)
        line(Plain, "draft", "ask", draft=long)().compile(saver).invoke({}, thread())
    assert "ends" in kinds(rehearsed(path, RENAMED().compile()))
    assert kinds(rehearsed(path, USUAL().compile())) == set()


def test_postgres_and_a_role_that_may_only_read(postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as conn:
        # Of its own: other tests leave damaged rows in theirs.
        conn.execute("DROP DATABASE IF EXISTS rehearsed")
        conn.execute("CREATE DATABASE rehearsed")
    own = make_conninfo(postgres, dbname="rehearsed")
    with PostgresSaver.from_conn_string(own) as saver:
        saver.setup()
        config = thread("rehearsed", graph_id="rehearsed")
        outer("child", inner)().compile(saver).invoke({"trail": []}, config)
    with psycopg.connect(own, autocommit=True) as conn:
        if conn.execute("SELECT 1 FROM pg_roles WHERE rolname = 'only_reads'").fetchone() is None:
            conn.execute("CREATE ROLE only_reads LOGIN PASSWORD 'reads'")
        # As langgraph-checkpoint-postgres made them up to 2.0.10.
        conn.execute("ALTER TABLE checkpoint_writes DROP COLUMN task_path")
        names = "checkpoints, checkpoint_blobs, checkpoint_writes"
        conn.execute(f"GRANT SELECT ON {names} TO only_reads")
    reader = make_conninfo(own, user="only_reads", password="reads")
    address = as_url(reader)
    gone = rehearsed(address, outer("kid", inner)().compile(), graph_id="rehearsed")
    assert kinds(gone) == {"node-gone", "ends", "subgraph-gone", "interrupt-gone"}
    same = rehearsed(address, outer("child", inner)().compile(), graph_id="rehearsed")
    assert (kinds(same), same.threads, same.subgraphs) == (set(), 1, 1)


def as_url(conninfo: str) -> str:
    known = {key: str(value) for key, value in conninfo_to_dict(conninfo).items() if value}
    return f"postgresql:///{known.pop('dbname')}?{urlencode(known)}"


def test_a_class_that_another_serializer_reads_is_no_failure(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path.parent / "far_away.py").write_text(
        "import dataclasses\nfrom tests.ops.rehearse.changes import Held\n"
        "@dataclasses.dataclass\nclass It(Held): pass\n"
    )
    monkeypatch.syspath_prepend(str(path.parent))
    far_away = importlib.import_module("far_away")
    build = line(Holds, "hold", "ask", hold=lambda _: {"held": far_away.It()})
    run(path, build)
    monkeypatch.delitem(sys.modules, "far_away")
    report = rehearsed(path, build().compile())
    assert [(each.kind, each.subject) for each in report.sorted()] == [
        ("type-refused", "far_away:It")
    ]
    assert report.allowed_types == {"far_away:It"}
