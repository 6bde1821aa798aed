"""Which model runs may repeat others, for readers of callback events.

`astream_events` puts its events into a queue, which a reader empties later. So what a run may
repeat is noted when that run starts, and looked up when its events are read.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langgraph.constants import TAG_HIDDEN

from langgraph_once.stream.part.namespace import TASK_NS_KEY
from langgraph_once.stream.part.where import NODE_KEY
from langgraph_once.stream.running.attempts import EmittedMessage, Task, Tasks

__all__ = ["ModelRunsHandler", "ModelStart"]


class ModelStart(NamedTuple):
    """What is known of a model run when it starts."""

    task: str
    """The task that calls the model."""

    earlier: tuple[str, ...]
    """The ids of the runs whose answers are void: an attempt of its task, or of a task around
    that, began anew, or the model failed in the same attempt. In order."""


class ModelRunsHandler(BaseCallbackHandler):
    """Listens to the nodes and models of a run.

    Attributes:
        starts: The model runs by their ids, until somebody takes them from here.
    """

    run_inline = True
    ignore_agent = True
    ignore_retriever = True

    def __init__(self) -> None:
        self.starts: dict[str, ModelStart] = {}
        self._lock = threading.Lock()  # nodes without `async` run in threads
        self._tasks = Tasks()
        self._nodes: dict[UUID, Task] = {}
        self._models: dict[UUID, EmittedMessage] = {}
        self._failed: set[str] = set()

    def on_chain_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002  # the names are part of the call
        inputs: Any,  # noqa: ARG002  # as well
        *,
        run_id: UUID,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **told: Any,
    ) -> None:
        """Note that a node starts, perhaps once more."""
        if not metadata or told.get("name") != metadata.get(NODE_KEY):
            return
        if TASK_NS_KEY in metadata and TAG_HIDDEN not in (tags or ()):
            with self._lock:
                task = self._nodes[run_id] = self._tasks.get(metadata[TASK_NS_KEY])
                task.start()

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:  # noqa: ARG002
        """Note that a node succeeded, so that it does not run again."""
        if (task := self._nodes.pop(run_id, None)) is not None:
            with self._lock:
                if task.end():
                    self._tasks.finish(task)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:  # noqa: ARG002
        """Note that a node failed; it may run again."""
        if (task := self._nodes.pop(run_id, None)) is not None:
            with self._lock:
                task.end()

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
        said = self._models[run_id] = EmittedMessage(str(run_id), (), metadata[TASK_NS_KEY])
        with self._lock:
            task = self._tasks.get(said.task)
            void = [old.id for each in (*self._tasks.outer(task.ns), task) for old in each.stale]
            void += [old.id for old in task.said.values() if old.id in self._failed]
            self.starts[said.id] = ModelStart(task.ns, tuple(dict.fromkeys(void)))
            self._tasks.say(said)

    def on_llm_end(self, response: Any, *, run_id: UUID, **_: Any) -> None:  # noqa: ARG002
        """Forget a run that can fail no more."""
        self._models.pop(run_id, None)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Note that the answer of a run is void, unless its reader just stopped reading."""
        said = self._models.pop(run_id, None)
        if said is not None and not isinstance(error, GeneratorExit):
            self._failed.add(said.id)
