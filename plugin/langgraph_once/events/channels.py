"""Parts of the modes `values` and `updates`: keys of the state, and artifacts in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias

from langgraph.types import Overwrite
from pydantic_core import to_jsonable_python

from langgraph_once.events.config import ChannelConfig
from langgraph_once.events.thread_memory import Bounded, RecentKeys
from langgraph_once.events.vocabulary import (
    ArtifactEvent,
    ChannelUpdateEvent,
    ChannelValueEvent,
    Event,
    checked,
)
from langgraph_once.stream import Part, Pattern, Where, fingerprint, is_reserved


class Artifact(NamedTuple):
    """An element that is new or changed, with its own id or one made of its content."""

    id: str
    data: Any


class ArtifactTracker:
    """Compares the values of one key with those before.

    Position and length do not matter: an edit, a removal or an insertion anywhere is told as what
    it is. An element without an id is new if the value before did not hold it; two equal ones
    count twice.

    Args:
        max_known: The most elements to remember of what nodes wrote; of a whole value, all are.
    """

    def __init__(self, max_known: int) -> None:
        self._max_known = max_known
        self._prints: dict[str, set[bytes]] = {}
        self._unnamed: Counter[bytes] = Counter()

    def values(self, value: Any) -> Iterator[Artifact]:
        """What is new in the whole value."""
        prints, self._prints = self._prints, {}
        unnamed, self._unnamed = self._unnamed, Counter()
        for element in _elements(value):
            own_id, print_ = _own_id(element), _print_of(element)
            if own_id is None:
                self._unnamed[print_] += 1
                is_new = self._unnamed[print_] > unnamed[print_]
            else:
                said = self._prints.setdefault(own_id, set())
                is_new = print_ not in said and print_ not in prints.get(own_id, ())
                said.add(print_)
            if is_new:
                yield Artifact(own_id or print_.hex(), element)

    def update(self, written: Any) -> Iterator[Artifact]:
        """What is new in what a node wrote: the whole value, or only an addition to it.

        An element without id that was written before counts as the same.
        """
        within: Counter[bytes] = Counter()
        for element in _elements(written):
            own_id, print_ = _own_id(element), _print_of(element)
            if own_id is None:
                within[print_] += 1
                # Taken out and put back, so that the first in the dict was seen longest ago.
                known = self._unnamed.pop(print_, 0)
                is_new = within[print_] > known
                self._unnamed[print_] = max(within[print_], known)
            else:
                is_new = print_ not in self._prints.pop(own_id, ())
                self._prints[own_id] = {print_}
            if is_new:
                yield Artifact(own_id or print_.hex(), element)
        stores: tuple[dict[Any, Any], ...] = (self._prints, self._unnamed)
        for seen in stores:
            while len(seen) > self._max_known:  # the first was seen longest ago
                del seen[next(iter(seen))]


def _elements(value: Any) -> Iterable[Any]:
    if value is None:
        return ()
    # Not `isinstance`: a named tuple is one element.
    if isinstance(value, list | set | frozenset) or type(value) is tuple:
        return [element for element in value if element is not None]
    return (value,)


def _own_id(element: Any) -> str | None:
    found = element.get("id") if isinstance(element, Mapping) else getattr(element, "id", None)
    return str(found) if isinstance(found, str | int) and found != "" else None


def _print_of(element: Any) -> bytes:
    """The fingerprint of an element; for an opaque one, that of its text."""
    found = fingerprint(element)
    if found is None:
        plain = to_jsonable_python(element, serialize_unknown=True, bytes_mode="base64")
        # As long as a fingerprint, so that ids of elements look alike.
        found = fingerprint(plain) or blake2b(repr(plain).encode(), digest_size=16).digest()
    return found


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

    def seed(self, namespace: Namespace, state: Any) -> None:
        """Note the state that a graph begins with: its artifacts are not new."""
        for channel in self._channels:
            value = read_key(state, channel.config.key)
            if channel.config.artifact_type is not None and value is not MISSING:
                list(channel.tracker(namespace).values(value))

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
