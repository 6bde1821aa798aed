"""`once(graph)`: a graph that streams each thing once, wherever it runs.

The server accepts only a `Pregel` and copies it for each run, so the wrapped graph is one:
an instance of a subclass of the graph's own class, with its attributes (measured with
langgraph 1.2.22 and langgraph-api 0.16.7).
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from typing import Any, Self, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph._internal._config import ensure_config
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel

from langgraph_once.config import READER_KEY, DedupConfig
from langgraph_once.errors import ConfigError
from langgraph_once.stream.callback_events import told_once
from langgraph_once.stream.chunk_filter import ChunkFilter, Expand, alone, chunk_filter
from langgraph_once.stream.dedup.cached_answers import CachedParts
from langgraph_once.stream.dedup.deduplicator import cuts_states
from langgraph_once.stream.dedup.forms.stock import as_stock_reads
from langgraph_once.stream.dedup.hide import Hiding
from langgraph_once.stream.dedup.messages.identity import space_of
from langgraph_once.stream.dedup.states.hints import Hints
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.ledger.store import (
    InMemoryStreamStateStore,
    StreamStateStore,
    is_stream_state_store,
)
from langgraph_once.stream.part.intake import StreamModes, Version, mode_set, with_modes
from langgraph_once.stream.part.resume import is_resume, may_repeat
from langgraph_once.stream.readers import (
    PLAIN_READER,
    TASK_ID_KEY,
    configurable_of,
    is_for_stock,
    is_in_a_node,
    is_served,
    is_v3_stream,
    take_announcement,
)
from langgraph_once.stream.running.install import install
from langgraph_once.stream.running.node_handler import HintsHandler
from langgraph_once.stream.running.run import Run
from langgraph_once.stream.session import Opened, OwnParts, Thread, astreamed, streamed
from langgraph_once.stream.v3.events import event_filter
from langgraph_once.stream.v3.transformer import rewrites, with_channel

__all__ = ["OnceStreams", "once"]

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


class OnceStreams(Pregel[Any, Any, Any, Any]):
    """What `once` adds to the class of a graph: streams that pass a deduplicator."""

    plain_class: type[Pregel[Any, Any, Any, Any]]
    dedup_config: DedupConfig
    stream_state: StreamStateStore | None
    own_stream_state: StreamStateStore

    def copy(self, update: dict[str, Any] | None = None) -> Self:
        """A copy that deduplicates as this one does."""
        clone = super().copy(update)
        for name, value in vars(self).items():  # upstream forgets what is no argument (1.2.22)
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
        begin = functools.partial(self._begin, "stream", input, config, **asked, **kwargs)
        return streamed(begin)

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
        return astreamed(
            functools.partial(self._begin, "astream", input, config, **asked, **kwargs)
        )

    def _begin(
        self,
        method: str,
        input: Any,
        config: RunnableConfig | None,
        *,
        stream_mode: StreamModes | None,
        **options: Any,
    ) -> Opened:
        """The stream that a call of `stream` or `astream` comes to, as it is first advanced.

        Args:
            method: Which of the two.
            input: As given to it.
            config: As given to it.
            stream_mode: As given to it.
            options: Its other options.
        """
        modes = self._asked_modes(stream_mode, config)
        asked = mode_set(modes)
        merged = ensure_config(self.config, config)  # what a node hands down included
        for_stock = is_for_stock(
            self.dedup_config,
            merged,
            in_a_node=is_in_a_node(merged),
            is_announced=take_announcement(),
        )
        is_v3 = is_v3_stream(merged, options["version"])
        is_stock = for_stock and not is_v3
        dedup = as_stock_reads(self.dedup_config) if is_stock else self.dedup_config
        run = Run(self, dedup, input, is_stock=is_stock)
        thread = None if is_stock else self._thread(merged, input)
        own = self._own_parts(asked, run, thread, is_v3=is_v3)
        heard = with_modes(modes, own)
        hints = Hints(
            space_of(self.dedup_config, takes_back=True),
            max_messages=self.dedup_config.max_messages,
        )
        if is_v3:
            make_filter: Callable[..., ChunkFilter] = functools.partial(
                event_filter,
                dedup,
                for_stock=for_stock and is_served(merged),  # in this process no events are sent
                tells_edits=not rewrites(self.stream_transformers),
            )
        else:
            make_filter = functools.partial(
                chunk_filter,
                modes,
                options["subgraphs"],
                options["version"],
                config=dedup,
                heard=heard,
                hints=hints,
                is_message_key=run.is_message_key,
                for_stock=is_stock,
            )
        stream = getattr(self._source(asked), method)
        hearing = self._hearing(config, asked, hints)
        begun = functools.partial(stream, input, hearing, **options)
        return Opened(begun, modes, heard, own, make_filter, run, thread)

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
        return not is_apart and Hiding.of(self.dedup_config) is None

    def _hearing(
        self, config: RunnableConfig | None, asked: Collection[str], hints: Hints
    ) -> RunnableConfig | None:
        """`config`, with one that listens where no messages are streamed.

        It tells how to cut states, and names the messages of `updates`, which else may come
        before the reducer has named them: nobody could say then that one was edited or removed.
        """
        tells = "values" in asked and cuts_states(self.dedup_config, asked)
        if "messages" in asked or not ("updates" in asked or tells):
            return config
        return merge_configs(config, {"callbacks": [HintsHandler(hints)]})

    def _thread(self, merged: RunnableConfig, input: Any) -> Thread | None:
        """The thread whose ledger this stream goes on with; a stream inside a node has none.

        Nor has one in stock form: a stock reader may be new, so its ledger starts empty.
        """
        asked, saver = configurable_of(merged), self.checkpointer
        if TASK_ID_KEY in asked or asked.get("thread_id") is None:
            return None
        if not isinstance(saver, BaseCheckpointSaver):
            return None
        store = self.stream_state
        if store is None:
            store = saver if is_stream_state_store(saver) else self.own_stream_state
        is_delta = any(isinstance(each, DeltaChannel) for each in self.channels.values())
        is_again = merged["metadata"].get(ATTEMPT_KEY) not in (None, 1)  # so from a checkpoint
        is_alone = len(self.nodes) == 1  # an entrypoint: of the tasks it calls none is repeated
        return Thread(
            config=merged,
            saver=saver,
            store=store,
            dedup=self.dedup_config,
            graph=self if is_delta else None,
            is_resumed=is_again or is_resume(input),
            may_repeat=not is_alone and (is_again or may_repeat(input)),
        )

    def _own_parts(
        self, asked: Collection[str], run: Run, thread: Thread | None, *, is_v3: bool
    ) -> OwnParts:
        own: dict[str, Callable[[Ledger], Expand]] = {}
        if "messages" in asked and not run.is_stock:
            own["values"] = lambda _: alone  # they show the ids that reducers gave to messages
        may_be_silent = self.cache is not None or (thread is not None and thread.is_resumed)
        if "messages" in asked and may_be_silent:
            own["updates"] = lambda ledger: (
                CachedParts(
                    asked,
                    ledger,
                    run.is_message_key,
                    has_cache=self.cache is not None,
                    with_results=not is_v3,
                    annotates=not run.is_stock,
                ).expand
            )
        if thread is not None:
            own["checkpoints"] = functools.partial(
                thread.checkpoints, wanted="checkpoints" in asked
            )
        return own

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """`Pregel.invoke`: it folds a stream of its own, which is therefore left whole."""
        return self._plain().invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """`Pregel.ainvoke`: see `invoke`."""
        return await self._plain().ainvoke(input, config, **kwargs)

    def _plain(self) -> Pregel[Any, Any, Any, Any]:
        return _twin(self, self.plain_class)

    def _source(self, asked: Collection[str]) -> Pregel[Any, Any, Any, Any]:
        """The graph to stream from.

        In v2 upstream makes an object of each state that it streams, and of the state of each
        checkpoint, of the graphs inside by the class of this one (1.2.22). That costs time and may
        fail, so it is left out where the reader gets none of them.
        """
        source = self._plain()
        if "checkpoints" not in asked and "debug" not in asked:
            source._state_mapper = None  # noqa: SLF001  # see above
        if "values" not in asked:
            source._output_mapper = None  # noqa: SLF001  # see above
        return source

    def _asked_modes(
        self, stream_mode: StreamModes | None, config: RunnableConfig | None
    ) -> str | list[str]:
        """The modes in force, as upstream decides them; a sequence always as a list."""
        if stream_mode is None:
            return "values" if TASK_ID_KEY in configurable_of(config or {}) else self.stream_mode
        return stream_mode if isinstance(stream_mode, str) else list(stream_mode)


@functools.cache
def _once_class(plain: type[Pregel[Any, Any, Any, Any]]) -> type[OnceStreams]:
    """The class of wrapped graphs, under the name of the user's, which pictures of them show."""
    names = {"__module__": plain.__module__, "__qualname__": plain.__qualname__}
    return type(plain.__name__, (OnceStreams, plain), {"plain_class": plain, **names})


def _twin(graph: Pregel[Any, Any, Any, Any], cls: type[P]) -> P:
    """A graph of another class that is like `graph` in everything.

    Not made by the constructor: `compile` sets attributes that are none of its arguments.
    """
    twin = cls.__new__(cls)
    vars(twin).update({n: value for n, value in vars(graph).items() if n not in OWN_FIELDS})
    return twin
