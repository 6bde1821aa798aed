"""A reader in this process announces itself to the stream that it reads.

`dedup` and `ChannelStreamingProcessor` set a context variable around the first step of that
stream. A stream is made when it is first advanced, so it finds the variable then. What it finds
there takes the states that the run begins with.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

from langchain_core.messages import BaseMessage

Hears: TypeAlias = Callable[[tuple[str, ...], Mapping[str, Any], Sequence[BaseMessage]], object]
"""Takes the state that a graph of the run begins with: its namespace, its values by key, and the
messages that tasks have written whose step is not done. Called from any thread. The run may change
all of this in place afterwards."""


ANNOUNCED: ContextVar[Hears | None] = ContextVar("langgraph_once_announced", default=None)


@contextmanager
def announced(hears: Hears = lambda *_: None) -> Iterator[None]:
    """Announce the reader to the one stream that is first advanced inside.

    `hears` takes the states that the stream begins with, if it is one of a thread.
    """
    token = ANNOUNCED.set(hears)
    try:
        yield
    finally:
        ANNOUNCED.reset(token)


def take_announcement() -> Hears | None:
    """What takes the states of the stream that begins, and of no other; None if its reader did not
    announce itself."""
    hears = ANNOUNCED.get()
    ANNOUNCED.set(None)
    return hears


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
