"""Cancelled or failing in the middle, an operation leaves no trace and no lock."""

import asyncio
import json
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from langgraph_once.checkpoint import OnceSqliteSaver
from langgraph_once.checkpoint.database import Program, Statement
from langgraph_once.errors import EncodeError

Operation = Callable[[OnceSqliteSaver], Awaitable[Any]]

ROOT: Any = {"configurable": {"thread_id": "thread", "checkpoint_ns": ""}}

OPERATIONS: dict[str, Operation] = {
    "put": lambda saver: saver.aput(ROOT, empty_checkpoint(), {"step": 9}, {}),
    "put_writes": lambda saver: saver.aput_writes(
        {"configurable": {**ROOT["configurable"], "checkpoint_id": "id"}},
        [("a", 1), ("b", 2)],
        "task",
    ),
    "delete_thread": lambda saver: saver.adelete_thread("thread"),
    "delete_for_runs": lambda saver: saver.adelete_for_runs(["run"]),
    "copy_thread": lambda saver: saver.acopy_thread("thread", "target"),
    "prune": lambda saver: saver.aprune(["thread"]),
}


def dump(path: Path) -> list[str]:
    """Read the rows with a connection of its own, and prove that nobody holds the lock."""
    with closing(sqlite3.connect(path, timeout=0)) as conn:
        conn.execute("BEGIN IMMEDIATE")
        rows = list(conn.iterdump())
        conn.rollback()
    return rows


@pytest.mark.parametrize("name", OPERATIONS)
async def test_cancelled_it_is_done_or_not(
    saver: OnceSqliteSaver, path: Path, fill: Any, name: str
) -> None:
    await fill(saver, "thread", run_id="run")
    await fill(saver, "target", run_id="other")
    before = dump(path)
    loop = asyncio.get_running_loop()
    for number in range(1, 50):
        task = asyncio.ensure_future(OPERATIONS[name](saver))
        seen = 0

        def traced(_: str, task: Any = task, number: int = number) -> None:
            nonlocal seen
            seen += 1
            if seen == number:
                loop.call_soon_threadsafe(task.cancel)

        saver.conn.set_trace_callback(traced)
        with suppress(asyncio.CancelledError):
            await task
        await saver.aget_tuple(ROOT)  # comes after what is still under way
        saver.conn.set_trace_callback(None)
        if dump(path) != before:
            break
    done = dump(path)
    assert done != before
    if name not in ("put", "put_writes"):
        await OPERATIONS[name](saver)
        assert dump(path) == done  # it was done whole


async def test_what_comes_after_a_cancelled_task_comes_after_its_statement(
    saver: OnceSqliteSaver, path: Path, fill: Any
) -> None:
    """A server cancels a run, then deletes what it stored: nothing of it may come later."""
    await fill(saver, "thread", run_id="run")
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(OPERATIONS["put"](saver))
    goes_on = threading.Event()

    def wait(statement: str) -> None:
        if "INSERT" in statement:
            loop.call_soon_threadsafe(task.cancel)
            goes_on.wait(10)

    saver.conn.set_trace_callback(wait)
    with pytest.raises(asyncio.CancelledError):
        await task
    deleting = asyncio.ensure_future(saver.adelete_thread("thread"))
    await asyncio.sleep(0.1)
    assert not deleting.done()
    goes_on.set()
    await deleting
    saver.conn.set_trace_callback(None)
    assert await saver.aget_tuple(ROOT) is None
    await asyncio.sleep(0.1)
    assert await saver.aget_tuple(ROOT) is None


@pytest.mark.parametrize("table", ["checkpoints", "writes"])
@pytest.mark.parametrize("name", ["delete_thread", "delete_for_runs", "copy_thread", "prune"])
async def test_an_error_in_the_middle(
    saver: OnceSqliteSaver, path: Path, fill: Any, name: str, table: str
) -> None:
    await fill(saver, "thread", run_id="run")
    await fill(saver, "target", run_id="other")
    before = dump(path)

    def authorize(action: int, first: str | None, *_: str | None) -> int:
        changes = action in (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_DELETE)
        return sqlite3.SQLITE_DENY if changes and first == table else sqlite3.SQLITE_OK

    saver.conn.set_authorizer(authorize)
    with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
        await OPERATIONS[name](saver)
    saver.conn.set_authorizer(None)
    assert dump(path) == before
    await OPERATIONS[name](saver)
    assert dump(path) != before


async def test_a_value_that_cannot_be_written_leaves_no_trace(
    saver: OnceSqliteSaver, path: Path, fill: Any
) -> None:
    (last,) = await fill(saver, "thread", count=1)
    before = dump(path)
    with pytest.raises((TypeError, EncodeError)):
        await saver.aput_writes(last, [("a", 1), ("b", range(3))], "task")
    with pytest.raises(TypeError):
        await saver.aput(ROOT, empty_checkpoint(), {"x": object()}, {})  # type: ignore[typeddict-unknown-key]  # wrong on purpose
    assert dump(path) == before


async def test_a_reader_that_stops_early_frees_the_saver(
    saver: OnceSqliteSaver, path: Path, fill: Any
) -> None:
    await fill(saver, "thread", count=3)
    found = saver.alist({"configurable": {"thread_id": "thread"}})
    async for _ in found:
        break
    await found.aclose()  # type: ignore[attr-defined]  # a generator in fact
    await fill(saver, "thread", count=1)
    assert json.dumps(dump(path))


async def test_another_writer_between_reading_and_writing_waits(
    saver: OnceSqliteSaver, path: Path, fill: Any
) -> None:
    await fill(saver, "thread")
    outcomes: list[str] = []

    def write_in_between(statement: str) -> None:
        if "DELETE" not in statement or outcomes:
            return
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as conn:
            try:
                conn.execute("DELETE FROM writes WHERE thread_id = 'unknown'")
                conn.execute("CREATE TABLE other (x)")
                outcomes.append("went first")
            except sqlite3.OperationalError as error:
                outcomes.append(str(error))

    saver.conn.set_trace_callback(write_in_between)
    await saver.aprune(["thread"])
    saver.conn.set_trace_callback(None)
    assert outcomes == ["database is locked"]


def test_a_program_that_was_answered_does_not_begin_again_where_a_table_is_gone(
    saver: OnceSqliteSaver,
) -> None:
    """What it was told may not be so any more: it fails, and whoever asked asks again."""

    def program() -> Program[None]:
        yield Statement("SELECT 1")
        yield Statement("DROP TABLE once_pieces", has_rows=False)
        # It would be there again for another transaction.
        yield Statement("SELECT * FROM once_pieces")

    with pytest.raises(sqlite3.OperationalError, match="once_pieces"):
        saver.engine.run(program(), writes=True)
