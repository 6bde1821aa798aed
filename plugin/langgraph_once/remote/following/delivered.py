"""What a run has delivered so far. With it, `reconcile` tells what is missing. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from langchain_core.messages import BaseMessage, BaseMessageChunk

from langgraph_once.remote.following.reconcile import State, lost_parts
from langgraph_once.stream import Part
from langgraph_once.stream.part.namespace import TASK_NS_KEY

__all__ = ["Delivered"]


class Delivered:
    """Remembers which task said which message.

    Attributes:
        last_id: The id of the message that was noted last. Its other tokens need no note.
        updates: The checksums of the updates of the root graph.
        thread_id: The thread that the messages name in their metadata.
    """

    def __init__(self) -> None:
        self.last_id: str | None = None
        self.updates: set[int] = set()
        self.thread_id: str | None = None
        self._said: dict[str, dict[str, None]] = {}
        self._unfinished: set[str] = set()

    def note(self, message: BaseMessage, meta: Mapping[str, Any]) -> None:
        """Note which task of the root graph said a message."""
        self.last_id = message.id
        self.thread_id = self.thread_id or meta.get("thread_id")
        task = str(meta.get(TASK_NS_KEY) or "").partition("|")[0]
        if task and message.id and message.type != "remove":
            if isinstance(message, BaseMessageChunk) and message.id not in self._said.get(task, ()):
                self._unfinished.add(message.id)
            self._said.setdefault(task, {})[message.id] = None

    def note_part(self, part: Part) -> None:
        """Note what a part of any kind says."""
        message = part.data
        if isinstance(message, BaseMessage):
            if message.id != self.last_id:
                self.note(message, part.meta)
            if getattr(message, "chunk_position", None) == "last":
                self._unfinished.discard(str(message.id))

    def lost(
        self, states: Sequence[State], modes: AbstractSet[str], *, is_whole: bool
    ) -> Iterator[Part]:
        """What the checkpoints of the run prove to be missing.

        Args:
            states: The checkpoints, newest first.
            modes: The modes that the run streams.
            is_whole: The checkpoints reach back to where the run began.
        """
        return lost_parts(
            states, modes, self.updates, self._said, self._unfinished, is_whole=is_whole
        )
