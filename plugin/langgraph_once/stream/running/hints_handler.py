"""What a graph's nodes do, for streams of states that carry no messages of their own.

A state tells neither which task a message comes from nor that a task ran again, and an update
may carry a message before its reducer gives it an id. This handler listens beside a run that
is streamed without the `messages` mode, makes no model stream, and changes nothing but that a
message without an id gets one at once, as upstream's handler does in the `messages` mode.
"""

from __future__ import annotations

import threading
from typing import Any
from uuid import UUID, uuid4

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.constants import TAG_HIDDEN

from langgraph_once.stream.dedup.states.hints import Hints
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.part.content import Content, Space, content_of
from langgraph_once.stream.part.messages_within import found_in_update
from langgraph_once.stream.part.namespace import TASK_NS_KEY
from langgraph_once.stream.running.attempts import Task, Tasks, raised_update

__all__ = ["HintsHandler"]


class HintsHandler(BaseCallbackHandler):
    """Listens to the nodes of a run.

    Args:
        hints: Takes what is heard.
        space: What white space a copy may differ in from what it is a copy of.
    """

    run_inline = True
    ignore_llm = True
    ignore_chat_model = True
    ignore_agent = True
    ignore_retriever = True

    def __init__(self, hints: Hints, *, space: Space) -> None:
        self._hints = hints
        self._space: Space = space
        self._lock = threading.Lock()
        self._tasks = Tasks()
        self._running: dict[UUID, tuple[Task, str | None]] = {}
        self._said = Ledger()

    def on_chain_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002  # the names are part of the call
        inputs: Any,  # noqa: ARG002  # as well
        *,
        run_id: UUID,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Note that a node starts, perhaps once more."""
        if not metadata or kwargs.get("name") != metadata.get("langgraph_node"):
            return
        if TAG_HIDDEN in (tags or ()):
            return
        with self._lock:
            task = self._tasks.get(metadata[TASK_NS_KEY])
            node: str | None = metadata.get("langgraph_node")
            self._running[run_id] = task, node
            if task.start():
                self._hints.rerun.append(task.ns)
                for entry in self._said.said_in(task.ns):
                    self._said.drop(entry)
                    self._hints.void.add(entry.id)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:
        """Name the messages that a node returns, and find the copies among them."""
        if (running := self._running.pop(run_id, None)) is not None:
            task = running[0]
            with self._lock:
                self._note(task, outputs)
                if task.end():
                    self._tasks.finish(task)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """The same for the update of a command that was raised to this task's graph."""
        if (running := self._running.pop(run_id, None)) is not None:
            task, node = running
            with self._lock:
                ended = task.end()
                update = raised_update(error, task, node)
                if update is not None:
                    self._note(task, update)
                    if ended:
                        self._tasks.finish(task)

    def _note(self, task: Task, response: Any) -> None:
        found = found_in_update(response, lambda _: False).messages
        for message in found:
            if not message.id:
                message.id = str(uuid4())
            self._hints.void.discard(message.id)
        for message in sorted(found, key=lambda message: not self._claimed(message, task)):
            if not (isinstance(message, RemoveMessage) or self._said.entries(str(message.id))):
                self._note_new(task, str(message.id), content_of(message))

    def _claimed(self, message: BaseMessage, task: Task) -> bool:
        """Whether a message is known by its id, so that no other is taken for its copy."""
        known = self._said.entries(str(message.id))
        for entry in known[-1:]:
            self._said.claim(entry, task.ns)
        return bool(known)

    def _note_new(self, task: Task, message_id: str, content: Content) -> None:
        original = self._said.match_copy(task.ns, content, space=self._space)
        if original is None:
            original = self._said.deliver(message_id, content, task=task.ns)
        else:
            self._hints.copies[message_id] = original.id
        self._said.claim(original, task.ns)
