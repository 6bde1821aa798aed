"""`once(graph)`: a graph that streams each thing once, wherever it runs.

The server accepts only a `Pregel` and copies it for each run, so the wrapped graph is one:
an instance of a subclass of the graph's own class, with its attributes (measured with
langgraph 1.2.22 and langgraph-api 0.16.7).
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, Self, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs, var_child_runnable_config
from langgraph._internal._config import ensure_config
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel

from langgraph_once.config import READER_KEY, DedupConfig
from langgraph_once.errors import ConfigError
from langgraph_once.stream.dedup.cached_answers import CachedParts, with_updates
from langgraph_once.stream.dedup.deduplicator import cuts_states
from langgraph_once.stream.dedup.hide import Hiding
from langgraph_once.stream.dedup.messages.originals import space_of
from langgraph_once.stream.dedup.states.hints import Hints
from langgraph_once.stream.dedup.stock import PLAIN_READER, for_stock, is_for_stock
from langgraph_once.stream.dropin import ChunkFilter, chunk_filter
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.ledger.store import (
    InMemoryStreamStateStore,
    StreamStateStore,
    is_stream_state_store,
)
from langgraph_once.stream.part.intake import StreamModes, Version, mode_set, reader
from langgraph_once.stream.part.resume import is_resume, may_repeat
from langgraph_once.stream.running.hints_handler import HintsHandler
from langgraph_once.stream.running.install import install
from langgraph_once.stream.running.run import Run
from langgraph_once.stream.session import Thread, astreamed, streamed
from langgraph_once.stream.v3.events import event_filter
from langgraph_once.stream.v3.transformer import rewrites, with_channel

__all__ = ["TASK_ID_KEY", "OnceStreams", "once"]

G = TypeVar("G", bound=Pregel[Any, Any, Any, Any])
P = TypeVar("P", bound=Pregel[Any, Any, Any, Any])

# Keys of `config["configurable"]`, private upstream (langgraph 1.2.22,
# langgraph/_internal/_constants.py); `test_upstream_keys` notices when they change.
TASK_ID_KEY = "__pregel_task_id"
V3_KEY = "__pregel_stream_messages_v2"

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
        config: What counts as a repetition. By default states stay whole, since the clients
            that read them (Studio, `useStream`) take each `values` for the entire state.
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
        heard, inner, consumer = self._asked(input, config, asked)
        return streamed(super().stream(input, heard, **inner, **kwargs), **consumer)

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
        heard, inner, consumer = self._asked(input, config, asked)
        return astreamed(super().astream(input, heard, **inner, **kwargs), **consumer)

    def _asked(
        self, input: Any, config: RunnableConfig | None, options: dict[str, Any]
    ) -> tuple[RunnableConfig | None, dict[str, Any], dict[str, Any]]:
        """What a call of `stream` comes to.

        Returns:
            The config and the options to stream with, and the arguments of `streamed`.
        """
        modes, version = self._asked_modes(options["stream_mode"], config), options["version"]
        asked = {**options, "stream_mode": modes}
        merged = ensure_config(self.config, config)  # what a node hands down included
        run, hints = self._run(input, merged, version), Hints()
        is_again = merged["metadata"].get(ATTEMPT_KEY) not in (None, 1)  # so from a checkpoint
        is_alone = len(self.nodes) == 1  # an entrypoint: of the tasks it calls none is repeated
        repeats = not is_alone and (is_again or may_repeat(input))
        thread = self._thread(merged, version, may_repeat=repeats)
        knows = (is_again or is_resume(input)) and thread is not None and not run.is_stock
        is_silent = (self.cache is not None or knows) and "messages" in mode_set(modes)
        inner = {**asked, "stream_mode": with_updates(modes)} if is_silent else asked
        consumer = {
            "thread": thread,
            "filter_of": self._filter_of(merged, asked, run, hints, is_silent=is_silent),
            "run": run if "messages" in mode_set(modes) else None,  # else no handler takes it
            "config": run.config,
        }
        return self._hearing(config, modes, hints), inner, consumer

    def _is_plain(self, config: RunnableConfig | None, version: Version) -> bool:
        """Whether the reader asked for what the graph streams by itself, and may have that."""
        merged = ensure_config(self.config, config)
        if _configurable(merged).get(READER_KEY) != PLAIN_READER:
            return False
        is_apart = _is_v3(merged, version) or _is_in_a_node(merged)
        return not is_apart and Hiding.of(self.dedup_config) is None

    def _is_for_stock(self, merged: RunnableConfig, version: Version) -> bool:
        """Whether a stock reader gets this stream in the form of `StockForm`, which v3 is not."""
        return not _is_v3(merged, version) and self._is_sent_to_stock(merged)

    def _is_sent_to_stock(self, merged: RunnableConfig) -> bool:
        return is_for_stock(self.dedup_config, merged, in_a_node=_is_in_a_node(merged))

    def _run(self, input: Any, merged: RunnableConfig, version: Version) -> Run:
        """What the handler of a stream is to know."""
        if not self._is_for_stock(merged, version):
            return Run(self, self.dedup_config, input)
        return Run(self, for_stock(self.dedup_config), input, is_stock=True)

    def _hearing(
        self, config: RunnableConfig | None, modes: StreamModes, hints: Hints
    ) -> RunnableConfig | None:
        """`config`, with one that listens where no messages are streamed.

        It tells how to cut states, and names the messages of `updates`, which else may come
        before the reducer has named them: nobody could say then that one was edited or removed.
        """
        asked = mode_set(modes)
        tells = "values" in asked and cuts_states(self.dedup_config, asked)
        if "messages" in asked or not ("updates" in asked or tells):
            return config
        hears = HintsHandler(hints, space=space_of(self.dedup_config, takes_back=True))
        return merge_configs(config, {"callbacks": [hears]})

    def _thread(
        self, merged: RunnableConfig, version: Version, *, may_repeat: bool = True
    ) -> Thread | None:
        """The thread whose ledger this stream goes on with; a stream inside a node has none.

        Nobody knows what a stock reader has of the streams before: it may be new.
        """
        asked, saver = _configurable(merged), self.checkpointer
        if TASK_ID_KEY in asked or asked.get("thread_id") is None:
            return None
        if not isinstance(saver, BaseCheckpointSaver):
            return None
        store = self.stream_state
        if store is None:
            store = saver if is_stream_state_store(saver) else self.own_stream_state
        if self._is_for_stock(merged, version):
            store = InMemoryStreamStateStore()
        is_delta = any(isinstance(each, DeltaChannel) for each in self.channels.values())
        return Thread(
            merged,
            saver,
            store,
            self.dedup_config,
            self if is_delta else None,
            may_repeat=may_repeat,
        )

    def _filter_of(
        self,
        merged: RunnableConfig,
        asked: Mapping[str, Any],
        run: Run,
        hints: Hints,
        *,
        is_silent: bool,
    ) -> Callable[[Ledger], ChunkFilter]:
        modes, subgraphs, version = asked.values()
        has_cache = self.cache is not None
        if _is_v3(merged, version):
            say: Any = functools.partial(
                CachedParts, modes, is_message_key=run.is_message_key, with_results=False
            )
            return lambda ledger: event_filter(
                run.config,
                ledger,
                cached=say(ledger=ledger, has_cache=has_cache) if is_silent else None,
                for_stock=self._is_sent_to_stock(merged),
                tells_edits=not rewrites(self.stream_transformers),
            )
        read = None
        if is_silent and isinstance(modes, str) and version == "v1":
            read = reader(with_updates(modes), subgraphs=subgraphs, version=version)
        return lambda ledger: chunk_filter(
            modes,
            subgraphs,
            version,
            ledger=ledger,
            config=run.config,
            read=read,
            hints=hints,
            is_message_key=run.is_message_key,
            for_stock=run.is_stock,
            has_cache=has_cache if is_silent else None,
        )

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """`Pregel.invoke`: it folds a stream of its own, which is therefore left whole."""
        return self._plain().invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """`Pregel.ainvoke`: see `invoke`."""
        return await self._plain().ainvoke(input, config, **kwargs)

    def _plain(self) -> Pregel[Any, Any, Any, Any]:
        return _twin(self, self.plain_class)

    def _asked_modes(
        self, stream_mode: StreamModes | None, config: RunnableConfig | None
    ) -> str | list[str]:
        """The modes in force, as upstream decides them; a sequence always as a list."""
        if stream_mode is None:
            return "values" if TASK_ID_KEY in _configurable(config or {}) else self.stream_mode
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


def _configurable(config: RunnableConfig) -> Mapping[str, Any]:
    return config.get("configurable", {})


def _is_in_a_node(merged: RunnableConfig) -> bool:
    """Whether a node of a graph reads the stream, in a thread of its own perhaps."""
    around = var_child_runnable_config.get() or {}
    return TASK_ID_KEY in _configurable(merged) or TASK_ID_KEY in _configurable(around)


def _is_v3(merged: RunnableConfig, version: Version) -> bool:
    """Whether this stream feeds v3 transformers, which fold protocol events on their own.

    As upstream decides it: what a node streams in v1 is none, although the config says so.
    """
    return version == "v2" and bool(_configurable(merged).get(V3_KEY))
