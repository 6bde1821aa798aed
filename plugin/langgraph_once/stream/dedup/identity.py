"""Which message of the ledger a part of mode `messages` speaks of.

A matcher takes a fact and gives a record or None; they stand in the order in which they are asked.
`ledger/entries.py` compares what messages say.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from langchain_core.messages import ToolMessage

from langgraph_once.stream.dedup.guess import Guess
from langgraph_once.stream.dedup.message_fact import MessageFact
from langgraph_once.stream.dedup.operations import Because
from langgraph_once.stream.ledger.entry import Entry, State
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.part.content import Space

COPIES_NOTHING: Final = frozenset({"model", "push"})
"""Sources of messages that are never a copy of another."""


class Match(NamedTuple):
    """A message that the consumer has, and how it was recognized."""

    entry: Entry
    because: Because


class Identity:
    """Finds the message that a chunk goes on with, or that a whole message is or repeats.

    Args:
        ledger: What the consumer has.
        guess: Answers where no annotation does.
        space: What white space a copy may differ in.

    Attributes:
        space: The same.
    """

    def __init__(self, ledger: Ledger, guess: Guess, *, space: Space) -> None:
        self.space: Space = space
        self._ledger = ledger
        self._guess = guess

    def of_chunk(self, fact: MessageFact) -> Match | None:
        """The message that a chunk goes on with, under whatever id."""
        if fact.note is not None:
            find = self.repaired if fact.says("repairs") else self.same_run
            return _match(find(fact), Because.NEXT)
        return _match(self._guess.same_id_in_task(fact), Because.NEXT) or _match(
            self._guess.other_id_of_run(fact), Because.OTHER_ID_OF_RUN
        )

    def repaired(self, fact: MessageFact) -> Entry | None:
        """The message, perhaps finished, that a chunk completes: a deduplicator before this one
        found that text was missing."""
        known = self._ledger.entries(fact.id)
        return next((entry for entry in known if entry.akin(fact.task)), None)

    def same_run(self, fact: MessageFact) -> Entry | None:
        """The message that the same model run streams under the same id."""
        entry = self._ledger.open_entries((fact.task, fact.id))
        run = fact.note and fact.note.get("run")
        return entry if entry is not None and entry.run == run else None

    def not_kept(self, fact: MessageFact) -> Match | None:
        """The answer that a mark is of, unless a task has repeated it since."""
        known = self._ledger.entries(fact.id)
        entry = next((entry for entry in known if entry.task == fact.task), None)
        is_kept = entry is None or entry.state is State.COMMITTED
        return None if is_kept else _match(entry, Because.NOT_KEPT)

    def of_whole(self, fact: MessageFact) -> Match | None:
        """What the consumer has of a whole message, by its id or by that of its model run."""
        match = _match(self.same_id(fact), Because.SAME_ID)
        if match is None and fact.note is None:
            return _match(self._guess.nameless_run(fact), Because.OTHER_ID_OF_RUN)
        return match

    def same_id(self, fact: MessageFact) -> Entry | None:
        """D6, D7, L2: what is known under its id, or under the id that it was streamed under."""
        for message_id in fact.ids:
            known = reversed(self._ledger.entries(message_id))
            before = [entry for entry in known if fact.follows(entry, self._ledger.epoch)]
            if before:  # its own, if tasks beside it said something under this id, too
                return max(before, key=lambda entry: entry.akin(fact.task))
        return None

    def of_copy(self, fact: MessageFact) -> Match | None:
        """D1, D2: what a whole message with an id of its own repeats."""
        if fact.source in COPIES_NOTHING or fact.says("new"):
            return None
        if isinstance(fact.message, ToolMessage):  # a tool may give the same result twice
            return None
        if fact.note is None:
            entry = self._guess.copy_in_task(fact)
        else:
            entry = self._ledger.match_copy(fact.task, fact.content, space=self.space)
        if entry is None:
            return None
        is_inner = entry.task != fact.task
        return Match(entry, Because.COPY_OF_INNER_TASK if is_inner else Because.COPY_IN_TASK)

    def says_the_same(self, fact: MessageFact, entry: Entry, space: Space = "same") -> bool:
        """Whether a whole message says what a record does, in whatever role, but for `space`."""
        return fact.content.is_copy_of(entry.content, in_any_role=True, space=space)


def _match(entry: Entry | None, because: Because) -> Match | None:
    return None if entry is None else Match(entry, because)
