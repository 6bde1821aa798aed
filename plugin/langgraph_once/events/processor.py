"""The face of the room: say what to watch, get typed events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Generator, Iterable, Iterator
from contextlib import AsyncExitStack, ExitStack, aclosing, closing
from dataclasses import replace
from typing import Any, Final, NamedTuple, get_args
from weakref import WeakKeyDictionary

from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel

from langgraph_once.config import DedupConfig
from langgraph_once.errors import ConfigError
from langgraph_once.events.config import (
    ChannelConfig,
    Include,
    TokenStreamingConfig,
    checked_channels,
)
from langgraph_once.events.event import Event
from langgraph_once.events.reader import PartReader
from langgraph_once.events.select import AsyncEvents, Events
from langgraph_once.events.source import (
    SHAPE_KEYS,
    ReadChunk,
    asked,
    check_keys,
    chunk_reader,
    each_once,
    is_graph,
    local_part,
    seeds,
)
from langgraph_once.stream import Deduplicator, Ledger, Part

__all__ = ["ChannelStreamingProcessor"]

DEFAULT_DEDUP: Final = DedupConfig()


class _Run(NamedTuple):
    """One stream: its chunks, how they are read, and what makes events of them."""

    chunks: Any
    read: ReadChunk
    dedup: Deduplicator | None
    reader: PartReader
    seeded_by: Any = None
    """The graph whose state tells what is old, if one does."""

    @property
    def token(self) -> Callable[[Any], Event | None] | None:
        """Reads tokens past all else, where chunks are well made and each comes once."""
        return self.reader.token if self.read is local_part else None

    def parts(self, chunk: Any) -> Iterable[Part]:
        """What a chunk says that the consumer lacks."""
        part = self.read(chunk)
        if part is None:
            return ()
        return (part,) if self.dedup is None else self.dedup.feed(part)


class ChannelStreamingProcessor:
    """Watches channels and tokens of a graph, each independent of the other.

    One processor serves any number of streams, also at a time. What it tells follows from the
    stream alone; `Transcript` keeps what a consumer has over several.

    Args:
        channels: Keys of the state to tell.
        token_streaming: Whose tokens to tell, with their messages and tool calls.
        dedup: What counts as a repetition; None for a source that says each thing once by itself.
            A graph wrapped by `once` keeps its own. `state` is not looked at: of states the keys
            that changed are told.
        include: What to tell besides: `custom`, `ui`, `interrupts`, `tasks`, `tool_calls`.
        max_history: The most finished messages and calls to remember, for what may still be said
            of them.
        ledger: What the consumer has from earlier streams of the thread, for sources that keep no
            ledger of their own: `feed`, chunks under way, a `RemoteGraph`. Updated as parts pass.

    Raises:
        ConfigError: The configuration contradicts itself, or watches nothing.
    """

    def __init__(
        self,
        channels: Iterable[ChannelConfig] = (),
        token_streaming: TokenStreamingConfig | None = None,
        dedup: DedupConfig | None = DEFAULT_DEDUP,
        *,
        include: Collection[Include] = (),
        max_history: int = 1_000,
        ledger: Ledger | None = None,
    ) -> None:
        self._channels = checked_channels(channels)
        self._tokens = token_streaming
        self._include = _checked_include(include)
        if not (self._channels or token_streaming or self._include):
            raise ConfigError(
                "ChannelStreamingProcessor",
                "watches nothing; pass channels, token_streaming or include",
            )
        if max_history < 1:
            raise ConfigError("ChannelStreamingProcessor.max_history", "must be at least 1")
        self._dedup = replace(dedup, state="changed") if dedup is not None else None
        self._max_history = max_history
        self._ledger = ledger
        self._asked = asked(self._channels, token_streaming, self._include)
        self._wrapped: WeakKeyDictionary[Any, tuple[Any, bool]] = WeakKeyDictionary()
        self._fed: tuple[PartReader, Deduplicator | None] | None = None

    @property
    def stream_modes(self) -> tuple[str, ...]:
        """The modes that a graph is asked for."""
        return tuple(self._asked.modes)

    @property
    def subgraphs(self) -> bool:
        """Whether a graph is asked to stream from graphs inside it."""
        return self._asked.subgraphs

    def stream(
        self,
        graph: Any,
        input: Any = None,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncEvents[Event]:
        """Run a graph, and tell what it does.

        Args:
            graph: A compiled graph, `once(graph)`, a `RemoteGraph`, an `OnceRemoteGraph`; or an
                async iterator of chunks under way. Chunks that do not tell their own shape need
                `stream_mode`, `subgraphs` and `version`, as they were asked for.
            input: What to run the graph with.
            config: As `graph.astream`.
            kwargs: As `graph.astream`, but for what follows from the configuration.

        Raises:
            ConfigError: The graph lacks a key, or `kwargs` say what the configuration says.
        """
        return AsyncEvents(
            self._astreamed(self._run(graph, input, config, "astream", kwargs), config)
        )

    def stream_sync(
        self,
        graph: Any,
        input: Any = None,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Events[Event]:
        """`stream`, sync; the arguments are the same."""
        run = self._run(graph, input, config, "stream", kwargs)
        return Events(self._streamed(run, config))

    def feed(self, part: Part) -> Iterator[Event]:
        """The events of one part of any other source."""
        reader, dedup = self._feeding()
        for new in (part,) if dedup is None else dedup.feed(part):
            yield from reader.feed(new)

    def close(self, error: BaseException | None = None) -> Iterator[Event]:
        """End the stream of `feed`: close what is open, tell the error, and the end.

        Args:
            error: What ended it, if it did not end by itself.
        """
        reader, dedup = self._feeding()
        self._fed = None
        for part in dedup.close(error) if dedup is not None else ():
            yield from reader.feed(part)
        yield from reader.close(error)

    def _feeding(self) -> tuple[PartReader, Deduplicator | None]:
        if self._fed is None:
            self._fed = self._reader(), self._deduplicator()
        return self._fed

    def _reader(self) -> PartReader:
        return PartReader(
            self._channels, self._tokens, self._include, max_history=self._max_history
        )

    def _deduplicator(self) -> Deduplicator | None:
        return None if self._dedup is None else Deduplicator(self._dedup, ledger=self._ledger)

    def _run(
        self, source: Any, input: Any, config: RunnableConfig | None, method: str, options: Any
    ) -> _Run:
        reader = self._reader()
        if not is_graph(source):
            return _Run(source, chunk_reader(options), self._deduplicator(), reader)
        if fixed := options.keys() & SHAPE_KEYS:
            raise ConfigError(
                "stream", f"{', '.join(sorted(fixed))}: follows from the channels and tokens"
            )
        check_keys(source, self._channels)
        graph, is_once = self._each_once(source)
        modes, subgraphs = self._asked
        chunks = getattr(graph, method)(
            input, config, stream_mode=modes, subgraphs=subgraphs, version="v2", **options
        )
        dedup = None if is_once else self._deduplicator()
        seeded_by = graph if seeds(graph, config, self._channels) else None
        read: ReadChunk = local_part if isinstance(graph, Pregel) else chunk_reader({})
        return _Run(chunks, read, dedup, reader, seeded_by)

    def _each_once(self, graph: Any) -> tuple[Any, bool]:
        if self._dedup is None:
            return graph, True
        if graph not in self._wrapped:
            self._wrapped[graph] = each_once(graph, self._dedup)
        return self._wrapped[graph]

    def _streamed(self, run: _Run, config: RunnableConfig | None) -> Generator[Event, None, None]:
        token, feed, parts = run.token, run.reader.feed, run.parts
        with ExitStack() as stack:
            if isinstance(run.chunks, Generator):
                stack.enter_context(closing(run.chunks))
            try:
                if run.seeded_by is not None:
                    run.reader.seed(run.seeded_by.get_state(config).values)
                for chunk in run.chunks:
                    if token is not None and (event := token(chunk)) is not None:
                        yield event
                        continue
                    for part in parts(chunk):
                        yield from feed(part)
            except Exception as error:
                yield from run.reader.close(error)
                raise
            yield from _ending(run)

    async def _astreamed(
        self, run: _Run, config: RunnableConfig | None
    ) -> AsyncGenerator[Event, None]:
        token, feed, parts = run.token, run.reader.feed, run.parts
        async with AsyncExitStack() as stack:
            if isinstance(run.chunks, AsyncGenerator):
                await stack.enter_async_context(aclosing(run.chunks))
            try:
                if run.seeded_by is not None:
                    run.reader.seed((await run.seeded_by.aget_state(config)).values)
                async for chunk in run.chunks:
                    if token is not None and (event := token(chunk)) is not None:
                        yield event
                        continue
                    for part in parts(chunk):
                        for event in feed(part):
                            yield event
            except Exception as error:
                for event in run.reader.close(error):
                    yield event
                raise
            for event in _ending(run):
                yield event


def _ending(run: _Run) -> Iterator[Event]:
    if run.dedup is not None:
        for part in run.dedup.close():
            yield from run.reader.feed(part)
    yield from run.reader.close()


def _checked_include(include: Collection[str]) -> frozenset[str]:
    known = get_args(Include)
    found: frozenset[str] = frozenset({include} if isinstance(include, str) else include)
    if unknown := found - set(known):
        raise ConfigError(
            "ChannelStreamingProcessor.include",
            f"does not know {', '.join(map(repr, sorted(unknown)))}; it knows {', '.join(known)}",
        )
    return found
