"""What threads take on disk and in time: our savers beside upstream's, in the same run."""

from __future__ import annotations

import contextlib
import importlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.threads import Thread, grow, postgres, postgres_savers, sqlite_savers
from langgraph_once.checkpoint import OncePostgresSaver

__all__ = ["report"]

SIZES = (3, 20, 50, 100, 200, 500, 1000)
SMALL = {3: 30, 20: 10}
"""How many threads are written where one takes less than the tables themselves."""
_COLUMNS = (
    *("KB, upstream", "ours", "ratio", "write s, upstream", "ours", "ratio"),
    *("CPU s, upstream", "ours", "ratio", "read latest ms, upstream", "ours"),
    *("list 500 ms, upstream", "ours", "ratio"),
)
WRITERS = 32
SECONDS = 4


def report() -> Iterator[str]:
    """The lines of the report, as Markdown."""
    yield from (
        "## Storage",
        "",
        "A thread grows by a message of about 700 characters a super-step: a put and the writes of",
        "a task. Sizes are those after VACUUM. Of 3 messages 30 threads are written, of 20",
        "messages 10. Both savers write in turns. CPU is of this process, which for SQLite is all",
        "there is. Most of the time of writing to SQLite is the disk's, at each commit of both",
        "savers; the rows 'no fsync' are without (`PRAGMA synchronous = OFF`, for both). Ratio:",
        "upstream's over ours.",
        "",
        f"| database | messages | {' | '.join(_COLUMNS)} |",
        f"|---|---|{'---:|' * 14}",
    )
    for size in SIZES:
        yield _row("SQLite", size, sqlite_savers())
    for size in (500,):
        yield _row("SQLite, no fsync", size, sqlite_savers(synchronous=False))
    yield _row("SQLite, no fsync", 200, sqlite_savers(synchronous=False), files=True)
    psycopg = importlib.import_module("psycopg")
    with postgres() as server, psycopg.connect(server, autocommit=True) as conn:

        def wal() -> int:
            sql = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"
            return int(conn.execute(sql).fetchone()[0])

        told: list[str] = []
        for size, files in (*((size, False) for size in (3, 20, 100, 500)), (200, True)):
            savers = postgres_savers(server)
            yield _row("PostgreSQL", size, savers, files=files, wal=wal, told=told)
        yield from ("", "| messages | WAL KB, upstream | ours | dead rows, upstream | ours |")
        yield "|---|---:|---:|---:|---:|"
        yield from told
        yield ""
        yield from _throughput(server)


def _row(
    database: str,
    size: int,
    opened: contextlib.AbstractContextManager[dict[str, Any]],
    *,
    files: bool = False,
    wal: Callable[[], int] = lambda: 0,
    told: list[str] | None = None,
) -> str:
    name = f"{size}, a dict of 200 texts" if files else f"{size:,}"
    with opened as savers, contextlib.ExitStack() as stack:
        ready = {saver: stack.enter_context(open_()) for saver, (open_, _) in savers.items()}
        grown = grow(ready, size, threads=SMALL.get(size, 1), files=files, wal=wal)
        stack.close()
        disks = {saver: disk() for saver, (_, disk) in savers.items()}
    their, our = grown["upstream"], grown["ours"]
    theirs, ours = disks["upstream"], disks["ours"]
    if told is not None:
        told.append(
            f"| {name} | {their.wal / 1e3:,.0f} | {our.wal / 1e3:,.0f} "
            f"| {theirs.dead} | {ours.dead} |"
        )
    return (
        f"| {database} | {name} | {theirs.size / 1e3:,.0f} | {ours.size / 1e3:,.0f} "
        f"| {theirs.size / ours.size:.1f}x | {_pair(their.write_s, our.write_s)} "
        f"| {_pair(their.write_cpu_s, our.write_cpu_s)} "
        f"| {their.read_ms:.2f} | {our.read_ms:.2f} | {_pair(their.list_ms, our.list_ms)} |"
    )


def _pair(theirs: float, ours: float) -> str:
    return f"{theirs:,.2f} | {ours:,.2f} | {theirs / ours:.1f}x"


def _throughput(server: str) -> Iterator[str]:
    """Many threads at once; upstream's saver without the lock that it holds around its pool."""
    psycopg = importlib.import_module("psycopg")
    pool_of = importlib.import_module("psycopg_pool").ConnectionPool
    upstream = importlib.import_module("langgraph.checkpoint.postgres").PostgresSaver
    yield f"{WRITERS} threads at once on PostgreSQL, each of 20 messages and then a new one; a pool"
    yield f"of {WRITERS} connections; super-steps per second, the most of two rounds in turns."
    yield ""
    yield "| upstream, as it is | upstream, its lock a no-op | ours |"
    yield "|---:|---:|---:|"
    best = {"locked": 0.0, "lock-free": 0.0, "ours": 0.0}
    with psycopg.connect(server, autocommit=True) as conn:
        for _ in range(2):
            for name in best:
                conn.execute("DROP DATABASE IF EXISTS bench_many WITH (FORCE)")
                conn.execute("CREATE DATABASE bench_many")
                url = psycopg.conninfo.make_conninfo(server, dbname="bench_many")
                options: dict[str, Any] = {"autocommit": True}
                if name != "ours":
                    options |= {"prepare_threshold": 0, "row_factory": psycopg.rows.dict_row}
                with pool_of(url, kwargs=options, min_size=WRITERS, max_size=WRITERS) as pool:
                    pool.wait()
                    saver: Any = OncePostgresSaver(pool) if name == "ours" else upstream(pool)
                    saver.setup()
                    if name == "lock-free":
                        saver.lock = contextlib.nullcontext()
                    best[name] = max(best[name], _steps_per_second(saver))
    yield f"| {' | '.join(f'{each:,.0f}' for each in best.values())} |"


def _steps_per_second(saver: Any) -> float:
    done = [0] * WRITERS
    until = time.perf_counter() + SECONDS

    def write(at: int) -> None:
        number = 0
        while time.perf_counter() < until:
            thread = Thread(f"{at} {number}")
            number += 1
            for _ in range(20):
                thread.step(saver)
                done[at] += 1
                if time.perf_counter() >= until:
                    return

    start = time.perf_counter()
    writers = [threading.Thread(target=write, args=(at,)) for at in range(WRITERS)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    return sum(done) / (time.perf_counter() - start)
