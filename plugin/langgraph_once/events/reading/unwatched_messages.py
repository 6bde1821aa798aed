"""Messages of graphs that nobody watches, which then enter the state of a watched graph.

A stream with subgraphs says a message once: in the graph that made it. A consumer who watches
only the graph around it gets the message when it enters the state there, as in a stream without
subgraphs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from langgraph_once.stream.part.where import Where, node_names

__all__ = ["MessageOrigin"]


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
