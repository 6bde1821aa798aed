"""Report what a database holds, and how much of it is redundant. A report has no value in it.

Not all threads are read. They differ in size by orders of magnitude, so they are drawn in
proportion to what they are thought to take (Hansen and Hurwitz, with replacement): the few that
matter are nearly all in it, and what is estimated hardly depends on who else is.
"""

from __future__ import annotations

import math
import random
import time
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate, islice
from statistics import NormalDist, fmean, stdev
from typing import Final, NamedTuple, TypeVar

from langgraph_once.checkpoint import Progress, moment_of
from langgraph_once.serde import OnceSerializer
from langgraph_once_ops.retention import is_older
from langgraph_once_ops.survey.sizes import (
    Sizes,
    Snapshot,
    StoreSize,
    ThreadSize,
    Week,
    sizes,
    store_sizes,
)
from langgraph_once_ops.survey.thread import Measured, Scale

K = TypeVar("K")

_Z: Final = NormalDist().inv_cdf(0.975)
# So that two surveys of one database draw the same threads.
_SEED: Final = 1


class Estimate(NamedTuple):
    """A number, and between which two it is in 95 of 100 samples."""

    value: float
    low: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> Estimate:
        """A number that is known."""
        return cls(value, value, value)

    def taken_from(self, total: float) -> Estimate:
        """The known number `total` less this one."""
        return Estimate(total - self.value, max(0.0, total - self.high), total - self.low)

    @property
    def relative_error(self) -> float:
        """Half of the interval, as a share of the number."""
        if self.high == self.low:
            return 0.0
        return (self.high - self.low) / 2 / self.value if self.value else math.inf


class Draws:
    """Draws threads, the same in each run.

    Args:
        weights: By thread, to what its chance is proportional.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._names = [*weights]
        self._sums = [*accumulate(weights.values())]
        self._chances = {name: each / self._sums[-1] for name, each in weights.items()}

    def __iter__(self) -> Iterator[str]:
        chance = random.Random(_SEED)  # noqa: S311 - the same in each run
        while True:
            at = bisect(self._sums, chance.random() * self._sums[-1])
            yield self._names[min(at, len(self._names) - 1)]

    def chance(self, name: str) -> float:
        """Of a thread, in one draw."""
        return self._chances[name]


def mean_total(each: Sequence[float]) -> Estimate:
    """The total of all threads; `each` has the value of each draw, divided by its chance."""
    mean, half = fmean(each), _half(each)
    return Estimate(mean, mean - half, mean + half)


def share_of(total: float, parts: Sequence[float], wholes: Sequence[float]) -> Estimate:
    """The part of a known total: each drawn thread has a part of its whole.

    Args:
        total: Of all threads.
        parts: Of each drawn one, divided by its chance.
        wholes: Likewise.
    """
    if not (whole := fmean(wholes)):
        return Estimate.exactly(0)
    ratio = fmean(parts) / whole
    residuals = [part - ratio * one for part, one in zip(parts, wholes, strict=True)]
    half = _half(residuals) * total / whole
    return Estimate(total * ratio, max(0.0, total * ratio - half), total * ratio + half)


def _half(each: Sequence[float]) -> float:
    """Half of the interval around a mean."""
    if len(each) < 2:
        return math.inf
    # Of few draws, the spread that they show is itself uncertain: as Student's t is wider.
    return _Z * (1 + 1 / len(each)) * stdev(each) / math.sqrt(len(each))


IDLE_DAYS: Final = (30, 90, 365)
"""After how many days without a checkpoint rules delete a thread."""
_LARGEST: Final = 20
_AT_ONCE: Final = 20
"""So many threads are drawn before it is asked whether they suffice."""
# Of fewer draws the bounds are too wide to say anything.
_LEAST_DRAWS: Final = 200
_FEWEST_DRAWS: Final = 40
"""What they say differs by a third, weighed by their chances: so many make a tenth of it."""
_CLOSE: Final = 0.05
"""Of the estimate: an interval whose half is no more is narrow enough."""
_ROW_KEYS: Final = 260
"""Bytes that the keys of a row of LangGraph's take, in its table and in an index. Measured: 200 to
270 in SQLite, 300 in PostgreSQL, where the ids of threads are UUIDs or shorter."""
_PIECE_KEYS: Final = 200
"""The same of a row of ours."""
_SOON_S: Final = 5.0
"""A database that is read whole in this time is."""


class Thread(NamedTuple):
    """One of the largest threads."""

    thread_id: str
    bytes: int
    checkpoints: int
    newest: datetime | None


class Leftover(NamedTuple):
    """What nobody needs."""

    many: int
    bytes: Estimate


@dataclass
class Survey:
    """What was found.

    Attributes:
        disk: Bytes that the tables take, with their indexes.
        free: Of these, what is known to be free.
        rights: What the role may do besides reading.
        bytes: By table, as values are stored.
        weeks: What was stored, by the Monday of its week.
        sampled: How many threads were read.
        after: Bytes that `migrate --to once2` would leave.
        pieces: How many new rows of ours there would be then.
        unknown: Rows whose thread, namespace or checkpoint is no text.
        store: Items of the store, if it is in this database, by the first label of namespaces.
        channels: Bytes by channel, before anything is cut or compressed.
        idle: What deleting threads would free that had no checkpoint for some days; how many too.
        kept: What would be freed if each namespace kept its last checkpoints.
        unread: Values that could not be read, by the reason, in the threads that were.
    """

    threads: int
    checkpoints: int
    disk: int
    free: int
    rights: list[str]
    bytes: dict[str, int]
    rows: dict[str, int]
    weeks: dict[str, Week]
    largest: list[Thread]
    idle: dict[int, tuple[int, int]]
    leftovers: dict[str, Leftover]
    unknown: int
    store: dict[str, StoreSize]
    sampled: int = 0
    sampled_bytes: int = 0
    after: Estimate = field(default_factory=lambda: Estimate.exactly(0))
    pieces: float = 0.0
    channels: dict[str, Estimate] = field(default_factory=dict)
    kinds: dict[str, Estimate] = field(default_factory=dict)
    kept: dict[int, Estimate] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        """Bytes of all values."""
        return sum(self.bytes.values())

    @property
    def disk_after(self) -> float:
        """About what `migrate --to once2` would leave on the disk, once that is tidied up."""
        besides = max(0, self.disk - self.free - self.total)
        keys = min(besides, _ROW_KEYS * sum(self.rows.values()))
        ends = (besides - keys) / max(1, self.total)  # of pages: room that no other row fits into
        return self.after.value * (1 + ends) + keys + _PIECE_KEYS * self.pieces

    @property
    def is_exact(self) -> bool:
        """Whether every thread was read."""
        return self.sampled == self.threads


def survey(
    snapshot: Snapshot,
    serde: OnceSerializer,
    *,
    store_once: bool = True,
    seconds: float | None = 30.0,
    progress: Progress | None = None,
    now: datetime | None = None,
) -> Survey:
    """Look at a database.

    Args:
        snapshot: The database.
        serde: How values would be written.
        store_once: Whether long values would be cut.
        seconds: For how long threads are read to estimate what is not counted; all if None.
        progress: Is told how far it is.
        now: From which moment on days are counted back.

    Raises:
        StorageError: It cannot be read.
    """
    counted = sizes(snapshot)
    found = _counted(snapshot, counted, now or datetime.now(UTC))
    if counted.threads:
        scale = Scale(snapshot, serde, store_once=store_once)
        sample = _Sample(counted.threads, scale, progress)
        sample.read(seconds)
        sample.add_to(found)
    return found


def _counted(snapshot: Snapshot, counted: Sizes, now: datetime) -> Survey:
    threads = counted.threads
    by_size = sorted(threads.items(), key=lambda each: (-each[1].bytes, each[0]))
    calls = [each for thread in threads.values() for each in thread.ended_calls()]
    rootless = [each for each in threads.values() if not each.checkpoints]
    count, size = counted.orphan_writes
    disk, free = snapshot.run(snapshot.tables.disk_bytes(snapshot.names))
    return Survey(
        threads=len(threads),
        checkpoints=counted.rows["checkpoints"],
        disk=disk,
        free=free,
        rights=snapshot.run(snapshot.tables.rights()) if snapshot.has_threads else [],
        bytes=dict(counted.bytes),
        rows=dict(counted.rows),
        weeks=dict(sorted(counted.weeks.items())),
        largest=[
            Thread(name, each.bytes, each.checkpoints, moment_of(each.newest))
            for name, each in islice(by_size, _LARGEST)
        ],
        idle={days: _idle(threads.values(), timedelta(days), now) for days in IDLE_DAYS},
        unknown=counted.unknown,
        store=store_sizes(snapshot),
        leftovers={
            "subgraph calls that are over": _left(len(calls), sum(each.bytes for each in calls)),
            "writes on checkpoints that are not there": _left(count, size),
            "threads without a checkpoint": _left(
                len(rootless), sum(each.bytes for each in rootless)
            ),
        },
    )


def _left(count: int, size: int) -> Leftover:
    return Leftover(count, Estimate.exactly(size))


def _idle(threads: Iterable[ThreadSize], age: timedelta, now: datetime) -> tuple[int, int]:
    old = [each for each in threads if each.checkpoints and is_older(each.newest, age, now)]
    return len(old), sum(each.bytes for each in old)


class _Sample:
    """Threads that are read, and what they say of all.

    Args:
        threads: All there are.
        scale: Reads one.
        progress: Is told how far it is.
    """

    def __init__(
        self, threads: dict[str, ThreadSize], scale: Scale, progress: Progress | None
    ) -> None:
        self._threads = threads
        self._scale = scale
        self._progress = progress or (lambda *_: None)
        self._read: dict[str, Measured] = {}
        self._drawn: list[str] = []
        self._bytes = sum(each.bytes for each in threads.values())
        self._draws = Draws(_weights(threads))

    def read(self, seconds: float | None) -> None:
        """Read threads until the estimate is close, or the time is over; or all of them."""
        began = time.monotonic()
        draws = iter(self._draws)
        while seconds is not None and not self._is_soon_done(began):
            if not self._has_time(began, seconds) or self._is_close():
                self._progress(len(self._read), len(self._read))
                return
            for name in islice(draws, _AT_ONCE):
                self._weigh(name, self._planned(time.monotonic() - began, seconds))
                self._drawn.append(name)
                if not self._has_time(began, seconds):
                    break
        for name in self._threads:
            self._weigh(name, len(self._threads))

    def _has_time(self, began: float, seconds: float) -> bool:
        """Whether to go on; on a busy machine so few are drawn in time that it takes twice that."""
        return time.monotonic() - began < seconds * (1 + (len(self._drawn) < _FEWEST_DRAWS))

    def _planned(self, took: float, seconds: float) -> int:
        """About how many threads will have been read."""
        done = len(self._read)
        by_time = done * seconds / took if took > 1 else _LEAST_DRAWS
        return min(len(self._threads), max(done + 1, round(min(by_time, _LEAST_DRAWS))))

    def _is_soon_done(self, began: float) -> bool:
        took = time.monotonic() - began
        done = sum(each.before for each in self._read.values())
        return bool(done) and took * (self._bytes - done) / done < _SOON_S

    def _is_close(self) -> bool:
        return len(self._drawn) >= _LEAST_DRAWS and self._after().relative_error <= _CLOSE

    def _weigh(self, name: str, planned: int) -> None:
        if name not in self._read:
            self._read[name] = self._scale.weigh(name, self._threads[name])
            self._progress(len(self._read), planned)

    def _after(self) -> Estimate:
        """What would be left, told by what is, or by what would be saved of it: the closer one."""
        drawn = self._with_chances()
        left = mean_total([one.after / chance for one, chance in drawn])
        saved = mean_total([(one.before - one.after) / chance for one, chance in drawn])
        return min(left, saved.taken_from(self._bytes), key=lambda each: each.high - each.low)

    def _with_chances(self) -> list[tuple[Measured, float]]:
        return [(self._read[name], self._draws.chance(name)) for name in self._drawn]

    def _total(self, part: Callable[[Measured], float]) -> Estimate:
        """Of all threads, what `part` says of one."""
        if len(self._read) == len(self._threads):
            return Estimate.exactly(sum(map(part, self._read.values())))
        drawn = self._with_chances()
        parts = [part(one) / chance for one, chance in drawn]
        return share_of(self._bytes, parts, [one.before / chance for one, chance in drawn])

    def _totals(self, parts: Callable[[Measured], Mapping[K, float]]) -> dict[K, Estimate]:
        """`_total` of each key that `parts` has of a thread."""
        keys = dict.fromkeys(key for each in self._read.values() for key in parts(each))

        def total(key: K) -> Estimate:
            return self._total(lambda one: parts(one).get(key, 0))

        return {key: total(key) for key in keys}

    def add_to(self, found: Survey) -> None:
        """Say it."""
        read = self._read.values()
        found.sampled, found.sampled_bytes = len(read), sum(each.before for each in read)
        found.after = self._after() if not found.is_exact else self._total(lambda one: one.after)
        found.pieces = self._total(lambda one: one.pieces).value
        for each in read:
            found.unread += each.unread
        found.channels = self._totals(lambda one: one.channels)
        found.kinds = self._totals(lambda one: one.kinds)
        found.kept = self._totals(lambda one: one.freed)
        orphans = self._total(lambda one: one.orphans)
        if orphans.high:
            found.leftovers["values that no checkpoint has"] = Leftover(0, orphans)


def _weights(threads: dict[str, ThreadSize]) -> dict[str, float]:
    """What a thread is thought to take once everything is stored once, and a bit of what it does.

    Each row takes something, and what is long is stored about once.
    """
    thought = {
        name: 400.0 * each.rows + 0.5 * each.largest + each.pieces for name, each in threads.items()
    }
    scale = sum(thought.values()) / max(1, sum(each.bytes for each in threads.values()))
    return {name: thought[name] + 0.1 * scale * each.bytes for name, each in threads.items()}
