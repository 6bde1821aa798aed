"""`ChannelStreamingProcessor`: say what to watch, get typed events.

`Events` and `AsyncEvents` are what it returns: iterate, pick by type, call handlers, collect.
"""

from __future__ import annotations

import inspect
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    aclosing,
    closing,
    nullcontext,
)
from dataclasses import replace
from itertools import chain
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, TypeVar, get_args, overload
from weakref import WeakKeyDictionary

from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel
from langgraph.pregel.remote import RemoteGraph
from langgraph.stream import AsyncGraphRunStream, GraphRunStream

from langgraph_once.config import READER_CHECKPOINT, DedupConfig
from langgraph_once.errors import CallbackError, ConfigError
from langgraph_once.events.config import (
    ChannelConfig,
    Include,
    TokenStreamingConfig,
    checked_channels,
)
from langgraph_once.events.part_reader import PartReader
from langgraph_once.events.sources import (
    SHAPE_KEYS,
    UNREAD,
    Chunk,
    ReadChunk,
    asked,
    check_keys,
    configurable_of,
    each_once,
    is_graph,
    is_once_remote,
    local_part,
    self_told,
    shape_reader,
    state_before,
)
from langgraph_once.events.thread_memory import Bounded, ThreadMemory
from langgraph_once.events.vocabulary import BaseEvent, Event, called
from langgraph_once.stream import (
    Calls,
    Deduplicator,
    FailureGuard,
    Ledger,
    aanswer,
    afirst_chunk,
    announced,
    answer,
    first_chunk,
    is_resume,
    may_repeat,
)

E = TypeVar("E", bound=BaseEvent)
K = TypeVar("K", bound=BaseEvent)
L = TypeVar("L", bound=BaseEvent)
M = TypeVar("M", bound=BaseEvent)


class Events(Generic[E]):
    """Events as they happen. Closing it closes what they come from."""

    def __init__(self, source: Generator[E, None, None]) -> None:
        self._source = source

    def __iter__(self) -> Iterator[E]:
        """The events. It is the source itself, so that a loop does not pass through here."""
        return self._source

    def __next__(self) -> E:
        """The next event."""
        return next(self._source)

    def close(self) -> None:
        """Stop early."""
        self._source.close()

    @overload
    def of(self, kind: type[K], /) -> Events[K]: ...
    @overload
    def of(self, kind: type[K], other: type[L], /) -> Events[K | L]: ...
    @overload
    def of(self, kind: type[K], other: type[L], third: type[M], /) -> Events[K | L | M]: ...
    @overload
    def of(self, *types: type[K]) -> Events[K]: ...
    def of(self, *types: type[Any]) -> Events[Any]:
        """The events of these types alone."""
        return Events(self._only(types))

    def _only(self, types: tuple[type[K], ...]) -> Generator[K, None, None]:
        with closing(self._source):
            for event in self._source:
                if isinstance(event, types):
                    yield event

    def on(self, kind: type[K], handler: Callable[[K], object]) -> Events[E]:
        """The same events; `handler` is called with each of this type as it passes.

        Raises:
            CallbackError: From the stream: the handler raised.
        """
        return Events(self._handled(kind, handler))

    def _handled(self, kind: type[K], handler: Callable[[K], object]) -> Generator[E, None, None]:
        with closing(self._source):
            for event in self._source:
                if isinstance(event, kind):
                    called(handler, event)
                yield event

    def collect(self) -> list[E]:
        """All events, when the stream has ended."""
        return list(self)


class AsyncEvents(Generic[E]):
    """`Events`, async."""

    def __init__(self, source: AsyncGenerator[E, None]) -> None:
        self._source = source

    def __aiter__(self) -> AsyncIterator[E]:
        """The events. It is the source itself, so that a loop does not pass through here."""
        return self._source

    def __anext__(self) -> Awaitable[E]:
        """The next event."""
        return self._source.__anext__()

    async def aclose(self) -> None:
        """Stop early."""
        await self._source.aclose()

    @overload
    def of(self, kind: type[K], /) -> AsyncEvents[K]: ...
    @overload
    def of(self, kind: type[K], other: type[L], /) -> AsyncEvents[K | L]: ...
    @overload
    def of(self, kind: type[K], other: type[L], third: type[M], /) -> AsyncEvents[K | L | M]: ...
    @overload
    def of(self, *types: type[K]) -> AsyncEvents[K]: ...
    def of(self, *types: type[Any]) -> AsyncEvents[Any]:
        """The events of these types alone."""
        return AsyncEvents(self._only(types))

    async def _only(self, types: tuple[type[K], ...]) -> AsyncGenerator[K, None]:
        async with aclosing(self._source):
            async for event in self._source:
                if isinstance(event, types):
                    yield event

    def on(self, kind: type[K], handler: Callable[[K], Any]) -> AsyncEvents[E]:
        """The same events; `handler`, a function or coroutine function, is called with each of
        this type as it passes.

        Raises:
            CallbackError: From the stream: the handler raised.
        """
        return AsyncEvents(self._handled(kind, handler))

    async def _handled(self, kind: type[K], handler: Callable[[K], Any]) -> AsyncGenerator[E, None]:
        async with aclosing(self._source):
            async for event in self._source:
                if isinstance(event, kind):
                    result = called(handler, event)
                    if inspect.isawaitable(result):
                        await _finished(result, event, handler)
                yield event

    async def collect(self) -> list[E]:
        """All events, when the stream has ended."""
        return [event async for event in self]


async def _finished(result: Awaitable[Any], event: BaseEvent, handler: object) -> None:
    try:
        await result
    except Exception as error:
        raise CallbackError(event, handler) from error


DEFAULT_DEDUP: Final = DedupConfig()
MAX_THREADS: Final = 64
"""Of each graph, the threads that a processor remembers beyond what their states tell."""

NO_SHAPE: Final[Mapping[str, Any]] = MappingProxyType({})


class _ReadStream(NamedTuple):
    """One stream: its chunks, how they are read, and what makes events of them."""

    chunks: Any
    read: ReadChunk
    dedup: Deduplicator | None
    reader: PartReader
    state_before: Calls[Any] | None = None
    """Finds the state that the stream starts from, where the stream itself does not tell."""

    @property
    def token(self) -> Callable[[Any], Event | None]:
        """A short way for tokens, if chunks are well made and each comes once."""
        return self.reader.token if self.read is local_part else lambda _: None

    def seed(self, state: Any) -> None:
        """Take the state that the stream starts from."""
        with FailureGuard(UNREAD)():
            self.reader.hear((), state or {})

    def feed(self, chunk: Any) -> Iterable[Event]:
        """The events of a chunk."""
        parts = self.read(chunk)
        if self.dedup is not None:
            parts = chain.from_iterable(map(self.dedup.feed, parts))
        return chain.from_iterable(map(self.reader.feed, parts))

    def end(self, error: BaseException | None = None) -> Iterator[Event]:
        """The events of the end."""
        for part in self.dedup.close(error) if self.dedup is not None else ():
            yield from self.reader.feed(part)
        yield from self.reader.close(error)


class ChannelStreamingProcessor:
    """Watches channels and tokens of a graph, independently of each other.

    One processor serves any number of streams, also at the same time. A stream of a thread goes on
    where the one before ended, in another process too: what the consumer has is known from the
    state that the run begins with. `Transcript` keeps what a consumer has after several streams.

    Args:
        channels: Keys of the state to tell.
        token_streaming: Whose tokens to tell, with their messages and tool calls.
        dedup: What counts as a repetition; None for a source that says each thing once by itself.
            A graph wrapped by `once` keeps its own. `state` has no effect: events tell the keys
            of a state that changed.
        include: What to tell besides: `custom`, `ui`, `interrupts`, `tasks`, `tool_calls`.
        max_history: The most finished messages and calls of a thread to remember, for what may
            still be said of them.
        ledger: What the consumer has from earlier streams of the thread, for sources that keep no
            ledger of their own: `feed`, chunks under way, remote graphs. Updated as parts pass.

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
        hides_calls = token_streaming is not None and not token_streaming.include_tool_calls
        if "tool_calls" in self._include and hides_calls:
            raise ConfigError(
                "ChannelStreamingProcessor.include",
                "has 'tool_calls', and token_streaming.include_tool_calls is false; choose one",
            )
        if max_history < 1:
            raise ConfigError("ChannelStreamingProcessor.max_history", "must be at least 1")
        # Events of keys are made of whole values, so messages must not be cut out of a state.
        self._dedup = replace(dedup, state="changed") if dedup is not None else None
        self._max_history = max_history
        self._ledger = ledger
        self._asked = asked(self._channels, token_streaming, self._include)
        # Weak: a processor that lives as long as its application keeps no graph alive.
        self._wrapped: WeakKeyDictionary[Any, tuple[Any, bool]] = WeakKeyDictionary()
        self._threads: WeakKeyDictionary[Any, Bounded[Any, ThreadMemory]] = WeakKeyDictionary()
        self._own_thread = ThreadMemory(max_history)
        self._fed: _ReadStream | None = None

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
                async iterator of chunks under way: a v3 run or a channel of one, what a client
                of the SDK streams, `Part`s. Chunks of v1, which do not tell their own shape, need
                `stream_mode`, `subgraphs` and `version`, as they were asked for.
            input: What to run the graph with.
            config: Of the run: its thread, tags, limits.
            kwargs: What else `graph.astream` takes, as `context` and `durability`; not the modes,
                `subgraphs` and `version`, which follow from the configuration.

        Raises:
            ConfigError: The graph lacks a key, or `kwargs` name what the configuration decides.
        """
        return AsyncEvents(self._astreamed(self._run(graph, input, config, "astream", kwargs)))

    def stream_sync(
        self,
        graph: Any,
        input: Any = None,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Events[Event]:
        """`stream`, sync; the arguments are the same."""
        return Events(self._streamed(self._run(graph, input, config, "stream", kwargs)))

    def feed(self, chunk: Chunk) -> Iterator[Event]:
        """The events of one chunk of any other source.

        Args:
            chunk: A `Part`, or a chunk that tells its own shape, as of `stream`.

        Raises:
            StreamError: It tells no shape.
        """
        if self._fed is None:
            self._fed = self._under_way(None)
        yield from self._fed.feed(chunk)

    def close(self, error: BaseException | None = None) -> Iterator[Event]:
        """End the stream of `feed`: close what is open, tell the error, and the end.

        Args:
            error: What ended it, if it did not end by itself.
        """
        run, self._fed = self._fed or self._under_way(None), None
        return run.end(error)

    def _run(
        self, source: Any, input: Any, config: RunnableConfig | None, method: str, options: Any
    ) -> _ReadStream:
        if not is_graph(source):
            return self._under_way(source, options)
        if fixed := options.keys() & SHAPE_KEYS:
            raise ConfigError(
                "stream", f"{', '.join(sorted(fixed))}: follows from the channels and tokens"
            )
        check_keys(source, self._channels)
        if self._ledger is not None and not may_repeat(input):
            self._ledger.forget_updates()
        graph, is_once = self._each_once(source)
        if is_once_remote(source):
            options = options if self._ledger is None else {"ledger": self._ledger, **options}
        elif isinstance(source, RemoteGraph):
            # Says to a server that this reader takes back what it is told to; names no checkpoint.
            known = options.get("checkpoint") or {}
            options = {**options, "checkpoint": {**known, **READER_CHECKPOINT}}
        modes, subgraphs, for_messages = self._asked
        chunks = getattr(graph, method)(
            input, config, stream_mode=modes, subgraphs=subgraphs, version="v2", **options
        )
        # A local graph gives v2, as asked; chunks of a remote one tell their own shape.
        read = local_part if isinstance(graph, Pregel) else self._self_told(chunks)
        reader = self._reader(self._memory(source, config), states=not for_messages)
        dedup = None if is_once else self._deduplicator()
        before = state_before(graph, config, needs=self._needs_state(input))
        return _ReadStream(chunks, read, dedup, reader, before)

    def _needs_state(self, input: Any) -> bool:
        """Whether to ask for the state before a stream that does not tell it by itself.

        Artifacts and UI messages go on in any stream; messages and calls in one that resumes.
        """
        has_artifacts = any(channel.artifact_type is not None for channel in self._channels)
        has_calls = self._tokens is not None or "tool_calls" in self._include
        return has_artifacts or "ui" in self._include or (has_calls and is_resume(input))

    def _memory(self, graph: Any, config: RunnableConfig | None) -> ThreadMemory:
        """What is known of the thread of a stream. From an older checkpoint on, that is nothing."""
        asked = configurable_of(graph, config)
        if "thread_id" not in asked:
            return ThreadMemory(self._max_history)
        threads = self._threads.setdefault(graph, Bounded(MAX_THREADS))
        key = asked["thread_id"], asked.get("checkpoint_ns")
        known = None if asked.get("checkpoint_id") else threads.pop(key, None)
        threads[key] = known = known or ThreadMemory(self._max_history)
        return known

    def _under_way(self, chunks: Any, shape: Mapping[str, Any] = NO_SHAPE) -> _ReadStream:
        read = shape_reader(shape) if shape else self._self_told(chunks)
        # A ledger is of one thread, and so is what goes with it.
        memory = ThreadMemory(self._max_history) if self._ledger is None else self._own_thread
        return _ReadStream(chunks, read, self._deduplicator(), self._reader(memory, states=True))

    def _reader(self, memory: ThreadMemory, *, states: bool) -> PartReader:
        return PartReader(self._channels, self._tokens, self._include, memory, states=states)

    def _deduplicator(self) -> Deduplicator | None:
        return None if self._dedup is None else Deduplicator(self._dedup, ledger=self._ledger)

    def _self_told(self, chunks: Any) -> ReadChunk:
        return self_told(chunks, tokens=self._tokens is not None, max_history=self._max_history)

    def _each_once(self, graph: Any) -> tuple[Any, bool]:
        if self._dedup is None:
            return graph, True
        if graph not in self._wrapped:
            self._wrapped[graph] = each_once(graph, self._dedup)
        return self._wrapped[graph]

    def _streamed(self, run: _ReadStream) -> Generator[Event, None, None]:
        with _closing(run.chunks):
            try:
                if run.state_before is not None:
                    run.seed(answer(run.state_before, FailureGuard(UNREAD)))
                chunks, token = iter(run.chunks), run.token
                for chunk in chain(first_chunk(chunks, announced(run.reader.hear)), chunks):
                    if (event := token(chunk)) is not None:
                        yield event
                    else:
                        yield from run.feed(chunk)
                yield from run.end()
            except Exception as error:
                yield from run.end(error)
                raise

    async def _astreamed(self, run: _ReadStream) -> AsyncGenerator[Event, None]:
        async with _aclosing(run.chunks):
            try:
                if run.state_before is not None:
                    run.seed(await aanswer(run.state_before, FailureGuard(UNREAD)))
                chunks, token = aiter(run.chunks), run.token
                # A graph of this process learns in its first step who reads it.
                for chunk in await afirst_chunk(chunks, announced(run.reader.hear)):
                    for event in run.feed(chunk):
                        yield event
                async for chunk in chunks:
                    if (said := token(chunk)) is not None:
                        yield said
                        continue
                    for event in run.feed(chunk):
                        yield event
                for event in run.end():
                    yield event
            except Exception as error:
                for event in run.end(error):
                    yield event
                raise


def _closing(chunks: Any) -> AbstractContextManager[Any]:
    """Closes chunks under way at the end, early or not, where they can be closed."""
    if isinstance(chunks, Generator):
        return closing(chunks)
    return chunks if isinstance(chunks, GraphRunStream) else nullcontext()


def _aclosing(chunks: Any) -> AbstractAsyncContextManager[Any]:
    """`_closing`, async."""
    if isinstance(chunks, AsyncGenerator):
        return aclosing(chunks)
    return chunks if isinstance(chunks, AsyncGraphRunStream) else nullcontext()


def _checked_include(include: Collection[str]) -> frozenset[str]:
    known = get_args(Include)
    found: frozenset[str] = frozenset({include} if isinstance(include, str) else include)
    if unknown := found - set(known):
        raise ConfigError(
            "ChannelStreamingProcessor.include",
            f"does not know {', '.join(map(repr, sorted(unknown)))}; it knows {', '.join(known)}",
        )
    return found
