"""Where events come from: a graph to run, or a stream under way, in any shape.

A graph is asked for the modes that are watched. Chunks of a stream under way become parts, whatever
their shape. v3 keeps tool messages out of `messages`: the result of a tool is only in the update of
its node, and in the state after it. A consumer of messages wants it like any other message. So it
is told before that update; in a run without updates, before the first state that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias, cast

from langchain_core.messages import AIMessageChunk, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.pregel.remote import RemoteGraph
from langgraph.stream import AsyncGraphRunStream, GraphRunStream, StreamChannel
from langgraph_sdk.errors import NotFoundError

from langgraph_once.config import DedupConfig, HideConfig
from langgraph_once.errors import ConfigError, StreamError
from langgraph_once.events.channels import node_updates
from langgraph_once.events.config import ChannelConfig, TokenStreamingConfig
from langgraph_once.events.thread_memory import Bounded, RecentKeys
from langgraph_once.stream import (
    NODE_KEY,
    TASK_NS_KEY,
    Call,
    Calls,
    EventReader,
    OnceStreams,
    Part,
    Pattern,
    event_part,
    found_in_update,
    once,
    reader,
    revive,
    revive_part,
    sdk_part,
    v2_part,
)

UNREAD = "What a thread had was not read"

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


def configurable_of(graph: Any, config: RunnableConfig | None) -> dict[str, Any]:
    """What is configured of a run: the graph's own, and what is given."""
    own = getattr(graph, "config", None) or {}
    return {**own.get("configurable", {}), **(config or {}).get("configurable", {})}


def state_before(graph: Any, config: RunnableConfig | None, *, needs: bool) -> Calls[Any] | None:
    """Finds the state that a stream starts from; None if there is none, or no need.

    A wrapped graph tells it as it begins.
    """
    tells_none = isinstance(graph, RemoteGraph) or bool(
        isinstance(graph, Pregel) and not isinstance(graph, OnceStreams) and graph.checkpointer
    )
    if not (needs and tells_none and "thread_id" in configurable_of(graph, config)):
        return None
    return _state_of(graph, config)


def _state_of(graph: Any, config: RunnableConfig | None) -> Calls[Any]:
    with suppress(*NO_STATE):
        return revive((yield Call(graph, "get_state", config)).values)
    return {}


class ProtocolParts:
    """Reads the parts of one stream, of v3 or not; without `is_v3`, its first message shows it."""

    def __init__(self, *, max_history: int, is_v3: bool | None = None) -> None:
        self._is_v3 = is_v3
        self._events = EventReader()
        self._tools = _ToolMessages(max_history)

    def read(self, part: Part) -> Iterable[Part]:
        """What a part says, in parts like those of v2."""
        if part.mode == "messages":
            if type(part.data) is AIMessageChunk:
                self._is_v3 = self._is_v3 or False
                return (part,)
            self._is_v3 = isinstance(part.data, Mapping) or self._is_v3 or False
            said = self._events.read(part)
            return () if said is None else (said,)
        if part.mode == "updates" and self._is_v3:
            return (*self._tools.in_updates(part), part)
        if part.mode == "values" and self._is_v3 is not False:
            # States before it showed hold what was there before.
            return (*self._tools.in_values(part, is_told=not self._is_v3), part)
        return (part,)


class _ToolMessages:
    """Finds the tool messages that are new."""

    def __init__(self, max_history: int) -> None:
        self._max_history = max_history
        self._begun: RecentKeys[tuple[str, ...]] = RecentKeys(max_history)
        self._ids: RecentKeys[str] = RecentKeys(max_history)
        self._nameless: Bounded[int, ToolMessage] = Bounded(max_history)

    def in_updates(self, part: Part) -> Iterator[Part]:
        """Those in what nodes wrote."""
        for node, update in node_updates(part.data):
            meta = {NODE_KEY: node, TASK_NS_KEY: "|".join((*part.ns, node))}
            for message in _tool_messages(update):
                if self._is_new(message):
                    yield Part(part.ns, "messages", message, meta)

    def in_values(self, part: Part, *, is_told: bool) -> Iterator[Part]:
        """Those in a state; what is in the first of a graph was there before."""
        messages = _tool_messages(part.data)
        self._ids.max_size = max(self._max_history, len(messages))
        is_told = self._begun.add(part.ns) or is_told
        for message in messages:
            if self._is_new(message) and not is_told:
                yield Part(part.ns, "messages", message)

    def _is_new(self, message: ToolMessage) -> bool:
        """Whether a message was not seen. The reducer gives it an id after its update went out;
        the object stays the same."""
        is_same = self._nameless.pop(id(message), None) is message
        if message.id is not None:
            return self._ids.add(message.id) and not is_same
        self._nameless[id(message)] = message
        return not is_same


def _tool_messages(state: Any) -> list[ToolMessage]:
    found = found_in_update(state).messages
    return [message for message in found if isinstance(message, ToolMessage)]


Chunk: TypeAlias = Part | Mapping[str, Any] | tuple[str, Any, str | None]
"""A chunk that tells its own shape: a part, a v2 chunk, a v3 event, a `StreamPart` of the SDK."""

ReadChunk: TypeAlias = Callable[[Any], Iterable[Part]]

V3_SOURCES: tuple[type[Any], ...] = (GraphRunStream, AsyncGraphRunStream, StreamChannel)
SHAPE_KEYS = frozenset({"stream_mode", "subgraphs", "version"})


def shape_reader(shape: Mapping[str, Any]) -> ReadChunk:
    """The function that reads chunks of this `stream_mode`, `subgraphs` and `version`.

    Raises:
        ConfigError: Something else is given, or no mode.
    """
    unknown = shape.keys() - SHAPE_KEYS
    if unknown or "stream_mode" not in shape:
        raise ConfigError(
            "stream",
            f"a stream under way takes {', '.join(sorted(SHAPE_KEYS))}, and stream_mode at least, "
            f"not {', '.join(sorted(shape))}",
        )
    read = reader(
        shape["stream_mode"],
        subgraphs=shape.get("subgraphs", False),
        version=shape.get("version", "v1"),
    )
    return lambda chunk: (revive_part(read(chunk)),)


def local_part(chunk: Any) -> tuple[Part]:
    """Read a v2 chunk of a local graph, which is well made."""
    if chunk["type"] == "messages":
        message, meta = chunk["data"]
        return (Part(chunk["ns"], "messages", message, meta),)
    return (v2_part(chunk),)


def self_told(source: Any, *, tokens: bool, max_history: int) -> ReadChunk:
    """The function that reads chunks that tell their own shape: parts, v2 chunks, v3 events,
    `StreamPart`s. It raises `StreamError` for any other.

    Args:
        source: Where they come from, if that is known: it may tell that they are of v3.
        tokens: Whether messages are watched.
    """
    # Who watches no messages needs none found for them in the states of v3.
    is_v3 = isinstance(source, V3_SOURCES) or None if tokens else False
    protocol = ProtocolParts(max_history=max_history, is_v3=is_v3)

    def read(chunk: Any) -> Iterable[Part]:
        part = _part(chunk)
        return () if part is None else protocol.read(part)

    return read


def _part(chunk: Any) -> Part | None:
    if isinstance(chunk, Part):
        is_json = chunk.mode == "messages" and isinstance(chunk.data, Mapping)
        return revive_part(chunk) if is_json else chunk
    if isinstance(chunk, Mapping):
        return event_part(chunk) if "method" in chunk else revive_part(v2_part(chunk))
    if hasattr(chunk, "event"):
        part = sdk_part(tuple(chunk))
        return None if part is None else revive_part(part)
    raise StreamError(
        f"a {type(chunk).__name__} does not tell its own shape; pass stream_mode, subgraphs "
        "and version as the stream was asked for with"
    )
