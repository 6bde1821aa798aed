"""How long something takes, on a machine that may be busy."""

from __future__ import annotations

import math
import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["allowed_seconds", "least_seconds"]

_TRIES = 3
_BUSY_FACTOR = 4


def allowed_seconds(limit: float) -> float:
    """Return `limit`; where more wants to run than there are processors, what only tells a hang."""
    busy = os.getloadavg()[0] > (os.cpu_count() or 1)
    return _BUSY_FACTOR * limit if busy else limit


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
