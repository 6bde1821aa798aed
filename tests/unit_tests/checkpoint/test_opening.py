import asyncio
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from langgraph_once.checkpoint import OnceSqliteSaver, check_sqlite_path, open_sqlite_saver
from langgraph_once.checkpoint.backend import Opening
from langgraph_once.checkpoint.sqlite import engine as sqlite_engine
from langgraph_once.errors import StorageError


def names(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


async def open_and_close(path: Path | str, serde: SerializerProtocol) -> None:
    async with open_sqlite_saver(path, serde=serde):
        pass


async def assert_refused(path: Path | str, serde: SerializerProtocol, *words: str) -> None:
    with pytest.raises(StorageError) as opened:
        await open_and_close(path, serde)
    with pytest.raises(StorageError) as checked:
        check_sqlite_path(path)
    for error in (opened.value, checked.value):
        assert error.path == str(path)
        assert str(path) in str(error)
        assert "\n" not in str(error)
        assert isinstance(error.__cause__, OSError | sqlite3.Error)
        for word in words:
            assert word in str(error)


@pytest.fixture
def protected() -> Iterator[Path]:
    """A folder that everyone may read, outside of pytest's, which is its owner's alone."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


async def test_opens_in_wal_mode_with_its_tables(saver: OnceSqliteSaver) -> None:
    ((mode,),) = saver.conn.execute("PRAGMA journal_mode").fetchall()
    assert mode == "wal"
    tables = {name for (name,) in saver.conn.execute("SELECT name FROM sqlite_master")}
    assert {"checkpoints", "writes", "once_pieces", "once_stream_states"} <= tables


@pytest.fixture
def read_by_another(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that reads the file, without which its journal mode cannot change."""
    with closing(sqlite3.connect(path, check_same_thread=False)) as conn:
        conn.executescript("CREATE TABLE t (x); BEGIN;")
        conn.execute("SELECT * FROM t").fetchall()
        yield conn


async def test_waits_until_no_other_reads_the_file(
    read_by_another: sqlite3.Connection, path: Path, serde: SerializerProtocol
) -> None:
    threading.Timer(0.2, read_by_another.rollback).start()
    await open_and_close(path, serde)
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_does_not_wait_for_ever(
    read_by_another: sqlite3.Connection,
    path: Path,
    serde: SerializerProtocol,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sqlite_engine, "BUSY_TIMEOUT_S", 0.1)
    with pytest.raises(StorageError, match="another process holds it"):
        await open_and_close(path, serde)


@contextmanager
def another_writer(path: Path, *, turns: int, seconds: float) -> Iterator[None]:
    """Have a database held by another one, who lets go of it now and then."""

    def write() -> None:
        with closing(sqlite3.connect(path, timeout=20, isolation_level=None)) as other:
            for turn in range(turns):
                other.execute("BEGIN IMMEDIATE")
                began.set()
                other.execute("DELETE FROM writes")
                other.execute(f"PRAGMA user_version = {turn}")
                time.sleep(seconds)
                other.execute("COMMIT")

    began = threading.Event()
    thread = threading.Thread(target=write)
    thread.start()
    began.wait(10)
    yield
    thread.join()


async def test_waits_for_writers_that_take_turns(
    saver: OnceSqliteSaver, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_engine, "HELD_S", 1.5)
    with another_writer(path, turns=4, seconds=1):
        await saver.adelete_thread("thread")


async def test_does_not_wait_as_long_for_a_writer_that_holds_on(
    saver: OnceSqliteSaver, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_engine, "HELD_S", 0.1)
    held = "another process holds it"
    with another_writer(path, turns=1, seconds=3), pytest.raises(StorageError, match=held):
        await saver.adelete_thread("thread")


async def test_makes_the_folders_of_the_file(tmp_path: Path, serde: SerializerProtocol) -> None:
    path = tmp_path / "a" / "b" / "threads.sqlite"
    await open_and_close(path, serde)
    assert path.is_file()


async def test_a_relative_path_and_the_home_folder(
    tmp_path: Path, serde: SerializerProtocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    await open_and_close("here/threads.sqlite", serde)
    await open_and_close("~/threads.sqlite", serde)
    assert (tmp_path / "here" / "threads.sqlite").is_file()
    assert (tmp_path / "home" / "threads.sqlite").is_file()


async def test_memory_needs_no_file(
    tmp_path: Path, serde: SerializerProtocol, fill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_sqlite_path(":memory:")
    async with open_sqlite_saver(":memory:", serde=serde) as saver:
        (_, last) = await fill(saver, "thread")
        found = await saver.aget_tuple({"configurable": {"thread_id": "thread"}})
    assert found is not None
    assert found.config == last
    assert names(tmp_path) == []


async def test_nothing_blocks_the_event_loop(
    tmp_path: Path, serde: SerializerProtocol, fill: Any
) -> None:
    with blockbuster_ctx():
        async with open_sqlite_saver(tmp_path / "new" / "threads.sqlite", serde=serde) as saver:
            await fill(saver, "thread")
            await saver.acopy_thread("thread", "copy")
            await saver.aprune(["thread"])
            await saver.adelete_for_runs(["run"])
            await saver.adelete_thread("thread")


@pytest.mark.parametrize("when", ["it opens", "it has just opened"])
async def test_what_was_opened_for_somebody_who_was_cancelled_is_closed(
    path: Path, serde: SerializerProtocol, when: str
) -> None:
    begun, may_open, is_open, is_closed = (threading.Event() for _ in range(4))

    class Watched(OnceSqliteSaver):
        def close(self) -> None:
            super().close()
            is_closed.set()

    def opened() -> Watched:
        begun.set()
        may_open.wait(20)
        saver = Watched(sqlite3.connect(path, check_same_thread=False), serde=serde)
        is_open.set()
        return saver

    task = asyncio.create_task(Opening(opened, sets_up=False).__aenter__())
    assert await asyncio.to_thread(begun.wait, 20)
    if when == "it has just opened":
        may_open.set()
        assert is_open.wait(20)
        time.sleep(0.1)  # noqa: ASYNC251 - the loop must not run before `cancel`
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    may_open.set()
    assert await asyncio.to_thread(is_closed.wait, 20)


async def test_refuses_a_path_below_a_file(tmp_path: Path, serde: SerializerProtocol) -> None:
    (tmp_path / "file").write_text("")
    await assert_refused(tmp_path / "file" / "x.sqlite", serde, "is not a folder", "choose")
    await assert_refused(tmp_path / "file" / "b" / "x.sqlite", serde, "is not a folder", "choose")


async def test_opening_a_folder_as_a_database_is_refused(
    tmp_path: Path, serde: SerializerProtocol
) -> None:
    await assert_refused(tmp_path, serde, "it is a folder; name a file in it")
    assert names(tmp_path) == []


def test_refuses_a_file_that_is_no_database(path: Path, serde: SerializerProtocol) -> None:
    path.write_bytes(b"my precious notes " * 100)
    asyncio.run(assert_refused(path, serde, "not a SQLite database", "move it away"))
    assert path.read_bytes() == b"my precious notes " * 100


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no /proc")
async def test_refuses_a_folder_that_takes_no_files(serde: SerializerProtocol) -> None:
    await assert_refused("/proc/x.sqlite", serde, "make the file and its folder")
    await assert_refused("/proc/x/x.sqlite", serde, "folder")


def test_refuses_a_folder_that_is_read_only(
    protected: Path, serde: SerializerProtocol, unprivileged: Callable[[], Any]
) -> None:
    protected.chmod(0o555)
    advice = "make the file and its folder"
    with unprivileged():
        asyncio.run(assert_refused(protected / "x.sqlite", serde, advice))
        asyncio.run(assert_refused(protected / "sub" / "x.sqlite", serde, "Permission denied"))


@pytest.mark.parametrize("folder_mode", [0o555, 0o777])
@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_refuses_a_file_that_is_read_only(
    protected: Path,
    serde: SerializerProtocol,
    unprivileged: Callable[[], Any],
    folder_mode: int,
    journal: str,
) -> None:
    path = protected / "x.sqlite"
    asyncio.run(open_and_close(path, serde))
    with closing(sqlite3.connect(path)) as conn:
        conn.execute(f"PRAGMA journal_mode={journal}")
    path.chmod(0o444)
    protected.chmod(folder_mode)
    with unprivileged():
        asyncio.run(assert_refused(path, serde, "make the file and its folder"))


async def test_an_error_of_the_users_is_not_a_storage_error(
    path: Path, serde: SerializerProtocol
) -> None:
    with pytest.raises(OSError, match="theirs"):
        async with open_sqlite_saver(path, serde=serde):
            raise OSError("theirs")


def test_the_check_leaves_nothing_behind(tmp_path: Path) -> None:
    check_sqlite_path(tmp_path / "a" / "b" / "threads.sqlite")
    assert names(tmp_path) == []


def test_the_check_leaves_an_existing_database_as_it_was(
    path: Path, serde: SerializerProtocol
) -> None:
    asyncio.run(open_and_close(path, serde))
    before = path.read_bytes()
    check_sqlite_path(path)
    assert path.read_bytes() == before
    assert names(path.parent) == [path.name]


async def test_a_database_of_upstreams_opens_and_upstream_reads_ours(
    path: Path, serde: SerializerProtocol, fill: Any
) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(path)) as upstream:
        await fill(upstream, "theirs", run_id="run")
    async with open_sqlite_saver(path, serde=serde) as saver:
        await fill(saver, "ours", run_id="run")
        theirs = await saver.aget_tuple({"configurable": {"thread_id": "theirs"}})
        assert theirs is not None
        assert theirs.pending_writes == [("task-1", "channel", 1)]
    async with AsyncSqliteSaver.from_conn_string(str(path)) as upstream:
        ours = await upstream.aget_tuple({"configurable": {"thread_id": "ours"}})
        assert ours is not None
        assert ours.pending_writes == [("task-1", "channel", 1)]


def test_event_loops_in_several_threads_share_a_new_file(
    path: Path, serde: SerializerProtocol, fill: Any
) -> None:
    failures: list[BaseException] = []
    start = threading.Barrier(4)

    async def write(name: str) -> None:
        async with open_sqlite_saver(path, serde=serde) as saver:
            await fill(saver, name, count=10)
            await saver.acopy_thread(name, f"copy of {name}")
            await saver.aprune([name])

    def run(name: str) -> None:
        start.wait()
        try:
            asyncio.run(write(name))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(f"thread {n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with sqlite3.connect(path) as conn:
        counted = dict(conn.execute("SELECT thread_id, count(*) FROM checkpoints GROUP BY 1"))
    conn.close()
    assert counted == {
        **{f"thread {n}": 1 for n in range(4)},
        **{f"copy of thread {n}": 10 for n in range(4)},
    }


async def test_a_caller_cancelled_before_a_thread_is_free_still_closes(
    tmp_path: Path, serde: SerializerProtocol
) -> None:
    is_free = threading.Event()
    asyncio.get_running_loop().set_default_executor(one := ThreadPoolExecutor(1))
    opening = open_sqlite_saver(tmp_path / "c.db", serde=serde)
    saver = await opening.__aenter__()
    one.submit(is_free.wait)
    leaving = asyncio.create_task(opening.__aexit__(None, None, None))
    await asyncio.sleep(0.05)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    is_free.set()
    one.shutdown()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        saver.conn.execute("SELECT 1")
