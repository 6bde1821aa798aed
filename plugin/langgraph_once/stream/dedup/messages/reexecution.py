"""What a task said before it ran again: held against the new attempt, taken back, or left to stand.

`DedupConfig(reexecution=…)` decides, here alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from langgraph_once.config import DedupConfig
from langgraph_once.stream.dedup.messages.fact import MessageFact
from langgraph_once.stream.dedup.messages.held_retry import HeldRetry
from langgraph_once.stream.dedup.operations import Because, Kind, Operation, removing
from langgraph_once.stream.dedup.stats import DedupStats
from langgraph_once.stream.ledger.entry import Entry
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.ledger.texts import saying
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.namespace import TASK_NS_KEY, bare

__all__ = ["Reexecution"]


class Reexecution:
    """The attempts of tasks that ran again.

    Args:
        ledger: What the consumer has.
        config: Has the policy.
        stats: Counts what was inferred, for want of an annotation.
        goes_on: As `HeldRetry`.

    Attributes:
        held: What may repeat an earlier attempt, while that is not decided; by task and id.
    """

    def __init__(
        self, ledger: Ledger, config: DedupConfig, stats: DedupStats, *, goes_on: bool
    ) -> None:
        self._ledger = ledger
        self._policy = config.reexecution
        self._stats = stats
        self._goes_on = goes_on
        self.held: dict[tuple[str, str], HeldRetry] = {}
        self._before_state = 0

    def earlier(self, fact: MessageFact) -> list[Entry]:
        """D3 to D5: what the task of a fact has said before it ran again."""
        if fact.task == bare(fact.task):  # from an update, which names no task but a node
            return []
        stale = [entry for entry in self._ledger.stale() if entry.task == fact.task]
        older = [entry for entry in self._ledger.said_before(fact.task) if entry not in stale]
        if older and fact.note is None:
            self._stats.inferred += 1
        return [*stale, *older]

    def before_chunk(self, fact: MessageFact) -> Iterator[Operation]:
        """What becomes of earlier attempts as a message begins to stream.

        The message itself goes out after that, unless `held` has it now.
        """
        earlier = self.earlier(fact)
        if self._policy == "retract":
            for entry in earlier:
                yield self.take_back(fact.part, entry)
        elif self._policy == "hold" and earlier:
            old, *later = earlier
            for entry in later:
                self._ledger.outdate(entry)
            old.stand()
            held = HeldRetry(self._ledger, old, self._because(old), goes_on=self._goes_on)
            self.held[fact.task, fact.id] = held
            self._ledger.alias(old, fact.id)  # a third attempt may follow

    def chunk(self, fact: MessageFact, held: HeldRetry) -> Iterator[Operation]:
        """What becomes of a chunk of a message that is held."""
        yield from held.feed(fact)
        if held.is_over:
            self.held.pop((fact.task, fact.id), None)

    def before_whole(self, fact: MessageFact) -> Iterator[Operation]:
        """What becomes of earlier attempts as a whole message comes. A commit says that one of
        them is that message."""
        for entry in self.earlier(fact) if self._policy != "mark" else ():
            if self._policy == "hold" and saying(fact.content, [entry]):
                self._ledger.alias(entry, fact.id)
                entry.epoch = self._ledger.epoch
                entry.stand()
                yield Operation(Kind.COMMIT, self._because(entry))
                return
            yield self.take_back(fact.part, entry)

    def retried(self, fact: MessageFact) -> Iterator[Operation]:
        """What becomes of a message that the handler takes back, as its task runs again."""
        found = [entry for entry in self._ledger.entries(fact.id) if entry.task == fact.task]
        self.held.pop((fact.task, fact.id), None)
        self._ledger.pending_ids.drop_parts(fact.id)
        for entry in found:
            if entry.number <= self._before_state:
                self._ledger.drop(entry)
            elif self._policy == "retract":
                yield self.take_back(fact.part, entry)
            elif self._policy == "hold":
                self._ledger.outdate(entry)

    def take_back(self, part: Part, entry: Entry) -> Operation:
        """The consumer is to drop what an earlier attempt said."""
        self._ledger.drop(entry)
        return removing(part, entry.id, self._because(entry))

    def state_passes(self) -> None:
        """Note that the consumer replaces its list by a state.

        That has nothing of what is under way, so what is said again goes out from the beginning.
        """
        for entry in self._ledger.stale():
            self._ledger.drop(entry)
        for held in self.held.values():
            held.old_is_gone()
        self._before_state = self._ledger.added

    def close(self) -> Iterator[Operation]:
        """Take back what an earlier attempt said and no later one repeated."""
        for entry in self._ledger.stale():
            if entry.epoch == self._ledger.epoch:
                part = Part((), "messages", None, {TASK_NS_KEY: entry.task})
                yield self.take_back(part, entry)

    def _because(self, entry: Entry) -> Because:
        is_old = entry.began_in < self._ledger.epoch
        return Because.EARLIER_STREAM if is_old else Because.EARLIER_ATTEMPT
