"""What a graph's nodes do, for streams of states that carry no messages of their own.

A state tells neither which task a message comes from nor that a task ran again, and an update
may carry a message before its reducer gives it an id. This handler listens beside a run that
is streamed without the `messages` mode, makes no model stream, and changes nothing but that a
message without an id gets one at once, as upstream's handler does in the `messages` mode.
"""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from langgraph_once.stream.dedup.states.hints import Hints
from langgraph_once.stream.part.annotation import Source
from langgraph_once.stream.part.messages_within import found_in_update
from langgraph_once.stream.running.attempts import Meta, Task
from langgraph_once.stream.running.node_handler import NodeHandler

__all__ = ["HintsHandler"]


class HintsHandler(NodeHandler):
    """Tells of the nodes of a run, and streams nothing.

    Args:
        hints: Takes what is heard.
    """

    ignore_llm = ignore_chat_model = ignore_agent = ignore_retriever = True

    def __init__(self, hints: Hints) -> None:
        super().__init__()
        self._hints = hints

    def _begin(self, task: Task) -> None:
        if task.start():
            self._hints.note_rerun(task.ns)

    def _end(self, meta: Meta, task: Task, response: Any, source: Source, *, is_over: bool) -> None:
        for message in found_in_update(response, lambda _: False).messages:
            message.id = message.id or str(uuid4())
            self._hints.note_returned(message.id, meta[0], task.ns)
        super()._end(meta, task, response, source, is_over=is_over)
