"""What rules delete of threads, of LangGraph's own savers and of ours, and what is told before."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from langgraph_once.checkpoint.by_url import open_saver
from langgraph_once.checkpoint.postgres.queries import LOCKS
from langgraph_once.checkpoint.stored import first_id_at
from langgraph_once.config import CheckpointConfig, RetentionConfig, ThreadStatus
from langgraph_once.errors import ConfigError, StorageError
from langgraph_once.stream import StreamAddress
from langgraph_once_ops.retention import Pruned, Pruner, prune
from langgraph_once_ops.survey import open_snapshot, survey
from tests.databases import is_postgres
from tests.stock_threads import fill
from tests.unit_tests.checkpoint import whole_databases as whole
from tests.unit_tests.checkpoint.whole_databases import ask, stock
from tests.unit_tests.checkpoint.whole_graph import extend

NOW = datetime.now(UTC)


def as_it_is(database: str, **options: Any) -> Any:
    """A saver that makes no tables, as the command opens it."""
    config = CheckpointConfig()
    serde = whole.serde(**options)
    return open_saver(database, config=config, serde=serde, makes_tables=False)


def estimated(database: str, rules: RetentionConfig, **options: Any) -> Pruned:
    with whole.to_read(database, whole.serde(**options)) as saver:
        return prune(saver, rules, is_dry=True, now=NOW)


def pruned(database: str, rules: RetentionConfig, **options: Any) -> Pruned:
    with as_it_is(database, **options) as saver:
        return prune(saver, rules, now=NOW)


def on(thread_id: str) -> Any:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}


def put(saver: Any, thread_id: str, *ages: timedelta, **metadata: Any) -> None:
    """Store checkpoints of these ages, the oldest first."""
    at = on(thread_id)
    for number, age in enumerate(ages):
        checkpoint: Any = empty_checkpoint()
        checkpoint["id"] = f"{first_id_at(NOW - age)}-8000-{number:012x}"
        checkpoint["channel_values"] = {"a": f"{thread_id} {number}" * 100}
        checkpoint["channel_versions"] = {"a": f"{number}"}
        about: Any = {"source": "loop", "step": number, **metadata}
        at = saver.put(at, checkpoint, about, checkpoint["channel_versions"])
        saver.put_writes(at, [("a", "written")], "task")


def threads(database: str) -> list[str]:
    rows = ask(database, "SELECT DISTINCT thread_id FROM checkpoints ORDER BY 1")
    return [thread_id for (thread_id,) in rows]


def rows(database: str) -> int:
    """All rows that threads have."""
    return sum(map(len, whole.rows(database).values()))


DAY = timedelta(days=1)
# The mildest first: each still finds something.
RULES = [
    RetentionConfig(older_than="300d", status=("idle",)),
    RetentionConfig(keep_last=9, status=("idle",)),
    RetentionConfig(keep_last=4),
    RetentionConfig(older_than="90d", keep_last=2, status=("interrupted", "unfinished")),
    RetentionConfig(older_than="90d", keep_last=1),
]


@pytest.mark.parametrize("kind", ["stock", "ours"])
def test_what_is_told_before_is_what_goes(here: str, kind: str) -> None:
    with stock(here) if kind == "stock" else whole.once(here, whole.serde()) as saver:
        fill(saver, 15, longest=5)
        if kind == "ours":  # with pieces, ledgers, and writes of a run that was killed
            whole.fill(saver)
            put(saver, "done", 3 * DAY, 2 * DAY)
            gone: Any = {**on("done")["configurable"], "checkpoint_id": "1e000000-0000-6000"}
            saver.put_writes({"configurable": gone}, [("a", "x" * 50_000)], "killed")
            saver.save_stream_state(StreamAddress("done", ""), b"ledger " * 9000)
    tables = whole.columns(here)
    for rules in RULES:
        before = rows(here)
        expected = estimated(here, rules)
        assert rows(here) == before
        assert expected.deleted + expected.shortened > 0, rules
        done = pruned(here, rules)
        assert dataclasses.asdict(done) == dataclasses.asdict(expected)
        assert before - rows(here) == done.before.rows - done.after.rows > 0
        again = pruned(here, rules)
        assert (again.deleted, again.shortened, again.troubles) == (0, 0, [])
    assert whole.columns(here) == tables, "no table of ours is made in a stock database"


def test_survey_says_what_the_same_rule_deletes(here: str) -> None:
    with stock(here) as saver:
        fill(saver, 10, longest=6)
    with open_snapshot(here) as snapshot:
        found = survey(snapshot, whole.serde(), seconds=None, now=NOW)
    for count, estimate in found.kept.items():
        told = estimated(here, RetentionConfig(keep_last=count))
        assert told.before.bytes - told.after.bytes == estimate.value
    for days, (many, size) in found.idle.items():
        told = estimated(here, RetentionConfig(older_than=f"{days}d"))
        assert (told.deleted, told.before.bytes, told.after.bytes) == (many, size, 0)
        assert told.shortened == 0


def test_a_thread_goes_whole_by_its_last_checkpoint_and_others_are_shortened(here: str) -> None:
    with stock(here) as saver:
        put(saver, "old", 100 * DAY, 99 * DAY, 91 * DAY)
        put(saver, "young", 100 * DAY, 99 * DAY, 89 * DAY)
        put(saver, "short", 89 * DAY)
        saver.put(on("dateless"), {**empty_checkpoint(), "id": "1"}, {"step": 1}, {})
    done = pruned(here, RetentionConfig(older_than="90d", keep_last=2))
    assert (done.threads, done.deleted, done.shortened, done.checkpoints) == (4, 1, 1, 4)
    assert threads(here) == ["dateless", "short", "young"]
    with stock(here) as saver:
        assert len([*saver.list(on("young"))]) == 2
        assert saver.get_tuple(on("young")).checkpoint["channel_values"] == {"a": "young 2" * 100}


def test_metadata_of_the_last_checkpoint_select_threads_also_encrypted(here: str) -> None:
    with whole.once(here, whole.serde(encryption_keys=whole.KEYS)) as saver:
        put(saver, "mine", 9 * DAY, user="me", level=3)
        put(saver, "other", 9 * DAY, user="you", level=3)
        put(saver, "nobody's", 9 * DAY)
    rules = RetentionConfig(older_than="1d", metadata={"user": "me", "level": "3"})
    done = pruned(here, rules, encryption_keys=whole.KEYS)
    assert (done.deleted, done.troubles, threads(here)) == (1, [], ["nobody's", "other"])


class State(TypedDict, total=False):
    way: str
    answer: str


def stand(state: State) -> Any:
    if state["way"] == "error":
        raise ValueError("no")
    if state["way"] == "interrupted":
        return {"answer": interrupt("May I?")}
    return {}


def graph(saver: Any) -> Any:
    inner = StateGraph(State).add_node("stand", stand).add_edge(START, "stand")
    outer = StateGraph(State).add_node("inner", inner.compile()).add_node("end", lambda _: {})
    outer.add_edge(START, "inner").add_edge("inner", "end")
    return outer.compile(checkpointer=saver)


@pytest.fixture
def standing(here: str) -> str:
    with stock(here) as saver:
        built = graph(saver)
        for way in ("idle", "interrupted", "error", "unfinished"):
            stops: Any = {"interrupt_before": ["end"]} if way == "unfinished" else {}
            try:
                built.invoke({"way": way}, on(way), **stops)
            except ValueError:
                assert way == "error"
        built.invoke({"way": "interrupted"}, on("answered"))
        built.invoke(Command(resume="yes"), on("answered"))
    return here


@pytest.mark.parametrize("status", ["idle", "interrupted", "error", "unfinished"])
def test_how_a_thread_stands_is_told_by_its_checkpoints(
    standing: str, status: ThreadStatus
) -> None:
    with as_it_is(standing) as saver:
        rules = RetentionConfig(older_than="1s", status=(status,))
        done = prune(saver, rules, now=datetime.now(UTC) + DAY)
    gone = {"idle", "interrupted", "error", "unfinished", "answered"} - {*threads(standing)}
    assert gone == ({"idle", "answered"} if status == "idle" else {status})
    assert done.deleted == len(gone)


def test_a_thread_that_a_run_goes_on_with_meanwhile_stays(here: str) -> None:
    with whole.once(here, whole.serde()) as saver:
        put(saver, "thread", 100 * DAY)
        pruner = Pruner(saver, RetentionConfig(older_than="90d"), NOW)
        assert pruner.threads() == (1, ["thread"])
        put(saver, "thread", timedelta())
        assert pruner.prune("thread") is None
        assert len([*saver.list(on("thread"))]) == 2


_GOES_ON = """
INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, type, checkpoint, metadata)
SELECT thread_id, checkpoint_ns, '{}', type, checkpoint, metadata FROM checkpoints
"""


def test_a_thread_that_a_run_goes_on_with_while_its_lock_is_waited_for_stays(here: str) -> None:
    with whole.once(here, whole.serde()) as saver:
        put(saver, "thread", 100 * DAY)
        if is_postgres(here):
            writer: Any = importlib.import_module("psycopg").connect(here)
            locks = f"hashtextextended('thread', {LOCKS})"
            writer.execute(f"SELECT pg_advisory_xact_lock_shared({locks})")
        else:
            writer = sqlite3.connect(here, isolation_level=None)
            writer.execute("BEGIN IMMEDIATE")
        with contextlib.closing(writer), ThreadPoolExecutor(1) as pool:
            pruner = Pruner(saver, RetentionConfig(older_than="90d"), NOW)
            pruning = pool.submit(pruner.prune, "thread")
            time.sleep(0.5)  # by now it has decided, and waits
            assert not pruning.done()
            writer.execute(_GOES_ON.format(f"{first_id_at(NOW)}-8000-000000000000"))
            writer.execute("COMMIT")
            assert pruning.result() is None
        assert len([*saver.list(on("thread"))]) == 2


class Counted(TypedDict, total=False):
    count: int
    log: Annotated[list[int], DeltaChannel(extend, snapshot_frequency=7)]


@pytest.mark.parametrize("kind", ["stock", "ours"])
def test_runs_go_on_while_their_threads_are_pruned(here: str, kind: str) -> None:
    def step(state: Counted) -> Any:
        count = state.get("count", 0) + 1
        return {"count": count, "log": [count]}

    builder = StateGraph(Counted).add_node("step", step).add_node("end", lambda _: {})
    builder.add_edge(START, "step").add_conditional_edges(
        "step", lambda state: "end" if state["count"] % 20 == 0 else "step"
    )
    with stock(here) if kind == "stock" else whole.once(here, whole.serde()) as saver:
        graph = builder.compile(checkpointer=saver)
        graph.invoke({}, on("t"))  # its tables are there

        def run() -> None:
            for _ in range(3):
                graph.invoke({}, on("t"))

        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(run)
            gone = 0
            with as_it_is(here) as pruning:
                while not running.done():
                    gone += prune(pruning, RetentionConfig(keep_last=1)).checkpoints
            running.result()
        found = graph.get_state(on("t"))
    assert gone > 10
    assert found.values == {"count": 80, "log": [*range(1, 81)]}


def test_what_cannot_be_read_stays_as_it_is_and_others_are_pruned(here: str) -> None:
    with whole.once(here, whole.serde(encryption_keys=whole.KEYS)) as saver:
        put(saver, "damaged", 9 * DAY)
    with stock(here) as saver:
        put(saver, "sound", 9 * DAY)
    done = pruned(here, RetentionConfig(older_than="1d", status=("idle",)))
    assert (done.deleted, threads(here)) == (1, ["damaged"])
    (trouble,) = done.troubles
    assert trouble.thread_id == "damaged"


def test_a_database_without_threads_is_refused_and_stays_empty(here: str) -> None:
    if not is_postgres(here):
        ask(here, "CREATE TABLE other (a)")
    before = whole.columns(here)
    with pytest.raises(StorageError, match="no saver has made its tables"):
        pruned(here, RetentionConfig(keep_last=1))
    assert whole.columns(here) == before


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "needs a rule"),
        ({"older_than": "90"}, "must be a number and one of s, m, h, d, w"),
        ({"older_than": "0d"}, "must be a number and one of s, m, h, d, w"),
        ({"keep_last": 1, "every": "often"}, "must be a number and one of"),
        ({"keep_last": -1}, "greater than or equal to 0"),
        ({"keep_last": 1, "status": ["asleep"]}, "'idle'"),
    ],
)
def test_a_wrong_rule_is_refused(given: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        RetentionConfig(**given)
