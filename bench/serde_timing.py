"""Timing of calls that take microseconds, so that a busy machine does not decide."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

_ROUNDS = 60
_MAX_SECONDS = 1.0
"""What two calls may take together; those of which one takes long are not timed as often."""

Call = Callable[[Any], object]


class Measured(NamedTuple):
    """Two ways to do one thing."""

    least_us: float
    """Our time: the least of all rounds, after those that warm up, in µs."""
    median_ratio: float
    """Upstream's time over ours, the median of pairs."""
    least_ratio: float
    """The same of the least times: what both take while nothing else runs."""

    def __str__(self) -> str:
        return f"{self.least_us:,.1f} | {self.median_ratio:.2f}x | {self.least_ratio:.2f}x"


def measure(make: Callable[[], Any], peer: Call, ours: Call, *, repeat: int = 1) -> Measured:
    """Time both in turns, each call on a value that no call has seen.

    Args:
        make: Makes such a value, outside of what is timed.
        peer: Upstream's way.
        ours: Our way.
        repeat: Calls in one timing, for calls too short to time alone.
    """
    gc.collect()
    gc.disable()
    try:
        warm = sum(_time_us(call, make, repeat) for call in (peer, ours, peer, ours)) / 2
        rounds = int(min(_ROUNDS, max(7, _MAX_SECONDS * 1e6 / (warm * repeat))))
        pairs = []
        for number in range(rounds):
            calls = (peer, ours) if number % 2 else (ours, peer)
            times = [_time_us(call, make, repeat) for call in calls]
            pairs.append((times[0], times[1]) if number % 2 else (times[1], times[0]))
    finally:
        gc.enable()
    theirs, own = map(min, zip(*pairs, strict=True))
    return Measured(own, statistics.median(first / second for first, second in pairs), theirs / own)


def _time_us(call: Call, make: Callable[[], Any], repeat: int) -> float:
    values = [make() for _ in range(repeat)]
    start = time.thread_time()
    for value in values:
        call(value)
    return (time.thread_time() - start) / repeat * 1e6
