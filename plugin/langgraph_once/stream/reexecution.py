"""What a task said before it ran again: held against the new attempt, taken back, or left to stand.

`DedupConfig(reexecution=…)` decides, here alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessageChunk

from langgraph_once.config import DedupConfig
from langgraph_once.stream.content import StreamedContent
from langgraph_once.stream.entries import Entry, saying
from langgraph_once.stream.forms import Because, DedupStats, Kind, Operation, removing
from langgraph_once.stream.identity import MessageFact
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.places import TASK_NS_KEY, bare
from langgraph_once.stream.shapes import Part


class HeldRetry:
    """One message of a new attempt beside the one of the attempt before that it may repeat.

    The consumer has what the earlier attempt said. Under the policy "hold" the new attempt is held
    back while it repeats those words. Where it differs, the earlier attempt is taken back.

    Args:
        ledger: What the consumer has.
        old: What it has of the attempt before.
        because: How the attempt before was recognized.
        goes_on: Whether what the new attempt says beyond the old one comes under the old one's id.
            Else the new attempt comes as a whole then.

    Attributes:
        is_over: It is decided; the rest of the new message needs no comparison.
    """

    def __init__(self, ledger: Ledger, old: Entry, because: Because, *, goes_on: bool) -> None:
        self._ledger = ledger
        self._old = old
        self._because = because
        self._held: list[Part] = []
        self._said: Any = None
        self._may_go_on = goes_on
        self._continues = False
        self._is_gone = False
        self.is_over = False

    def feed(self, fact: MessageFact) -> Iterator[Operation]:
        """What the consumer gets of a chunk of the new message."""
        if self._continues:
            self.is_over = fact.is_last
            yield Operation(Kind.APPEND, Because.NEXT, self._as_old(fact.part, fact.message))
            return
        if self._said is None:
            self._said = StreamedContent(fact.message)
        else:
            self._said.extend(fact.message)
        yield from self._compared(fact)

    def old_is_gone(self) -> None:
        """Note that the consumer has lost what the earlier attempt said."""
        self._is_gone = True

    def _compared(self, fact: MessageFact) -> Iterator[Operation]:
        said, old, chunk = self._said.content(), self._old.content, fact.message
        beyond = self._beyond()
        if fact.is_last and said == old and not self._is_gone:
            self.is_over = True
            # The end alone: without it the message would stay open at the client.
            silent = chunk.model_copy(update={"content": "", "tool_call_chunks": []})
            yield Operation(Kind.COMMIT, self._because, self._as_old(fact.part, silent))
        elif fact.is_last or self._is_gone or not (old.text.startswith(said.text) or beyond):
            self.is_over = True
            self._ledger.drop(self._old)
            yield removing(fact.part, self._old.id, self._because)
            for part in (*self._held, fact.part):
                yield Operation(Kind.BEGIN, Because.NEW, part)
        elif beyond:
            self._continues = True
            rest = end_of(chunk, len(beyond))
            yield Operation(Kind.APPEND, self._because, self._as_old(fact.part, rest))
        else:
            self._held.append(fact.part)
            yield Operation(Kind.HOLD, self._because)

    def _beyond(self) -> str | None:
        """What the new attempt says beyond the old one, if that may come under the old one's id."""
        return self._old.content.suffix_of(self._said.content()) if self._may_go_on else None

    def _as_old(self, part: Part, chunk: BaseMessageChunk) -> Part:
        return part._replace(data=chunk.model_copy(update={"id": self._old.id}))


def end_of(chunk: BaseMessageChunk, size: int) -> AIMessageChunk:
    """The last `size` characters of a chunk's text, in the block it has them in.

    Consumers add blocks up by their index: a plain string would come to stand behind what follows.
    """
    text = str(chunk.text)[-size:]
    blocks = chunk.content if isinstance(chunk.content, list) else []
    own = next((each for each in reversed(blocks) if isinstance(each, dict) and "text" in each), {})
    return AIMessageChunk(content=[{**own, "text": text}] if own else text)


class Reexecution:
    """The attempts of tasks that ran again.

    Args:
        ledger: What the consumer has.
        config: Has the policy.
        stats: Counts what was inferred, for want of an annotation.
        goes_on: Whether what a new attempt says beyond the old one comes under the old one's id.

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
        elif earlier:
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
        for entry in self.earlier(fact):
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
            # A state has replaced the client's list since: there is nothing left to take back.
            if entry.number <= self._before_state:
                self._ledger.drop(entry)
            elif self._policy == "retract":
                yield self.take_back(fact.part, entry)
            else:
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
            # What an earlier stream said waits: its task may run again in a later one.
            if entry.epoch == self._ledger.epoch:
                part = Part((), "messages", None, {TASK_NS_KEY: entry.task})
                yield self.take_back(part, entry)

    def _because(self, entry: Entry) -> Because:
        is_old = entry.began_in < self._ledger.epoch
        return Because.EARLIER_STREAM if is_old else Because.EARLIER_ATTEMPT
