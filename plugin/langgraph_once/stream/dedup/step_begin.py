"""When the graph at the root goes on to another step, as far as the parts of a stream tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph_once.stream.dedup.messages.message_part import STEP_KEY
from langgraph_once.stream.part.annotation import annotation_of
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.namespace import TASK_NS_KEY, lineage

__all__ = ["Steps"]


class Steps:
    """Watches the messages of one stream; states do not tell their step."""

    def __init__(self) -> None:
        self._last: int | None = None

    def begun(self, part: Part) -> int | None:
        """The step that this part is the first of; None for any other, and for the first step."""
        step = _root_step(part.meta) if part.mode == "messages" else None
        last = self._last
        if step is None or (last is not None and step <= last):
            return None
        self._last = step
        return None if last is None else step


def _root_step(meta: Mapping[str, Any]) -> int | None:
    note = annotation_of(meta)
    if note is not None and note.get("steps"):
        return note["steps"][0]
    if len(lineage(meta.get(TASK_NS_KEY, ""))) > 1:
        return None
    step: int | None = meta.get(STEP_KEY)
    return step
