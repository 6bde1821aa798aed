"""Savers that are opened and closed, by programs with and without an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.checkpoint.workers import Workers

S = TypeVar("S", bound=OnceSaver)
T = TypeVar("T")


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


class Opening(Generic[S]):
    """A saver to be opened and closed: with `with`, or with `async with`.

    Args:
        open_saver: Opens it.
        sets_up: Whether what is missing in the database is made at once.
    """

    def __init__(self, open_saver: Callable[[], S], *, sets_up: bool = True) -> None:
        self._open = open_saver
        self._sets_up = sets_up
        self._saver: S | None = None

    def __enter__(self) -> S:
        saver = self._open()
        try:
            if self._sets_up:
                saver.setup()
        except BaseException:
            saver.close()
            raise
        self._saver = saver
        return saver

    def __exit__(self, *given: object) -> None:
        if self._saver is not None:
            self._saver.close()

    async def __aenter__(self) -> S:
        return await open_in_thread(self.__enter__, lambda saver: saver.close())

    async def __aexit__(self, *given: object) -> None:
        await close_in_thread(self.__exit__)
