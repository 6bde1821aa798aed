"""`once(graph)`: a graph that streams each thing once, wherever it runs.

The server accepts only a `Pregel` and copies it for each run, so the wrapped graph is one:
an instance of a subclass of the graph's own class, with its attributes (measured with
langgraph 1.2.24 and langgraph-api 0.16.7).
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import (
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from typing import Any, Self, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph._internal._config import ensure_config
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel

from langgraph_once.config import READER_KEY, DedupConfig
from langgraph_once.errors import ConfigError
from langgraph_once.stream.callback_events import told_once
from langgraph_once.stream.chunk_filter import (
    ChangedFilter,
    ChunkFilter,
    Expand,
    Opened,
    afiltered,
    alone,
    filtered,
    plain_filter,
    printing,
    take_announcement,
    without_mode,
)
from langgraph_once.stream.handler import HintsHandler
from langgraph_once.stream.hidden import Hiding
from langgraph_once.stream.install import install
from langgraph_once.stream.keeping import (
    InMemoryStreamStateStore,
    StreamStateStore,
    is_stream_state_store,
)
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.readers import (
    PLAIN_READER,
    RecordingFilter,
    configurable_of,
    form_of,
    is_in_a_node,
    is_recording,
    is_task,
    is_v3_stream,
    numbering,
    wants_numbers,
)
from langgraph_once.stream.repeated import CachedParts
from langgraph_once.stream.run import Run
from langgraph_once.stream.session import UNSAVED, FailureGuard, StreamThread, twin_of, unread
from langgraph_once.stream.shapes import (
    Part,
    StreamModes,
    Version,
    is_resume,
    may_repeat,
    mode_set,
    reader,
    with_modes,
)
from langgraph_once.stream.state_cut import Hints
from langgraph_once.stream.v3 import EventFilter, EventForm
from langgraph_once.stream.v3_channel import rewrites, with_channel

G = TypeVar("G", bound=Pregel[Any, Any, Any, Any])
P = TypeVar("P", bound=Pregel[Any, Any, Any, Any])

ATTEMPT_KEY = "run_attempt"
"""Where a LangGraph server notes in the metadata how often it has begun a run
(langgraph-api 0.16.7, langgraph_api/stream.py); `test_runs` notices when it does not."""


def once(
    graph: G,
    config: DedupConfig | None = None,
    *,
    stream_state: StreamStateStore | None = None,
) -> G:
    """A copy of `graph` whose streams deliver each thing once; all else is as it was.

    Args:
        graph: A compiled graph: `StateGraph`, prebuilt agent or functional API. Not changed.
        config: What counts as a repetition, and what readers understand. By default a reader
            that did not announce itself gets the stock form: nothing in it has to be taken back.
        stream_state: Where a graph with a checkpointer keeps what its consumers have, so that
            a resumed run does not repeat it. By default the checkpointer, if it is a
            `StreamStateStore`, else the memory of this process.

    Raises:
        ConfigError: `graph` is no compiled graph, or another argument is not what it should be.
    """
    if not isinstance(graph, Pregel):
        raise ConfigError(
            "once(graph)",
            f"must be a compiled graph, got {type(graph).__name__}; compile a builder first",
        )
    if config is not None and not isinstance(config, DedupConfig):
        raise ConfigError("once(config)", f"must be a DedupConfig, got {type(config).__name__}")
    if stream_state is not None and not is_stream_state_store(stream_state):
        raise ConfigError(
            "once(stream_state)", f"must be a StreamStateStore, got {type(stream_state).__name__}"
        )
    install()
    plain = type(graph).plain_class if isinstance(graph, OnceStreams) else type(graph)
    wrapped = _twin(graph, _once_class(plain))
    wrapped.stream_transformers = with_channel(graph.stream_transformers)
    wrapped.dedup_config = config or DedupConfig()
    wrapped.stream_state = stream_state
    wrapped.own_stream_state = InMemoryStreamStateStore()
    return cast("G", wrapped)


OWN_FIELDS = ("dedup_config", "stream_state", "own_stream_state")

REPLACED = ("stream", "astream", "astream_events", "invoke", "ainvoke")
"""The methods that a wrapped graph has of its own."""


class OnceStreams(Pregel[Any, Any, Any, Any]):
    """What `once` adds to the class of a graph: streams that pass a deduplicator."""

    plain_class: type[Pregel[Any, Any, Any, Any]]
    dedup_config: DedupConfig
    stream_state: StreamStateStore | None
    own_stream_state: StreamStateStore

    def copy(self, update: dict[str, Any] | None = None) -> Self:
        """A copy that deduplicates as this one does."""
        clone = super().copy(update)
        for name, value in vars(self).items():  # 1.2.24 copies the arguments alone
            vars(clone).setdefault(name, value)
        return clone

    def stream(  # type: ignore[override]  # one signature stands for upstream's overloads
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        stream_mode: StreamModes | None = None,
        subgraphs: bool = False,
        version: Version = "v1",
        **kwargs: Any,
    ) -> Iterator[Any]:
        """`Pregel.stream`, each thing once."""
        asked: Any = {"stream_mode": stream_mode, "subgraphs": subgraphs, "version": version}
        if self._is_plain(config, version):
            return super().stream(input, config, **asked, **kwargs)
        begin = functools.partial(_GraphStream, self, "stream", input, config, **asked, **kwargs)
        return filtered(_opened(begin))

    def astream(  # type: ignore[override]  # as `stream`
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        stream_mode: StreamModes | None = None,
        subgraphs: bool = False,
        version: Version = "v1",
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """`Pregel.astream`, each thing once."""
        asked: Any = {"stream_mode": stream_mode, "subgraphs": subgraphs, "version": version}
        if self._is_plain(config, version):
            return super().astream(input, config, **asked, **kwargs)
        begin = functools.partial(_GraphStream, self, "astream", input, config, **asked, **kwargs)
        return afiltered(_aopened(begin))

    def astream_events(
        self, input: Any, config: RunnableConfig | None = None, *, version: Any = "v2", **how: Any
    ) -> Any:
        """`Pregel.astream_events`; in v1 and v2 what a repeated attempt says again is told once."""
        run = functools.partial(super().astream_events, input, version=version, **how)
        if version == "v3" or self._is_plain(config, "v1"):
            return run(config)
        return told_once(run, config, self.dedup_config)

    def _is_plain(self, config: RunnableConfig | None, version: Version) -> bool:
        """Whether the reader asked for what the graph streams by itself, and may have that."""
        merged = ensure_config(self.config, config)
        if configurable_of(merged).get(READER_KEY) != PLAIN_READER:
            return False
        is_apart = is_v3_stream(merged, version) or is_in_a_node(merged)
        return not is_apart and not Hiding(self.dedup_config)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """`Pregel.invoke`: it folds a stream of its own, which is therefore left whole."""
        return self._plain().invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """`Pregel.ainvoke`: see `invoke`."""
        return await self._plain().ainvoke(input, config, **kwargs)

    def _plain(self) -> Pregel[Any, Any, Any, Any]:
        return _plain_twin(self)


class _GraphStream:
    """One stream of a wrapped graph, and what its reader is to get of it.

    Made when the stream is first advanced: only then the reader may announce itself.

    Args:
        graph: The wrapped graph.
        method: Which of its methods was called, `stream` or `astream`.
        input: As given to it.
        config: As given to it.
        stream_mode: As given to it.
        options: All else that was given to it.

    Attributes:
        run: What the handler of the graph is to take.
        thread: Where the ledger is kept; None where nothing is known of earlier streams.
    """

    def __init__(
        self,
        graph: OnceStreams,
        method: str,
        input: Any,
        config: RunnableConfig | None,
        *,
        stream_mode: StreamModes | None,
        **options: Any,
    ) -> None:
        self._graph = graph
        self._method = method
        self._given = input, config
        self._options = options
        modes = _modes_in_force(graph, stream_mode, config)
        self._modes = modes if isinstance(modes, str) else list(modes)
        self._names_modes = isinstance(modes, str | list) or options["version"] == "v2"
        self._asked = mode_set(self._modes)
        printed = mode_set(options.get("print_mode", ()))
        self._prints = "messages" in printed & self._asked
        if self._prints:
            options["print_mode"] = [*printed - {"messages"}]
        merged = ensure_config(graph.config, config)  # what a node hands down included
        hears, dedup = take_announcement(), graph.dedup_config
        is_announced = hears is not None
        self._form = form_of(dedup, merged, options["version"], is_announced=is_announced)
        self._is_numbered = "messages" in self._asked and wants_numbers(merged, self._form)
        self.run = Run(graph, dedup, self._form, input)
        may_record = options["subgraphs"] and not Hiding(dedup)
        self.run.is_recorded = may_record and is_recording(merged, self._form)
        self.thread: StreamThread | None = (
            thread_of(graph, merged, input) if self._form.keeps_thread else None
        )
        if self.thread is not None:
            self.thread.hears = hears
        self.run.was_hidden = lambda message_id: self._ledger.hides(message_id)
        self.run.stood = lambda message: self._ledger.stood(message)
        self._fresh = Ledger()
        self._has_cache = graph.cache is not None
        self._heard = with_modes(self._modes, [*self._own_modes()])
        self._hints = Hints(self._form.space)

    def chunks(self) -> Any:
        """What the graph streams, in the modes that the reader asked for and those that we do."""
        source = _source(self._graph, self._asked)
        if self.thread is not None:
            source.checkpointer = twin_of(self.thread.saver, self.thread)
        input, config = self._given
        stream = getattr(source, self._method)
        return stream(input, self._hearing(config), stream_mode=self._heard, **self._options)

    def around_first(self) -> AbstractContextManager[None]:
        """Hands the run to the handler, which is made with the first chunk."""
        # Where no messages are streamed there is no handler to take the run.
        return self.run.pending() if "messages" in self._asked else nullcontext()

    @functools.cached_property
    def filter(self) -> ChunkFilter:
        """What the reader gets of the chunks; known when the run has read its checkpoint."""
        new = self._deduplicating()
        subgraphs, version = self._options["subgraphs"], self._options["version"]
        if self._prints:
            read = reader(self._modes, subgraphs=subgraphs, version=version)
            new = ChangedFilter(new, printing(read, subgraphs=subgraphs))
        if self._is_numbered:
            numbered = numbering(self._modes, subgraphs=subgraphs, version=version)
            new = ChangedFilter(new, numbered)
        if self.run.is_recorded:
            new = RecordingFilter(new, self._heard, self._modes, version=version)
        if not self._names_modes:
            new = ChangedFilter(new, without_mode(subgraphs=subgraphs))
        return new

    def _deduplicating(self) -> ChunkFilter:
        ledger, expand = self._ledger, self._expand()
        if isinstance(self._form, EventForm):
            return EventFilter(
                self.run.config,
                ledger,
                expand=expand,
                form=self._form,
                tells_edits=not rewrites(self._graph.stream_transformers),
            )
        return plain_filter(
            self._modes,
            self._options["subgraphs"],
            self._options["version"],
            ledger=ledger,
            config=self.run.config,
            heard=self._heard,
            expand=expand,
            hints=self._hints,
            is_message_key=self.run.is_message_key,
            form=self._form,
        )

    @property
    def _ledger(self) -> Ledger:
        return self._fresh if self.thread is None else self.thread.ledger

    def _hearing(self, config: RunnableConfig | None) -> RunnableConfig | None:
        """`config`, with one that listens where no messages are streamed.

        It tells how to cut states, and names the messages of `updates`, which else may come
        before the reducer has named them: nobody could say then that one was edited or removed.
        """
        asked = self._asked
        tells = "values" in asked and self._form.cuts_states(self._graph.dedup_config, asked)
        if "messages" in asked or not ("updates" in asked or tells):
            return config
        return merge_configs(config, {"callbacks": [HintsHandler(self._hints)]})

    def _own_modes(self) -> Iterator[str]:
        """The modes that we ask for on our own account."""
        if "messages" not in self._asked:
            return
        if self._form.folds:
            yield "values"  # they show the ids that reducers gave to messages
        if self._has_cache or (self.thread is not None and self.thread.is_resumed):
            yield "updates"  # those of a cache, which mode `messages` lacks

    def _expand(self) -> dict[str, Expand]:
        """What is made of the parts of these modes."""
        own: dict[str, Expand] = dict.fromkeys(self._own_modes(), alone)
        if "updates" in own:
            own["updates"] = CachedParts(
                self._asked,
                self._ledger,
                self.run.is_message_key,
                has_cache=self._has_cache,
                with_results=not isinstance(self._form, EventForm),
                annotates=self._form.reads_annotations,
            ).expand
        if "values" in own and "updates" in self._asked:
            expand = own.get("updates", alone)
            own["updates"] = lambda part: expand(_apart_from_state(part))
        return own


def _apart_from_state(update: Part) -> Part:
    """An update whose interrupts stay in it when the state that follows is read.

    A graph whose output is one key has one dict for the update and the state, and in v2 LangGraph
    takes the interrupts out of a state (1.2.24, `output_writes` in langgraph/pregel/_loop.py). A
    reader that did not ask for states would lose them from the update that it holds.
    """
    return update if update.interrupts is None else update._replace(data={**update.data})


@contextmanager
def _opened(begin: Callable[[], _GraphStream]) -> Iterator[Opened]:
    """A stream, for `filtered`; the ledger is kept when it ends, well or badly.

    Args:
        begin: Begins the stream, when it is first advanced: only then the reader may announce
            itself.
    """
    begun = begin()
    try:
        yield begun.chunks(), lambda: begun.filter, begun.around_first()
    except BaseException:
        if begun.thread is not None:
            _keep_undelivered(begun)
        raise
    finally:
        if begun.thread is not None:
            begun.thread.end()


@asynccontextmanager
async def _aopened(begin: Callable[[], _GraphStream]) -> AsyncIterator[Opened]:
    """`_opened`, async."""
    begun = begin()
    try:
        yield begun.chunks(), lambda: begun.filter, begun.around_first()
    except BaseException:
        if begun.thread is not None:
            with suppress(asyncio.CancelledError):  # which a cancelled scope of anyio raises again
                await asyncio.sleep(0)  # what was sent from other threads is on its way
            _keep_undelivered(begun)
        raise
    finally:
        if begun.thread is not None:
            await begun.thread.aend()


def _keep_undelivered(begun: _GraphStream) -> None:
    with FailureGuard(UNSAVED)():
        begun.filter.keep_undelivered(unread(begun.run))


def thread_of(graph: OnceStreams, merged: RunnableConfig, input: Any) -> StreamThread | None:
    """The thread whose ledger a stream goes on with; a stream inside a node has none.

    Nor has one in stock form: a stock reader may be new, so its ledger starts empty.
    """
    asked, saver = configurable_of(merged), graph.checkpointer
    if is_task(merged) or asked.get("thread_id") is None:
        return None
    if not isinstance(saver, BaseCheckpointSaver):
        return None
    store = graph.stream_state
    if store is None:
        store = saver if is_stream_state_store(saver) else graph.own_stream_state
    is_again = merged["metadata"].get(ATTEMPT_KEY) not in (None, 1)  # so from a checkpoint
    is_alone = len(graph.nodes) == 1  # an entrypoint: of the tasks it calls none is repeated
    return StreamThread(
        graph,
        merged,
        saver=saver,
        store=store,
        is_resumed=is_again or is_resume(input),
        may_repeat=not is_alone and (is_again or may_repeat(input)),
    )


def _source(graph: OnceStreams, asked: Collection[str]) -> Pregel[Any, Any, Any, Any]:
    """The graph to stream from.

    In v2 upstream makes an object of each state that it streams, and of the state of each
    checkpoint, of the graphs inside by the class of this one (1.2.24). That costs time and may
    fail, so it is left out where the reader gets none of them.
    """
    source = _plain_twin(graph)
    if "checkpoints" not in asked and "debug" not in asked:
        source._state_mapper = None  # noqa: SLF001  # see above
    if "values" not in asked:
        source._output_mapper = None  # noqa: SLF001  # see above
    return source


def _modes_in_force(
    graph: OnceStreams, stream_mode: StreamModes | None, config: RunnableConfig | None
) -> StreamModes:
    """The modes in force, as upstream decides them."""
    if stream_mode is None:
        return "values" if is_task(config) else graph.stream_mode
    return stream_mode


@functools.cache
def _once_class(plain: type[Pregel[Any, Any, Any, Any]]) -> type[OnceStreams]:
    """The class of wrapped graphs, under the name of the user's, which pictures of them show."""
    names = {"__module__": plain.__module__, "__qualname__": plain.__qualname__}
    return type(plain.__name__, (OnceStreams, plain), {"plain_class": plain, **names})


def _plain_twin(graph: OnceStreams) -> Pregel[Any, Any, Any, Any]:
    """The graph as it streams by itself.

    What somebody has put in place of a method, to trace it say, calls the wrapped graph's.
    """
    twin = _twin(graph, graph.plain_class)
    for name in REPLACED:
        vars(twin).pop(name, None)
    return twin


def _twin(graph: Pregel[Any, Any, Any, Any], cls: type[P]) -> P:
    """A graph of another class that is like `graph` in everything.

    Not made by the constructor: `compile` sets attributes that are none of its arguments.
    """
    twin = cls.__new__(cls)
    vars(twin).update({n: value for n, value in vars(graph).items() if n not in OWN_FIELDS})
    return twin
