"""Whether CPython's thread pools still have the fault that `tests.thread_pools` works around."""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests import thread_pools

WAIT_S = 60


class _Items:
    """The queue of a pool. A thread that is not the first gets nothing before `second_may`."""

    def __init__(self) -> None:
        self._items: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._first: int | None = None
        self.second_may = threading.Event()
        self.waiting = 0
        self.put = self._items.put

    def get_nowait(self) -> Any:
        self._wait_as_second()
        return self._items.get_nowait()

    def get(self, block: bool) -> Any:
        self._wait_as_second()
        self.waiting += 1
        try:
            return self._items.get(block)
        finally:
            self.waiting -= 1

    def _wait_as_second(self) -> None:
        self._first = self._first or threading.get_ident()
        if threading.get_ident() != self._first:
            self.second_may.wait(WAIT_S)


class _Idle(threading.Semaphore):
    """The count of idle threads. The first thread that counts itself waits for `may_count`."""

    def __init__(self) -> None:
        super().__init__(0)
        self.counts = threading.Event()
        self.may_count = threading.Event()

    def release(self, n: int = 1) -> None:
        self.counts.set()
        self.may_count.wait(WAIT_S)
        super().release(n)


def test_a_thread_pool_counts_a_thread_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ThreadPoolExecutor, "_adjust_thread_count", thread_pools.USUAL)
    items, idle, is_over = _Items(), _Idle(), threading.Event()
    with ThreadPoolExecutor(6) as pool:
        vars(pool).update(_work_queue=items, _idle_semaphore=idle)
        pool.submit(int).result()
        assert idle.counts.wait(WAIT_S)  # it found the queue empty
        taken: Future[int] = pool.submit(int)  # a second thread is started for this one
        idle.may_count.set()
        taken.result(WAIT_S)  # the first has done it
        items.second_may.set()
        while items.waiting < 2:
            time.sleep(0.01)
        for _ in range(2):
            pool.submit(is_over.wait)
        left: Future[int] = pool.submit(int)
        try:
            left.result(1)
        except TimeoutError:
            has_fault = True
        else:
            has_fault = False
        is_over.set()
    assert has_fault is thread_pools.HAS_FAULT
