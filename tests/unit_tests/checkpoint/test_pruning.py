"""What pruning keeps and deletes, in both databases: calls of subgraphs, sends, orphans."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt

from langgraph_once.checkpoint.database import Program, Statement
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.checkpoint.stored import first_id_at
from tests.operations import repair, verify
from tests.unit_tests.checkpoint import whole_databases as whole

ROOT: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
THREAD: Any = {"configurable": {"thread_id": "t"}}


@pytest.fixture(params=["plain", "encrypted"])
def saver(here: str, request: pytest.FixtureRequest) -> Iterator[OnceSaver]:
    keys = whole.KEYS if request.param == "encrypted" else {}
    with whole.once(here, whole.serde(encryption_keys=keys)) as opened:
        yield opened


def ask(saver: OnceSaver, sql: str) -> list[Any]:
    def program() -> Program[list[Any]]:
        return (yield Statement(sql, has_rows=sql.startswith("SELECT")))

    return saver.engine.run(program(), writes=True)


class State(TypedDict, total=False):
    count: int
    asks: bool
    answer: str


def graph(saver: Any, *, remembers: bool = False) -> Any:
    def work(state: State) -> State:
        if state.get("asks"):
            return {"answer": interrupt("May I?")}
        return {"count": state.get("count", 0) + 1}

    inner = StateGraph(State).add_node("work", work).add_edge(START, "work")
    middle = StateGraph(State).add_node("inner", inner.compile(checkpointer=remembers or None))
    middle.add_edge(START, "inner")
    outer = StateGraph(State).add_node("middle", middle.compile(checkpointer=remembers or None))
    return outer.add_edge(START, "middle").compile(checkpointer=saver)


def spaces(saver: OnceSaver) -> list[str]:
    return [each.config["configurable"]["checkpoint_ns"] for each in saver.list(THREAD)]


def test_the_calls_of_subgraphs_go_with_what_started_them(saver: OnceSaver) -> None:
    outer = graph(saver)
    for _ in range(5):
        outer.invoke({"asks": False}, THREAD)
    assert len(set(spaces(saver))) == 11
    saver.prune(["t"])
    assert spaces(saver) == [""]
    assert outer.invoke({"asks": False}, THREAD)["count"] == 6
    for table in saver.threads.tables.cell_tables:
        left = ask(saver, f"SELECT DISTINCT checkpoint_ns FROM {table.name}")
        assert all(ns == "" or ns in spaces(saver) for (ns,) in left)


def test_a_call_whose_root_an_older_version_pruned_goes_too(saver: OnceSaver) -> None:
    outer = graph(saver)
    for _ in range(3):
        outer.invoke({"asks": False}, THREAD)
    latest = next(saver.list(ROOT)).config["configurable"]["checkpoint_id"]
    ask(saver, f"DELETE FROM checkpoints WHERE checkpoint_ns = '' AND checkpoint_id < '{latest}'")
    saver.prune(["t"])
    assert spaces(saver) == [""]


def test_a_call_that_waits_is_kept_and_goes_on(saver: OnceSaver) -> None:
    outer = graph(saver)
    outer.invoke({"asks": False}, THREAD)
    outer.invoke({"asks": True}, THREAD)
    saver.prune(["t"])
    assert len(set(spaces(saver))) == 3
    assert outer.invoke(Command(resume="yes"), THREAD)["answer"] == "yes"


def test_what_a_subgraph_remembers_over_its_calls_is_kept(saver: OnceSaver) -> None:
    results = []
    for pruned in (True, False):
        store: Any = saver if pruned else InMemorySaver()
        outer = graph(store, remembers=True)
        outer.invoke({"asks": False}, THREAD)
        if pruned:
            saver.prune(["t"])
            assert len(set(spaces(saver))) > 1
        results.append(outer.invoke({"asks": False}, THREAD))
    assert results[0] == results[1]


def test_a_call_younger_than_what_is_to_go_stays(saver: OnceSaver) -> None:
    outer = graph(saver)
    outer.invoke({"asks": False}, THREAD)
    before = spaces(saver)
    saver.prune(["t"], older_than=datetime.now(UTC) - timedelta(hours=1))
    assert spaces(saver) == before


def test_what_was_sent_to_tasks_is_found_after_pruning(saver: OnceSaver) -> None:
    """Before its version 4, checkpoints had it on their parent; upstream reads it in PostgreSQL."""
    old: Any = {**empty_checkpoint(), "v": 3}
    parent = saver.put(ROOT, old, {"source": "loop", "step": 1}, {})
    saver.put_writes(parent, [("__pregel_tasks", Send("work", {"n": 1}))], "task 1", "path 1")
    child = saver.put(parent, {**empty_checkpoint(), "v": 3}, {"source": "loop", "step": 2}, {})
    before = saver.get_tuple(child)
    assert before
    saver.prune(["t"])
    after = saver.get_tuple(child)
    assert after
    assert after.checkpoint == before.checkpoint
    newest = saver.put(child, {**empty_checkpoint(), "v": 4}, {"step": 3}, {})
    saver.prune(["t"])
    assert [each.config for each in saver.list(THREAD)] == [newest]


def id_of(ago: timedelta) -> str:
    return f"{first_id_at(datetime.now(UTC) - ago)}-8000-000000000001"


def orphan(saver: OnceSaver, ago: timedelta, thread_id: str = "t") -> str:
    id_ = id_of(ago)
    at: Any = {"configurable": {"thread_id": thread_id, "checkpoint_ns": "", "checkpoint_id": id_}}
    saver.put_writes(at, [("a", "x" * 100_000)], f"task {ago}")
    return id_


def on(saver: OnceSaver) -> set[str]:
    table = saver.threads.tables.writes_table
    return {id_ for (id_,) in ask(saver, f"SELECT checkpoint_id FROM {table}")}


@pytest.mark.parametrize("way", ["prune", "repair", "rollback"])
def test_writes_on_what_was_never_stored_go_once_it_cannot_come_any_more(
    saver: OnceSaver, here: str, way: str
) -> None:
    def put(at: Any, run_id: str, step: int) -> Any:
        about: Any = {**at, "metadata": {"run_id": run_id}}
        return saver.put(about, empty_checkpoint(), {"source": "loop", "step": step}, {})

    orphan(saver, timedelta(minutes=6))
    coming = {orphan(saver, timedelta(seconds=2))}  # of another run, which stores it right now
    at = put(ROOT, "r", 1)
    kept = put(at, "k", 2)
    saver.put_writes(kept, [("a", 1)], "task")
    coming.add(orphan(saver, timedelta(seconds=-2)))  # above the newest
    orphan(saver, timedelta(hours=2), "gone")  # of a thread without checkpoints
    serde: Any = saver.serde
    with whole.to_read(here, serde) as reader:
        verdict = verify(reader, serde)
        assert len(verdict.troubles) == 2
        assert verdict.orphaned == {"t", "gone"}
    if way == "prune":
        saver.prune(["t", "gone"])
    elif way == "repair":
        repair(saver, verdict.orphaned)
    else:
        saver.delete_for_runs(["r"])
        repair(saver, ["gone"])
    assert on(saver) == {kept["configurable"]["checkpoint_id"], *coming}
    assert len(ask(saver, "SELECT DISTINCT thread_id FROM once_pieces")) == 1
    with whole.to_read(here, serde) as reader:
        assert verify(reader, serde).troubles == []


def test_what_a_policy_of_postgres_hides_makes_no_leftovers(database: str) -> None:
    psycopg = importlib.import_module("psycopg")
    with whole.once(whole.url(database), whole.serde()) as owner:
        settled = {**empty_checkpoint(), "id": id_of(timedelta(hours=1))}
        at = owner.put(ROOT, settled, {"source": "loop", "step": 1}, {})
        owner.put_writes(at, [("a", "x" * 100_000)], "task")
        with (
            whole.only_select(database) as role,
            psycopg.connect(database, autocommit=True) as conn,
            whole.once(whole.url(role), whole.serde()) as saver,
        ):
            ((schema,),) = conn.execute("SELECT current_schema()").fetchall()
            name = psycopg.conninfo.conninfo_to_dict(role)["user"]
            conn.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {name}")
            conn.execute("ALTER TABLE checkpoints ENABLE ROW LEVEL SECURITY")
            assert saver.get_tuple(at) is None
            assert verify(saver, whole.serde()).orphaned == set()
            repair(saver, ["t"])
            saver.prune(["t"])
        assert on(owner) == {at["configurable"]["checkpoint_id"]}
        assert owner.get_tuple(at).pending_writes == [("task", "a", "x" * 100_000)]


def test_two_runs_that_share_a_namespace_keep_their_early_writes(saver: OnceSaver) -> None:
    """One has written on a checkpoint that it stores after a newer one of the other was pruned."""
    id_ = orphan(saver, timedelta(seconds=2))
    saver.put(ROOT, empty_checkpoint(), {"source": "loop", "step": 1}, {})
    saver.prune(["t"])
    at = saver.put(ROOT, {**empty_checkpoint(), "id": id_}, {"source": "loop", "step": 1}, {})
    found = saver.get_tuple(at)
    assert found
    assert [value for _, _, value in found.pending_writes or ()] == ["x" * 100_000]


def test_writes_that_outlive_a_foreign_delete_go_when_they_are_old(saver: OnceSaver) -> None:
    old: Any = {**empty_checkpoint(), "id": id_of(timedelta(minutes=6))}
    at = saver.put(ROOT, old, {"source": "loop", "step": 1}, {})
    for number in range(12):
        saver.put_writes(at, [("a", number)], f"task {number}")
    ask(saver, "DELETE FROM checkpoints")
    saver.prune(["t"])
    assert on(saver) == set()
