"""Where in a graph something happens: how that is written, and patterns that pick it out."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from langgraph_once.stream.part.namespace import TASK_NS_KEY, node_names

__all__ = [
    "NODE_KEY",
    "NOWHERE",
    "Pattern",
    "Where",
    "format_namespace",
    "where_of",
]

ROOT = "main"
NODE_KEY = "langgraph_node"


def format_namespace(namespace: tuple[str, ...]) -> str:
    """A namespace in one line.

    `()` is `main`, `("a:task",)` is `a:task`, `("a:t1", "b:t2")` is `a:t1:b:t2`.
    """
    return ":".join(namespace) if namespace else ROOT


@dataclass(frozen=True, slots=True)
class Where:
    """The place that an event comes from."""

    namespace: tuple[str, ...] = ()
    """The graph: one `node:task_id` for each level, `()` for the outermost."""

    node: str | None = None
    """The node in it, where it is known."""

    task_id: str | None = None
    """The task that ran the node, where it is known."""

    @property
    def formatted(self) -> str:
        """The namespace in one line."""
        return format_namespace(self.namespace)

    @property
    def path(self) -> tuple[str, ...]:
        """The names of the nodes that lead to the graph."""
        return node_names(self.namespace)


NOWHERE = Where()
"""The outermost graph, as a whole."""


@functools.lru_cache(maxsize=1024)
def _where(namespace: tuple[str, ...], task: str | None, node: str | None) -> Where:
    segments = [part for part in (task or "").split("|") if part and not part.isdecimal()]
    name, _, task_id = segments[-1].partition(":") if segments else ("", "", "")
    return Where(namespace, node or name or None, task_id or None)


def where_of(namespace: tuple[str, ...], meta: Mapping[str, Any]) -> Where:
    """The place of a message, by its namespace and the metadata beside it."""
    return _where(namespace, meta.get(TASK_NS_KEY), meta.get(NODE_KEY))


class Pattern:
    """Patterns of places, any of which may match.

    `main` is the outermost graph. A pattern without a slash is the name of a graph or node at
    any depth, with `*` for any characters. One with slashes is a path from the outermost graph
    on, where `*` is one name and `**` any number of them. Ids of tasks are not looked at.

    Args:
        patterns: The patterns.
    """

    __slots__ = ("_names", "_paths", "_root", "only_root")

    def __init__(self, patterns: Iterable[str]) -> None:
        given = set(patterns)
        self._root = ROOT in given
        self.only_root: bool = given == {ROOT}
        others = given - {ROOT}
        self._names = [_compiled(p) for p in others if "/" not in p and p != "**"]
        self._paths = [_compiled(p.removeprefix(f"{ROOT}/")) for p in others if "/" in p]
        if "**" in others:
            self._paths.append(_compiled("**"))

    def matches(self, where: Where) -> bool:
        """Whether one of the patterns picks this place."""
        path = where.path
        if self._root and not path:
            return True
        full = (*path, where.node) if where.node else path
        names = {*path[-1:], *full[-1:]}
        paths = {"/".join(path), "/".join(full)}
        return any(name.fullmatch(n) for name in self._names for n in names) or any(
            wanted.fullmatch(p) for wanted in self._paths for p in paths
        )


@functools.lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    if pattern == "**":
        return re.compile(".*")
    regex = re.escape(pattern)  # which leaves slashes alone
    # Of two slashes around `**` one goes with it, since it may stand for no name at all.
    regex = re.sub(r"^(?:\\\*\\\*/)+", "(?:[^/]+/)*", regex)
    regex = re.sub(r"/\\\*\\\*(?=/|$)", "(?:/[^/]+)*", regex)
    return re.compile(regex.replace(r"\*", "[^/]*"))
