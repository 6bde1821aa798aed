"""When nodes begin, return and fail: for every handler, and for states that are streamed alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.pregel._messages import graph_namespace

from langgraph_once.stream.dedup.state_cut import Hints
from langgraph_once.stream.part.annotation import Source
from langgraph_once.stream.part.messages_within import found_in_update
from langgraph_once.stream.part.places import NODE_KEY, TASK_NS_KEY
from langgraph_once.stream.running.attempts import Meta, Task, Tasks, raised_update


class NodeHandler(BaseCallbackHandler):
    """Hears the nodes of a run, of all graphs in it, and counts their attempts.

    Nodes without `async` run in threads, several at a time.

    Attributes:
        metadata: The runs of nodes that have not ended, where upstream's handler has them.
    """

    run_inline = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.metadata: dict[UUID, Meta] = {}
        self._tasks = Tasks()

    def on_chain_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002  # its name is part of the call
        inputs: dict[str, Any],  # noqa: ARG002  # as well
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Note that a node begins, perhaps once more."""
        if metadata and is_node(metadata, kwargs.get("name")):
            self.metadata[run_id] = graph_namespace(metadata), metadata
            self._begin(self._tasks.get(metadata[TASK_NS_KEY]))

    def on_chain_end(self, response: Any, *, run_id: UUID, **_: Any) -> Any:  # type: ignore[override]  # as upstream's
        """Note what a node returned."""
        if (meta := self.metadata.pop(run_id, None)) is not None:
            task = self._tasks.get(meta[1][TASK_NS_KEY])
            self._end(meta, task, response, "node", is_over=task.end())

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> Any:
        """Note that a node failed, or raised a command to the graph of this task."""
        if (meta := self.metadata.pop(run_id, None)) is not None:
            task = self._tasks.get(meta[1][TASK_NS_KEY])
            is_over = task.end()
            update = raised_update(error, task, meta[1].get(NODE_KEY))
            if update is not None:
                self._end(meta, task, update, "command", is_over=is_over)

    def _begin(self, task: Task) -> None:
        task.start()

    def _end(self, meta: Meta, task: Task, response: Any, source: Source, *, is_over: bool) -> None:  # noqa: ARG002  # for others
        """Note the update of a task that succeeded, or of what runs in it under its name."""
        if is_over:
            self._tasks.finish(task)


class HintsHandler(NodeHandler):
    """Notes what tells how to cut states, for a stream without the `messages` mode.

    A state tells neither which task a message comes from nor that a task ran again, and an update
    may carry a message before its reducer gives it an id. So a message without an id gets one at
    once, as upstream's handler does in the `messages` mode. No model streams because of this.

    Attributes:
        hints: Takes what is noted.
    """

    ignore_llm = ignore_chat_model = ignore_agent = ignore_retriever = True

    def __init__(self, hints: Hints) -> None:
        super().__init__()
        self.hints: Hints = hints

    def _begin(self, task: Task) -> None:
        if task.start():
            self.hints.note_rerun(task.ns)

    def _end(self, meta: Meta, task: Task, response: Any, source: Source, *, is_over: bool) -> None:
        for message in found_in_update(response).messages:
            message.id = message.id or str(uuid4())
            self.hints.note_returned(message.id, meta[0], task.ns)
        super()._end(meta, task, response, source, is_over=is_over)


def is_node(metadata: Mapping[str, Any], name: str | None) -> bool:
    """Whether a run of these metadata is that of a node, and not of something inside it."""
    return TASK_NS_KEY in metadata and name == metadata.get(NODE_KEY)
