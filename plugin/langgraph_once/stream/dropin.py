"""`dedup` and `adedup`: the same chunks in the same shapes, each thing once."""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
)
from contextlib import AsyncExitStack, ExitStack, aclosing, closing
from typing import Any, TypeAlias

from langgraph_once.config import DedupConfig
from langgraph_once.stream.deduplicator import Deduplicator
from langgraph_once.stream.intake import StreamModes, Version, mode_set, reader
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.part import Part
from langgraph_once.stream.render import writer

__all__ = ["ChunkFilter", "adedup", "afiltered", "chunk_filter", "dedup", "filtered"]

ChunkFilter: TypeAlias = Callable[[Any], Iterator[Any]]
"""Turns one chunk into the chunks that the consumer lacks."""


def dedup(
    chunks: Iterable[Any],
    *,
    stream_mode: StreamModes,
    subgraphs: bool = False,
    version: Version = "v1",
    ledger: Ledger | None = None,
    config: DedupConfig | None = None,
) -> Iterator[Any]:
    """Pass on the chunks of `graph.stream(...)`, each thing once, in the same shapes.

    Args:
        chunks: What the graph streams. Closed when this is.
        stream_mode: As given to `graph.stream`.
        subgraphs: As given to `graph.stream`.
        version: As given to `graph.stream`.
        ledger: What the consumer has from earlier streams; updated as chunks pass.
        config: By default `DedupConfig(state="auto")`: the caller is the consumer, so a text
            that came as tokens does not come again in `updates` and `values`.

    Raises:
        StreamError: A chunk has another shape than these arguments say.
    """
    new = chunk_filter(stream_mode, subgraphs, version, ledger=ledger, config=config)
    return filtered(chunks, new)


def adedup(
    chunks: AsyncIterable[Any],
    *,
    stream_mode: StreamModes,
    subgraphs: bool = False,
    version: Version = "v1",
    ledger: Ledger | None = None,
    config: DedupConfig | None = None,
) -> AsyncIterator[Any]:
    """`dedup` for the chunks of `graph.astream(...)`; the arguments are the same."""
    new = chunk_filter(stream_mode, subgraphs, version, ledger=ledger, config=config)
    return afiltered(chunks, new)


def chunk_filter(
    stream_mode: StreamModes,
    subgraphs: bool,
    version: Version,
    *,
    ledger: Ledger | None,
    config: DedupConfig | None,
    read: Callable[[Any], Part] | None = None,
) -> ChunkFilter:
    """The function that turns one chunk into the chunks that the consumer lacks.

    Args:
        stream_mode: As `dedup`; with `subgraphs` and `version` the shape that is written.
        subgraphs: As `dedup`.
        version: As `dedup`.
        ledger: As `dedup`.
        config: As `dedup`.
        read: Reads a chunk, where it does not come in the shape that is written.
    """
    same_shape = read is None
    read = read or reader(stream_mode, subgraphs=subgraphs, version=version)
    write = writer(stream_mode, subgraphs=subgraphs, version=version)
    feed = Deduplicator(
        config or DedupConfig(state="auto"), ledger=ledger, modes=mode_set(stream_mode)
    ).feed

    def new(chunk: Any) -> Iterator[Any]:
        part = read(chunk)
        for kept in feed(part):
            yield chunk if same_shape and kept is part else write(kept)

    return new


def filtered(chunks: Iterable[Any], new: ChunkFilter) -> Iterator[Any]:
    """What `new` makes of each of `chunks`, which are closed at the end, early or not."""
    with ExitStack() as stack:
        if isinstance(chunks, Generator):
            stack.enter_context(closing(chunks))
        for chunk in chunks:
            yield from new(chunk)


async def afiltered(chunks: AsyncIterable[Any], new: ChunkFilter) -> AsyncIterator[Any]:
    """`filtered`, async."""
    async with AsyncExitStack() as stack:
        if isinstance(chunks, AsyncGenerator):
            await stack.enter_async_context(aclosing(chunks))
        async for chunk in chunks:
            for kept in new(chunk):
                yield kept
