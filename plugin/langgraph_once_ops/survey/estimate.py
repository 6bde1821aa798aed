"""What a sample of threads says of all. No I/O.

Threads differ in size by orders of magnitude, so they are drawn in proportion to what they are
thought to take (Hansen and Hurwitz, with replacement): the few that matter are nearly all in it,
and what is estimated hardly depends on who else is.
"""

from __future__ import annotations

import math
import random
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from statistics import NormalDist, fmean, stdev
from typing import Final, NamedTuple

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
