"""How long something takes, on a machine that may be busy, or slower than it was."""

from __future__ import annotations

import math
import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_TRIES = 3
_BUSY_FACTOR = 4
_STEPS = 1_000_000
_USUAL_SECONDS = 0.03
"""What that many steps take on the machine whose seconds the limits are of."""


def within(seconds: float, limit: float) -> bool:
    """Whether `seconds` are within `limit`, of this machine, as fast as it is now.

    Where more wants to run than there are processors, only a hang is not. How fast the machine
    is gets measured, in a tenth of a second, for what the limit itself does not allow.
    """
    if seconds < limit:
        return True
    busy = os.getloadavg()[0] > (os.cpu_count() or 1)
    return seconds < limit * (_BUSY_FACTOR if busy else _seconds_of_steps() / _USUAL_SECONDS)


def least_seconds(call: Callable[[], object], limit: float) -> float:
    """Return the seconds of CPU that `call` takes: the least of three, or the first in `limit`.

    Whoever else shares the caches of a processor makes all on it slower; a hang stays a hang.
    """
    least = math.inf
    for _ in range(_TRIES):
        started = time.process_time()
        call()
        least = min(least, time.process_time() - started)
        if least < limit:
            break
    return least


def _seconds_of_steps() -> float:
    return least_seconds(lambda: sum(1 for _ in range(_STEPS)), 0)
