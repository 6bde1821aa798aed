"""Messages of who is hidden, kept from the consumer.

A second state machine, with a ledger of its own, takes them and passes nothing on. So copies,
edits and removals of a hidden message are found by the same rules as those of any other, and the
ledger of the consumer, by which states are cut, never knows of them.
"""

from __future__ import annotations

from collections import deque
from typing import Self

from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.config import DedupConfig
from langgraph_once.stream.dedup.hide import Hiding
from langgraph_once.stream.dedup.messages.fact import MessageFact
from langgraph_once.stream.dedup.messages.identity import COPIES_NOTHING
from langgraph_once.stream.dedup.messages.lifecycle import Lifecycle
from langgraph_once.stream.dedup.stats import DedupStats
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.namespace import lineage

__all__ = ["HiddenMessages"]


class HiddenMessages(Lifecycle):
    """Decides which messages are hidden, and knows those that were.

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

    def consume(self, part: Part) -> bool:
        """Whether a part is hidden, which is noted."""
        message = part.data
        if not isinstance(message, BaseMessage) or not message.id:
            return self._hiding.hides(part)
        fact = MessageFact(part)
        if fact.note is not None:  # another is to read it after this
            if fact.is_streamed:
                fact.note["streamed"] = True
            if fact.is_listed:
                fact.note["listed"] = True
        if fact.is_removal:
            return self._hides_removal(fact)
        is_hidden = self._hides_chunk if fact.is_chunk else self._hides_whole
        if not (fact.says("hidden") or is_hidden(fact)):
            return False
        self._note(part)
        return True

    def _note(self, part: Part) -> None:
        deque(self.feed(part), maxlen=0)

    def _hides_chunk(self, fact: MessageFact) -> bool:
        return self._hiding.hides(fact.part) or (fact.says("repairs") and self._knows(fact))

    def _hides_whole(self, fact: MessageFact) -> bool:
        if self.identity.of_whole(fact) is not None:
            return True
        known = self._delivered.entries(fact.id)
        if any(fact.follows(entry, self._delivered.epoch) for entry in known):
            return False
        if self._hiding.hides(fact.part):
            return not (fact.says("given") or fact.source == "history")
        if fact.source in COPIES_NOTHING:
            return False
        space = self.identity.space
        if self._delivered.match_copy(fact.task, fact.content, space=space) is not None:
            return False
        return self.identity.of_copy(fact) is not None or self._answers(fact.message)

    def _answers(self, message: BaseMessage) -> bool:
        """Whether it is the result of a tool that a hidden message calls."""
        return isinstance(message, ToolMessage) and any(
            call_id == message.tool_call_id
            for entry in self._ledger.known()
            for call_id, *_ in entry.content.calls
        )

    def _hides_removal(self, fact: MessageFact) -> bool:
        if fact.id == REMOVE_ALL_MESSAGES:
            return False  # what is kept comes again, and what was hidden stays so
        is_hidden = self._knows(fact)
        if fact.source == "retry":
            for entry in self._ledger.entries(fact.id):
                for task in lineage(entry.task):  # it stands for no copy, and stays hidden
                    self._ledger.claim(entry, task)
        elif is_hidden:
            self._note(fact.part)
        elif fact.source == "resume":
            return self._hiding.hides(fact.part)
        return is_hidden and not any(e.task for e in self._delivered.entries(fact.id))

    def _knows(self, fact: MessageFact) -> bool:
        return any(map(self._ledger.entries, fact.ids))
