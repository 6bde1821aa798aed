"""How a fact stands to what the consumer has: one case, and the record that it speaks of."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum, auto

from langchain_core.messages import AIMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.config import DedupConfig
from langgraph_once.stream.dedup.forms import Form
from langgraph_once.stream.dedup.guess import Guess
from langgraph_once.stream.dedup.message_fact import MessageFact
from langgraph_once.stream.dedup.messages.identity import Identity, Match
from langgraph_once.stream.dedup.messages.reexecution import Reexecution
from langgraph_once.stream.dedup.operations import Because, DedupStats
from langgraph_once.stream.ledger.entry import Entry
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.ledger.texts import says
from langgraph_once.stream.part.places import lineage

__all__ = ["Case", "Cases"]


class Case(StrEnum):
    """How a fact stands to the record that it speaks of."""

    HELD = auto()
    NEXT = auto()
    AFTER_END = auto()
    GOES_ON = auto()
    FIRST = auto()
    ANOTHER = auto()
    NOT_KEPT = auto()
    KEPT_BY_NOW = auto()

    OUTRANKED = auto()
    OVERRIDES = auto()
    SAME = auto()
    LONGER = auto()
    EDITED = auto()
    COPY = auto()
    RESPACED_COPY = auto()
    NO_ID_YET = auto()
    NEW = auto()

    ALL_REMOVED = auto()
    RUNS_AGAIN = auto()
    CUT_SHORT = auto()
    OF_OUTER_GRAPH = auto()
    REMOVED = auto()


class Cases:
    """Tells cases apart.

    Args:
        ledger: What the consumer has.
        config: What counts as a repetition.
        stats: Counts what was inferred, for want of an annotation.
        form: What the consumer needs.
        modes: The modes that it asked for.

    Attributes:
        identity: Finds what a fact speaks of.
        reexecution: What tasks said that ran again.
        guess: Answers where no annotation does.
        awaits_ids: What a node wrote without an id waits until a state shows it.
    """

    def __init__(
        self,
        ledger: Ledger,
        config: DedupConfig,
        stats: DedupStats,
        form: Form,
        modes: Collection[str] = (),
    ) -> None:
        self._ledger = ledger
        self._config = config
        self._stats = stats
        self._takes_back = form.takes_back
        self._tells_details = form.tells_details
        self.guess = Guess(ledger, stats)
        self.identity = Identity(ledger, config, self.guess, space=form.space(config))
        self.reexecution = Reexecution(ledger, config, stats, goes_on=form.goes_on(modes))
        self.awaits_ids = True

    def case_of(self, fact: MessageFact) -> tuple[Case, Match | None]:
        """The case of a fact, and the record that it speaks of, if there is one."""
        if fact.is_chunk:
            return self._of_chunk(fact)
        return (self._of_removal(fact), None) if fact.is_removal else self._of_whole(fact)

    def _of_chunk(self, fact: MessageFact) -> tuple[Case, Match | None]:
        if fact.says("draft"):
            match = self.identity.not_kept(fact)
            return (Case.KEPT_BY_NOW if match is None else Case.NOT_KEPT), match
        key = fact.task, fact.id
        if key in self.reexecution.held:
            return Case.HELD, None
        was_withdrawn = key in self.guess.withdrawn
        if not was_withdrawn and self._ledger.is_news(*key):
            return Case.FIRST, None
        match = self.identity.of_chunk(fact)
        if match is not None:
            return (Case.NEXT if match.entry.is_open else Case.AFTER_END), match
        return (Case.GOES_ON if was_withdrawn else Case.ANOTHER), None

    def _of_whole(self, fact: MessageFact) -> tuple[Case, Match | None]:
        self._before_whole(fact)
        if fact.is_listed and (kept := self._written_beside(fact)) is not None:
            case = Case.OUTRANKED if kept.order > fact.order else Case.OVERRIDES
            return case, Match(kept, Because.CONCURRENT_WRITE)
        if (match := self.identity.of_whole(fact)) is not None:
            return self._of_known(fact, match), match
        match = self.identity.of_copy(fact)
        says_the_same = match is not None and self.identity.says_the_same(fact, match.entry)
        if self.awaits_ids and fact.is_unnamed and not says_the_same:
            return Case.NO_ID_YET, match
        if match is None:
            return Case.NEW, None
        return (Case.RESPACED_COPY if self._takes_back and not says_the_same else Case.COPY), match

    def _before_whole(self, fact: MessageFact) -> None:
        """Note what an earlier stream that was cut short had of it."""
        ledger, ns = self._ledger, fact.part.ns
        waited = fact.is_unnamed and ledger.pending_ids.drop_repeated(
            fact.part, fact.content, ledger.epoch
        )
        if fact.says("resumed") and not waited:
            ledger.goes_on(fact.id, fact.content, fact.task, ns, unnamed=fact.is_unnamed)

    def _written_beside(self, fact: MessageFact) -> Entry | None:
        """What a task beside its own wrote under its id that was done in a stream before.

        Of the tasks that run in one stream, the handler knows who wrote what.
        """
        found = (entry for entry in self._ledger.entries(fact.id) if entry.written is not None)
        return next((e for e in found if e.is_of_step(fact.task, fact.steps)), None)

    def _of_known(self, fact: MessageFact, match: Match) -> Case:
        """How a whole message stands to what the consumer has under its id."""
        known = match.entry
        if fact.says("wins"):
            return Case.OVERRIDES
        if says(known, fact.id, fact.content) or fact.is_streamed or self._stands_for(fact, known):
            return Case.SAME
        if isinstance(fact.message, AIMessage) and known.content.suffix_of(fact.content):
            return Case.LONGER
        return Case.EDITED

    def _stands_for(self, fact: MessageFact, known: Entry) -> bool:
        """Whether a consumer that takes nothing back keeps what it has, with its white space."""
        space = self.identity.space
        return not self._takes_back and self.identity.says_the_same(fact, known, space=space)

    def _of_removal(self, fact: MessageFact) -> Case:
        if fact.id == REMOVE_ALL_MESSAGES:
            return Case.ALL_REMOVED
        match fact.source:
            case "retry":
                return Case.RUNS_AGAIN
            case "resume":
                return Case.CUT_SHORT
        graph = lineage(fact.task)[:-1]
        known = [entry for entry in self._ledger.entries(fact.id) if entry.task]
        is_outer = all(lineage(entry.task)[: len(graph)] != graph for entry in known)
        return Case.OF_OUTER_GRAPH if graph and is_outer else Case.REMOVED
