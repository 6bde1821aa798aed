"""What a processor knows of a thread, within bounds: the oldest is forgotten first.

A message is its id. Tasks that run side by side may use equal ids all the same, so each record says
where its message was said; who speaks of it in another task finds it by the id and the graph.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from langchain_core.messages import BaseMessage

from langgraph_once.events.vocabulary import (
    Event,
    Growing,
    SoFar,
    ToolCallCompletedEvent,
    ToolCallFailedEvent,
    ToolCallProgressEvent,
    related,
)
from langgraph_once.stream import Where, node_names

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

Status: TypeAlias = Literal["pending", "streaming", "completed", "failed"]


class Bounded(OrderedDict[K, V]):
    """A mapping of at most `max_size` keys, which forgets those that were added longest ago."""

    def __init__(self, max_size: int) -> None:
        super().__init__()
        self.max_size: int = max_size

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        while len(self) > self.max_size:
            self.popitem(last=False)


class RecentKeys(Bounded[K, None]):
    """The keys that were added last."""

    def add(self, key: K) -> bool:
        """Add a key, or note that it came again; whether it is new."""
        is_new = key not in self
        self.pop(key, None)
        self[key] = None
        return is_new


@dataclass(slots=True, eq=False)
class KnownMessage:
    """A message that has ended."""

    where: Where
    """Where it was said; the graph alone, where only a state tells of it."""

    message: BaseMessage | None
    """None for one whose events were not told."""

    is_counted: bool = False
    """Whether what it cost was told."""


class KnownMessages:
    """Messages that have ended, by id; those of equal ids in parallel tasks are apart.

    At most `max_messages` ids are kept, and as many messages of each.
    """

    def __init__(self, max_messages: int) -> None:
        self._by_id: Bounded[str, Bounded[Where, KnownMessage]] = Bounded(max_messages)

    def add(self, where: Where, message_id: str, message: BaseMessage | None) -> KnownMessage:
        """Remember a message, or what it says now.

        The empty id of a provider that gives none names nothing that could be found again.
        """
        known = self.at(where, message_id)
        if known is None:
            known = KnownMessage(where, message)
            if message_id:
                places = self._by_id.setdefault(message_id, Bounded(self._by_id.max_size))
                places[where] = known
        known.message = message
        return known

    def at(self, where: Where, message_id: str) -> KnownMessage | None:
        """The message of this id that was said right there."""
        return self._by_id[message_id].get(where) if message_id in self._by_id else None

    def around(self, where: Where, message_id: str) -> KnownMessage | None:
        """The message of this id that a task there may speak of: its own, else the last one of its
        graph, or of those around and inside it."""
        places = self._by_id.get(message_id)
        if not places:
            return None
        near = [each for at, each in places.items() if related(at.namespace, where.namespace)]
        return places.get(where) or (near[-1] if near else None)

    def forget(self, message_id: str) -> list[bool]:
        """Forget an id; for each of its messages, whether its events were told."""
        places = self._by_id.pop(message_id, None)
        return [known.message is not None for known in places.values()] if places else []


class MessageOrigin(NamedTuple):
    """Where a message was said, and its metadata there, if nobody watches that graph.

    A stream with subgraphs says a message once: in the graph that made it. A consumer who watches
    only the graph around it gets it when it enters the state there, as in a stream without them.
    """

    where: Where
    meta: Mapping[str, Any]

    def seen_from(self, namespace: tuple[str, ...]) -> Where | None:
        """The place in a graph around, by the node there that leads to it; None if it was not
        said inside that graph."""
        said, depth = self.where.namespace, len(namespace)
        if len(said) <= depth or said[:depth] != namespace:
            return None
        return Where(namespace, *node_names(said[depth:])[:1])


@dataclass(slots=True, eq=False)
class ToolCallState:
    """One tool call, as far as it has come."""

    tool_call_id: str | None
    name: str
    index: int
    """Its place among the calls of its message."""

    message_id: str | None
    where: Where
    status: Status = "pending"
    """"pending" until id and name are known, "streaming" while its arguments come."""

    result: Any = field(default=None, repr=False)
    """What answered it."""

    args: Growing = field(default_factory=Growing, repr=False)

    @property
    def accumulated_args(self) -> str:
        """The arguments so far."""
        return str(self.args)

    @property
    def is_open(self) -> bool:
        """Whether more of its arguments may come."""
        return self.status in ("pending", "streaming")

    def facts(self, seq: int) -> dict[str, Any]:
        """The fields that all its events have."""
        return {
            "seq": seq,
            "where": self.where,
            "tool_call_id": self.tool_call_id,
            "name": self.name,
            "index": self.index,
            "message_id": self.message_id,
        }

    def progress(self, seq: int, delta: str, so_far: SoFar) -> ToolCallProgressEvent:
        """The event of arguments that went on."""
        return ToolCallProgressEvent(**self.facts(seq), args_delta=delta, so_far=so_far)

    def end(self, seq: int, args: dict[str, Any] | None, error: str) -> Event:
        """The event of its end: its arguments are these, or cannot be read for this reason."""
        facts, text = self.facts(seq), self.accumulated_args
        if args is None:
            return ToolCallFailedEvent(**facts, error=error, accumulated_args=text)
        return ToolCallCompletedEvent(**facts, final_args=text, parsed_args=args)


class ThreadMemory:
    """What is known of a thread, over all its streams.

    Attributes:
        messages: The messages that have ended.
        unwatched: Those that were said in graphs that nobody watches, and are not told yet.
        calls: Tool calls by the id that their results name, or without one by that of their
            message; oldest first.
        ui: The properties of the UI messages that are shown.
    """

    def __init__(self, max_history: int) -> None:
        self.max_history: int = max_history
        self.messages: KnownMessages = KnownMessages(max_history)
        self.unwatched: Bounded[str, MessageOrigin] = Bounded(max_history)
        self.calls: Bounded[str, list[ToolCallState]] = Bounded(max_history)
        self.ui: Bounded[str, dict[str, Any]] = Bounded(max_history)
