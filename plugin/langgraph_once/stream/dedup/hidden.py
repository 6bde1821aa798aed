"""Messages of who is hidden, kept from the consumer.

A second state machine, with a ledger of its own, takes them and passes nothing on. So copies,
edits and removals of a hidden message are found by the same rules as those of any other, and the
ledger of the consumer, by which states are cut, never knows of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Self

from langchain_core.messages import BaseMessage, BaseMessageChunk, RemoveMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.config import DedupConfig
from langgraph_once.stream.dedup.hide import Hiding
from langgraph_once.stream.dedup.messages.decide import MessageParts
from langgraph_once.stream.dedup.messages.message_part import MessagePart
from langgraph_once.stream.dedup.stats import DedupStats
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.part.annotation import annotation_of
from langgraph_once.stream.part.content import content_of
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.namespace import lineage

__all__ = ["HiddenParts"]

OF_OTHERS = frozenset({"model", "push", "history"})
"""Sources of messages that copy nothing."""


class HiddenParts(MessageParts):
    """Decides which parts are hidden, and knows those that were.

    A message is hidden by who says it first, wherever it comes again. One that the consumer has
    already is not: what becomes of it is told, whoever does it.

    Args:
        hiding: Who is hidden.
        ledger: What the consumer has, with the ledger of what is hidden from it.
        config: What counts as a repetition.
    """

    def __init__(self, hiding: Hiding, ledger: Ledger, config: DedupConfig) -> None:
        if ledger.hidden is None:
            ledger.hidden = Ledger.within(config)
        super().__init__(ledger.hidden, config, DedupStats())
        self.awaits_ids = False  # nobody is sent it, and no state is read here
        self._hiding = hiding
        self._delivered = ledger

    @classmethod
    def of(cls, ledger: Ledger, config: DedupConfig) -> Self | None:
        """What `config` hides; None if that is nothing."""
        hiding = Hiding.of(config)
        return None if hiding is None else cls(hiding, ledger, config)

    def takes(self, part: Part) -> bool:
        """Whether a part is hidden, which is noted."""
        message = part.data
        if not isinstance(message, BaseMessage) or not message.id:
            return self._hiding.hides(part)
        note: Mapping[str, Any] = annotation_of(part.meta) or {}
        if isinstance(message, RemoveMessage):
            return self._takes_removal(part, message.id, note)
        is_chunk = isinstance(message, BaseMessageChunk)
        if not note.get("hidden"):
            is_hidden = self._hides_chunk if is_chunk else self._hides_whole
            if not is_hidden(part, message.id, note):
                return False
        _drained(self.chunk(part) if is_chunk else self.whole(part))
        return True

    def _hides_chunk(self, part: Part, message_id: str, note: Mapping[str, Any]) -> bool:
        if self._hiding.hides(part):
            return True
        return bool(note.get("repairs")) and self._knows(message_id, note)

    def _hides_whole(self, part: Part, message_id: str, note: Mapping[str, Any]) -> bool:
        said, content = _said(part), content_of(part.data)
        if self.matcher.of_whole(said, content) is not None:
            return True
        known = self._delivered.entries(message_id)
        if any(said.follows(entry, self._delivered.epoch) for entry in known):
            return False
        if self._hiding.hides(part):
            return not (note.get("given") or said.source == "history")
        if said.source in OF_OTHERS:
            return False
        space = self.matcher.space
        if self._delivered.match_copy(said.task, content, space=space) is not None:
            return False
        return self.matcher.of_copy(said, content) is not None or self._answers(part.data)

    def _answers(self, message: BaseMessage) -> bool:
        """Whether it is the result of a tool that a hidden message calls."""
        return isinstance(message, ToolMessage) and any(
            call_id == message.tool_call_id
            for entry in self._ledger.known()
            for call_id, *_ in entry.content.calls
        )

    def _takes_removal(self, part: Part, message_id: str, note: Mapping[str, Any]) -> bool:
        if message_id == REMOVE_ALL_MESSAGES:
            return False  # what is kept comes again, and what was hidden stays so
        is_hidden = self._knows(message_id, note)
        if note.get("source") == "retry":
            for entry in self._ledger.entries(message_id):
                for task in lineage(entry.task):  # it stands for no copy, and stays hidden
                    self._ledger.claim(entry, task)
        elif is_hidden:
            _drained(self.removal(part))
        elif note.get("source") == "resume":
            return self._hiding.hides(part)
        return is_hidden and not any(e.task for e in self._delivered.entries(message_id))

    def _knows(self, message_id: str, note: Mapping[str, Any]) -> bool:
        return any(self._ledger.entries(each) for each in (message_id, note.get("id")) if each)


def _said(part: Part) -> MessagePart:
    """A part as read, which another is to read after this."""
    said = MessagePart(part)
    if said.is_streamed and said.note is not None:
        said.note["streamed"] = True
    return said


def _drained(parts: Iterable[Part]) -> None:
    deque(parts, maxlen=0)
