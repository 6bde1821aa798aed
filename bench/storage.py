"""What threads take on disk and in time: our savers beside upstream's, in the same run."""

from __future__ import annotations

import contextlib
import importlib
import math
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.curve import draw
from bench.threads import DELTA, LEAST, Thread, grow, postgres, postgres_savers, sqlite_savers
from langgraph_once.checkpoint import OncePostgresSaver

SIZES = (3, 20, 50, 100, 200, 500, 1000, 2000)
SMALL = {3: 300, 20: 50}
"""How many threads are written where one takes less than the tables themselves."""
NAMES = ("upstream", DELTA, "ours")
_COLUMNS = (
    *("KB, upstream", DELTA, "ours", "ratio", "write s, upstream", DELTA, "ours", "ratio"),
    *("CPU s, upstream", DELTA, "ours", "ratio", "read latest ms, upstream", DELTA, "ours"),
    *("list 500 ms, upstream", "ours", "ratio"),
)
WRITERS = 32
SECONDS = 4


def report() -> Iterator[str]:
    """The lines of the report, as Markdown; draws what they tell of sizes, too."""
    lines = []
    for line in _measured():
        lines.append(line)
        yield line
    draw(lines, NAMES, SMALL)


def _measured() -> Iterator[str]:
    yield from (
        "## Storage",
        "",
        "A thread grows by a message of about 700 characters a super-step: a put and the writes of",
        "a task. Sizes are those after VACUUM. Of 3 messages 300 threads are written, of 20",
        "messages 50, after a first one that does not count. Savers write by turns of 25",
        "steps, in an order that is another one each time.",
        "`DeltaChannel` is upstream's saver where the",
        "schema was changed for it, with a snapshot each 100 steps. CPU is of this process,",
        "which for SQLite is all there is. Ratio: upstream's over ours. Reading is what a server",
        "does at the begin of a run: the latest checkpoint, by the saver that has written it. Rows",
        "'no fsync' are without the disk's part (`synchronous` and `fsync` are off for all).",
        "",
        f"| database | messages | {' | '.join(_COLUMNS)} |",
        f"|---|---|{'---:|' * len(_COLUMNS)}",
    )
    rows = _Rows()
    for size in SIZES:
        yield rows.of("SQLite", size, sqlite_savers())
    yield rows.of("SQLite, no fsync", 500, sqlite_savers(synchronous=False))
    yield rows.of("SQLite, no fsync", 200, sqlite_savers(synchronous=False), files=True)
    psycopg = importlib.import_module("psycopg")
    with postgres() as server, psycopg.connect(server, autocommit=True) as conn:

        def wal() -> int:
            sql = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"
            return int(conn.execute(sql).fetchone()[0])

        for size in SIZES:
            yield rows.of("PostgreSQL", size, postgres_savers(server), wal=wal)
        throughput = [*_throughput(server)]
        conn.execute("ALTER SYSTEM SET fsync = off")
        conn.execute("SELECT pg_reload_conf()")
        for size, files in ((500, False), (200, True)):
            savers = postgres_savers(server)
            yield rows.of("PostgreSQL, no fsync", size, savers, files=files, wal=wal)
    yield ""
    yield from rows.least()
    yield ""
    yield from rows.wal()
    yield ""
    yield from throughput


class _Rows:
    """Rows of the report, and what else was measured for them."""

    def __init__(self) -> None:
        self._least: list[str] = []
        self._wal: list[str] = []

    def of(
        self,
        database: str,
        size: int,
        opened: contextlib.AbstractContextManager[dict[str, Any]],
        *,
        files: bool = False,
        wal: Callable[[], int] | None = None,
    ) -> str:
        """Measure the savers of a database with threads of one size."""
        name = f"{size}, a dict of 200 texts" if files else f"{size:,}"
        with opened as savers, contextlib.ExitStack() as stack:
            ready = {saver: stack.enter_context(open_()) for saver, (open_, _) in savers.items()}
            many = SMALL.get(size, 1)
            grown = grow(ready, size, threads=many, files=files, wal=wal or (lambda: 0))
            stack.close()
            disks = {saver: disk() for saver, (_, disk) in savers.items()}
        sizes = {saver: disk.size / 1e3 for saver, disk in disks.items()}
        writing = {saver: each.write_s for saver, each in grown.items()}
        least = {**sizes, LEAST: sizes[LEAST] + grown[LEAST].texts / 1e3}
        listing = {saver: each.list_ms for saver, each in grown.items()}
        cells = [cell for each in (least, writing, listing) for cell in _to_least(each)]
        self._least.append(f"| {database} | {name} | {' | '.join(cells)} |")
        if wal is not None:
            cells = [f"{grown[saver].wal / 1e3:,.0f}" for saver in NAMES]
            cells += [str(disks[saver].dead) for saver in NAMES]
            self._wal.append(f"| {name} | {' | '.join(cells)} |")
        cells = [
            *_compared([sizes[saver] for saver in NAMES], 0),
            *_compared([writing[saver] for saver in NAMES]),
            *_compared([grown[saver].write_cpu_s for saver in NAMES]),
            *_compared([grown[saver].read_ms for saver in NAMES])[:-1],
            *_compared([listing["upstream"], listing["ours"]]),
        ]
        return f"| {database} | {name} | {' | '.join(cells)} |"

    def least(self) -> Iterator[str]:
        """How far upstream's saver, and ours, are from the least that its rows take."""
        what = ("KB", "write s", "list 500 ms")
        names = [f"{each}, {name}" for each in what for name in (LEAST, "upstream", "ours")]
        yield from (
            "The least that a saver takes that keeps upstream's rows: upstream's own, with as many",
            "rows, whose messages and texts are empty. Each step packs them once, by ormsgpack as",
            "plain dictionaries: a saver must look at all of them to notice one changed in place.",
            "Its size is with all texts, each once, as zstd compresses those of a thread together.",
            "Ratio: to the least. Upstream's is the most that any such saver can save.",
            "",
            f"| database | messages | {' | '.join(names)} |",
            f"|---|---|{'---:|' * len(names)}",
        )
        yield from self._least

    def wal(self) -> Iterator[str]:
        """What PostgreSQL wrote to its log, and rows that are of no use any more."""
        names = [f"{what}, {name}" for what in ("WAL KB", "dead rows") for name in NAMES]
        yield f"| messages | {' | '.join(names)} |"
        yield f"|---|{'---:|' * len(names)}"
        yield from self._wal


def _to_least(found: dict[str, float]) -> list[str]:
    least, *others = (found[name] for name in (LEAST, "upstream", "ours"))
    if math.isinf(least):
        return ["-"] * 3
    return [f"{least:,.2f}", *(f"{each / least:.1f}x" for each in others)]


def _compared(numbers: list[float], digits: int = 2) -> list[str]:
    if math.inf in numbers:
        return ["-"] * (len(numbers) + 1)
    return [*(f"{each:,.{digits}f}" for each in numbers), f"{numbers[0] / numbers[-1]:.1f}x"]


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
