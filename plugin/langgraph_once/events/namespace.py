"""Where in a graph something happens; `stream` knows how that is written and picked out."""

from __future__ import annotations

from langgraph_once.stream.part.where import (
    NODE_KEY,
    NOWHERE,
    Pattern,
    Where,
    format_namespace,
    node_names,
    where_of,
)

__all__ = [
    "NODE_KEY",
    "NOWHERE",
    "Pattern",
    "Where",
    "akin",
    "format_namespace",
    "node_names",
    "where_of",
]


def akin(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two graphs are the same, or one is inside the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]
