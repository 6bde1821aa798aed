"""Timing of two ways to do one thing, in turns, so that the machine's mood meets both."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Comparison", "compare"]


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
    pairs = [(_time_us(peer, repeat), _time_us(ours, repeat)) for _ in range(rounds)]
    return Comparison(
        statistics.median(pair[0] for pair in pairs),
        statistics.median(pair[1] for pair in pairs),
        statistics.median(pair[0] / pair[1] for pair in pairs),
    )


def _time_us(call: Callable[[], object], repeat: int) -> float:
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        return (time.perf_counter() - start) / repeat * 1e6
    finally:
        gc.enable()
