"""What a run has delivered so far. With it, `reconcile` tells what is missing. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage, BaseMessageChunk

from langgraph_once.stream import Part
from langgraph_once.stream.part.namespace import TASK_NS_KEY

__all__ = ["Delivered"]


class Delivered:
    """Remembers which task said which message.

    Attributes:
        last_id: The id of the message that was noted last. Its other tokens need no note.
        thread_id: The thread that the messages name in their metadata.
        updates: The checksums of the updates of the root graph.
        said: The tasks of the root graph that said something, each with the ids of its messages.
        unfinished: Those of them whose end did not come.
    """

    def __init__(self) -> None:
        self.last_id: str | None = None
        self.thread_id: str | None = None
        self.updates: set[int] = set()
        self.said: dict[str, dict[str, None]] = {}
        self.unfinished: set[str] = set()

    def note(self, message: BaseMessage, meta: Mapping[str, Any]) -> None:
        """Note which task of the root graph said a message."""
        self.last_id = message.id
        self.thread_id = self.thread_id or meta.get("thread_id")
        task = str(meta.get(TASK_NS_KEY) or "").partition("|")[0]
        if task and message.id and message.type != "remove":
            said = self.said.setdefault(task, {})
            if isinstance(message, BaseMessageChunk) and message.id not in said:
                self.unfinished.add(message.id)
            said[message.id] = None

    def note_part(self, part: Part) -> None:
        """Note what a part of any kind says."""
        message = part.data
        if isinstance(message, BaseMessage):
            if message.id != self.last_id:
                self.note(message, part.meta)
            if getattr(message, "chunk_position", None) == "last":
                self.unfinished.discard(str(message.id))
