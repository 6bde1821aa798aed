"""What this process has done, in plain integers, and the metrics that show them.

Nothing in it names a thread, a node or a text. It is counted in any case: where a decision is a
value already, and once for a stream, so that no token and no value waits for it. `METRICS` says how
to read it: each metric is a row, with its name, labels, unit and meaning, and where its number
stands.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import accumulate
from typing import Any, Final, Literal, NamedTuple
from weakref import WeakKeyDictionary

OUTCOMES: Final = (
    *("suppressed", "repaired", "replaced", "retracted", "held", "inferred"),
    *("hidden", "unknown"),
)
"""What `DedupStats` counts of the parts of a stream."""


class StreamCounts:
    """What became of the streams that have ended. Thread-safe, as `StorageCounts` is.

    There is no lock. Python's garbage collector ends abandoned streams, and may do so in a thread
    that counts another stream: with a lock, that thread would wait for itself.

    Attributes:
        ended: How many streams ended, well or badly.
        gaps: How often something of a remote run may be missing.
        decisions: Decisions on messages, as `commit D1`.
        outcomes: Parts that were not passed on as they came, by what happened to them.
    """

    def __init__(self) -> None:
        self.ended: int = 0
        self.gaps: int = 0
        self.decisions: dict[str, int] = {}
        self.outcomes: dict[str, int] = dict.fromkeys(OUTCOMES, 0)

    def end(self, decisions: Mapping[str, int], outcomes: Mapping[str, int]) -> None:
        """Count a stream that has ended.

        Args:
            decisions: How often each was taken.
            outcomes: How often there was each.
        """
        self.ended += 1
        for total, of_stream in ((self.decisions, decisions), (self.outcomes, outcomes)):
            for key, number in of_stream.items():
                total.setdefault(key, 0)
                total[key] += number

    def gap(self) -> None:
        """Count that something of a remote run may be missing."""
        self.gaps += 1


class Durations:
    """How long something took, each time."""

    BOUNDS_S: Final = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
    _BOUNDS_NS: Final = tuple(round(bound * 1e9) for bound in BOUNDS_S)

    def __init__(self) -> None:
        self._counts = [0] * (len(self.BOUNDS_S) + 1)
        self._total_ns = 0

    def add(self, took_ns: int) -> None:
        """Count one time, in nanoseconds."""
        at = bisect_left(self._BOUNDS_NS, took_ns)
        self._counts[at] += 1
        self._total_ns += took_ns

    @property
    def total_s(self) -> float:
        """All together, in seconds."""
        return self._total_ns / 1e9

    def up_to(self) -> list[int]:
        """How many took up to each of `BOUNDS_S`, and how many there were."""
        return [*accumulate(self._counts)]


def _metric(unit: str, meaning: str) -> int:
    """A count from 0, which `METRICS` shows under its name."""
    counted: int = field(default=0, metadata={"unit": unit, "meaning": meaning})
    return counted


def _durations(meaning: str) -> Durations:
    """Times, which `METRICS` shows under their name."""
    counted: Durations = field(
        default_factory=Durations, metadata={"unit": "s", "meaning": meaning}
    )
    return counted


@dataclass(slots=True)
class StorageCounts:
    """What savers wrote and read.

    Threads add without a lock, and no addition is lost as long as no call stands in it, such as
    `len`: there, and at jumps, CPython with a GIL changes threads.
    """

    writes: int = _metric("{write}", "Checkpoints, and writes of tasks, that savers encoded.")
    encode_seconds: Durations = _durations(  # noqa: RUF009 - it is a `field`
        "How long savers encoded, compressed, encrypted and cut each of those, without storing it; "
        "its new pieces count once more."
    )
    encoded_bytes: int = _metric(
        "By", "What the codec wrote for them: neither compressed nor in pieces."
    )
    stored_bytes: int = _metric(
        "By",
        "What the database was given for them. The difference to the encoded bytes is saved. "
        "Metadata, and in PostgreSQL the column `checkpoint`, are in neither: they are stored as "
        "they are.",
    )
    cut_values: int = _metric("{value}", "Values that were stored in pieces.")
    new_pieces: int = _metric(
        "{piece}", "Pieces that the database was given for them; it had the others."
    )
    reads: int = _metric(
        "{checkpoint}", "Checkpoints that were decoded whole, as at the start of a run."
    )
    decode_seconds: Durations = _durations(  # noqa: RUF009 - it is a `field`
        "How long each of those took, without reading its rows."
    )


@dataclass(slots=True)
class RetentionCounts:
    """What the policy `checkpointer.once.retention` has done."""

    left_to_others: int = 0
    """How often another server, or event loop, was at it. This is no metric."""
    passes: int = _metric("{pass}", "How often the policy of retention looked at all threads.")
    failures: int = _metric(
        "{failure}", "Passes of it that ended with an error, and threads that could not be read."
    )
    deleted_threads: int = _metric("{thread}", "Threads that it deleted whole.")
    shortened_threads: int = _metric("{thread}", "Threads of which it deleted some checkpoints.")
    deleted_checkpoints: int = _metric("{checkpoint}", "Checkpoints that it deleted.")
    deleted_bytes: int = _metric(
        "By", "Bytes that it deleted: values and metadata, as they were stored."
    )


class PoolCounts:
    """The pools of connections. They count by themselves; here it stays when they are closed."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # Python's garbage collector may close one meanwhile
        self._open: WeakKeyDictionary[Any, None] = WeakKeyDictionary()
        self._closed: Counter[str] = Counter()

    def add(self, pool: Any) -> None:
        """Take a pool of psycopg, until it is closed."""
        with self._lock:
            self._open[pool] = None

    def close(self, pool: Any) -> None:
        """Keep what a pool counted, without what it has now."""
        with self._lock:
            if pool in self._open:
                del self._open[pool]
                self._closed.update(pool.get_stats())

    def total(self, name: str, *, is_now: bool = False) -> int:
        """The sum over all pools of a statistic of psycopg_pool, by its name in `get_stats`.

        A pool leaves out what has not occurred yet (psycopg_pool 3.2).

        Args:
            name: Of the statistic.
            is_now: Whether it tells what a pool has now, and falls again; else it counts.
        """
        with self._lock:
            now: int = sum(pool.get_stats().get(name, 0) for pool in [*self._open])
            return now if is_now else now + self._closed[name]


# Of this process:
streams: Final = StreamCounts()
storage: Final = StorageCounts()
pools: Final = PoolCounts()
retention: Final = RetentionCounts()


Samples = Iterable[tuple[tuple[str, ...], float]]
"""Values of labels, with the number."""


class Metric(NamedTuple):
    """One metric.

    Attributes:
        name: Without the suffix `_total` that Prometheus gives to counters.
        unit: In the notation of UCUM.
        source: Gives the numbers now; of a histogram, its durations.
        labels: Their names.
    """

    name: str
    unit: str
    meaning: str
    source: Callable[[], Samples] | Durations
    labels: tuple[str, ...] = ()
    kind: Literal["counter", "gauge", "histogram"] = "counter"

    @property
    def prometheus_name(self) -> str:
        """Its name at `/once/metrics`."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


def _number(read: Callable[[], float]) -> Callable[[], Samples]:
    return lambda: [((), read())]


def _labelled(counts: Mapping[str, int], words: int = 0) -> Callable[[], Samples]:
    """Each count under its key, of which the first `words` are labels of their own."""
    return lambda: [(tuple(key.split(" ", words)), number) for key, number in [*counts.items()]]


def _of_fields(name: str, counts: Any) -> Iterator[Metric]:
    """The metrics that the fields of a dataclass are."""
    for each in fields(counts):
        if each.metadata:
            found = getattr(counts, each.name)
            is_histogram = isinstance(found, Durations)
            yield Metric(
                f"langgraph_once_{name}_{each.name}",
                source=found if is_histogram else _number(partial(getattr, counts, each.name)),
                kind="histogram" if is_histogram else "counter",
                **each.metadata,
            )


def _of_pools(name: str, statistic: str, unit: str, meaning: str, **more: Any) -> Metric:
    """The sum of a statistic of psycopg's pools; milliseconds become seconds."""
    scale, is_now = 1e-3 if unit == "s" else 1, more.get("kind") == "gauge"
    read = _number(lambda: pools.total(statistic, is_now=is_now) * scale)
    return Metric(f"langgraph_once_pool_{name}", unit, f"PostgreSQL: {meaning}", read, **more)


def _connections() -> Samples:
    size, idle = (pools.total(name, is_now=True) for name in ("pool_size", "pool_available"))
    return [(("idle",), idle), (("used",), max(0, size - idle))]


METRICS: Final = (
    Metric(
        "langgraph_once_streams",
        "{stream}",
        "Streams that ended, well or badly.",
        _number(lambda: streams.ended),
    ),
    Metric(
        "langgraph_once_stream_decisions",
        "{decision}",
        "Decisions on messages, and on states that come again; but for tokens that simply go on.",
        _labelled(streams.decisions, words=1),
        ("operation", "reason"),
    ),
    Metric(
        "langgraph_once_stream_outcomes",
        "{part}",
        "Parts of streams, by what happened to them: `suppressed` as a repetition, `retracted` as "
        "their task ran again, `repaired` as tokens were lost (a gap that was closed), `replaced`, "
        "`held`, `hidden`, `unknown`; `inferred` counts decisions by content alone.",
        _labelled(streams.outcomes),
        ("outcome",),
    ),
    Metric(
        "langgraph_once_remote_gaps",
        "{gap}",
        "Gaps that no state of the thread could fill, in runs read from another server.",
        _number(lambda: streams.gaps),
    ),
    *_of_fields("storage", storage),
    *_of_fields("retention", retention),
    Metric(
        "langgraph_once_pool_connections",
        "{connection}",
        "PostgreSQL: connections of the pools, `idle` or `used`.",
        _connections,
        ("state",),
        "gauge",
    ),
    _of_pools(
        "waiting", "requests_waiting", "{request}", "who waits for a connection now.", kind="gauge"
    ),
    _of_pools("requests", "requests_num", "{request}", "how often a connection was asked for."),
    _of_pools("waits", "requests_queued", "{request}", "how often none was idle."),
    _of_pools("wait_seconds", "requests_wait_ms", "s", "how long connections were waited for."),
    _of_pools("timeouts", "requests_errors", "{request}", "how often none came in time."),
)
