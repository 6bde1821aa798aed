"""v3: what a reader in this process is sent, or one over a network that announced itself.

When a model raises, upstream leaves its message open (langgraph 1.2.24). The protocol's `error`
event would make every reader of its text raise, in a run that goes on. So where such a message is
taken back it is finished first, and its `response_metadata` say that it is void. A message that was
complete before its node failed has ended already; only the removal tells of it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from langchain_core.messages import RemoveMessage

from langgraph_once.config import DedupConfig
from langgraph_once.stream.dedup.forms.exact import ExactForm
from langgraph_once.stream.dedup.operations import Operation
from langgraph_once.stream.part.annotation import ANNOTATION_KEY, annotation_of
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.namespace import TASK_NS_KEY

__all__ = ["ENDS", "RUN_KEY", "VOID", "EventForm", "ExactEvents", "id_begun"]

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


class EventForm(ExactForm):
    """A form of v3, whose parts are events; what is still said at the end are whole messages."""

    def policy(self, config: DedupConfig) -> DedupConfig:
        """What runs again is retracted, also where it is to be held.

        Of a model whose first event was withheld, upstream's projections understand no later one.
        """
        return replace(config, reexecution="retract") if config.reexecution == "hold" else config

    @abstractmethod
    def told(self, part: Part, operations: Iterable[Operation]) -> Iterator[Part]:
        """What to send of a part: the operations on it, whose parts are events."""


class ExactEvents(EventForm):
    """The form of such readers."""

    def __init__(self) -> None:
        self._open: dict[str, Part] = {}

    def told(self, _: Part, operations: Iterable[Operation]) -> Iterator[Part]:
        """The events, each after the end of what it takes back."""
        for out in (operation.part for operation in operations):
            if out is not None:
                if isinstance(out.data, RemoveMessage):
                    yield from self._ended(out)
                self._note(out)
                yield out

    def _note(self, part: Part) -> None:
        if part.mode != "messages" or not isinstance(part.data, Mapping):
            return
        kind, run = part.data.get("event"), str(part.meta.get(RUN_KEY))
        if kind == "message-start":
            self._open[run] = part
        elif kind in ENDS:
            self._open.pop(run, None)

    def _ended(self, removal: Part) -> Iterator[Part]:
        """The event that ends the message which a removal takes back, if it is open."""
        message_id, task = str(removal.data.id), removal.meta.get(TASK_NS_KEY)
        for run, start in list(self._open.items()):
            if id_begun(start) == message_id and start.meta.get(TASK_NS_KEY) == task:
                del self._open[run]
                # The wire has no metadata of events: by its id the SDK finds whose end it is.
                end = {"event": "message-finish", "id": message_id, "metadata": VOID}
                yield start._replace(data=end)
