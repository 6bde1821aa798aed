"""Which model runs may repeat others, for readers of callback events.

`astream_events` puts its events into a queue, which a reader empties later. So what a run may
repeat is noted when that run starts, and looked up when its events are read.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from langchain_core.messages import BaseMessage

from langgraph_once.stream.part.namespace import TASK_NS_KEY
from langgraph_once.stream.running.attempts import EmittedMessage
from langgraph_once.stream.running.node_handler import NodeHandler

__all__ = ["ModelRunsHandler", "ModelStart"]


class ModelStart(NamedTuple):
    """What is known of a model run when it starts."""

    task: str
    """The task that calls the model."""

    earlier: tuple[str, ...]
    """The ids of the runs whose answers are void: an attempt of its task, or of a task around
    that, began anew, or the model failed in the same attempt. In order."""


class ModelRunsHandler(NodeHandler):
    """Listens to the nodes and models of a run.

    Attributes:
        starts: The model runs by their ids, until somebody takes them from here.
    """

    ignore_agent = ignore_retriever = True

    def __init__(self) -> None:
        super().__init__()
        self.starts: dict[str, ModelStart] = {}
        self._failed: set[str] = set()

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002  # the names are part of the call
        messages: list[list[BaseMessage]],  # noqa: ARG002  # as well
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Note what a model run may repeat."""
        if not metadata or TASK_NS_KEY not in metadata:
            return
        run = EmittedMessage(str(run_id), (), metadata[TASK_NS_KEY])
        task = self._tasks.get(run.task)
        void = [old.id for each in (*self._tasks.outer(task.ns), task) for old in each.stale]
        void += [old.id for old in list(task.said.values()) if old.id in self._failed]
        self.starts[run.id] = ModelStart(task.ns, tuple(dict.fromkeys(void)))
        self._tasks.say(run)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Note that the answer of a run is void, unless its reader just stopped reading."""
        if not isinstance(error, GeneratorExit):
            self._failed.add(str(run_id))
