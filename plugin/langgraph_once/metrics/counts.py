"""What this process has done, in plain integers. Nothing in it names a thread, a node or a text.

It is counted in any case: where a decision is a value already, and once for a stream, so that no
token and no value waits for it. Who wants to see it reads it: `table.METRICS` says how.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from weakref import WeakSet

__all__ = ["OUTCOMES", "pools", "retention", "storage", "streams"]

OUTCOMES: Final = (
    *("suppressed", "repaired", "replaced", "retracted", "held", "inferred"),
    *("hidden", "malformed", "unknown"),
)
"""What `DedupStats` counts of the parts of a stream."""


class StreamCounts:
    """What became of the streams that have ended. Thread-safe.

    Attributes:
        ended: How many streams ended, well or badly.
        gaps: How often something of a remote run may be missing.
        decisions: Decisions on messages, as `commit D1`.
        outcomes: Parts that were not passed on as they came, by what happened to them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.ended: int = 0
        self.gaps: int = 0
        self.decisions: Counter[str] = Counter()
        self.outcomes: dict[str, int] = dict.fromkeys(OUTCOMES, 0)

    def end(self, decisions: Mapping[str, int], outcomes: Mapping[str, int]) -> None:
        """Count a stream that has ended.

        Args:
            decisions: Of this stream, as in the attribute.
            outcomes: As `decisions`.
        """
        with self._lock:
            self.ended += 1
            for key, number in decisions.items():
                self.decisions[key] += number
            for key, number in outcomes.items():
                self.outcomes[key] += number

    def gap(self) -> None:
        """Count that something of a remote run may be missing."""
        with self._lock:
            self.gaps += 1


def _metric(unit: str, meaning: str) -> int:
    """A count from 0, which `table.METRICS` shows under its name."""
    counted: int = field(default=0, metadata={"unit": unit, "meaning": meaning})
    return counted


@dataclass(slots=True)
class StorageCounts:
    """What savers wrote and read. Times are in nanoseconds; as metrics, in seconds.

    Threads add without a lock, and no addition is lost as long as no call stands in it, such as
    `len`: there, and at jumps, CPython with a GIL changes threads.
    """

    writes: int = _metric("{write}", "Checkpoints, and writes of tasks, that savers encoded.")
    encode_ns: int = _metric(
        "s", "How long savers encoded, compressed, encrypted and cut those, without storing them."
    )
    encoded_bytes: int = _metric(
        "By", "What the codec wrote for them: neither compressed nor in pieces."
    )
    stored_bytes: int = _metric(
        "By", "What was stored for them. The difference to the encoded bytes is saved."
    )
    cut_values: int = _metric("{value}", "Values that were stored in pieces.")
    new_pieces: int = _metric(
        "{piece}", "Pieces that were stored for them; all others of their pieces were there."
    )
    reads: int = _metric(
        "{checkpoint}", "Checkpoints that were decoded whole, as at the start of a run."
    )
    decode_ns: int = _metric("s", "How long that took, without reading rows.")


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
    deleted_bytes: int = _metric("By", "Bytes of values that it deleted, as they were stored.")


class PoolCounts:
    """The pools of connections that are open. They count by themselves."""

    def __init__(self) -> None:
        self._open: WeakSet[Any] = WeakSet()

    def add(self, pool: Any) -> None:
        """Take a pool of psycopg, until it is gone."""
        self._open.add(pool)

    def total(self, name: str) -> int:
        """The sum over all pools of a statistic of psycopg_pool, by its name in `get_stats`.

        A pool leaves out what has not occurred yet (psycopg_pool 3.2).
        """
        return sum(pool.get_stats().get(name, 0) for pool in [*self._open])


# Of this process:
streams: Final = StreamCounts()
storage: Final = StorageCounts()
pools: Final = PoolCounts()
retention: Final = RetentionCounts()
