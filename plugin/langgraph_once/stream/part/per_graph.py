"""What is known of each graph of a stream, bounded."""

from __future__ import annotations

from typing import Final, TypeVar

from langgraph_once.stream.part.namespace import Place

__all__ = ["MAX_GRAPHS", "PerGraph"]

V = TypeVar("V")

MAX_GRAPHS: Final = 1_024
"""The most graphs to know at a time."""


class PerGraph(dict[Place, V]):
    """Something for each graph, by its namespace.

    A stream may run any number of graphs. Those that spoke last are kept, and always the one
    at the root; of another that speaks again, what it no longer holds is not told apart.
    """

    def note(self, ns: Place, value: V) -> None:
        """Note what holds now of the graph `ns`."""
        self.pop(ns, None)
        self[ns] = value
        if len(self) > MAX_GRAPHS:
            del self[next(other for other in self if other)]
