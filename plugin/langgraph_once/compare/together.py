"""Several streams at once, each event as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from typing import TypeVar

__all__ = ["together"]

T = TypeVar("T")


async def together(
    streams: Iterable[AsyncGenerator[T]], *, silence_s: float | None = None
) -> AsyncGenerator[T | None]:
    """The events of all `streams`, in the order in which they come.

    Leaving closes all streams; so does the error of one.

    Args:
        streams: The streams.
        silence_s: After how long without an event None is given in place of one.
    """
    opened = [*streams]
    waiting = {_next(stream): stream for stream in opened}
    try:
        while waiting:
            done, _ = await asyncio.wait(
                waiting, timeout=silence_s, return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                yield None
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
