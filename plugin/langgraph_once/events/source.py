"""Where parts come from: a graph, local or remote, or chunks that are under way."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel

from langgraph_once.config import DedupConfig
from langgraph_once.errors import ConfigError, StreamError
from langgraph_once.events.config import ChannelConfig, TokenStreamingConfig
from langgraph_once.events.revive import revived_part
from langgraph_once.stream import Part, event_part, once, sdk_part, v2_part
from langgraph_once.stream.events import EventReader
from langgraph_once.stream.graph import OnceStreams
from langgraph_once.stream.intake import reader

__all__ = [
    "Asked",
    "asked",
    "check_keys",
    "chunk_reader",
    "each_once",
    "is_graph",
    "local_part",
    "seeds",
]

ReadChunk: TypeAlias = Callable[[Any], Part | None]

MODES = ("messages", "updates", "values", "custom", "tasks")
SHAPE_KEYS = frozenset({"stream_mode", "subgraphs", "version"})


class Asked(NamedTuple):
    """What to ask a graph for."""

    modes: list[str]
    subgraphs: bool


def asked(
    channels: Collection[ChannelConfig],
    tokens: TokenStreamingConfig | None,
    include: Collection[str],
) -> Asked:
    """The fewest modes that the configuration needs, and whether it looks into subgraphs."""
    wanted = {mode for channel in channels for mode in channel.stream_mode.modes}
    if tokens is not None:
        wanted.add("messages")
    if {"custom", "ui"} & set(include):
        wanted.add("custom")
    if "tasks" in include:
        wanted.add("tasks")
    has_states = bool(wanted & {"values", "updates"})
    if not has_states and {"interrupts", "tool_calls"} & set(include):
        wanted.add("updates")
    places = [channel.accepts.only_root for channel in channels]
    if tokens is not None:
        places.append(frozenset(tokens.enabled_namespaces) == {"main"})
    only_root = bool(places) and all(places) and not include
    return Asked([mode for mode in MODES if mode in wanted], not only_root)


def is_graph(source: Any) -> bool:
    """Whether it is to be run, and not a stream already."""
    return hasattr(source, "astream") or hasattr(source, "stream")


def check_keys(graph: Any, channels: Iterable[ChannelConfig]) -> None:
    """Check that a local graph, or one inside it, has the keys to watch.

    Raises:
        ConfigError: None has one of them.
    """
    if not isinstance(graph, CompiledStateGraph):
        return  # of a remote graph nothing is known, and a function may return any keys
    known = set(graph.stream_channels_list)
    for _, inner in graph.get_subgraphs(recurse=True):
        known.update(getattr(inner, "stream_channels_list", ()))
    for channel in channels:
        if channel.key not in known:
            raise ConfigError(
                "ChannelConfig.key",
                f"the graph has no key {channel.key!r}; it has {', '.join(sorted(known))}",
            )


def each_once(graph: Any, dedup: DedupConfig) -> tuple[Any, bool]:
    """A graph whose streams say each thing once, and whether it does so already.

    Its states come with the keys that changed.
    """
    if isinstance(graph, OnceStreams):
        clone = graph.copy()
        clone.dedup_config = replace(graph.dedup_config, state="changed")
        return clone, True
    if isinstance(graph, Pregel):
        return once(graph, replace(dedup, state="changed")), True
    own: Any = getattr(graph, "dedup", dedup)  # that of an `OnceRemoteGraph`, which may be None
    if hasattr(graph, "dedup") and hasattr(graph, "copy"):
        return graph.copy({"dedup": replace(own or dedup, state="changed")}), True
    return graph, False


def seeds(graph: Any, config: Mapping[str, Any] | None, channels: Iterable[ChannelConfig]) -> bool:
    """Whether the state that a stream starts from tells which artifacts are old."""
    if not isinstance(graph, Pregel) or not graph.checkpointer:
        return False
    merged = {
        **(graph.config or {}).get("configurable", {}),
        **(config or {}).get("configurable", {}),
    }
    return "thread_id" in merged and any(c.artifact_type is not None for c in channels)


def chunk_reader(shape: Mapping[str, Any]) -> ReadChunk:
    """The function that reads the chunks of a stream under way.

    Args:
        shape: `stream_mode`, `subgraphs` and `version`, as the stream was asked for with. Chunks
            that tell their own shape need none: parts, v2 chunks, v3 events, `StreamPart`s.

    Raises:
        ConfigError: Something else is given.
    """
    unknown = shape.keys() - SHAPE_KEYS
    if unknown:
        raise ConfigError(
            "stream", f"a stream under way takes {', '.join(sorted(SHAPE_KEYS))}, not {unknown}"
        )
    if "stream_mode" in shape:
        read = reader(
            shape["stream_mode"],
            subgraphs=shape.get("subgraphs", False),
            version=shape.get("version", "v1"),
        )
        return lambda chunk: revived_part(read(chunk))
    return _SelfTold()


def local_part(chunk: Any) -> Part:
    """Read a v2 chunk of a local graph, which is well made."""
    if chunk["type"] == "messages":
        message, meta = chunk["data"]
        return Part(chunk["ns"], "messages", message, meta)
    return v2_part(chunk)


class _SelfTold:
    """Reads chunks that tell their own shape."""

    def __init__(self) -> None:
        self._events = EventReader()

    def __call__(self, chunk: Any) -> Part | None:
        if isinstance(chunk, Part):
            return chunk
        if isinstance(chunk, Mapping):
            if "method" in chunk:
                return self._events.read(event_part(chunk))
            return revived_part(v2_part(chunk))
        if hasattr(chunk, "event") and (part := sdk_part(tuple(chunk))) is not None:
            return revived_part(part)
        if hasattr(chunk, "event"):
            return None
        raise StreamError(
            f"a {type(chunk).__name__} does not tell its own shape; pass stream_mode, subgraphs "
            "and version as the stream was asked for with"
        )
