"""`dedup` and `adedup`: the same chunks in the same shapes, each thing once.

A reader in this process announces itself to the stream that it reads: `dedup` and
`ChannelStreamingProcessor` set a context variable around the first step of that stream. A stream is
made when it is first advanced, so it finds the variable then. What it finds there takes the states
that the run begins with.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
    aclosing,
    closing,
    contextmanager,
    nullcontext,
)
from contextvars import ContextVar
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from langchain_core.messages import BaseMessage
from langchain_core.utils.input import get_bolded_text, get_colored_text
from langgraph.errors import ParentCommand

from langgraph_once.config import DedupConfig
from langgraph_once.stream.deduplicator import Deduplicator
from langgraph_once.stream.forms import Form
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.shapes import (
    Part,
    StreamModes,
    Version,
    mode_set,
    reader,
    token_reader,
    writer,
)
from langgraph_once.stream.state_cut import Hints, IsMessageKeyIn, is_default_key

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


C = TypeVar("C")

NOTHING_ELSE: Mapping[str, Any] = MappingProxyType({})

Expand: TypeAlias = Callable[[Part], Iterable[Part]]
"""What is made of a part before it is held against the ledger; nothing, where only we read it."""


class ChunkFilter(ABC):
    """Turns each chunk of a stream into the chunks that the consumer lacks.

    Args:
        dedup: Decides what it lacks.
        write: Writes a part as a chunk.
        expand: By mode, what replaces a part with the parts that are judged.

    Attributes:
        passes: Whether a chunk is a token that simply goes on, which is noted then: a way around
            the parts for nearly all chunks of a stream.
        write_token: Writes one that passes; None where it is in the right shape already.
    """

    def __init__(
        self, dedup: Deduplicator, write: Callable[[Part], Any], expand: Mapping[str, Expand]
    ) -> None:
        self._dedup = dedup
        self._write = write
        self._expand: Expand = lambda part: expand.get(part.mode, alone)(part)
        self._rest: Iterator[Part] = iter(())
        self.passes: Callable[[Any], bool] = lambda _: False
        self.write_token: Callable[[Any], Any] | None = None

    @abstractmethod
    def new(self, chunk: Any) -> Iterable[Any]:
        """What the consumer lacks of a chunk."""

    def undelivered(self) -> Iterable[Any]:
        """Parts to send before the first chunk."""
        return map(self._write, self._dedup.undelivered())

    def keep_undelivered(self, left: Iterable[Part]) -> None:
        """Queue what the run produced after its consumer disconnected."""
        expanded = chain.from_iterable(map(self._expand, left))
        self._dedup.keep_undelivered(self._rest, expanded)

    def close(self) -> Iterable[Any]:
        """Parts left to send at the end of a stream that did not fail."""
        return map(self._write, self._dedup.close())

    def publish(self) -> None:
        """Add what was decided to the metrics: once, as the stream ends, well or badly."""
        self._dedup.stats.publish()


Opened: TypeAlias = tuple[Any, Callable[[], ChunkFilter], AbstractContextManager[None]]
"""The chunks of a stream, what tells their filter when the first of them is made, and what is
entered while it is made: what that sets in the context, the stream finds as it begins."""


class _PlainFilter(ChunkFilter):
    """The filter of a v1 or v2 stream.

    Args:
        read: Reads a chunk.
        same_shape: Whether chunks come in the shape that is written.
    """

    def __init__(self, *of_all: Any, read: Callable[[Any], Part], same_shape: bool) -> None:
        super().__init__(*of_all)
        self._read = read
        self._same_shape = same_shape

    def new(self, chunk: Any) -> Iterable[Any]:
        """What the consumer lacks of a chunk."""
        part = self._read(chunk)
        self._rest = chain.from_iterable(map(self._dedup.feed, self._expand(part)))
        return (
            chunk if self._same_shape and kept is part else self._write(kept) for kept in self._rest
        )


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
    new = plain_filter(stream_mode, subgraphs, version, ledger=ledger, config=config)
    return filtered(nullcontext((chunks, lambda: new, announced())))


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
    new = plain_filter(stream_mode, subgraphs, version, ledger=ledger, config=config)
    return afiltered(nullcontext((chunks, lambda: new, announced())))


def chunks_of(
    parts: Iterable[Part],
    stream_mode: StreamModes,
    subgraphs: bool,
    version: Version,
    *,
    ledger: Ledger | None,
    config: DedupConfig | None,
) -> Iterator[Any]:
    """Return the chunks, of the shape that is asked for, that a consumer lacks of these parts.

    The arguments are those of `dedup`.
    """
    new = plain_filter(stream_mode, subgraphs, version, ledger=ledger, config=config, read=_itself)
    return filtered(nullcontext((parts, lambda: new, nullcontext())))


def achunks_of(
    parts: AsyncIterable[Part],
    stream_mode: StreamModes,
    subgraphs: bool,
    version: Version,
    *,
    ledger: Ledger | None,
    config: DedupConfig | None,
) -> AsyncIterator[Any]:
    """`chunks_of`, async."""
    new = plain_filter(stream_mode, subgraphs, version, ledger=ledger, config=config, read=_itself)
    return afiltered(nullcontext((parts, lambda: new, nullcontext())))


def plain_filter(
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
    form: Form | None = None,
) -> ChunkFilter:
    """The filter of a v1 or v2 stream; what is not explained here is as `dedup`, `Deduplicator`.

    Args:
        stream_mode: With `subgraphs` and `version` the shape that is written.
        heard: The modes of the chunks, where they are more than those written.
        expand: By mode, what replaces a part with the parts that are judged.
        read: Reads a chunk, where it does not come in the shape that is written: `_itself`, where
            it is a part already.
    """
    heard = stream_mode if heard is None else heard
    bare = _bared(stream_mode, heard, subgraphs, version)
    write = writer(stream_mode, subgraphs=subgraphs, version=version)
    dedup = Deduplicator(
        config,
        ledger=ledger,
        modes=mode_set(stream_mode),
        hints=hints,
        is_message_key=is_message_key,
        form=form,
    )
    same_shape = read is None and bare is None
    read_chunk = read or reader(heard, subgraphs=subgraphs, version=version)
    new = _PlainFilter(dedup, write, expand, read=read_chunk, same_shape=same_shape)
    if read is _itself:
        new.passes, new.write_token = _part_passes(dedup.passes), write
    else:
        new.passes = token_reader(dedup.passes, heard, subgraphs, version)
        new.write_token = bare
    return new


def filtered(opening: AbstractContextManager[Opened]) -> Generator[Any]:
    """What is left of a stream, whose chunks are closed at the end, early or not.

    Args:
        opening: Entered when the first chunk is asked for; left when the chunks are closed.
    """
    with opening as (chunks, filter_of, around_first), ExitStack() as stack:
        stack.enter_context(_handing_over())
        if isinstance(chunks, Generator):
            stack.enter_context(closing(chunks))
        rest = iter(chunks)
        # Not around the loop: what is open over a `yield` is open for the consumer, too.
        begin = first_chunk(rest, around_first)
        new = filter_of()
        stack.callback(new.publish)
        passes, make, write = new.passes, new.new, new.write_token
        yield from new.undelivered()
        for first in begin:
            yield from make(first)
        for chunk in rest:
            if passes(chunk):
                yield chunk if write is None else write(chunk)
            else:
                yield from make(chunk)
        yield from new.close()


async def afiltered(opening: AbstractAsyncContextManager[Opened]) -> AsyncGenerator[Any]:
    """`filtered`, async."""
    async with opening as (chunks, filter_of, around_first), AsyncExitStack() as stack:
        stack.enter_context(_handing_over())
        if isinstance(chunks, AsyncGenerator):
            await stack.enter_async_context(aclosing(chunks))
        rest = aiter(chunks)
        # As in `filtered`: not around the loop.
        begin = await afirst_chunk(rest, around_first)
        new = filter_of()
        stack.callback(new.publish)
        passes, make, write = new.passes, new.new, new.write_token
        for kept in new.undelivered():
            yield kept
        for first in begin:
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


def _itself(part: Part) -> Part:
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
    return without_mode(subgraphs=subgraphs)


def without_mode(*, subgraphs: bool) -> Callable[[Any], Any]:
    """What takes the mode out of v1 chunks.

    LangGraph writes it for a list of modes alone: not for a tuple or set of them (1.2.24,
    `_output` in langgraph/pregel/main.py).
    """
    return itemgetter(0, 2) if subgraphs else itemgetter(1)


class HandedOver(ParentCommand):
    """A command to the graph around, where there is none here: it tells itself in JSON.

    A graph that is served hands over by failing: `ParentCommand` leaves its stream, and the server
    writes the error by its `model_dump`. `OnceRemoteGraph` raises it to the graph around it.
    """

    def model_dump(self) -> dict[str, Any]:
        """The error as the server writes it, with the command."""
        command = self.args[0]
        goto = command.goto if isinstance(command.goto, list | tuple) else [command.goto]
        told = {"update": command.update, "goto": [*goto]}
        return {"error": "ParentCommand", "message": "to the graph around", "command": told}


@contextmanager
def _handing_over() -> Iterator[None]:
    """Raises a `ParentCommand` as one that tells itself."""
    try:
        yield
    except HandedOver:
        raise
    except ParentCommand as error:
        raise HandedOver(error.args[0]) from error


class ChangedFilter(ChunkFilter):
    """Passes on what another filter gives, each chunk changed.

    Args:
        inner: The other filter.
        change: What becomes of a chunk that it gives.
    """

    def __init__(self, inner: ChunkFilter, change: Callable[[Any], Any]) -> None:
        self._inner = inner
        self._change = change
        self.passes = inner.passes
        self.write_token = change
        if (write := inner.write_token) is not None:
            self.write_token = lambda chunk: change(write(chunk))

    def changed(self, chunks: Iterable[Any]) -> Iterable[Any]:
        """What becomes of chunks that the other filter gives."""
        return map(self._change, chunks)

    def new(self, chunk: Any) -> Iterable[Any]:
        """What the consumer lacks of a chunk."""
        return self.changed(self._inner.new(chunk))

    def undelivered(self) -> Iterable[Any]:
        """Parts to send before the first chunk."""
        return self.changed(self._inner.undelivered())

    def keep_undelivered(self, left: Iterable[Part]) -> None:
        """Queue what the run produced after its consumer disconnected."""
        self._inner.keep_undelivered(left)

    def close(self) -> Iterable[Any]:
        """Parts left to send at the end of a stream that did not fail."""
        return self.changed(self._inner.close())

    def publish(self) -> None:
        """Add what was decided to the metrics."""
        self._inner.publish()


def printing(read: Callable[[Any], Part], *, subgraphs: bool) -> Callable[[Any], Any]:
    """What prints the messages among chunks, for `print_mode="messages"`, and leaves chunks alone.

    LangGraph prints what a graph streams. A wrapped graph streams more than its reader gets: what a
    node returns it tells once more, for the deduplicator to decide on.

    Args:
        read: Reads a chunk.
        subgraphs: Whether the graphs of messages are printed, as the reader asked for them.
    """

    def printed(chunk: Any) -> Any:
        """A chunk, printed as LangGraph does (1.2.24, `_output` in langgraph/pregel/main.py)."""
        part = read(chunk)
        if part.mode == "messages":
            words = [get_bolded_text("[messages]"), repr((part.data, part.meta))]
            if subgraphs and part.ns:
                words.insert(1, get_colored_text(f"[graph={part.ns}]", color="yellow"))
            print(*words)  # noqa: T201  # as was asked for
        return chunk

    return printed
