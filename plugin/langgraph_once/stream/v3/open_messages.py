"""v3: the messages that models are saying now; one whose model fails is ended and marked void.

When a model raises, upstream leaves its message open (langgraph 1.2.22), and `run.messages` shows
it beside its successor. The protocol's `error` event would make every reader of its text raise, in
a run that goes on. So the message is finished, and its `response_metadata` say that it is void. A
message that was complete before its node failed has ended in `run.messages` already; only the
removal tells of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from langgraph_once.stream.part.annotation import ANNOTATION_KEY, annotation_of
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.namespace import TASK_NS_KEY

__all__ = ["ENDS", "RUN_KEY", "VOID", "OpenMessages", "id_begun"]

RUN_KEY: Final = "run_id"

VOID: Final = {ANNOTATION_KEY: {"void": True}}
"""What the metadata of the end of such a message say."""

ENDS: Final = frozenset({"message-finish", "error"})
"""The events after which a model says no more of a message."""


def id_begun(start: Part) -> str:
    """The id of the message that a `message-start` begins."""
    note: Mapping[str, Any] = annotation_of(start.meta) or {}
    event = start.data
    run = str(start.meta.get(RUN_KEY))
    return str(note.get("id") or event.get("id") or event.get("message_id") or run)


class OpenMessages:
    """Those of one stream, by the model run that says them."""

    def __init__(self) -> None:
        self._starts: dict[str, Part] = {}

    def note(self, part: Part) -> None:
        """Note a part that has gone out."""
        if part.mode != "messages" or not isinstance(part.data, Mapping):
            return
        kind, run = part.data.get("event"), str(part.meta.get(RUN_KEY))
        if kind == "message-start":
            self._starts[run] = part
        elif kind in ENDS:
            self._starts.pop(run, None)

    def ended(self, removal: Part) -> Iterator[Part]:
        """The event that ends the message which a removal takes back, if it is open."""
        message_id, task = str(removal.data.id), removal.meta.get(TASK_NS_KEY)
        for run, start in list(self._starts.items()):
            if id_begun(start) == message_id and start.meta.get(TASK_NS_KEY) == task:
                del self._starts[run]
                # The wire has no metadata of events: by its id the SDK finds whose end it is.
                end = {"event": "message-finish", "id": message_id, "metadata": VOID}
                yield start._replace(data=end)
