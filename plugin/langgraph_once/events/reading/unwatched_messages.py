"""Messages of graphs that nobody watches, which then enter the state of a watched graph.

A stream with subgraphs says a message once: in the graph that made it. A consumer who watches
only the graph around it gets the message when it enters the state there, as in a stream without
subgraphs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from langgraph_once.events.reading.recent import Bounded
from langgraph_once.stream.part.where import Where, node_names

__all__ = ["MessageOrigin", "UnwatchedMessages"]


class MessageOrigin(NamedTuple):
    """Where a message was said, and its metadata there."""

    where: Where
    meta: Mapping[str, Any]

    def seen_from(self, namespace: tuple[str, ...]) -> Where | None:
        """The place in a graph around, by the node there that leads to it; None if it was not
        said inside that graph."""
        said, depth = self.where.namespace, len(namespace)
        if len(said) <= depth or said[:depth] != namespace:
            return None
        return Where(namespace, *node_names(said[depth:])[:1])


class UnwatchedMessages:
    """The messages that are not told, by id.

    Args:
        max_messages: The most to remember.
    """

    def __init__(self, max_messages: int) -> None:
        self._by_id: Bounded[str, MessageOrigin] = Bounded(max_messages)

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._by_id)

    def add(self, message_id: str | None, said: MessageOrigin) -> None:
        """Remember one; the empty id of a provider that gives none names nothing."""
        if message_id:
            self._by_id[message_id] = said

    def get(self, message_id: str | None) -> MessageOrigin | None:
        """Where it was said, if it was not told."""
        return self._by_id.get(message_id or "")

    def forget(self, message_id: str | None) -> None:
        """It is told, or gone."""
        self._by_id.pop(message_id or "", None)
