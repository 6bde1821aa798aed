import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiosqlite
import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple, empty_checkpoint
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from langgraph_once.checkpoint import OnceSqliteSaver, open_sqlite_saver
from langgraph_once.checkpoint.sqlite.tables import NOT_JSON, SqliteTables


async def history(saver: OnceSqliteSaver, thread_id: str) -> list[CheckpointTuple]:
    return [found async for found in saver.alist({"configurable": {"thread_id": thread_id}})]


async def stored(saver: OnceSqliteSaver, query: str, *values: Any) -> list[Any]:
    return saver.conn.execute(query, values).fetchall()


def root(thread_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}


async def test_a_deletion_may_be_the_first_operation(path: Path, serde: SerializerProtocol) -> None:
    with closing(sqlite3.connect(path, check_same_thread=False)) as conn:
        await OnceSqliteSaver(conn, serde=serde).adelete_thread("thread")


async def test_upstream_still_forgets_setup_before_a_deletion(path: Path) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        with pytest.raises(aiosqlite.OperationalError, match="no such table"):
            await saver.adelete_thread("thread")


async def test_setup_from_many_tasks_at_once(path: Path, serde: SerializerProtocol) -> None:
    with closing(sqlite3.connect(path, check_same_thread=False)) as conn:
        saver = OnceSqliteSaver(conn, serde=serde)
        await asyncio.gather(*(asyncio.to_thread(saver.setup) for _ in range(8)))


async def test_a_step_of_a_short_thread_takes_two_statements_that_read_nothing(
    saver: OnceSqliteSaver,
) -> None:
    first = await saver.aput(root("one"), empty_checkpoint(), {"step": 1}, {})
    traced: list[str] = []
    saver.conn.set_trace_callback(traced.append)
    await saver.aput_writes(first, [("messages", ["hello"]), ("branch:to:model", None)], "task")
    checkpoint: Any = {**empty_checkpoint(), "channel_values": {"messages": ["hello"]}}
    await saver.aput(first, checkpoint, {"step": 2}, {"messages": 1})
    assert [each.split(" (")[0].strip() for each in traced] == [
        "INSERT INTO writes",
        "INSERT OR REPLACE INTO checkpoints",
    ]


async def test_a_short_thread_is_read_by_one_statement(saver: OnceSqliteSaver) -> None:
    checkpoint: Any = {**empty_checkpoint(), "channel_values": {"messages": ["hello"]}}
    first = await saver.aput(root("one"), checkpoint, {"step": 1}, {"messages": 1})
    await saver.aput_writes(first, [("b", 1), ("a", 2)], "task")
    await saver.aput_writes(first, [("c", 3)], "another", "~path")
    for config in (root("one"), first):
        traced: list[str] = []
        saver.conn.set_trace_callback(traced.append)
        found = await saver.aget_tuple(config)
        saver.conn.set_trace_callback(None)
        assert found is not None
        assert found.config == first
        assert found.checkpoint["channel_values"] == {"messages": ["hello"]}
        assert found.pending_writes == [("task", "b", 1), ("task", "a", 2), ("another", "c", 3)]
        assert len(traced) == 1


async def test_a_write_that_comes_again_stays_as_it_was_within_one_statement(
    saver: OnceSqliteSaver,
) -> None:
    first = await saver.aput(root("one"), empty_checkpoint(), {"step": 1}, {})
    await saver.aput_writes(first, [("a", 1), ("b", 2)], "task")
    await saver.aput_writes(first, [("a", 3), ("b", 4), ("c", 5)], "task")
    await saver.aput_writes(first, [(RESUME, 1)], "other")
    await saver.aput_writes(first, [(RESUME, 1), (RESUME, 2)], "other")
    found = await saver.aget_tuple(first)
    assert found is not None
    assert sorted(found.pending_writes or []) == [
        *[("other", RESUME, 2)],
        *[("task", "a", 1), ("task", "b", 2), ("task", "c", 5)],
    ]


@pytest.fixture
async def native(path: Path) -> AsyncIterator[OnceSqliteSaver]:
    async with open_sqlite_saver(path) as saver:
        yield saver


async def test_small_rows_are_compressed_only_in_a_thread_of_which_something_is_cut(
    native: OnceSqliteSaver,
) -> None:
    saver = native
    for thread_id, count in (("short", 6), ("longer", 30), ("long", 200)):
        told: Any = [f"message {number} says nothing " * 8 for number in range(count)]
        values = {"messages": told, "note": "a note " * 99}
        checkpoint: Any = {**empty_checkpoint(), "channel_values": values}
        at = await saver.aput(root(thread_id), checkpoint, {"step": 1}, {"messages": 1})
        await saver.aput_writes(at, [("messages", told[:4])], "task")
        found = await saver.aget_tuple(root(thread_id))
        assert found is not None
        assert found.checkpoint["channel_values"] == values
        assert found.pending_writes == [("task", "messages", told[:4])]
    tags = await stored(saver, "SELECT thread_id, type FROM checkpoints ORDER BY rowid")
    assert tags == [
        ("short", "channels"),
        ("longer", "channels.zstd"),
        ("long", "channels.zstd"),
    ]
    tags = await stored(saver, "SELECT thread_id, type FROM writes ORDER BY rowid")
    assert tags == [("short", "once2"), ("longer", "once2"), ("long", "once2.zstd")]


@pytest.mark.parametrize("text", ["a\ud800b", "\udcff", "plain", "größer 🙂"])
async def test_lone_surrogates_in_metadata_are_kept(saver: OnceSqliteSaver, text: str) -> None:
    first = await saver.aput(root("one"), empty_checkpoint(), {"step": 1}, {})
    metadata: Any = {"step": 2, "text": text, "nested": [{text: text}], "run_id": "r"}
    config: RunnableConfig = {**first, "metadata": {"title": text}}
    second = await saver.aput(config, empty_checkpoint(), metadata, {"a": 1})
    found = await saver.aget_tuple(second)
    assert found is not None
    assert found.metadata == {**metadata, "title": text}
    assert found.parent_config == first
    assert found.config == second
    await saver.acopy_thread("one", "two")
    latest, _ = await history(saver, "two")
    assert latest.metadata == found.metadata
    assert [tuple_.metadata["step"] async for tuple_ in saver.alist(None, filter={"step": 2})] == [
        2,
        2,
    ]
    await saver.adelete_for_runs(["r"])
    assert [tuple_.metadata["step"] for tuple_ in await history(saver, "one")] == [1]


async def test_a_copy_keeps_bytes_and_adapts_the_thread_in_metadata(
    saver: OnceSqliteSaver,
) -> None:
    metadata: Any = {
        "thread_id": "one",
        "nested": {"thread_id": "one", "float": 1e300, "small": 0.1, "big": 2**70},
        "text": 'größer 🙂 \\ " one',
        "empty": None,
        "list": [1, 2.50, True],
    }
    config = await saver.aput(root("one"), empty_checkpoint(), metadata, {})
    await saver.aput_writes(config, [("a", 1), ("b", {"x": (1, 2)})], "task", "~path")
    await saver.acopy_thread("one", "two")

    (copied,) = await history(saver, "two")
    assert copied.metadata == {**metadata, "thread_id": "two"}
    (original,) = await history(saver, "one")
    assert original.metadata == metadata
    for columns in ("type, checkpoint", "parent_checkpoint_id, typeof(metadata)"):
        query = f"SELECT {columns} FROM checkpoints WHERE thread_id = ?"
        assert await stored(saver, query, "one") == await stored(saver, query, "two")
    query = (
        "SELECT checkpoint_id, task_id, task_path, idx, channel, type, value "
        "FROM writes WHERE thread_id = ? ORDER BY idx"
    )
    assert await stored(saver, query, "one") == await stored(saver, query, "two")


async def test_a_copy_takes_metadata_that_is_not_json(saver: OnceSqliteSaver) -> None:
    metadata: Any = {"score": float("nan"), "thread_id": "one"}
    await saver.aput(root("one"), empty_checkpoint(), metadata, {})
    await saver.acopy_thread("one", "two")
    assert len(await history(saver, "two")) == 1


async def test_a_copy_replaces_what_the_target_had(saver: OnceSqliteSaver, fill: Any) -> None:
    await fill(saver, "one", count=2, name="one")
    await fill(saver, "two", count=5, name="two")
    await saver.acopy_thread("one", "two")
    query = "SELECT json_extract(CAST(metadata AS TEXT), '$.name') FROM checkpoints"
    assert await stored(saver, f"{query} WHERE thread_id = 'two'") == [("one",), ("one",)]
    assert await stored(saver, "SELECT count(*) FROM writes WHERE thread_id = 'two'") == [(2,)]


async def test_a_copy_of_nothing_changes_nothing(saver: OnceSqliteSaver, fill: Any) -> None:
    await fill(saver, "one")
    await saver.acopy_thread("mistyped", "one")
    await saver.acopy_thread("one", "one")
    assert len(await history(saver, "one")) == 2


async def test_a_rollback_takes_the_writes_on_the_checkpoint_it_started_from(
    saver: OnceSqliteSaver, fill: Any
) -> None:
    (_, last) = await fill(saver, "thread", run_id="first")
    in_run: Any = {**last, "metadata": {"run_id": "second"}}
    await saver.aput_writes(in_run, [("channel", "second's")], "task of second")
    await saver.adelete_for_runs(["second"])
    found = await saver.aget_tuple(last)
    assert found is not None
    assert found.pending_writes == [("task-1", "channel", 1)]


@pytest.mark.parametrize(
    "place",
    [
        {"metadata": {"run_id": "run"}},
        {"configurable": {"run_id": "run"}},
        {"run_id": "run"},
    ],
)
async def test_a_write_knows_its_run(
    saver: OnceSqliteSaver, fill: Any, place: dict[str, Any]
) -> None:
    (last,) = await fill(saver, "thread", count=1)
    configurable = {**last["configurable"], **place.get("configurable", {})}
    config: Any = {**last, **place, "configurable": configurable}
    await saver.aput_writes(config, [("channel", 1)], "task")
    query = "SELECT once_run_id FROM writes WHERE task_id = 'task'"
    assert await stored(saver, query) == [("run",)]


async def test_ordinary_writes_stay_and_special_ones_are_replaced(
    saver: OnceSqliteSaver, fill: Any
) -> None:
    (last,) = await fill(saver, "thread", count=1)
    for value in ("first", "second"):
        await saver.aput_writes(last, [("channel", value), (ERROR, value)], "task a")
        await saver.aput_writes(last, [(RESUME, value), (INTERRUPT, value)], "task b")
    found = await saver.aget_tuple(last)
    assert found is not None
    writes = {(task, channel): value for task, channel, value in found.pending_writes or []}
    assert writes == {
        ("task-0", "channel"): 0,
        ("task a", "channel"): "first",
        ("task a", ERROR): "first",
        ("task b", RESUME): "second",
        ("task b", INTERRUPT): "second",
    }


async def test_a_rollback_of_runs_with_odd_neighbours(saver: OnceSqliteSaver, fill: Any) -> None:
    await fill(saver, "thread", run_id='it\'s "one"')
    await fill(saver, "thread", run_id="other")
    await fill(saver, "thread", score=float("nan"))
    await saver.adelete_for_runs(['it\'s "one"', "unknown"])
    assert len(await history(saver, "thread")) == 4


@pytest.mark.parametrize(
    "metadata",
    [
        {"score": float("nan")},
        {"score": float("-inf"), "nested": [{"run_id": "other"}]},
        {"score": [float("nan")], "title": "größer 🙂 \ud800"},
    ],
    ids=["nan", "infinity", "surrogate"],
)
async def test_a_rollback_takes_what_sqlite_does_not_take_for_json(
    saver: OnceSqliteSaver, fill: Any, metadata: dict[str, Any]
) -> None:
    (first, *_) = await fill(saver, "thread", count=1, run_id="first", **metadata)
    await fill(saver, "thread", count=2, run_id="second", **metadata)
    await fill(saver, "thread", count=1, run=["second"], **metadata)
    await saver.adelete_for_runs(["second"])
    kept = await history(saver, "thread")
    assert [each.metadata.get("run_id") for each in kept] == [None, "first"]
    assert kept[1].config == first
    assert await stored(saver, "SELECT count(*) FROM writes") == [(2,)]


async def test_sqlite_finds_these_rows_by_index(saver: OnceSqliteSaver) -> None:
    plan = await stored(saver, f"EXPLAIN QUERY PLAN {NOT_JSON}")
    assert [row[-1] for row in plan] == ["SCAN checkpoints USING INDEX once_checkpoints_not_json"]


@pytest.mark.parametrize("score", [1.5, float("nan")])
async def test_a_rollback_leaves_the_copies_of_what_it_takes(
    saver: OnceSqliteSaver, fill: Any, score: float
) -> None:
    await fill(saver, "one", run_id="run", score=score)
    await saver.acopy_thread("one", "two")
    await saver.acopy_thread("two", "three")
    copies = [await history(saver, thread_id) for thread_id in ("two", "three")]
    await saver.adelete_for_runs(["run"])
    assert await history(saver, "one") == []
    after = [await history(saver, thread_id) for thread_id in ("two", "three")]
    assert repr(after) == repr(copies)  # by `==` NaN would not be NaN
    assert [len(each) for each in copies] == [2, 2]
    assert copies[0][0].metadata.get("run_id") == "run"


async def test_what_a_run_stores_in_a_copy_is_its_own(saver: OnceSqliteSaver, fill: Any) -> None:
    await fill(saver, "one", run_id="run")
    await saver.acopy_thread("one", "two")
    latest, earlier = await history(saver, "two")
    # A run on the copy stores the latest checkpoint again, as LangGraph does at an exit.
    again: Any = {**earlier.config, "metadata": {"run_id": "run 2"}}
    await saver.aput(again, latest.checkpoint, {"step": 1}, {})
    await saver.adelete_for_runs(["run", "run 2"])
    assert await history(saver, "two") == [earlier]


async def test_thousands_of_ids_are_asked_for_at_once(saver: OnceSqliteSaver, fill: Any) -> None:
    await fill(saver, "keep", run_id="keep")
    await fill(saver, "thread 7", run_id="run 7")
    await fill(saver, "thread 2999", run_id="run 2999")
    saver.conn.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 2_500)
    many = range(3_000)  # more variables than SQLite takes now; else it takes 250,000
    await saver.adelete_for_runs([f"run {n}" for n in many])
    assert await history(saver, "thread 7") == []
    assert await history(saver, "thread 2999") == []
    await fill(saver, "thread 8")
    await saver.aprune([f"thread {n}" for n in many], strategy="delete")
    assert await history(saver, "thread 8") == []
    assert len(await history(saver, "keep")) == 2


@pytest.mark.parametrize("table", ["checkpoints", "writes"])
async def test_a_rollback_finds_its_rows_by_index(saver: OnceSqliteSaver, table: str) -> None:
    column = SqliteTables.run_id if table == "checkpoints" else "once_run_id"
    query = f"EXPLAIN QUERY PLAN SELECT thread_id FROM {table} WHERE {column} IN (?, ?)"
    steps = [row[-1] for row in await stored(saver, query, "a", "b")]
    assert all(step.startswith("SEARCH") and "INDEX once_" in step for step in steps), steps


@pytest.mark.parametrize("strategy", ["delete", "delete_all"])
async def test_prune_takes_the_words_of_both_upstreams(
    saver: OnceSqliteSaver, fill: Any, strategy: str
) -> None:
    await fill(saver, "one")
    await fill(saver, "two")
    await saver.aprune(["one", "unknown"], strategy=strategy)
    assert await history(saver, "one") == []
    assert len(await history(saver, "two")) == 2
    assert await stored(saver, "SELECT DISTINCT thread_id FROM writes") == [("two",)]


async def test_prune_refuses_another_strategy(saver: OnceSqliteSaver, fill: Any) -> None:
    await fill(saver, "one")
    with pytest.raises(ValueError, match=r"'keep'.*'keep_latest', 'delete' and 'delete_all'"):
        await saver.aprune(["one"], strategy="keep")
    assert len(await history(saver, "one")) == 2


@pytest.mark.parametrize(
    ("threads", "options", "error"),
    [("one", {}, TypeError), (["one"], {"keep_last": 0}, ValueError)],
)
async def test_prune_refuses_what_would_delete_more_than_was_meant(
    saver: OnceSqliteSaver, fill: Any, threads: Any, options: dict[str, Any], error: type[Exception]
) -> None:
    await fill(saver, "one")
    with pytest.raises(error):
        await saver.aprune(threads, **options)
    assert len(await history(saver, "one")) == 2


async def test_what_pruning_keeps_can_be_said_in_an_event_loop_too(
    saver: OnceSqliteSaver, fill: Any
) -> None:
    *_, before, last = await fill(saver, "one", count=4)
    await saver.aprune(["one"], keep_last=3, older_than=datetime(2020, 1, 1, tzinfo=UTC))
    assert len(await history(saver, "one")) == 4  # nothing is that old
    await saver.aprune(["one"], keep_last=2)
    assert [kept.config for kept in await history(saver, "one")] == [last, before]


async def test_prune_keeps_the_latest_with_its_writes_only(
    saver: OnceSqliteSaver, fill: Any
) -> None:
    *_, last = await fill(saver, "thread", count=4)
    await saver.aprune(["thread"])
    (kept,) = await history(saver, "thread")
    assert kept.config == last
    assert kept.pending_writes == [("task-3", "channel", 3)]
    assert await stored(saver, "SELECT count(*) FROM writes") == [(1,)]


async def test_a_negative_limit_is_none_as_with_langgraphs_saver(
    saver: OnceSqliteSaver, fill: Any
) -> None:
    await fill(saver, "1", count=3)
    async with AsyncSqliteSaver.from_conn_string(saver.name) as theirs:
        expected = [found.config async for found in theirs.alist(root("1"), limit=-1)]
    found = [found.config async for found in saver.alist(root("1"), limit=-1)]
    assert (found, len(found)) == (expected, 3)


async def test_the_sync_twins_from_another_thread(saver: OnceSqliteSaver, fill: Any) -> None:
    await fill(saver, "one", run_id="run")
    await asyncio.to_thread(saver.copy_thread, "one", "two")
    assert len(await history(saver, "two")) == 2
    await asyncio.to_thread(saver.prune, ["two"])
    assert len(await history(saver, "two")) == 1
    await asyncio.to_thread(saver.delete_for_runs, ["run"])
    assert await history(saver, "one") == []
    await asyncio.to_thread(saver.delete_thread, "two")


async def test_two_savers_write_to_one_file_at_once(
    saver: OnceSqliteSaver, path: Path, serde: SerializerProtocol, fill: Any
) -> None:
    async with open_sqlite_saver(path, serde=serde) as other:
        await asyncio.gather(
            fill(saver, "one", count=20),
            fill(other, "two", count=20),
            *(other.acopy_thread("one", f"copy {n}") for n in range(5)),
            *(saver.aprune(["two"]) for _ in range(3)),
        )
        assert len(await history(other, "one")) == 20
        (newest, *_) = await history(saver, "two")
        assert newest.metadata["step"] == 19
