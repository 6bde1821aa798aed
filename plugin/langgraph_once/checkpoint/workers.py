"""Threads that work for event loops, and that no exit of the process waits for.

`ThreadPoolExecutor` is joined when Python exits: a database that hangs would keep the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


class NoWorkersError(RuntimeError):
    """There are no threads, as the message says: they were stopped, or the process was forked."""


class Workers:
    """Daemon threads that call functions, first come, first served. Thread-safe.

    Args:
        most: How many threads there are at most; each is started when it is needed.
        name: Of the threads.
    """

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name = most, name
        self._pid = os.getpid()
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._changed = threading.Condition()
        self._threads = self._idle = 0
        self._is_stopped = False

    def submit(self, function: Callable[..., T], *given: Any) -> Future[T]:
        """Call a function in a thread, in the context of the caller. Not in a forked process.

        Raises:
            NoWorkersError: They were stopped.
        """
        future: Future[T] = Future()
        with self._changed:
            if self._is_stopped:
                raise NoWorkersError("its saver was closed; open one anew")
            self._waiting.append((future, partial(copy_context().run, function, *given)))
            if len(self._waiting) > self._idle and self._threads < self._most:
                self._threads += 1
                threading.Thread(target=self._work, name=self._name, daemon=True).start()
            else:
                self._changed.notify()
        return future

    def check(self) -> None:
        """Check that the threads are in this process.

        Raises:
            NoWorkersError: They are in the one that this one was forked from.
        """
        if os.getpid() != self._pid:
            raise NoWorkersError(
                "it was opened before the process was forked; open it in the new process"
            )

    def stop(self) -> None:
        """Let the threads end, once all that was submitted is done."""
        if os.getpid() == self._pid:
            with self._changed:
                self._is_stopped = True
                self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._idle += 1
                while not self._waiting and not self._is_stopped:
                    self._changed.wait()
                self._idle -= 1
                if not self._waiting:
                    return
                future, call = self._waiting.popleft()
            _do(future, call)
            del future, call  # what they hold is not kept until something else comes


def _do(future: Future[Any], call: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


async def open_in_thread(open_: Callable[[], T], close: Callable[[T], object]) -> T:
    """Open something in a thread, for an event loop.

    A caller that is cancelled does not wait until the thread has opened it. The thread then closes
    what it opens.
    """
    opened: deque[T] = deque()
    is_left = threading.Event()

    def close_opened() -> None:
        with contextlib.suppress(IndexError):  # the other thread has done so
            close(opened.pop())

    def run() -> None:
        opened.append(open_())
        if is_left.is_set():
            close_opened()

    worker = Workers(1, "once-opening")
    try:
        await asyncio.wrap_future(worker.submit(run))
    except asyncio.CancelledError:
        is_left.set()
        if opened:
            await close_in_thread(close_opened)
        raise
    finally:
        worker.stop()
    return opened.pop()


async def close_in_thread(close: Callable[[], object]) -> None:
    """Close something in a thread, for an event loop.

    It is closed even if the caller is cancelled meanwhile: `asyncio.to_thread` would then drop a
    call that no thread has begun.
    """
    await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, close))
