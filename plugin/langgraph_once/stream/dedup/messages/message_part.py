"""A part of the `messages` mode, with what its metadata say of its message."""

from __future__ import annotations

from langchain_core.messages import BaseMessage, BaseMessageChunk

from langgraph_once.stream.ledger.entry import Entry
from langgraph_once.stream.part.annotation import Annotation, annotation_of
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.namespace import NS_SEP, TASK_NS_KEY, lineage, task_order

__all__ = ["MessagePart", "is_empty"]

STEP_KEY = "langgraph_step"
MODEL_KEY = "ls_model_type"

FOLLOWS = frozenset({"given", "wins", "resumed"})
"""What an annotation has that says of a message: under this id, no other is meant."""


class MessagePart:
    """One part and what its metadata say of its message."""

    __slots__ = ("is_streamed", "message", "note", "part", "steps", "task")

    def __init__(self, part: Part) -> None:
        self.part = part
        self.message: BaseMessage = part.data
        task = part.meta.get(TASK_NS_KEY)
        self.task: str = task if task and isinstance(task, str) else NS_SEP.join(part.ns)
        self.note: Annotation | None = annotation_of(part.meta)
        # Read once: to whoever reads it behind this, tokens may have been lost on the way.
        self.is_streamed = self.note is not None and self.note.pop("streamed", False)
        self.steps = self._steps()

    @property
    def source(self) -> str | None:
        """Where it comes from; a model tells its name in the metadata, a node none."""
        if self.note is not None:
            return self.note["source"]
        return "model" if MODEL_KEY in self.part.meta else None

    @property
    def is_unnamed(self) -> bool:
        """Whether its id is one of ours, and the state will have another."""
        return self.note is not None and "unnamed" in self.note

    @property
    def order(self) -> tuple[str, ...]:
        """Where its task stands among those of its step."""
        return task_order(self.part.meta)

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
        """The steps of the task and those around it, as far as they are known."""
        if self.note is not None and "steps" in self.note:
            return self.note["steps"]
        step = self.part.meta.get(STEP_KEY)
        if not isinstance(step, int):
            return []
        return [*[-1] * (len(lineage(self.task)) - 1), step]


def is_empty(chunk: BaseMessageChunk) -> bool:
    """Whether a chunk says nothing: it may bear the usage alone."""
    return not chunk.content and not getattr(chunk, "tool_call_chunks", None)
