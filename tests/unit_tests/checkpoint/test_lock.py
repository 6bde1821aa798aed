"""Cancelled or failing in the middle, an operation leaves no trace and no lock."""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import aiosqlite
import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from langgraph_once.checkpoint import OnceSqliteSaver
from langgraph_once.errors import EncodeError

Operation = Callable[[AsyncSqliteSaver], Awaitable[Any]]

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
    "prune": lambda saver: saver.aprune(["thread", "target"]),
}


def dump(path: Path) -> list[str]:
    """Read the rows with a connection of its own, and prove that nobody holds the lock."""
    with closing(sqlite3.connect(path, timeout=0)) as conn:
        conn.execute("BEGIN IMMEDIATE")
        rows = list(conn.iterdump())
        conn.rollback()
    return rows


async def cancel_at_statement(
    conn: aiosqlite.Connection, number: int, operation: Awaitable[Any]
) -> bool:
    """Cancel an operation while SQLite runs its nth statement; tell whether it was."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(operation)
    seen = 0

    def traced(_: str) -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            loop.call_soon_threadsafe(task.cancel)

    await conn.set_trace_callback(traced)
    try:
        await task
    except asyncio.CancelledError:
        return True
    finally:
        await conn.set_trace_callback(None)  # type: ignore[arg-type]
    return False


@pytest.mark.parametrize("name", OPERATIONS)
async def test_cancelled_at_any_statement(
    saver: OnceSqliteSaver, path: Path, fill: Any, name: str
) -> None:
    await fill(saver, "thread", run_id="run")
    await fill(saver, "target", run_id="other")
    before = dump(path)
    cancelled = 0
    for number in range(1, 50):
        operation = OPERATIONS[name](saver)
        was_cancelled = await cancel_at_statement(saver.conn, number, operation)
        after = dump(path)
        if not was_cancelled or after != before:
            break
        cancelled += 1
    # The transaction begins, changes something and commits; only the commit may have won.
    assert cancelled >= 2
    await saver.acopy_thread("thread", "free again")
    await OPERATIONS[name](saver)


async def test_upstream_still_leaves_its_transaction_open(path: Path) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        await saver.setup()
        # 1 is BEGIN, 2 is INSERT.
        assert await cancel_at_statement(saver.conn, 2, OPERATIONS["put"](saver))
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            dump(path)


@pytest.mark.parametrize("table", ["checkpoints", "writes"])
@pytest.mark.parametrize("name", ["delete_thread", "delete_for_runs", "copy_thread", "prune"])
async def test_an_error_in_the_middle(
    saver: OnceSqliteSaver, path: Path, fill: Any, name: str, table: str
) -> None:
    await fill(saver, "thread", run_id="run")
    await fill(saver, "target", run_id="other")
    before = dump(path)

    def authorize(action: int, first: str, second: str, database: str, trigger: str) -> int:
        changes = action in (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_DELETE)
        return sqlite3.SQLITE_DENY if changes and first == table else sqlite3.SQLITE_OK

    await saver.conn.set_authorizer(authorize)
    with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
        await OPERATIONS[name](saver)
    await saver.conn.set_authorizer(None)
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
        await saver.aput(ROOT, empty_checkpoint(), {"x": object()}, {})  # type: ignore[typeddict-unknown-key]
    assert dump(path) == before


async def test_a_reader_that_stops_early_frees_the_saver(
    saver: OnceSqliteSaver, path: Path, fill: Any
) -> None:
    await fill(saver, "thread", count=3)
    found = saver.alist({"configurable": {"thread_id": "thread"}})
    async for _ in found:
        break
    await found.aclose()  # type: ignore[attr-defined]
    await fill(saver, "thread", count=1)
    assert json.dumps(dump(path))


async def test_the_first_error_is_the_one_that_is_seen(serde: SerializerProtocol) -> None:
    conn = aiosqlite.connect("/dev/null/x.sqlite")
    saver = OnceSqliteSaver(conn, serde=serde)
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        await saver.adelete_thread("thread")
    assert not saver.lock.locked()
    await asyncio.to_thread(conn._thread.join)  # it speaks to this event loop at its end


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

    await saver.conn.set_trace_callback(write_in_between)
    await saver.aprune(["thread"])
    await saver.conn.set_trace_callback(None)  # type: ignore[arg-type]
    assert outcomes == ["database is locked"]
