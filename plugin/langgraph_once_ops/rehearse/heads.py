"""The newest checkpoint of a thread, and of each of its subgraphs that is under way.

And what the new graph would do next, asked of the graph itself. No node runs.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, DeltaChannelHistory
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel
from langgraph.types import StateSnapshot

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


class NewGraph:
    """Asks the new graph what it would do with a head.

    Args:
        graph: The graph.
        history: Reads what delta channels are rebuilt from.
    """

    def __init__(
        self, graph: Pregel[Any, Any, Any, Any], history: BaseCheckpointSaver[str]
    ) -> None:
        self._heads = _Heads(history)
        self._root = graph.copy(update={"checkpointer": self._heads})

    def at(self, path: Sequence[str]) -> Pregel[Any, Any, Any, Any] | None:
        """The graph, or the subgraph that the nodes of a path lead to."""
        found: Any = self._root
        for name in path:
            found = dict(found.get_subgraphs()).get(name) if isinstance(found, Pregel) else None
        return found if isinstance(found, Pregel) else None

    def state(self, head: Head) -> StateSnapshot:
        """What a head is under this graph: its tasks are those that would be run next.

        Raises:
            Exception: Whatever a run of the graph would raise before its first task.
        """
        self._heads.head = head.copy()
        place = {"thread_id": head.thread_id, "checkpoint_ns": head.checkpoint_ns}
        with _quiet():
            return self._root.get_state({"configurable": place})


def is_wrapped(node: ToolNode) -> bool:
    """Whether a function of the user stands before its tools, which may know other names."""
    # Private upstream, langgraph-prebuilt 1.1.3: middleware gives them.
    return (node._wrap_tool_call or node._awrap_tool_call) is not None  # noqa: SLF001


class _Heads(BaseCheckpointSaver[str]):
    """Gives a graph the head that was read. It stores nothing."""

    def __init__(self, history: BaseCheckpointSaver[str]) -> None:
        super().__init__()
        self._history = history
        self.head: CheckpointTuple | None = None

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self.head

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        return self._history.get_delta_channel_history(config=config, channels=channels)


@contextmanager
def _quiet() -> Iterator[None]:
    """What LangGraph logs of unknown nodes is told as a finding."""
    logger = logging.getLogger("langgraph")
    was, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = was
