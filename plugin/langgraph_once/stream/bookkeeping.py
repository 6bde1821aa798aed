"""Calls for our own sake, to a saver, a store or a graph: none fails a stream or holds it up.

All such calls pass through here. One that raises, or takes too long, costs one log line, and
perhaps that the consumer gets something again.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, Final, TypeAlias, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")

UNDER_WAY: Final[set[asyncio.Future[Any]]] = set()
"""Calls that are made in tasks, which an event loop alone holds weakly."""

WAIT_S: Final = 1.0
"""How long a stream waits for these calls, once before its first chunk and once after its last.

A database answers within milliseconds. A reader waits about a second for the first token of a
model as it is; a longer wait would be seen.
"""


class Call:
    """One call of a method; its async form has the same name with an `a` before it."""

    def __init__(self, of: Any, method: str, *arguments: Any) -> None:
        self.of = of
        self.method = method
        self.arguments = arguments


Calls: TypeAlias = Generator[Call, Any, T]
"""Yields calls, and is sent what each returns; what one raises is raised where it was yielded."""


class FailureGuard:
    """Lets what is done inside fail; tells of the first failure what is `lost`, and no content."""

    def __init__(self, lost: str) -> None:
        self._lost = lost
        self._has_told = False

    @contextmanager
    def __call__(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if not self._has_told:
                self._has_told = True
                logger.warning("%s (%s)", self._lost, type(error).__name__)


def answer(calls: Calls[T], guard: FailureGuard) -> T | None:
    """What calls come to; None if one fails, or they take too long.

    In a thread of their own, since nothing else ends a wait for one that does not return.
    """
    found: list[T] = []

    def run() -> None:
        with guard():
            found.append(_run(calls))

    with guard():
        # A daemon: the process may end before it does.
        thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
        thread.start()
        thread.join(WAIT_S)
        if thread.is_alive():
            raise TimeoutError
    return found[0] if found else None


async def aanswer(calls: Calls[T], guard: FailureGuard, *, goes_on: bool = False) -> T | None:
    """`answer`, async. With `goes_on` calls that take too long are made all the same, as those in a
    thread are."""
    task = asyncio.ensure_future(_arun(calls))
    UNDER_WAY.add(task)
    task.add_done_callback(_ended)
    try:
        await asyncio.wait({task}, timeout=WAIT_S)
    finally:
        if not goes_on:
            task.cancel()  # what comes later is of no use
    with guard():
        if task.done():
            return task.result()
        raise TimeoutError
    return None


def _ended(task: asyncio.Future[Any]) -> None:
    UNDER_WAY.discard(task)
    if not task.cancelled():
        task.exception()  # it was told, or comes too late to be


def _run(calls: Calls[T]) -> T:
    go_on, what = calls.send, None
    while True:
        try:
            call = go_on(what)
        except StopIteration as end:
            came_to: T = end.value
            return came_to
        try:
            go_on, what = calls.send, getattr(call.of, call.method)(*call.arguments)
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
            go_on, what = calls.send, await getattr(call.of, f"a{call.method}")(*call.arguments)
        except Exception as error:
            go_on, what = calls.throw, error
