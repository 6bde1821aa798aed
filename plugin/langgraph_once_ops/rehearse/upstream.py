"""What the new graph would do next, asked of the graph itself. No node runs."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, DeltaChannelHistory
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel
from langgraph.types import StateSnapshot

from langgraph_once_ops.rehearse.heads import Head


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
