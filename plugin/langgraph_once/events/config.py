"""What a consumer wants to watch: channels, tokens, or both."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from langgraph_once.config import Names, Patterns, config
from langgraph_once.errors import ConfigError
from langgraph_once.stream import Pattern

Include: TypeAlias = Literal["custom", "ui", "interrupts", "tasks", "tool_calls"]
"""What to watch besides channels and tokens: what nodes write to the stream (`custom`), UI
messages, interrupts also where no channel would bring them, the start and end of tasks, and
tool calls also where no tokens are watched."""


class ChannelMode(StrEnum):
    """How a channel is watched."""

    VALUES_ONLY = "values"
    """Its value after each step that changed it."""

    UPDATES_ONLY = "updates"
    """What each node writes to it."""

    BOTH = "both"
    """Both, as events of two types."""

    @property
    def modes(self) -> frozenset[str]:
        """The modes of a graph's stream that carry this."""
        return frozenset({"values", "updates"}) if self is ChannelMode.BOTH else frozenset({self})


@config
class ChannelConfig:
    """One key of the state to watch, in every graph that has it."""

    key: str
    """The key."""

    stream_mode: ChannelMode = ChannelMode.VALUES_ONLY
    """Whether its values, the updates to it, or both are told."""

    artifact_type: str | None = None
    """If set, what is new or changed in the value is told as `ArtifactEvent`s of this type, one
    for each element of a list, in place of the value."""

    filter_fn: Callable[[Any], bool] | None = None
    """Takes each event of this channel; false drops it."""

    namespaces: Patterns | None = None
    """Patterns of the graphs and nodes to watch, as `TokenStreamingConfig.enabled_namespaces`;
    by default all."""

    def __post_init__(self) -> None:
        if not self.key:
            raise ConfigError("ChannelConfig.key", "must name a key of the state, got ''")
        if self.artifact_type == "":
            raise ConfigError("ChannelConfig.artifact_type", "must be a name, got ''; or None")
        if self.namespaces is not None and not self.namespaces:
            raise ConfigError(
                "ChannelConfig.namespaces", "enables nothing; use None for every graph"
            )

    @property
    def accepts(self) -> Pattern:
        """Which graphs and nodes are watched."""
        return Pattern({"**"} if self.namespaces is None else self.namespaces)


@config
class TokenStreamingConfig:
    """Whose tokens to watch, with all that becomes of their messages."""

    enabled_namespaces: Patterns = frozenset({"main"})
    """Patterns of graphs and nodes: `main` is the outermost graph, `research` a graph or node of
    that name wherever it is, `research/*` what is right inside it, `**` everything. What is said
    inside a graph that is watched, where nobody watches, is told whole when it enters its state."""

    exclude_namespaces: Patterns = frozenset()
    """Patterns of what to leave out all the same."""

    message_tags: Names | None = None
    """If set, only messages of models that have one of these tags, and the results of the tools
    that they call."""

    include_tool_calls: bool = True
    """Tell the life of tool calls: start, arguments as they grow, end, result."""

    include_reasoning: bool = True
    """Tell reasoning too, as tokens of kind "reasoning"."""

    filter_fn: Callable[[Any], bool] | None = None
    """Takes each `TokenStreamEvent`; false drops it."""

    def __post_init__(self) -> None:
        where = "TokenStreamingConfig"
        if not self.enabled_namespaces:
            raise ConfigError(
                f"{where}.enabled_namespaces",
                "enables nothing; pass `token_streaming=None` to watch no tokens",
            )
        both = frozenset(self.enabled_namespaces) & frozenset(self.exclude_namespaces)
        if left_out := sorted(both or {"**"} & frozenset(self.exclude_namespaces)):
            raise ConfigError(
                f"{where}.exclude_namespaces",
                f"excludes {', '.join(map(repr, left_out))}, which leaves out what is enabled; "
                "name each pattern in one of the two",
            )
        if self.message_tags is not None and not self.message_tags:
            raise ConfigError(
                f"{where}.message_tags", "no message has one of no tags; use None for all messages"
            )


def checked_channels(channels: Iterable[ChannelConfig]) -> tuple[ChannelConfig, ...]:
    """The channels, each given once.

    Raises:
        ConfigError: Something else is among them, or two say the same of one key.
    """
    found = tuple(channels)
    for channel in found:
        if not isinstance(channel, ChannelConfig):
            raise ConfigError("channels", f"must hold ChannelConfig, got {type(channel).__name__}")
    places = [(c.key, c.artifact_type, c.namespaces) for c in found]
    for place in places:
        if places.count(place) > 1:
            raise ConfigError(
                "channels", f"has {place[0]!r} twice; join the two with ChannelMode.BOTH"
            )
    return found
