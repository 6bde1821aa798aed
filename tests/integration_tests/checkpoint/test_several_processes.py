"""Databases that several processes open at once, and the ends of processes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import textwrap
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from langgraph.checkpoint.postgres import PostgresSaver

from langgraph_once.floors import install_command
from tests.forked import Forked


def test_several_processes_share_a_new_file(path: Path) -> None:
    script = """
        import asyncio, sys
        from langgraph.checkpoint.base import empty_checkpoint
        from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
        from langgraph_once.checkpoint import open_sqlite_saver

        async def main(path, thread_id):
            async with open_sqlite_saver(path, serde=JsonPlusSerializer()) as saver:
                config = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
                for _ in range(20):
                    config = await saver.aput(config, empty_checkpoint(), {}, {})

        asyncio.run(main(*sys.argv[1:]))
    """
    with ExitStack() as stack:
        command = ["-c", textwrap.dedent(script), str(path)]
        processes = [stack.enter_context(Forked(*command, f"thread {n}")) for n in range(3)]
        ended = [process.wait() for process in processes]
    assert [process.returncode for process in ended] == [0, 0, 0], ended
    conn = sqlite3.connect(path)
    assert conn.execute("SELECT count(*) FROM checkpoints").fetchone() == (60,)
    conn.close()


def test_a_saver_that_nobody_closes_does_not_keep_the_process_alive(path: Path) -> None:
    script = """
        import asyncio, sys, threading
        from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
        from langgraph_once.checkpoint import open_sqlite_saver

        kept = []
        async def enter(path):
            kept.append(open_sqlite_saver(path, serde=JsonPlusSerializer()))
            await kept[0].__aenter__()

        thread = threading.Thread(target=lambda: asyncio.run(enter(sys.argv[1])))
        thread.start()
        thread.join()
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(path)]
    assert subprocess.run(command, timeout=120, check=False).returncode == 0


SCRIPT = """
    import sys
    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph_once.checkpoint import open_postgres_saver

    print("ready", flush=True)
    input()
    with open_postgres_saver(sys.argv[1]) as saver:
        config = {"configurable": {"thread_id": sys.argv[2], "checkpoint_ns": ""}}
        for _ in range(5):
            config = saver.put(config, empty_checkpoint(), {}, {})
"""


@pytest.mark.parametrize("has_upstreams", [True, False])
def test_several_processes_start_at_once(database: str, has_upstreams: bool) -> None:
    if has_upstreams:
        with PostgresSaver.from_conn_string(database) as stock:
            stock.setup()
    with ExitStack() as stack:
        command = ["-c", textwrap.dedent(SCRIPT), database]
        processes = [stack.enter_context(Forked(*command, f"thread {n}")) for n in range(3)]
        for process in processes:
            process.stdout.readline()
        for process in processes:
            process.stdin.write("\n")
            process.stdin.flush()
        ended = [process.wait() for process in processes]
    assert [process.returncode for process in ended] == [0, 0, 0], ended
    with psycopg.connect(database) as conn:
        assert conn.execute("SELECT count(*) FROM checkpoints").fetchall() == [(15,)]


def test_without_the_driver_the_extra_is_named() -> None:
    script = """
        import sys
        sys.modules["psycopg"] = None
        from langgraph_once.checkpoint import OnceSqliteSaver
        try:
            from langgraph_once.checkpoint import OncePostgresSaver
        except ImportError as error:
            print(error)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert f"PostgreSQL needs an extra: {install_command('postgres')}" in said
