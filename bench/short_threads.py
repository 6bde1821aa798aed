"""A super-step of a thread of few messages, and its first read by another saver: ours beside
upstream's, in turns in the same run."""

from __future__ import annotations

import contextlib
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from bench.threads import Thread, postgres, postgres_savers, sqlite_savers
from bench.timing import on_one_core

NAMES: Final = ("upstream", "ours")
STEPS_AT: Final = (3, 10, 30, 100)
READ_AT: Final = (3, 20, 50, 100, 200, 400, 1000)
_ROUNDS: Final = 120
"""How many super-steps are timed: of as many threads, or of fewer where they are long."""
_THREADS: Final = 24
"""Each is read once by each saver: what was read before is in its memory."""
_FEWEST: Final = 6
_MESSAGES: Final = 5000
"""About as many are written for a row of the table."""


def report() -> Iterator[str]:
    """Measure, and yield lines of Markdown."""
    yield "## Short threads, and the first read"
    yield ""
    yield "A super-step is a put and the writes of a task; messages have about 700 characters."
    yield "First read: by a saver that has not seen the thread, as each replica's first. In ms, the"
    yield "lower quartile; SQLite does not wait for its disk. Ratio: our time over upstream's."
    yield ""
    with on_one_core(), sqlite_savers(synchronous=False) as savers:
        yield from _table("SQLite", savers)
    yield ""
    with on_one_core(), postgres() as server, postgres_savers(server) as savers:
        yield from _table("PostgreSQL", savers)


def _table(database: str, savers: Mapping[str, Any]) -> Iterator[str]:
    yield f"| {database} | messages | upstream | ours | ratio |"
    yield "|---|---:|---:|---:|---:|"
    opens = {name: savers[name][0] for name in NAMES}
    for what, measured, sizes in (
        ("super-step", _steps, STEPS_AT),
        ("first read", _reads, READ_AT),
    ):
        for messages in sizes:
            peer, ours = (found * 1e3 for found in measured(opens, messages))
            yield f"| {what} | {messages} | {peer:.3f} | {ours:.3f} | {ours / peer:.2f} |"


def _steps(opens: Mapping[str, Callable[[], Any]], messages: int) -> list[float]:
    with contextlib.ExitStack() as stack:
        writers = {name: stack.enter_context(open_()) for name, open_ in opens.items()}
        found: dict[str, list[float]] = {name: [] for name in NAMES}
        timed = max(1, messages // 5)
        for number in range(-(-_ROUNDS // timed)):
            for name in random.sample(NAMES, 2):
                thread = _grown(f"{messages}-{number}", messages - timed, writers[name])
                for _ in range(timed):
                    found[name].append(_timed(thread.step, writers[name]))
        return [_quartile(found[name]) for name in NAMES]


def _reads(opens: Mapping[str, Callable[[], Any]], messages: int) -> list[float]:
    count = max(_FEWEST, min(_THREADS, _MESSAGES // messages))
    with contextlib.ExitStack() as stack:
        threads: dict[str, list[Thread]] = {}
        for name, open_ in opens.items():
            writer = stack.enter_context(open_())
            # Upstream's rows are the same however they came about; to grow them takes minutes.
            alone = messages - 4 if name == "upstream" else 0
            names = (f"{messages}-{number}" for number in range(count))
            threads[name] = [_grown(each, messages, writer, unsaved=alone) for each in names]
        readers = {name: stack.enter_context(open_()) for name, open_ in opens.items()}
        found: dict[str, list[float]] = {name: [] for name in NAMES}
        for number in range(count):
            for name in random.sample(NAMES, 2):
                found[name].append(_timed(threads[name][number].read, readers[name]))
        return [_quartile(found[name]) for name in NAMES]


def _grown(thread_id: str, messages: int, saver: Any, *, unsaved: int = 0) -> Thread:
    thread = Thread(thread_id)
    for _ in range(unsaved):
        thread.say()
    while len(thread.messages) < messages:
        thread.step(saver)
    return thread


def _timed(call: Callable[[Any], object], saver: Any) -> float:
    start = time.perf_counter()
    call(saver)
    return time.perf_counter() - start


def _quartile(times: list[float]) -> float:
    return statistics.quantiles(times)[0]
