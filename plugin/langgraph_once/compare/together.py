"""Several streams at once, each event as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from typing import TypeVar

__all__ = ["together"]

T = TypeVar("T")


async def together(streams: Iterable[AsyncGenerator[T]]) -> AsyncGenerator[T]:
    """The events of all `streams`, in the order in which they come.

    Leaving closes all streams; so does the error of one.
    """
    opened = [*streams]
    waiting = {_next(stream): stream for stream in opened}
    try:
        while waiting:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                stream = waiting.pop(task)
                found = task.result()
                if found is not None:
                    yield found[0]
                    waiting[_next(stream)] = stream
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for stream in opened:
            await stream.aclose()


def _next(stream: AsyncGenerator[T]) -> asyncio.Task[tuple[T] | None]:
    """Ask a stream for its next event; None when it has ended."""

    async def ask() -> tuple[T] | None:
        try:
            return (await anext(stream),)
        except StopAsyncIteration:
            return None

    return asyncio.create_task(ask())
