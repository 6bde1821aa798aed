"""Parts of the modes `values` and `updates`: keys of the state, artifacts, interrupts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from langgraph.types import Overwrite

from langgraph_once.events.reading.artifacts import Artifact, ArtifactTracker
from langgraph_once.events.reading.recent import Bounded, RecentKeys
from langgraph_once.events.vocabulary.callbacks import checked
from langgraph_once.events.vocabulary.config import ChannelConfig, ChannelMode
from langgraph_once.events.vocabulary.event import (
    ArtifactEvent,
    ChannelUpdateEvent,
    ChannelValueEvent,
    Event,
)
from langgraph_once.stream import Part
from langgraph_once.stream.part.where import Pattern, Where

__all__ = ["ChannelEvents", "node_updates", "read_key"]

Namespace: TypeAlias = tuple[str, ...]

MISSING = object()
RESERVED = "__"
ROOT_KEY = "__root__"


class _Channel:
    """One configured key, and what is known of it in each graph."""

    def __init__(self, config: ChannelConfig, max_history: int) -> None:
        self.config = config
        self.pattern: Pattern = config.accepts
        self.told: RecentKeys[Namespace] = RecentKeys(max_history)
        self._artifacts: Bounded[Namespace, ArtifactTracker] = Bounded(max_history)

    def tracker(self, namespace: Namespace) -> ArtifactTracker:
        tracker = self._artifacts.pop(namespace, None)
        self._artifacts[namespace] = tracker = tracker or ArtifactTracker(self._artifacts.max_size)
        return tracker

    def filtered(self, events: Iterable[Event]) -> Iterator[Event]:
        return (event for event in events if checked(self.config.filter_fn, event))


class ChannelEvents:
    """Makes events of states and updates.

    Of each key, `max_history` graphs are remembered, and as many artifacts of what nodes wrote.
    """

    def __init__(
        self, configs: Sequence[ChannelConfig], seq: Callable[[], int], *, max_history: int
    ) -> None:
        self._seq = seq
        channels = [_Channel(config, max_history) for config in configs]
        self._valued = [c for c in channels if "values" in c.config.stream_mode.modes]
        self._updated = [c for c in channels if "updates" in c.config.stream_mode.modes]

    def seed(self, state: Any) -> None:
        """Note the state that a stream starts from: its artifacts are not new."""
        for channel in (*self._valued, *self._updated):
            value = read_key(state, channel.config.key)
            if channel.config.artifact_type is not None and value is not MISSING:
                list(channel.tracker(()).values(value))

    def values(self, part: Part) -> Iterator[Event]:
        """The events of a state. It comes cut to the keys that changed."""
        where = Where(part.ns)
        for channel in self._valued:
            value = read_key(part.data, channel.config.key)
            if value is not MISSING and channel.pattern.matches(where):
                yield from channel.filtered(self._value(channel, value, where))

    def _value(self, channel: _Channel, value: Any, where: Where) -> Iterator[Event]:
        config, ns = channel.config, where.namespace
        if config.artifact_type is not None:
            yield from self._artifacts(config, channel.tracker(ns).values(value), where)
            return
        known = not channel.told.add(ns)
        yield ChannelValueEvent(
            seq=self._seq(), where=where, key=config.key, value=value, previous_known=known
        )

    def updates(self, part: Part) -> Iterator[Event]:
        """The events of what nodes wrote."""
        for node, update in node_updates(part.data):
            where = Where(part.ns, node)
            for channel in self._updated:
                written = read_key(update, channel.config.key)
                if written is not MISSING and channel.pattern.matches(where):
                    yield from channel.filtered(self._update(channel, written, where))

    def _update(self, channel: _Channel, written: Any, where: Where) -> Iterator[Event]:
        config = channel.config
        if config.artifact_type is None:
            yield ChannelUpdateEvent(seq=self._seq(), where=where, key=config.key, update=written)
        elif config.stream_mode is ChannelMode.UPDATES_ONLY:
            tracker = channel.tracker(where.namespace)
            whole = isinstance(written, Overwrite)
            found = tracker.values(written.value) if whole else tracker.update(written)
            yield from self._artifacts(config, found, where)

    def _artifacts(
        self, config: ChannelConfig, found: Iterable[Artifact], where: Where
    ) -> Iterator[Event]:
        for artifact in found:
            yield ArtifactEvent(
                seq=self._seq(),
                where=where,
                artifact_type=str(config.artifact_type),
                artifact_data=artifact.data,
                key=config.key,
                artifact_id=artifact.id,
            )


def read_key(state: Any, key: str) -> Any:
    """The value under a key of a state, be it a mapping, a model or a dataclass; `MISSING` if it
    has none. A state without keys has its value under `__root__`."""
    if isinstance(state, Mapping):
        return state.get(key, MISSING)
    if key == ROOT_KEY:
        return state
    if hasattr(type(state), "__dataclass_fields__") or hasattr(type(state), "model_fields"):
        return getattr(state, key, MISSING)
    return MISSING


def node_updates(data: Any) -> Iterator[tuple[str, Any]]:
    """What each node wrote, in an `updates` payload: one pair for each write."""
    if not isinstance(data, Mapping):
        return
    for node, update in data.items():
        if node.startswith(RESERVED):
            continue
        many = isinstance(update, list) and all(isinstance(u, Mapping) for u in update)
        for one in update if many else (update,):
            if one is not None:
                yield node, one
