"""Graphs, local and remote: what they are asked for, and their state before the run."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, cast

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk.errors import NotFoundError

from langgraph_once.config import DedupConfig, HideConfig
from langgraph_once.errors import ConfigError
from langgraph_once.events.vocabulary.config import ChannelConfig, TokenStreamingConfig
from langgraph_once.stream import OnceStreams, once
from langgraph_once.stream.bookkeeping import Call, Calls
from langgraph_once.stream.part.from_json import revive
from langgraph_once.stream.part.places import Pattern

__all__ = [
    "UNREAD",
    "StreamRequest",
    "asked",
    "check_keys",
    "each_once",
    "is_graph",
    "is_once_remote",
    "seeded",
]

UNREAD = "What artifacts a thread had was not read"

MODES = ("messages", "updates", "values", "custom", "tasks")
STATES = frozenset({"values", "updates"})
INCLUDED = {"custom": "custom", "ui": "custom", "tasks": "tasks"}
"""The mode that carries each of what is included; interrupts and tool calls are in any state."""

NO_STATE: tuple[type[Exception], ...] = (NotFoundError, TypeError)
"""What `RemoteGraph` raises for a thread that is unknown to the server or has no checkpoint."""


class StreamRequest(NamedTuple):
    """What to ask a graph for."""

    modes: list[str]
    subgraphs: bool
    for_messages: bool = False
    """Whether states are asked for only because they may take over messages of unwatched graphs."""


def asked(
    channels: Collection[ChannelConfig],
    tokens: TokenStreamingConfig | None,
    include: Collection[str],
) -> StreamRequest:
    """The fewest modes that the configuration needs, and whether it needs subgraphs."""
    wanted = {mode for channel in channels for mode in channel.stream_mode.modes}
    wanted.update(mode for name, mode in INCLUDED.items() if name in include)
    patterns = [channel.accepts for channel in channels]
    watches_all = True
    if tokens is not None:
        wanted.add("messages")
        patterns.append(Pattern(tokens.enabled_namespaces))
        watches_all = "**" in tokens.enabled_namespaces and not tokens.exclude_namespaces
    if not wanted & STATES and {"interrupts", "tool_calls"} & set(include):
        wanted.add("updates")
    only_root = bool(patterns) and not include and all(each.only_root for each in patterns)
    for_messages = not (watches_all or only_root or wanted & STATES)
    if for_messages:
        wanted.add("updates")
    return StreamRequest([mode for mode in MODES if mode in wanted], not only_root, for_messages)


def is_graph(source: Any) -> bool:
    """Whether it is a graph to run, not a stream under way."""
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
        # The graph itself keeps its configuration for its other readers.
        clone = graph.copy()
        clone.dedup_config = _hiding(graph.dedup_config, dedup)
        return clone, True
    if isinstance(graph, Pregel):
        return once(graph, replace(dedup, state="changed", form="exact")), True
    if is_once_remote(graph):
        return graph.copy({"dedup": _hiding(graph.dedup or dedup, dedup)}), True
    return graph, False


def _hiding(own: DedupConfig, dedup: DedupConfig) -> DedupConfig:
    """The configuration of a graph, with what is hidden here besides."""
    hide = cast("HideConfig", own.hide) | cast("HideConfig", dedup.hide)
    return replace(own, state="changed", form="exact", hide=hide)


def is_once_remote(graph: Any) -> bool:
    """Whether it is an `OnceRemoteGraph`, which is above this room."""
    return isinstance(graph, RemoteGraph) and hasattr(graph, "dedup")


def seeded(
    graph: Any, config: RunnableConfig | None, channels: Iterable[ChannelConfig]
) -> Calls[Any] | None:
    """Finds the state that tells which artifacts are old; None if there is none, or no need."""
    own = getattr(graph, "config", None) or {}
    given = {**own.get("configurable", {}), **(config or {}).get("configurable", {})}
    has_state = isinstance(graph, RemoteGraph) or bool(
        isinstance(graph, Pregel) and graph.checkpointer
    )
    has_artifacts = any(channel.artifact_type is not None for channel in channels)
    needs_state = has_state and has_artifacts and "thread_id" in given
    return _state_before(graph, config) if needs_state else None


def _state_before(graph: Any, config: RunnableConfig | None) -> Calls[Any]:
    with suppress(*NO_STATE):
        return revive((yield Call(graph, "get_state", config)).values)
    return {}
