"""Calls for our own sake, to a saver, a store or a graph: none fails a stream or holds it up.

All such calls pass through here. One that raises, or takes too long, costs one log line, and
perhaps that the consumer gets something again.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from langgraph_once.stream.ledger.ledger import Ledger, Listed
from langgraph_once.stream.ledger.ledger_store import StreamAddress, StreamStateStore

__all__ = ["AsyncSaves", "Call", "Calls", "FailureGuard", "Saves", "aanswer", "answer"]

logger = logging.getLogger(__name__)

T = TypeVar("T")

WAIT_S: Final = 1.0
"""How long a stream waits for these calls, once before its first chunk and once after its last.

A database answers within milliseconds. A reader waits about a second for the first token of a
model as it is, so that nobody notices one that is slow; a longer wait would be seen.
"""


class Call(NamedTuple):
    """One call; its async form has the same name with an `a` before it."""

    of: Any
    method: str
    argument: Any


Calls: TypeAlias = Generator[Call, Any, T]
"""Yields calls, and is sent what each returns; what one raises is raised where it was yielded."""


class FailureGuard:
    """Lets what is done inside fail; the first failure is told, without any content.

    Args:
        lost: What is told of it.
    """

    def __init__(self, lost: str) -> None:
        self._lost = lost
        self._has_told = False

    def tell(self, why: str) -> None:
        """Tell what is lost, and why."""
        if not self._has_told:
            self._has_told = True
            logger.warning("%s (%s)", self._lost, why)

    @contextmanager
    def __call__(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.tell(type(error).__name__)


def answer(calls: Calls[T], guard: FailureGuard) -> T | None:
    """What calls come to; None if one fails, or they take too long.

    In a thread of their own, since nothing else ends a wait for one that does not return.
    """
    found: list[T] = []

    def run() -> None:
        with guard():
            found.append(_run(calls))

    with guard():
        thread = _begun(run)
        thread.join(WAIT_S)
        if not thread.is_alive():
            return found[0] if found else None
        raise TimeoutError
    return None


async def aanswer(calls: Calls[T], guard: FailureGuard) -> T | None:
    """`answer`, async."""
    task = asyncio.ensure_future(_arun(calls))
    try:
        await asyncio.wait({task}, timeout=WAIT_S)
    finally:
        task.cancel()  # what comes later is of no use
    with guard():
        if task.done():
            return task.result()
        raise TimeoutError
    return None


class _LatestSave:
    """What is to be saved next.

    Attributes:
        guard: Around what has to do with saving.
    """

    def __init__(self, store: StreamStateStore) -> None:
        self._store = store
        self._next: tuple[StreamAddress, bytes] | None = None
        self.guard: FailureGuard = FailureGuard("What the consumer of a stream has was not saved")


class Saves(_LatestSave):
    """Saves the ledgers of one stream beside it: one at a time, and of those that wait the newest.

    A save gets the bytes of one moment, so that no other thread reads a ledger that changes.
    """

    def __init__(self, store: StreamStateStore) -> None:
        super().__init__(store)
        self._lock = threading.Lock()
        self._is_idle = threading.Event()
        self._is_idle.set()

    def put(self, address: StreamAddress, ledger: Ledger, state: Listed) -> None:
        """Save a ledger soon, without what the state tells; it does not block."""
        with self.guard():
            new = address, ledger.to_bytes(beside=state)
            with self._lock:
                self._next = new
                if not self._is_idle.is_set():
                    return
                _begun(self._drain)
                # Only now: if no thread could be started, `wait` would wait for it in vain.
                self._is_idle.clear()

    def wait(self) -> None:
        """Wait until all is saved, but not for long."""
        if not self._is_idle.wait(WAIT_S):
            self.guard.tell("TimeoutError")

    def _drain(self) -> None:
        while True:
            with self._lock:
                new, self._next = self._next, None
                if new is None:
                    self._is_idle.set()
                    return
            with self.guard():
                self._store.save_stream_state(*new)


class AsyncSaves(_LatestSave):
    """`Saves`, async: in a task of its own."""

    _task: asyncio.Task[None] | None = None

    def put(self, address: StreamAddress, ledger: Ledger, state: Listed) -> None:
        """Save a ledger soon, without what the state tells; it does not block."""
        with self.guard():
            self._next = address, ledger.to_bytes(beside=state)
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._drain())

    async def wait(self) -> None:
        """Wait until all is saved, but not for long."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=WAIT_S)
            if not self._task.done():
                self.guard.tell("TimeoutError")

    async def _drain(self) -> None:
        while self._next is not None:
            new, self._next = self._next, None
            with self.guard():
                await self._store.asave_stream_state(*new)


def _begun(work: Callable[[], None]) -> threading.Thread:
    """A thread that works in the caller's context; the process may end before it does."""
    thread = threading.Thread(target=copy_context().run, args=(work,), daemon=True)
    thread.start()
    return thread


def _run(calls: Calls[T]) -> T:
    go_on, what = calls.send, None
    while True:
        try:
            call = go_on(what)
        except StopIteration as end:
            came_to: T = end.value
            return came_to
        try:
            go_on, what = calls.send, getattr(call.of, call.method)(call.argument)
        except Exception as error:
            go_on, what = calls.throw, error


async def _arun(calls: Calls[T]) -> T:
    go_on, what = calls.send, None
    while True:
        try:
            call = go_on(what)
        except StopIteration as end:
            came_to: T = end.value
            return came_to
        try:
            go_on, what = calls.send, await getattr(call.of, f"a{call.method}")(call.argument)
        except Exception as error:
            go_on, what = calls.throw, error
