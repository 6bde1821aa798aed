"""What a part of mode `messages` says, and which message of the ledger it speaks of.

A matcher takes a fact and gives a record or None; they stand in the order in which they are asked.
`ledger/texts.py` compares what messages say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from langchain_core.messages import BaseMessageChunk, RemoveMessage, ToolMessage

from langgraph_once.config import DedupConfig
from langgraph_once.stream.dedup.operations import Because, DedupStats
from langgraph_once.stream.ledger.entry import Entry, State
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.ledger.texts import copied, saying
from langgraph_once.stream.part.annotation import Annotation, annotation_of, source_in
from langgraph_once.stream.part.content import Content, Space, content_of, is_auto
from langgraph_once.stream.part.places import NS_SEP, TASK_NS_KEY, lineage, task_order
from langgraph_once.stream.part.shapes import Part

__all__ = ["COPIES_NOTHING", "Identity", "Match", "MessageFact"]

STEP_KEY = "langgraph_step"

FOLLOWS = frozenset({"given", "wins", "resumed"})
"""What an annotation has that says of a message: under this id, no other is meant."""


class MessageFact:
    """One part, with what its metadata say of its message.

    Attributes:
        part: The part.
        message: Its message: whole, a chunk, or a removal.
        id: The id of the message, as a text.
        task: The task that says it; the graph, where no task is named.
        note: What our handler wrote beside it, if it did.
        steps: The steps of the task and those around it, as far as they are known.
        is_streamed: It is what its model run said, though perhaps in another form.
        is_listed: Its task wrote it into a list that keeps one message for each id.
    """

    __slots__ = (
        "_content",
        "id",
        "is_listed",
        "is_streamed",
        "message",
        "note",
        "part",
        "steps",
        "task",
    )

    def __init__(self, part: Part) -> None:
        self.part = part
        self.message: Any = part.data
        self.id = str(part.data.id)
        task = part.meta.get(TASK_NS_KEY)
        self.task: str = task if task and isinstance(task, str) else NS_SEP.join(part.ns)
        self.note: Annotation | None = annotation_of(part.meta)
        # Popped: tokens may be lost on the way to a later deduplicator, which must not trust it.
        self.is_streamed = self.note is not None and self.note.pop("streamed", False)
        self.is_listed = self.note is not None and self.note.pop("listed", False)
        self.steps = self._steps()
        self._content: Content | None = None

    @property
    def content(self) -> Content:
        """What the message says."""
        if self._content is None:
            self._content = content_of(self.message)
        return self._content

    @property
    def source(self) -> str | None:
        """Where it comes from, where that is known."""
        return source_in(self.part.meta, self.note)

    @property
    def ids(self) -> tuple[str, ...]:
        """Its id, and the other one that its annotation names: of what streamed it, say."""
        streamed = self.note and self.note.get("id")
        return (self.id, streamed) if streamed else (self.id,)

    @property
    def is_chunk(self) -> bool:
        """Whether it is a piece of a message."""
        return isinstance(self.message, BaseMessageChunk)

    @property
    def is_removal(self) -> bool:
        """Whether it takes a message away."""
        return isinstance(self.message, RemoveMessage)

    @property
    def is_unnamed(self) -> bool:
        """Whether its id is one of ours, and the state will have another."""
        return self.says("unnamed")

    @property
    def is_last(self) -> bool:
        """Whether it is the last chunk of its message."""
        return getattr(self.message, "chunk_position", None) == "last"

    @property
    def is_empty(self) -> bool:
        """Whether it is a chunk that says nothing: it may bear the usage alone."""
        return not self.message.content and not getattr(self.message, "tool_call_chunks", None)

    @property
    def order(self) -> tuple[str, ...]:
        """Where its task stands among those of its step."""
        return task_order(self.part.meta)

    def says(self, flag: str) -> bool:
        """Whether the annotation has this flag."""
        return self.note is not None and bool(self.note.get(flag))

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
        if self.note is not None and "steps" in self.note:
            return self.note["steps"]
        step = self.part.meta.get(STEP_KEY)
        if not isinstance(step, int):
            return []
        return [*[-1] * (len(lineage(self.task)) - 1), step]


MAX_OPEN: Final = 32
"""How many of the messages that a task streams may be the one that a chunk goes on with under
another id. Some sources name no last chunk: all messages of a task stay open there."""

COPIES_NOTHING: Final = frozenset({"model", "push", "history"})
"""Sources of messages that are never a copy of another."""


class Match(NamedTuple):
    """A message that the consumer has, and how it was recognized."""

    entry: Entry
    because: Because


class Identity:
    """Finds the message that a chunk goes on with, or that a whole message is or repeats.

    Args:
        ledger: What the consumer has.
        config: What counts as a repetition.
        stats: Counts what was inferred, for want of an annotation.
        space: What white space a copy may differ in.

    Attributes:
        space: The same.
        shares_metadata: The chunks of a model run bear one and the same object as metadata, as
            LangGraph sends them; what came over a network does not.
    """

    def __init__(
        self, ledger: Ledger, config: DedupConfig, stats: DedupStats, *, space: Space
    ) -> None:
        self.space: Space = space
        self._ledger = ledger
        self._config = config
        self._stats = stats
        self.shares_metadata = False

    def of_chunk(self, fact: MessageFact) -> Match | None:
        """The message that a chunk goes on with, under whatever id."""
        if fact.note is not None:
            find = self.repaired if fact.says("repairs") else self.same_run
            return _match(find(fact), Because.NEXT)
        return _match(self.same_id_in_task(fact), Because.NEXT) or _match(
            self.other_id_of_run(fact), Because.OTHER_ID_OF_RUN
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

    def same_id_in_task(self, fact: MessageFact) -> Entry | None:
        """The message that the task streams under the same id, or has just finished.

        The last, empty chunk may come again, or bear the usage alone.
        """
        if (entry := self._ledger.open_entries((fact.task, fact.id))) is not None:
            return entry
        of_now = self._of_now(fact, fact.id)
        return next((entry for entry in of_now if fact.is_empty or entry.is_open), None)

    def _of_now(self, fact: MessageFact, message_id: str) -> Iterator[Entry]:
        """What the task of a fact has said in this stream under an id."""
        for entry in self._ledger.entries(message_id):
            if entry.task == fact.task and entry.epoch == self._ledger.epoch:
                yield entry

    def other_id_of_run(self, fact: MessageFact) -> Entry | None:
        """D9: the last message its task is streaming, if one of the two ids is LangChain's own.

        LangChain puts the id of the run on chunks that have none, so a provider that names
        only some chunks seems to send two messages.
        """
        for entry in islice(self._ledger.open_in(fact.task), MAX_OPEN):
            # A message of a run has two ids at most: the provider's and LangChain's.
            is_other_name = len(entry.ids) == 1 and is_auto(fact.id) != is_auto(entry.id)
            if is_other_name and self._may_be_of(fact.part.meta, entry):
                self._stats.inferred += 1
                self._ledger.alias(entry, fact.id)
                return entry
        return None

    def _may_be_of(self, metadata: Mapping[str, Any], entry: Entry) -> bool:
        """Whether metadata may be those of the model run that is saying a message.

        Another model has others: one that answers in place of one that broke off, say.
        """
        known = entry.metadata
        return known is metadata or (not self.shares_metadata and known == metadata)

    def not_kept(self, fact: MessageFact) -> Match | None:
        """The answer that a mark is of, unless a task has repeated it since."""
        known = self._ledger.entries(fact.id)
        entry = next((entry for entry in known if entry.task == fact.task), None)
        is_kept = entry is None or entry.state is State.COMMITTED
        return None if is_kept else _match(entry, Because.NOT_KEPT)

    def of_whole(self, fact: MessageFact) -> Match | None:
        """What the consumer has of a whole message, by its id or by that of its model run."""
        return _match(self.same_id(fact), Because.SAME_ID) or _match(
            self.nameless_run(fact), Because.OTHER_ID_OF_RUN
        )

    def same_id(self, fact: MessageFact) -> Entry | None:
        """D6, D7, L2: what is known under its id, or under the id that it was streamed under."""
        for message_id in fact.ids:
            known = reversed(self._ledger.entries(message_id))
            before = [entry for entry in known if fact.follows(entry, self._ledger.epoch)]
            if before:  # its own, if tasks beside it said something under this id, too
                return max(before, key=lambda entry: entry.akin(fact.task))
        return None

    def nameless_run(self, fact: MessageFact) -> Entry | None:
        """D9: what a model streamed whose provider sends `""` as the id of each chunk.

        Upstream does not find that id again and sends the whole message behind its chunks.
        """
        if fact.source != "model" or fact.note is not None or not is_auto(fact.id):
            return None
        of_now = (entry for entry in self._of_now(fact, "") if len(entry.ids) == 1)
        entry = saying(fact.content, of_now)
        self._stats.inferred += entry is not None
        return entry

    def of_copy(self, fact: MessageFact) -> Match | None:
        """D1, D2: what a whole message with an id of its own repeats."""
        if fact.source in COPIES_NOTHING or fact.says("new"):
            return None
        if isinstance(fact.message, ToolMessage) and self._config.tool_results == "always":
            return None
        # Without an annotation nobody knows whether what was streamed is in the state, too.
        space: Space = "same" if fact.note is None else self.space
        entry = self._ledger.match_copy(fact.task, fact.content, space=space)
        if entry is None:
            return None
        if fact.note is None:
            self._stats.inferred += 1
        is_inner = entry.task != fact.task
        return Match(entry, Because.COPY_OF_INNER_TASK if is_inner else Because.COPY_IN_TASK)

    def says_the_same(self, fact: MessageFact, entry: Entry, space: Space = "same") -> bool:
        """Whether a whole message says what a record does, in whatever role, but for `space`."""
        return copied(fact.content, [entry], space) is not None


def _match(entry: Entry | None, because: Because) -> Match | None:
    return None if entry is None else Match(entry, because)
