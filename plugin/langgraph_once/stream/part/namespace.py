"""Tasks by their `langgraph_checkpoint_ns`: who runs inside whom, and what each graph said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

__all__ = [
    "MAX_GRAPHS",
    "NS_SEP",
    "TASK_NS_KEY",
    "PerGraph",
    "Place",
    "akin",
    "around",
    "bare",
    "is_inside",
    "is_reserved",
    "lineage",
    "names",
    "node_names",
    "node_path",
    "task_in",
]

Place: TypeAlias = tuple[str, ...]
"""A graph in the stream, by its namespace; or where in its state something is, by keys."""

NS_SEP = "|"
TASK_NS_KEY = "langgraph_checkpoint_ns"
"""The key of the metadata under which a message names its task."""


def lineage(task: str) -> tuple[str, ...]:
    """A task after the tasks that it runs in, outermost first.

    The numbers that upstream puts between them count the graphs that a task runs; they name
    no task.
    """
    parts = task.split(NS_SEP)
    return tuple(
        NS_SEP.join(parts[: i + 1]) for i, part in enumerate(parts) if not part.isdecimal()
    )


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
    """The names of a task: its own, and the one it has as the home of a graph with memory.

    A graph that keeps its own memory is known by the name of its node, whichever task runs it.
    """
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

MAX_GRAPHS: Final = 1_024
"""The most graphs to know at a time."""


class PerGraph(dict[Place, V]):
    """Something for each graph, by its namespace.

    A stream may run any number of graphs. Those that spoke last are kept, and always the one
    at the root; of another that speaks again, what it no longer holds is not told apart.
    """

    def note(self, ns: Place, value: V) -> None:
        """Note what holds now of the graph `ns`."""
        # Out and in again: the dict is in the order in which graphs spoke last.
        self.pop(ns, None)
        self[ns] = value
        if len(self) > MAX_GRAPHS:
            del self[next(other for other in self if other)]


def is_reserved(key: object) -> bool:
    """Whether a key of a state or of an update is LangGraph's own, as `__interrupt__`.

    The error handler of a node `n` is called `__error_handler__n` (langgraph 1.2.24,
    langgraph/graph/state.py). It writes to the state as a node does, so its name is none of these.
    """
    is_own = isinstance(key, str) and key.startswith("__")
    return is_own and not str(key).startswith("__error_handler__")
