"""Timing of two ways to do one thing, in turns, so that the machine's mood meets both."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Comparison(NamedTuple):
    """Median of paired rounds."""

    peer_us: float
    """Upstream's time, in µs."""
    ours_us: float
    """Our time, in µs."""
    ratio: float
    """Upstream's time over ours: above 1 ours is faster."""


def compare(
    peer: Callable[[], object], ours: Callable[[], object], *, rounds: int = 15, repeat: int = 1
) -> Comparison:
    """Time both, alternating.

    Args:
        peer: Upstream's way.
        ours: Our way.
        rounds: Pairs to time; medians are taken over them.
        repeat: Calls in one timing, for calls too short to time alone.
    """
    peer()
    ours()
    pairs = [(time_us(peer, repeat), time_us(ours, repeat)) for _ in range(rounds)]
    return Comparison(
        statistics.median(pair[0] for pair in pairs),
        statistics.median(pair[1] for pair in pairs),
        statistics.median(pair[0] / pair[1] for pair in pairs),
    )


@contextmanager
def on_one_core() -> Iterator[None]:
    """Keep all threads on one core, where the system can.

    Threads that take turns by the GIL are no faster on two. How often the system moves them from
    one to the other differs by more between two runs of one thing than what is to be measured.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def time_us(call: Callable[[], object], repeat: int = 1) -> float:
    """Time a call, in µs, while no garbage is collected."""
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        return (time.perf_counter() - start) / repeat * 1e6
    finally:
        gc.enable()
