"""What is remembered of the past, within bounds: the oldest is forgotten first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple, TypeVar

from langchain_core.messages import BaseMessage

from langgraph_once.stream.part.places import Where, node_names

__all__ = ["Bounded", "FinishedMessages", "MessageOrigin", "RecentKeys"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Bounded(OrderedDict[K, V]):
    """A mapping of at most `max_size` keys, which forgets those that were added longest ago."""

    def __init__(self, max_size: int) -> None:
        super().__init__()
        self.max_size: int = max_size

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        while len(self) > self.max_size:
            self.popitem(last=False)


class FinishedMessages:
    """Finished messages by id; those of equal ids in parallel tasks are apart.

    At most `max_messages` ids are kept, and as many messages of each.
    """

    def __init__(self, max_messages: int) -> None:
        self._by_id: Bounded[str, Bounded[Where, BaseMessage | None]] = Bounded(max_messages)

    def add(self, where: Where, message_id: str, message: BaseMessage | None) -> None:
        """Remember a message; None for one whose events were not told.

        The empty id of a provider that gives none names nothing that could be found again.
        """
        if message_id:
            self._by_id.setdefault(message_id, Bounded(self._by_id.max_size))[where] = message

    def has(self, where: Where, message_id: str) -> bool:
        """Whether it is remembered."""
        return where in self._by_id.get(message_id, ())

    def get(self, where: Where, message_id: str) -> BaseMessage | None:
        """The message, if its events were told."""
        return self._by_id[message_id].get(where) if message_id in self._by_id else None

    def forget(self, message_id: str) -> list[bool]:
        """Forget an id; for each of its messages, whether its events were told."""
        places = self._by_id.pop(message_id, None)
        return [message is not None for message in places.values()] if places else []


class RecentKeys(Bounded[K, None]):
    """The keys that were added last."""

    def add(self, key: K) -> bool:
        """Add a key, or note that it came again; whether it is new."""
        is_new = key not in self
        self.pop(key, None)
        self[key] = None
        return is_new


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
