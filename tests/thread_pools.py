"""Thread pools that start a thread for each item, while they may: around a fault of CPython."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

HAS_FAULT = sys.version_info >= (3, 12)
"""Whether a pool may count more threads as idle than are (CPython 3.12.1 and 3.13.0, `_worker`).

A thread finds the queue empty. An item is put, and a thread started for it. Then the first thread
counts itself as idle and takes that item. Later an item is left to an idle thread that is none; if
all others wait for that item, as LangGraph's entrypoints do for their tasks, they wait for ever.
`test_thread_pools.py` fails where this is no longer so.
"""

USUAL = ThreadPoolExecutor._adjust_thread_count


def work_around_the_fault() -> None:
    """Have all pools of this process count no thread as idle, where they have the fault."""
    if not HAS_FAULT:
        return

    def adjust(pool: ThreadPoolExecutor) -> None:
        vars(pool)["_idle_semaphore"] = threading.Semaphore(0)
        USUAL(pool)

    setattr(ThreadPoolExecutor, "_adjust_thread_count", adjust)  # noqa: B010 - mypy lets nobody assign to a method
