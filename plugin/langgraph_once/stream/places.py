"""Where something is said: tasks by their `langgraph_checkpoint_ns`, graphs by their namespaces.

Who runs inside whom, how a place is written, and patterns that pick one out.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

Place: TypeAlias = tuple[str, ...]
"""A graph in the stream, by its namespace; or where in its state something is, by keys."""

NS_SEP = "|"
TASK_NS_KEY = "langgraph_checkpoint_ns"
"""The key of the metadata under which a message names its task."""


def lineage(task: str) -> tuple[str, ...]:
    """A task after the tasks that it runs in, outermost first.

    Numbers between them count the graphs that a task runs; they name no task.
    """
    parts = task.split(NS_SEP)
    return tuple(
        NS_SEP.join(parts[: i + 1]) for i, part in enumerate(parts) if not part.isdecimal()
    )


def runner_of(task: str) -> str:
    """The task that runs the graph of this one; empty for the outermost graph."""
    return "".join(lineage(task)[-2:-1])


def around(namespace: str) -> tuple[str, str]:
    """The namespace of the graph around a subgraph's, and the name of the call in it.

    A task that calls subgraphs again, as in a retry, numbers them: `node:task|1` is a call of the
    graph around `node:task`, not of a graph in it.
    """
    parts = namespace.split(NS_SEP)
    last = next((i for i in reversed(range(len(parts))) if not parts[i].isdecimal()), 0)
    return NS_SEP.join(parts[:last]), NS_SEP.join(parts[last:])


def task_in(metadata: Mapping[str, Any]) -> str:
    """The task that metadata name, as LangGraph writes it; empty where they name none."""
    return str(metadata.get(TASK_NS_KEY, ""))


def bare(task: str) -> str:
    """A task by the name of its node in place of its id: as an update names it."""
    outer, _, last = task.rpartition(NS_SEP)
    name = last.split(":")[0]
    return f"{outer}{NS_SEP}{name}" if outer else name


def names(task: str) -> tuple[str, ...]:
    """The names of a task: its own and, since a graph that keeps its own memory is known by the
    name of its node, `bare`."""
    return (task, bare(task)) if ":" in task.rpartition(NS_SEP)[2] else (task,)


def is_inside(inner: str, outer: str) -> bool:
    """Whether a task runs inside another."""
    return any(inner.startswith(name + NS_SEP) for name in names(outer))


def akin(one: str, other: str) -> bool:
    """Whether two tasks are the same, or one runs inside the other; `""` is akin to all."""
    return not one or one == other or is_inside(one, other) or is_inside(other, one)


def task_order(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """What orders the tasks of a step, by the metadata of what they say.

    A list keeps what the last task in this order wrote under an id, whoever is done last
    (`task_path_str` and `apply_writes` in langgraph/pregel/_algo.py, langgraph 1.2.24).
    """
    path = metadata.get("langgraph_path") or ()
    return tuple(f"{part:010d}" if isinstance(part, int) else str(part) for part in path)


def node_names(namespace: Iterable[str]) -> tuple[str, ...]:
    """The names of the nodes that lead to a graph, without ids of tasks and counts of graphs."""
    return tuple(part.partition(":")[0] for part in namespace if not part.isdecimal())


def node_path(namespace: Iterable[str]) -> str:
    """`node_names` as one text."""
    return NS_SEP.join(node_names(namespace))


V = TypeVar("V")

# A node may start graphs without end; `docs/limits.md` says what forgetting one costs.
MAX_GRAPHS: Final = 1_024


class PerGraph(dict[Place, V]):
    """Something for each graph, by its namespace.

    Of any number of graphs it keeps `most`: those that spoke last, and always the one at the root.
    """

    def __init__(self, most: int = MAX_GRAPHS) -> None:
        super().__init__()
        self._most = most

    def note(self, ns: Place, value: V) -> None:
        """Note what holds now of the graph `ns`."""
        # Out and in again: the dict is in the order in which graphs spoke last.
        self.pop(ns, None)
        self[ns] = value
        if len(self) > self._most:
            del self[next(other for other in self if other)]


def is_reserved(key: object) -> bool:
    """Whether a key of a state or of an update is LangGraph's own, as `__interrupt__`.

    The error handler of a node `n` is called `__error_handler__n` (langgraph 1.2.24,
    langgraph/graph/state.py). It writes to the state as a node does, so its name is none of these.
    """
    is_own = isinstance(key, str) and key.startswith("__")
    return is_own and not str(key).startswith("__error_handler__")


ROOT = "main"
NODE_KEY = "langgraph_node"


def format_namespace(namespace: tuple[str, ...]) -> str:
    """A namespace in one line: `()` is `main`, `("a:t1", "b:t2")` is `a:t1:b:t2`."""
    return ":".join(namespace) if namespace else ROOT


@dataclass(frozen=True, slots=True)
class Where:
    """The place that an event comes from.

    Attributes:
        namespace: The graph: one `node:task_id` for each level, `()` for the outermost.
        node: The node in it, where it is known.
        task_id: The task that ran the node, where it is known.
    """

    namespace: tuple[str, ...] = ()
    node: str | None = None
    task_id: str | None = None

    @property
    def formatted(self) -> str:
        """The namespace in one line."""
        return format_namespace(self.namespace)

    @property
    def path(self) -> tuple[str, ...]:
        """The names of the nodes that lead to the graph."""
        return node_names(self.namespace)


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
    """

    __slots__ = ("_all", "_others", "_root", "only_root")

    def __init__(self, patterns: Iterable[str]) -> None:
        given = set(patterns)
        self._all = not given.isdisjoint({"**", f"{ROOT}/**"})
        self._root = ROOT in given
        self.only_root: bool = given == {ROOT}
        self._others = [_compiled(pattern) for pattern in given - {ROOT, "**"}]

    def matches(self, where: Where) -> bool:
        """Whether one of the patterns picks this place."""
        path = where.path
        if self._all or (self._root and not path):
            return True
        full = (*path, where.node) if where.node else path
        paths = {"/".join(path), "/".join(full)}
        return any(pattern.fullmatch(one) for pattern in self._others for one in paths)


@functools.lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    regex = re.escape(pattern.removeprefix(f"{ROOT}/"))  # which leaves slashes alone
    if "/" not in pattern:
        # A name has at least one character; the outermost graph has none.
        return re.compile("(?=.)(?:.+/)?" + regex.replace(r"\*", "[^/]*"))
    # Of two slashes around `**` one goes with it, since it may stand for no name at all.
    regex = re.sub(r"^(?:\\\*\\\*/)+", "(?:[^/]+/)*", regex)
    regex = re.sub(r"/\\\*\\\*(?=/|$)", "(?:/[^/]+)*", regex)
    return re.compile(regex.replace(r"\*", "[^/]*"))
