"""Messages that were said where nobody watches, and then enter the state of a watched graph.

A stream that looks into graphs says a message once, in the graph that made it. Who watches only
the graph around it has it from the state of that graph, as it would be without that look.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from langgraph_once.stream.where import Where, node_names

__all__ = ["Said", "UnwatchedMessages"]


class Said(NamedTuple):
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
        max_messages: The most to remember; the oldest are forgotten first.
    """

    def __init__(self, max_messages: int) -> None:
        self._max_messages = max_messages
        self._by_id: OrderedDict[str, Said] = OrderedDict()

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._by_id)

    def add(self, message_id: str | None, said: Said) -> None:
        """Remember one; the empty id of a provider that gives none names nothing."""
        if message_id:
            self._by_id[message_id] = said
        while len(self._by_id) > self._max_messages:
            self._by_id.popitem(last=False)

    def get(self, message_id: str | None) -> Said | None:
        """Where it was said, if it was not told."""
        return self._by_id.get(message_id or "")

    def forget(self, message_id: str | None) -> None:
        """It is told, or gone."""
        self._by_id.pop(message_id or "", None)
