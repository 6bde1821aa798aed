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
    Mapping,
)
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, aclosing, closing
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from langgraph_once.config import DedupConfig
from langgraph_once.errors import StreamError
from langgraph_once.stream.dedup.deduplicator import Deduplicator
from langgraph_once.stream.dedup.states.hints import Hints
from langgraph_once.stream.dedup.states.state_cut import IsMessageKeyIn, is_default_key
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.intake import StreamModes, Version, mode_set, reader, token_reader
from langgraph_once.stream.part.parent_command import handing_over
from langgraph_once.stream.part.render import writer
from langgraph_once.stream.readers import afirst_chunk, announced, first_chunk

__all__ = [
    "ChunkFilter",
    "Expand",
    "adedup",
    "afiltered",
    "chunk_filter",
    "dedup",
    "expanding",
    "filtered",
    "itself",
]

C = TypeVar("C")

NOTHING_ELSE: Mapping[str, Any] = MappingProxyType({})

Expand: TypeAlias = Callable[[Part], Iterable[Part]]
"""What is made of a part before it is held against the ledger; nothing, where only we read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkFilter:
    """Turns each chunk of a stream into the chunks that the consumer lacks."""

    new: Callable[[Any], Iterable[Any]]
    """Does so."""

    passes: Callable[[Any], bool] = lambda _: False
    """Whether a chunk is a token that simply goes on, which is noted then: a way around the parts
    for nearly all chunks of a stream."""

    write: Callable[[Any], Any] | None = None
    """Writes one that passes; None where it is in the right shape already."""

    undelivered: Callable[[], Iterable[Any]]
    """What is to be said before the first chunk."""

    keep_undelivered: Callable[[Iterable[Part]], None]
    """Notes what upstream would have sent to a consumer that has left."""

    close: Callable[[], Iterable[Any]]
    """What remains to be said at the end of a stream that did not fail."""


def dedup(
    chunks: Iterable[C],
    *,
    stream_mode: StreamModes,
    subgraphs: bool = False,
    version: Version = "v1",
    ledger: Ledger | None = None,
    config: DedupConfig | None = None,
) -> Iterator[C]:
    """Pass on the chunks of `graph.stream(...)`, each thing once, in the same shapes.

    Args:
        chunks: What the graph streams. Closed when this is.
        stream_mode: As given to `graph.stream`.
        subgraphs: As given to `graph.stream`.
        version: As given to `graph.stream`.
        ledger: What the consumer has from earlier streams; updated as chunks pass. Where the graph
            has a cache and may stop amid a step: `Ledger.forget_updates`.
        config: What counts as a repetition. By default `updates` and `values` carry all
            messages, as the graph streams them; `DedupConfig(state="auto")` leaves out those
            that the consumer has.

    Raises:
        StreamError: A chunk has another shape than these arguments say.
    """
    new = chunk_filter(stream_mode, subgraphs, version, ledger=ledger, config=config)
    return filtered(chunks, new, announced())


def adedup(
    chunks: AsyncIterable[C],
    *,
    stream_mode: StreamModes,
    subgraphs: bool = False,
    version: Version = "v1",
    ledger: Ledger | None = None,
    config: DedupConfig | None = None,
) -> AsyncIterator[C]:
    """`dedup` for the chunks of `graph.astream(...)`; the arguments are the same."""
    new = chunk_filter(stream_mode, subgraphs, version, ledger=ledger, config=config)
    return afiltered(chunks, new, announced())


def chunk_filter(
    stream_mode: StreamModes,
    subgraphs: bool,
    version: Version,
    *,
    ledger: Ledger | None,
    config: DedupConfig | None,
    heard: StreamModes | None = None,
    expand: Mapping[str, Expand] = NOTHING_ELSE,
    read: Callable[[Any], Part] | None = None,
    hints: Hints | None = None,
    is_message_key: IsMessageKeyIn = is_default_key,
    for_stock: bool = False,
) -> ChunkFilter:
    """The filter of a v1 or v2 stream; what is not explained here is as `dedup`, `Deduplicator`.

    Args:
        stream_mode: With `subgraphs` and `version` the shape that is written.
        heard: The modes of the chunks, where they are more than those written.
        expand: What is made of a part, by its mode.
        read: Reads a chunk, where it does not come in the shape that is written: `itself`, where
            it is a part already.
    """
    heard = stream_mode if heard is None else heard
    bared = _bared(stream_mode, heard, subgraphs, version)
    same_shape = read is None and bared is None
    write = writer(stream_mode, subgraphs=subgraphs, version=version)
    dedup = Deduplicator(
        config,
        ledger=ledger,
        modes=mode_set(stream_mode),
        hints=hints,
        is_message_key=is_message_key,
        for_stock=for_stock,
    )
    passes, write_token = token_reader(dedup.passes, heard, subgraphs, version), bared
    if read is itself:
        passes, write_token = _part_passes(dedup.passes), write
    read = read or reader(heard, subgraphs=subgraphs, version=version)
    expanded = expanding(expand)
    feed = dedup.feed
    if expand:  # else `feed` stays one call
        feed = lambda part: chain.from_iterable(map(dedup.feed, expanded(part)))  # noqa: E731

    rest: Iterator[Part] = iter(())

    def new(chunk: Any) -> Iterable[Any]:
        nonlocal rest
        try:
            part = read(chunk)
        except StreamError:
            if dedup.config.malformed == "raise":
                raise
            dedup.stats.malformed += 1
            return (chunk if bared is None else bared(chunk),)
        rest = feed(part)
        return (chunk if same_shape and kept is part else write(kept) for kept in rest)

    return ChunkFilter(
        new=new,
        passes=passes,
        write=write_token,
        undelivered=lambda: map(write, dedup.undelivered()),
        keep_undelivered=lambda left: dedup.keep_undelivered(
            rest, chain.from_iterable(map(expanded, left))
        ),
        close=lambda: map(write, dedup.close()),
    )


def filtered(
    chunks: Iterable[Any], new: ChunkFilter, around_first: AbstractContextManager[None]
) -> Generator[Any]:
    """What `new` makes of each of `chunks`, which are closed at the end, early or not.

    Args:
        chunks: The chunks.
        new: The filter.
        around_first: Entered while the first of them is made: what it sets in the context, the
            stream that they come from finds as it begins.
    """
    passes, make, write = new.passes, new.new, new.write
    with ExitStack() as stack:
        stack.enter_context(handing_over())
        if isinstance(chunks, Generator):
            stack.enter_context(closing(chunks))
        yield from new.undelivered()
        rest = iter(chunks)
        for first in first_chunk(rest, around_first):
            yield from make(first)
        for chunk in rest:
            if passes(chunk):
                yield chunk if write is None else write(chunk)
            else:
                yield from make(chunk)
        yield from new.close()


async def afiltered(
    chunks: AsyncIterable[Any], new: ChunkFilter, around_first: AbstractContextManager[None]
) -> AsyncGenerator[Any]:
    """`filtered`, async."""
    passes, make, write = new.passes, new.new, new.write
    async with AsyncExitStack() as stack:
        stack.enter_context(handing_over())
        if isinstance(chunks, AsyncGenerator):
            await stack.enter_async_context(aclosing(chunks))
        for kept in new.undelivered():
            yield kept
        rest = aiter(chunks)
        for first in await afirst_chunk(rest, around_first):
            for kept in make(first):
                yield kept
        async for chunk in rest:
            if passes(chunk):
                yield chunk if write is None else write(chunk)
            else:
                for kept in make(chunk):
                    yield kept
        for kept in new.close():
            yield kept


def expanding(expand: Mapping[str, Expand]) -> Expand:
    """What is made of a part of any mode: itself, where nothing is said of its mode."""
    return lambda part: expand.get(part.mode, alone)(part)


def itself(part: Part) -> Part:
    """Read what is a part already."""
    return part


def _part_passes(passes: Callable[[Any, Any], bool]) -> Callable[[Any], bool]:
    def is_token(part: Part) -> bool:
        return part.mode == "messages" and passes(part.data, part.meta)

    return is_token


def alone(part: Part) -> tuple[Part]:
    """A part as it came."""
    return (part,)


def _bared(
    stream_mode: StreamModes, heard: StreamModes, subgraphs: bool, version: Version
) -> Callable[[Any], Any] | None:
    """What takes the mode out of a chunk whose reader asked for one mode; None where none is in."""
    if version == "v2" or not isinstance(stream_mode, str) or isinstance(heard, str):
        return None
    return itemgetter(0, 2) if subgraphs else itemgetter(1)
