"""What a part of mode `messages` says of its message."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import BaseMessageChunk, RemoveMessage

from langgraph_once.stream.ledger.entry import Entry
from langgraph_once.stream.part.annotation import Annotation, annotation_of, source_in
from langgraph_once.stream.part.content import Content, content_of
from langgraph_once.stream.part.places import NS_SEP, TASK_NS_KEY, lineage, task_order
from langgraph_once.stream.part.shapes import Part

STEP_KEY = "langgraph_step"

FOLLOWS = frozenset({"given", "wins", "resumed"})
"""What an annotation has that says of a message: under this id, no other is meant."""


class MessageFact:
    """One part, with what its metadata say of its message.

    Attributes:
        part: The part.
        message: Its message: whole, a chunk, or a removal.
        id: The id of the message, as a text.
        task: The task that says it; the graph, where no task is named.
        note: What our handler wrote beside it, if it did.
        steps: The steps of the task and those around it, as far as they are known.
        is_streamed: It is what its model run said, though perhaps in another form.
        is_listed: Its task wrote it into a list that keeps one message for each id.
    """

    __slots__ = (
        "_content",
        "id",
        "is_listed",
        "is_streamed",
        "message",
        "note",
        "part",
        "steps",
        "task",
    )

    def __init__(self, part: Part) -> None:
        self.part = part
        self.message: Any = part.data
        self.id = str(part.data.id)
        task = part.meta.get(TASK_NS_KEY)
        self.task: str = task if task and isinstance(task, str) else NS_SEP.join(part.ns)
        self.note: Annotation | None = annotation_of(part.meta)
        # Popped: tokens may be lost on the way to a later deduplicator, which must not trust it.
        self.is_streamed = self.note is not None and self.note.pop("streamed", False)
        self.is_listed = self.note is not None and self.note.pop("listed", False)
        self.steps = self._steps()
        self._content: Content | None = None

    @property
    def content(self) -> Content:
        """What the message says."""
        if self._content is None:
            self._content = content_of(self.message)
        return self._content

    @property
    def source(self) -> str | None:
        """Where it comes from, where that is known."""
        return source_in(self.part.meta, self.note)

    @property
    def ids(self) -> tuple[str, ...]:
        """Its id, and the other one that its annotation names: of what streamed it, say."""
        streamed = self.note and self.note.get("id")
        return (self.id, streamed) if streamed else (self.id,)

    @property
    def is_chunk(self) -> bool:
        """Whether it is a piece of a message."""
        return isinstance(self.message, BaseMessageChunk)

    @property
    def is_removal(self) -> bool:
        """Whether it takes a message away."""
        return isinstance(self.message, RemoveMessage)

    @property
    def is_unnamed(self) -> bool:
        """Whether its id is one of ours, and the state will have another."""
        return self.says("unnamed")

    @property
    def is_last(self) -> bool:
        """Whether it is the last chunk of its message."""
        return getattr(self.message, "chunk_position", None) == "last"

    @property
    def is_empty(self) -> bool:
        """Whether it is a chunk that says nothing: it may bear the usage alone."""
        return not self.message.content and not getattr(self.message, "tool_call_chunks", None)

    @property
    def order(self) -> tuple[str, ...]:
        """Where its task stands among those of its step."""
        return task_order(self.part.meta)

    def says(self, flag: str) -> bool:
        """Whether the annotation has this flag."""
        return self.note is not None and bool(self.note.get(flag))

    def follows(self, entry: Entry, epoch: int) -> bool:
        """Whether this comes after that message for good, so that its id means this now.

        Tasks of one step run side by side, and may send equal ids that are all real.
        """
        if entry.epoch < epoch or entry.akin(self.task):
            return True
        if self.note is not None and not FOLLOWS.isdisjoint(self.note):
            return True
        mine, its = lineage(self.task), lineage(entry.task)
        apart = next(
            (i for i, pair in enumerate(zip(mine, its, strict=False)) if len(set(pair)) > 1), None
        )
        if apart is None or apart >= min(len(self.steps), len(entry.steps)):
            return False
        return 0 <= entry.steps[apart] < self.steps[apart]

    def _steps(self) -> list[int]:
        if self.note is not None and "steps" in self.note:
            return self.note["steps"]
        step = self.part.meta.get(STEP_KEY)
        if not isinstance(step, int):
            return []
        return [*[-1] * (len(lineage(self.task)) - 1), step]
