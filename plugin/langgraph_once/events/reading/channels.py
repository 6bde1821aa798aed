"""Parts of the modes `values` and `updates`: keys of the state, artifacts, interrupts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from langgraph.types import Overwrite

from langgraph_once.events.reading.artifacts import Artifact, ArtifactTracker
from langgraph_once.events.reading.recent_keys import Bounded, RecentKeys
from langgraph_once.events.vocabulary.callbacks import checked
from langgraph_once.events.vocabulary.config import ChannelConfig
from langgraph_once.events.vocabulary.event import (
    ArtifactEvent,
    ChannelUpdateEvent,
    ChannelValueEvent,
    Event,
)
from langgraph_once.stream import Part
from langgraph_once.stream.part.places import Pattern, Where, is_reserved

__all__ = ["ChannelEvents", "node_updates", "read_key"]

Namespace: TypeAlias = tuple[str, ...]

MISSING = object()
ROOT_KEY = "__root__"


class _Channel:
    """One configured key, and what is known of it in each graph."""

    def __init__(self, config: ChannelConfig, seq: Callable[[], int], max_history: int) -> None:
        self.config = config
        self.modes = config.stream_mode.modes
        self._seq = seq
        self._pattern: Pattern = config.accepts
        self._told: RecentKeys[Namespace] = RecentKeys(max_history)
        self._trackers: Bounded[Namespace, ArtifactTracker] = Bounded(max_history)

    def told(
        self, state: Any, where: Where, make: Callable[[Any, Where], Iterable[Event]]
    ) -> Iterator[Event]:
        """The events that `make` gives of what a state or update has under the key."""
        found = read_key(state, self.config.key)
        if found is not MISSING and self._pattern.matches(where):
            for event in make(found, where):
                if checked(self.config.filter_fn, event):
                    yield event

    def value(self, value: Any, where: Where) -> Iterator[Event]:
        """The events of a value."""
        if self.config.artifact_type is not None:
            yield from self._artifacts(self.tracker(where.namespace).values(value), where)
            return
        known, key = not self._told.add(where.namespace), self.config.key
        yield ChannelValueEvent(
            seq=self._seq(), where=where, key=key, value=value, previous_known=known
        )

    def update(self, written: Any, where: Where) -> Iterator[Event]:
        """The events of what a node wrote."""
        key = self.config.key
        if self.config.artifact_type is None:
            yield ChannelUpdateEvent(seq=self._seq(), where=where, key=key, update=written)
        elif "values" not in self.modes:  # else the values tell the artifacts
            tracker, is_whole = self.tracker(where.namespace), isinstance(written, Overwrite)
            found = tracker.values(written.value) if is_whole else tracker.update(written)
            yield from self._artifacts(found, where)

    def tracker(self, namespace: Namespace) -> ArtifactTracker:
        """What is known of the artifacts of a graph."""
        # Taken out and put back: `Bounded` forgets what was used longest ago.
        tracker = self._trackers.pop(namespace, None)
        self._trackers[namespace] = tracker = tracker or ArtifactTracker(self._trackers.max_size)
        return tracker

    def _artifacts(self, found: Iterable[Artifact], where: Where) -> Iterator[Event]:
        for artifact in found:
            yield ArtifactEvent(
                seq=self._seq(),
                where=where,
                artifact_type=str(self.config.artifact_type),
                artifact_data=artifact.data,
                key=self.config.key,
                artifact_id=artifact.id,
            )


class ChannelEvents:
    """Makes events of states and updates.

    Of each key, `max_history` graphs are remembered, and as many artifacts of what nodes wrote.
    """

    def __init__(
        self, configs: Sequence[ChannelConfig], seq: Callable[[], int], *, max_history: int
    ) -> None:
        self._channels = [_Channel(config, seq, max_history) for config in configs]

    def seed(self, state: Any) -> None:
        """Note the state that a stream starts from: its artifacts are not new."""
        for channel in self._channels:
            value = read_key(state, channel.config.key)
            if channel.config.artifact_type is not None and value is not MISSING:
                list(channel.tracker(()).values(value))

    def values(self, part: Part) -> Iterator[Event]:
        """The events of a state. It comes cut to the keys that changed."""
        for channel in self._channels:
            if "values" in channel.modes:
                yield from channel.told(part.data, Where(part.ns), channel.value)

    def updates(self, part: Part) -> Iterator[Event]:
        """The events of what nodes wrote."""
        for node, update in node_updates(part.data):
            for channel in self._channels:
                if "updates" in channel.modes:
                    yield from channel.told(update, Where(part.ns, node), channel.update)


def read_key(state: Any, key: str) -> Any:
    """The value under a key of a state, be it a mapping, a model or a dataclass; `MISSING` if it
    has none. A state without keys has its value under `__root__`."""
    if isinstance(state, Mapping):
        return state.get(key, MISSING)
    if key == ROOT_KEY:
        return state
    # Asked of the type: a state whose own key is `model_fields` is no pydantic model.
    if hasattr(type(state), "__dataclass_fields__") or hasattr(type(state), "model_fields"):
        return getattr(state, key, MISSING)
    return MISSING


def node_updates(data: Any) -> Iterator[tuple[str, Any]]:
    """What each node wrote, in an `updates` payload: one pair for each write."""
    if not isinstance(data, Mapping):
        return
    for node, update in data.items():
        if is_reserved(node):
            continue
        # A node that runs in several tasks of a step (`Send`) has a list of its writes.
        many = isinstance(update, list) and all(isinstance(u, Mapping) for u in update)
        for one in update if many else (update,):
            if one is not None:
                yield node, one
