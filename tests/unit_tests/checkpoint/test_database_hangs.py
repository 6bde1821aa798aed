"""A database that hangs holds up nobody who stopped waiting for it, and no process that ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from langgraph_once.checkpoint import open_saver
from langgraph_once.checkpoint.backend import Opening
from langgraph_once.checkpoint.database import Workers
from langgraph_once.config import CheckpointConfig
from langgraph_once.errors import StorageError
from langgraph_once.serde import OnceSerializer

CONFIG: Any = {"configurable": {"thread_id": "thread", "checkpoint_ns": ""}}
OTHER: Any = {"configurable": {"thread_id": "other", "checkpoint_ns": ""}}
KNOWN: Any = {"source": "loop", "step": 1, "parents": {}}


def opened(database: str) -> Opening[Any]:
    return open_saver(database, config=CheckpointConfig(), serde=OnceSerializer())


@contextlib.contextmanager
def hanging(database: str) -> Iterator[Callable[[], None]]:
    """Have a database answer no writer until the end. Gives what ends it sooner."""
    if not database.startswith("postgres"):
        other = sqlite3.connect(database, check_same_thread=False)
        other.execute("BEGIN EXCLUSIVE")
        yield other.rollback
        other.close()
        return
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(database) as conn:
        conn.execute("SELECT 1 FROM checkpoints WHERE thread_id = 'thread' FOR UPDATE")
        conn.execute("LOCK TABLE checkpoint_writes IN ACCESS EXCLUSIVE MODE")
        yield conn.rollback
        conn.rollback()


async def test_a_timeout_fires_and_what_comes_next_comes_after(here: str) -> None:
    async with opened(here) as saver:
        at = await saver.aput(CONFIG, empty_checkpoint(), KNOWN, {})
        with hanging(here) as end:
            began = time.monotonic()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(saver.aput_writes(at, [("a", 1)], "task"), 0.3)
            with pytest.raises(TimeoutError):  # what waits for the first can be left, too
                await asyncio.wait_for(saver.adelete_thread("thread"), 0.3)
            assert time.monotonic() - began < 3
            end()
            await saver.adelete_thread("thread")
        assert await saver.aget_tuple(CONFIG) is None


@pytest.mark.parametrize("here", ["postgres"], indirect=True)
async def test_other_threads_of_postgres_go_on_meanwhile(here: str) -> None:
    async with opened(here) as saver:
        at = await saver.aput(CONFIG, empty_checkpoint(), KNOWN, {})
        with hanging(here):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(saver.aput_writes(at, [("a", 1)], "task"), 0.3)
            await asyncio.wait_for(saver.aput(OTHER, empty_checkpoint(), KNOWN, {}), 5)


PROGRAM = """
import asyncio, sys
from langgraph_once.checkpoint import open_saver
from langgraph_once.config import CheckpointConfig
from langgraph_once.serde import OnceSerializer

AT = {"configurable": {"thread_id": "thread", "checkpoint_ns": "", "checkpoint_id": "1"}}

def opened():
    return open_saver(sys.argv[1], config=CheckpointConfig(), serde=OnceSerializer())

def wait():
    print("opened", flush=True)
    sys.stdin.readline()
    print("waits", flush=True)

async def in_a_loop():
    async with opened() as saver:
        wait()
        await saver.aput_writes(AT, [("a", 1)], "task")

def without_a_loop():
    with opened() as saver:
        wait()
        saver.put_writes(AT, [("a", 1)], "task")

asyncio.run(in_a_loop()) if sys.argv[2] == "in_a_loop" else without_a_loop()
"""


@contextlib.contextmanager
def started(program: str, *args: str) -> Iterator[tuple[subprocess.Popen[str], Callable[[], str]]]:
    """A Python process, and what reads the next line that it prints."""
    with subprocess.Popen(
        [sys.executable, "-c", program, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout
        yield process, process.stdout.readline


def go_on(process: subprocess.Popen[str]) -> None:
    """Give a process the line that it waits for."""
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def interrupted(process: subprocess.Popen[str], *, wait_s: float) -> int:
    """Send Ctrl-C to a process that has waited for its database. Return its exit code."""
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    try:
        return process.wait(wait_s)
    finally:
        process.kill()


@pytest.mark.parametrize("how", ["in_a_loop", "without_a_loop"])
def test_ctrl_c_ends_a_process_whose_database_hangs(here: str, how: str) -> None:
    with started(PROGRAM, here, how) as (process, says):
        assert says() == "opened\n"
        with hanging(here):
            go_on(process)
            assert says() == "waits\n"
            assert interrupted(process, wait_s=8) == -signal.SIGINT


GRAPH = """
import sys
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import StateGraph
from langgraph_once import once
from langgraph_once.checkpoint import open_sqlite_saver

def node(state):
    print("runs", flush=True)
    sys.stdin.readline()
    return {"n": 1}

graph = StateGraph(dict)
for name in ("a", "b"):
    graph.add_node(name, node if name == "a" else lambda state: {"n": 2})
    graph.set_entry_point(name)
open_saver, wrap = {
    "plain": (SqliteSaver.from_conn_string, lambda graph: graph),
    "once": (open_sqlite_saver, once),
}[sys.argv[2]]
with open_saver(sys.argv[1]) as saver:
    built = wrap(graph.compile(checkpointer=saver))
    for _ in built.stream({"n": 0}, {"configurable": {"thread_id": "t"}}):
        pass
"""


@pytest.mark.slow
def test_ctrl_c_ends_a_stream_as_soon_as_with_langgraphs_saver(tmp_path: Path) -> None:
    """What waits for a file that is locked waits together, not one after the other.

    LangGraph's own waits for the 5 s that SQLite gives a lock, unless it crashes before.
    """
    seconds = {}
    for kind in ("plain", "once"):
        database = str(tmp_path / kind)
        with started(GRAPH, database, kind) as (process, says):
            assert says() == "runs\n"
            with hanging(database):
                go_on(process)
                began = time.monotonic()
                interrupted(process, wait_s=60)
                seconds[kind] = time.monotonic() - began
    assert seconds["once"] < 2 * max(seconds["plain"], 5), seconds


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("is_left", [False, True])
def test_in_a_forked_process_an_async_call_raises(here: str, is_left: bool) -> None:
    """Also while the process before waits for a call that was cancelled."""
    with opened(here) as saver, contextlib.ExitStack() as stack:
        at = asyncio.run(saver.aput(CONFIG, empty_checkpoint(), KNOWN, {}))
        if is_left:
            stack.enter_context(hanging(here))
            with pytest.raises(TimeoutError):
                asyncio.run(asyncio.wait_for(saver.aput_writes(at, [("a", 1)], "task"), 0.3))
        if not (pid := os.fork()):
            code = 1
            try:
                asyncio.run(asyncio.wait_for(saver.aget_tuple(CONFIG), 20))
            except StorageError as error:
                code = 0 if "forked" in str(error) else 2
            finally:
                os._exit(code)
        began = time.monotonic()
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert time.monotonic() - began < 10


async def test_an_async_call_of_a_closed_saver_says_so(here: str) -> None:
    async with opened(here) as saver:
        pass
    with pytest.raises(StorageError, match="was closed; open one anew"):
        await saver.aget_tuple(CONFIG)


def test_workers_are_as_many_as_are_needed_and_end() -> None:
    workers = Workers(3, "test-workers")
    both = threading.Barrier(3)
    waits = [workers.submit(both.wait, 10) for _ in range(3)]
    assert sorted(each.result(10) for each in waits) == [0, 1, 2]
    assert [workers.submit(int, str(n)).result(10) for n in range(20)] == [*range(20)]
    mine = [each for each in threading.enumerate() if each.name == "test-workers"]
    assert len(mine) == 3
    assert all(each.daemon for each in mine)
    last = workers.submit(int, "7")
    workers.stop()
    for each in mine:
        each.join(10)
    assert last.result(0) == 7
    assert not any(each.is_alive() for each in mine)
    with pytest.raises(RuntimeError, match="closed"):
        workers.submit(int)
