"""Who reads a stream: a reader that announced itself, or any other.

A reader announces itself in the config of a run (`READER_KEY`), or where it reads a graph of its
own process: `dedup` and `ChannelStreamingProcessor` set a context variable around the first step
of the stream they read. A stream is made when it is first advanced, so it finds the variable then.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config

from langgraph_once.config import READER_KEY, DedupConfig
from langgraph_once.stream.part.intake import Version

__all__ = [
    "PLAIN_READER",
    "SERVED_KEY",
    "TASK_ID_KEY",
    "afirst_chunk",
    "announced",
    "configurable_of",
    "first_chunk",
    "is_for_stock",
    "is_in_a_node",
    "is_served",
    "is_v3_stream",
    "take_announcement",
]

PLAIN_READER: Final = "plain"
"""A reader that says so under `READER_KEY` gets what the graph streams without `once`, to compare
the two: `client.runs.stream(…, checkpoint={READER_KEY: PLAIN_READER})`. It holds in v1 and v2, for
the outermost graph. A graph that hides messages does not obey: nobody is sent what it hides."""

# Keys of `config["configurable"]`, private upstream (langgraph 1.2.24,
# langgraph/_internal/_constants.py); `test_upstream_keys` notices when they change.
TASK_ID_KEY = "__pregel_task_id"
V3_KEY = "__pregel_stream_messages_v2"

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


def configurable_of(config: RunnableConfig) -> Mapping[str, Any]:
    """What stands under `configurable`; nothing where nothing does."""
    return config.get("configurable", {})


def is_in_a_node(merged: RunnableConfig) -> bool:
    """Whether a node of a graph reads the stream, in a thread of its own perhaps."""
    around = var_child_runnable_config.get() or {}
    return TASK_ID_KEY in configurable_of(merged) or TASK_ID_KEY in configurable_of(around)


def is_v3_stream(merged: RunnableConfig, version: Version) -> bool:
    """Whether a stream feeds v3 transformers, which fold protocol events on their own.

    As upstream decides it: what a node streams in v1 is none, although the config says so.
    """
    return version == "v2" and bool(configurable_of(merged).get(V3_KEY))


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
    told = configurable_of(config).get(READER_KEY)
    return in_a_node or told in (None, "", PLAIN_READER)
