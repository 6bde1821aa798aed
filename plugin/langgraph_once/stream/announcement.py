"""A reader in this process announces itself to the stream that it reads.

`dedup` and `ChannelStreamingProcessor` set a context variable around the first step of that
stream. A stream is made when it is first advanced, so it finds the variable then.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["afirst_chunk", "announced", "first_chunk", "take_announcement"]

ANNOUNCED: ContextVar[bool] = ContextVar("langgraph_once_announced", default=False)


@contextmanager
def announced() -> Iterator[None]:
    """Announce the reader to the one stream that is first advanced inside."""
    token = ANNOUNCED.set(True)
    try:
        yield
    finally:
        ANNOUNCED.reset(token)


def take_announcement() -> bool:
    """Whether the reader of the stream that begins announced itself; no other stream is told."""
    is_announced = ANNOUNCED.get()
    ANNOUNCED.set(False)
    return is_announced


def first_chunk(chunks: Iterator[Any], around: AbstractContextManager[None]) -> list[Any]:
    """The first of `chunks`, if there is one, made inside `around`."""
    with around:
        return list(itertools.islice(chunks, 1))


async def afirst_chunk(
    chunks: AsyncIterator[Any], around: AbstractContextManager[None]
) -> list[Any]:
    """`first_chunk`, async."""
    with around:
        try:
            return [await anext(chunks)]
        except StopAsyncIteration:
            return []
