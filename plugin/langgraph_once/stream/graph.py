"""`once(graph)`: a graph that streams each thing once, wherever it runs.

The server accepts only a `Pregel` and copies it for each run, so the wrapped graph is one:
an instance of a subclass of the graph's own class, rebuilt from its fields (measured with
langgraph 1.2.22 and langgraph-api 0.16.7).
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Self, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel

from langgraph_once.config import DedupConfig
from langgraph_once.errors import ConfigError
from langgraph_once.stream.dropin import adedup, dedup
from langgraph_once.stream.intake import StreamModes, Version

__all__ = ["once"]

G = TypeVar("G", bound=Pregel[Any, Any, Any, Any])

# Keys of `config["configurable"]`, private upstream (langgraph 1.2.22,
# langgraph/_internal/_constants.py); `test_upstream_keys` notices when they change.
TASK_ID_KEY = "__pregel_task_id"
V3_KEY = "__pregel_stream_messages_v2"


def once(graph: G, config: DedupConfig | None = None) -> G:
    """A copy of `graph` whose streams deliver each thing once; all else is as it was.

    Args:
        graph: A compiled graph: `StateGraph`, prebuilt agent or functional API. Not changed.
        config: What counts as a repetition. By default states stay whole, since the clients
            that read them (Studio, `useStream`) take each `values` for the entire state.

    Raises:
        ConfigError: `graph` is no compiled graph.
    """
    if not isinstance(graph, Pregel):
        raise ConfigError(
            "once(graph)",
            f"must be a compiled graph, got {type(graph).__name__}; compile a builder first",
        )
    plain = type(graph).plain_class if isinstance(graph, OnceStreams) else type(graph)
    wrapped = _once_class(plain)(**_fields(graph), auto_validate=False)
    wrapped.dedup_config = config or DedupConfig()
    return cast("G", wrapped)


class OnceStreams(Pregel[Any, Any, Any, Any]):
    """What `once` adds to the class of a graph: streams that pass a deduplicator."""

    plain_class: type[Pregel[Any, Any, Any, Any]]
    dedup_config: DedupConfig

    def copy(self, update: dict[str, Any] | None = None) -> Self:
        """A copy that deduplicates as this one does."""
        clone = super().copy(update)
        clone.dedup_config = self.dedup_config
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
        modes = self._asked_modes(stream_mode, config)
        asked = {"stream_mode": modes, "subgraphs": subgraphs, "version": version}
        chunks = super().stream(input, config, **cast("Any", asked), **kwargs)
        if _is_v3(config):
            return chunks
        return dedup(chunks, **cast("Any", asked), config=self.dedup_config)

    def astream(  # type: ignore[override]
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
        modes = self._asked_modes(stream_mode, config)
        asked = {"stream_mode": modes, "subgraphs": subgraphs, "version": version}
        chunks = super().astream(input, config, **cast("Any", asked), **kwargs)
        if _is_v3(config):
            return chunks
        return adedup(chunks, **cast("Any", asked), config=self.dedup_config)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """`Pregel.invoke`: it folds a stream of its own, which is therefore left whole."""
        return self._plain().invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """`Pregel.ainvoke`: see `invoke`."""
        return await self._plain().ainvoke(input, config, **kwargs)

    def _plain(self) -> Pregel[Any, Any, Any, Any]:
        return self.plain_class(**_fields(self), auto_validate=False)

    def _asked_modes(
        self, stream_mode: StreamModes | None, config: RunnableConfig | None
    ) -> str | list[str]:
        """The modes in force, as upstream decides them; a sequence always as a list."""
        if stream_mode is None:
            return "values" if TASK_ID_KEY in _configurable(config) else self.stream_mode
        return stream_mode if isinstance(stream_mode, str) else list(stream_mode)


@functools.cache
def _once_class(plain: type[Pregel[Any, Any, Any, Any]]) -> type[OnceStreams]:
    members = {"plain_class": plain, "__module__": __name__}
    return type(f"Once{plain.__name__}", (OnceStreams, plain), members)


def _fields(graph: Pregel[Any, Any, Any, Any]) -> dict[str, Any]:
    """The fields that a graph is rebuilt from; the two left out are not fields of the class."""
    return {
        name: value
        for name, value in vars(graph).items()
        if name not in {"__orig_class__", "dedup_config"}
    }


def _configurable(config: RunnableConfig | None) -> Mapping[str, Any]:
    return (config or {}).get("configurable", {})


def _is_v3(config: RunnableConfig | None) -> bool:
    """Whether this stream feeds v3 transformers, which fold protocol events on their own."""
    return bool(_configurable(config).get(V3_KEY))
