"""Who reads a stream: a reader that announced itself, or any other.

A reader announces itself in the config of a run (`READER_KEY`), or where it reads a graph of its
own process: `dedup` and `ChannelStreamingProcessor` set a context variable around the first step
of the stream they read. A stream is made when it is first advanced, so it finds the variable then.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Final

from langchain_core.runnables import RunnableConfig

from langgraph_once.config import READER_KEY, DedupConfig

__all__ = [
    "PLAIN_READER",
    "SERVED_KEY",
    "afirst_chunk",
    "announced",
    "first_chunk",
    "is_for_stock",
    "is_served",
    "take_announcement",
]

PLAIN_READER: Final = "plain"
"""A reader that says so under `READER_KEY` gets what the graph streams without `once`, to compare
the two: `client.runs.stream(…, checkpoint={READER_KEY: PLAIN_READER})`. It holds in v1 and v2, for
the outermost graph. A graph that hides messages does not obey: nobody is sent what it hides."""

SERVED_KEY: Final = "langgraph_api_version"
"""What a LangGraph server writes into the metadata of each run (langgraph-api 0.16.7,
langgraph_api/stream.py); `test_stock_reader` notices when it does not."""

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


def is_served(config: RunnableConfig) -> bool:
    """Whether a LangGraph server runs a run of this config."""
    return SERVED_KEY in config.get("metadata", {})


def is_for_stock(
    dedup: DedupConfig, config: RunnableConfig, *, in_a_node: bool, is_announced: bool = False
) -> bool:
    """Whether a stream goes out in stock form.

    Args:
        dedup: Its `form` decides, unless that is "auto".
        config: The config of the run, which may announce the reader.
        in_a_node: Whether a node of a graph reads the stream. The node inherits its config, and
            with it the announcement of whoever reads the graph around it.
        is_announced: Whether the reader announced itself by `announced`.
    """
    if dedup.form != "auto":
        return dedup.form == "stock"
    if is_announced:
        return False
    told = config.get("configurable", {}).get(READER_KEY)
    return in_a_node or told in (None, "", PLAIN_READER)
