"""A database that cannot be written can be read; what fails says why, and what to do."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from langgraph_once.checkpoint import OnceSqliteSaver, open_sqlite_saver
from langgraph_once.checkpoint.copying import Source
from langgraph_once.checkpoint.sqlite.backend import SqliteBackend
from langgraph_once.config import CheckpointConfig
from langgraph_once.errors import StorageError

ROOT: Any = {"configurable": {"thread_id": "thread", "checkpoint_ns": ""}}

READS: dict[str, Callable[[BaseCheckpointSaver[Any]], Awaitable[Any]]] = {
    "get": lambda saver: saver.aget_tuple(ROOT),
    "list": lambda saver: _listed(saver),
    "delta": lambda saver: saver.aget_delta_channel_history(config=ROOT, channels=["channel"]),
}
WRITES: dict[str, Callable[[OnceSqliteSaver], Awaitable[Any]]] = {
    "put": lambda saver: saver.aput(ROOT, empty_checkpoint(), {"step": 9}, {}),
    "put_writes": lambda saver: saver.aput_writes(
        {"configurable": {**ROOT["configurable"], "checkpoint_id": "id"}}, [("a", 1)], "task"
    ),
    "delete_thread": lambda saver: saver.adelete_thread("thread"),
    "delete_for_runs": lambda saver: saver.adelete_for_runs(["run"]),
    "copy_thread": lambda saver: saver.acopy_thread("thread", "target"),
    "prune": lambda saver: saver.aprune(["thread"]),
}


async def _listed(saver: BaseCheckpointSaver[Any]) -> list[Any]:
    return [found async for found in saver.alist(ROOT)]


@pytest.fixture
async def upstreams(path: Path, fill: Any) -> Path:
    """A database that upstream's saver made, and ours has not seen."""
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        await fill(saver, "thread", run_id="run")
    return path


@asynccontextmanager
async def connected(
    place: str, serde: SerializerProtocol, **options: Any
) -> AsyncIterator[OnceSqliteSaver]:
    with closing(sqlite3.connect(place, check_same_thread=False, **options)) as conn:
        yield OnceSqliteSaver(conn, serde=serde)


async def refused(operation: Awaitable[Any], path: Path, *words: str) -> None:
    with pytest.raises(StorageError) as raised:
        await operation
    assert raised.value.path == str(path)
    assert isinstance(raised.value.__cause__, sqlite3.Error)
    for word in (str(path), *words):
        assert word in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("option", ["mode=ro", "immutable=1"])
@pytest.mark.parametrize("name", READS)
async def test_a_read_only_database_of_upstreams_is_read(
    upstreams: Path, serde: SerializerProtocol, option: str, name: str
) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(upstreams)) as upstream:
        expected = await READS[name](upstream)
    assert expected
    async with connected(f"{upstreams.as_uri()}?{option}", serde, uri=True) as saver:
        assert await READS[name](saver) == expected


@pytest.mark.parametrize("name", WRITES)
async def test_a_read_only_database_says_what_to_do(
    upstreams: Path, serde: SerializerProtocol, name: str
) -> None:
    async with connected(f"{upstreams.as_uri()}?mode=ro", serde, uri=True) as saver:
        advice = "make the file and its folder writable"
        await refused(WRITES[name](saver), upstreams, "readonly", advice)
        assert len(await _listed(saver)) == 2


@pytest.mark.parametrize("name", READS)
async def test_reading_does_not_wait_for_a_writer(
    upstreams: Path, serde: SerializerProtocol, name: str
) -> None:
    with closing(sqlite3.connect(upstreams, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        async with connected(str(upstreams), serde, timeout=0) as saver:
            assert await READS[name](saver)


@pytest.mark.parametrize("name", WRITES)
async def test_what_is_written_after_a_writer_is_whole(
    upstreams: Path, serde: SerializerProtocol, fill: Any, name: str
) -> None:
    with closing(sqlite3.connect(upstreams, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        async with connected(str(upstreams), serde, timeout=0) as saver:
            await refused(WRITES[name](saver), upstreams, "locked", "try again")
            writer.rollback()
            await WRITES[name](saver)
            (last,) = await fill(saver, "later", count=1)
            in_run: Any = {**last, "metadata": {"run_id": "run 2"}}
            await saver.aput_writes(in_run, [("channel", 1)], "task 2")
            await saver.adelete_for_runs(["run 2"])
            found = await saver.aget_tuple(last)
            assert found is not None
            assert found.pending_writes == [("task-0", "channel", 0)]


async def test_what_is_added_is_not_taken_for_there_when_it_is_undone(
    upstreams: Path, serde: SerializerProtocol
) -> None:
    with closing(sqlite3.connect(upstreams, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        async with connected(str(upstreams), serde, timeout=0) as saver:
            assert await READS["get"](saver)
            writer.rollback()

            def authorize(action: int, first: str | None, *_: Any) -> int:
                deletes = action == sqlite3.SQLITE_DELETE and first == "writes"
                return sqlite3.SQLITE_DENY if deletes else sqlite3.SQLITE_OK

            saver.conn.set_authorizer(authorize)
            with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
                await saver.adelete_for_runs(["run"])
            saver.conn.set_authorizer(None)
            await saver.adelete_for_runs(["run"])
            assert await _listed(saver) == []


async def test_what_is_there_is_not_added_again(saver: OnceSqliteSaver) -> None:
    statements: list[str] = []
    saver.conn.set_trace_callback(statements.append)
    saver.setup()
    await saver.aprune(["thread"])
    saver.conn.set_trace_callback(None)
    assert not [each for each in statements if "ALTER" in each or "CREATE" in each]


async def test_two_open_savers_add_what_is_missing_once(
    upstreams: Path, serde: SerializerProtocol
) -> None:
    async with (
        connected(str(upstreams), serde) as one,
        connected(str(upstreams), serde) as two,
    ):
        one.setup()
        for name in WRITES:
            await WRITES[name](two)


@pytest.mark.parametrize("name", ["put", "put_writes", "copy_thread"])
async def test_a_full_disk_is_told_as_an_error_of_ours(
    saver: OnceSqliteSaver, path: Path, fill: Any, name: str
) -> None:
    await fill(saver, "thread", text="x" * 10_000)
    await saver.aput_writes((await _listed(saver))[0].config, [("b", "x" * 10_000)], "task")
    before = await _listed(saver)
    ((pages,),) = saver.conn.execute("PRAGMA page_count").fetchall()
    saver.conn.execute(f"PRAGMA max_page_count = {pages}")
    operations = {**WRITES, "put": _put_much, "put_writes": _put_many}
    await refused(operations[name](saver), path, "full", "make room on its disk")
    assert await _listed(saver) == before
    saver.conn.execute("PRAGMA max_page_count = 1000000")
    await operations[name](saver)


async def _put_much(saver: OnceSqliteSaver) -> None:
    metadata: Any = {"text": "y" * 100_000}
    await saver.aput(ROOT, empty_checkpoint(), metadata, {})


async def _put_many(saver: OnceSqliteSaver) -> None:
    config = (await _listed(saver))[0].config
    await saver.aput_writes(config, [("c", "y" * 100_000)], "another task")


@pytest.mark.parametrize("name", [*READS, *WRITES])
async def test_a_damaged_database_is_told_as_an_error_of_ours(
    path: Path, serde: SerializerProtocol, fill: Any, name: str
) -> None:
    async with open_sqlite_saver(path, serde=serde) as saver:
        await fill(saver, "thread", count=40, run_id="run", text="x" * 2_000)
        ((size,),) = saver.conn.execute("PRAGMA page_size").fetchall()
    await asyncio.to_thread(_damage, path, size)
    async with connected(str(path), serde) as saver:
        operation = {**READS, **WRITES}[name]
        await refused(operation(saver), path, "malformed", "restore a backup")
    with (
        SqliteBackend(str(path)).open_to_read(config=CheckpointConfig(), serde=serde) as reader,
        pytest.raises(StorageError, match="restore a backup"),
    ):
        Source(reader).thread_ids()


def _damage(path: Path, size: int) -> None:
    """Leave the first page, with the names of the tables, and nothing else."""
    whole = path.read_bytes()
    path.write_bytes(whole[:size] + b"\xff" * (len(whole) - size))


async def test_a_database_in_memory_has_a_name(serde: SerializerProtocol) -> None:
    async with connected(":memory:", serde) as saver:
        saver.setup()
        saver.conn.execute("PRAGMA max_page_count = 1")
        with pytest.raises(StorageError, match="':memory:'") as raised:
            await _put_much(saver)
        assert raised.value.path == ":memory:"
