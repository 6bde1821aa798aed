"""The newest checkpoint of a thread, and of each of its subgraphs that is under way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from langgraph_once.checkpoint import CheckpointRef, OnceSaver, Program, Row, Statement
from langgraph_once.stream import NS_SEP, node_names
from langgraph_once_ops.due import TaskStates, task_states


@dataclass(slots=True)
class Head:
    """A newest checkpoint. Stand-ins take the place of what cannot be rebuilt."""

    thread_id: str
    checkpoint_ns: str
    saved: CheckpointTuple

    @property
    def checkpoint(self) -> Any:
        """As LangGraph has it."""
        return self.saved.checkpoint

    @property
    def values(self) -> Mapping[str, Any]:
        """By channel."""
        return self.saved.checkpoint["channel_values"]

    @property
    def path(self) -> tuple[str, ...]:
        """The nodes that lead to the graph it is of, from the outermost."""
        return node_names(self.checkpoint_ns.split(NS_SEP)) if self.checkpoint_ns else ()

    def tasks(self) -> TaskStates:
        """How the tasks of its step stand."""
        return task_states(self.saved.pending_writes or ())

    def copy(self) -> CheckpointTuple:
        """What a graph may change: it brings old checkpoints into its own form."""
        old: Any = self.saved.checkpoint
        checkpoint: Any = {
            **old,
            "channel_values": dict(old["channel_values"]),
            "channel_versions": dict(old["channel_versions"]),
            "versions_seen": {name: dict(seen) for name, seen in old["versions_seen"].items()},
        }
        writes = [*(self.saved.pending_writes or ())]
        return self.saved._replace(checkpoint=checkpoint, pending_writes=writes)


def thread_heads(saver: OnceSaver, thread_id: str) -> Iterator[Head]:
    """The head of a thread, then those of its subgraphs that are under way, the outermost first.

    Raises:
        SerdeError: One of them cannot be read.
        StorageError: The database cannot be read.
    """
    root = _head(saver, thread_id, "")
    if root is None:
        return
    yield root
    known = {"": root.checkpoint["id"]}
    rows = saver.engine.run(_namespaces(thread_id, known[""]), writes=False)
    for (namespace,) in sorted(rows, key=lambda row: row[0].count(NS_SEP)):
        head = _head(saver, thread_id, namespace)
        parents = {} if head is None else head.saved.metadata.get("parents") or {}
        # One of an earlier step was done by its end: another call has another namespace.
        if head is not None and parents and all(known.get(ns) == parents[ns] for ns in parents):
            known[namespace] = head.checkpoint["id"]
            yield head


def _head(saver: OnceSaver, thread_id: str, namespace: str) -> Head | None:
    saved = saver.get_tuple(CheckpointRef(thread_id, namespace).config())
    return None if saved is None else Head(thread_id, namespace, saved)


def _namespaces(thread_id: str, after: str) -> Program[list[Row]]:
    # Ids are sorted by time: a subgraph stores nothing before the step that it is called in.
    return (
        yield Statement(
            "SELECT checkpoint_ns FROM checkpoints WHERE thread_id = ? AND checkpoint_ns <> '' "
            "GROUP BY checkpoint_ns HAVING max(checkpoint_id) > ?",
            [thread_id, after],
        )
    )
