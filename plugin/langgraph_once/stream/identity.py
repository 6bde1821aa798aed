"""Which message of the ledger a part of mode `messages` speaks of.

`MessageFact` reads what the part says, and `Identity` finds the message: a matcher takes a fact and
gives a record or None; they stand in the order in which they are asked. `entries.py` compares what
messages say.

`Guess` alone guesses, from ids, texts and order. The handler of a wrapped graph says beside each
message which task and which model run it is of. `dedup` of any other graph has the parts alone:
there a message may go on under another id, a model may have broken off, and an update may hold
copies of its node. Each guess is counted, as `DedupStats.inferred`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

from langchain_core.messages import AIMessageChunk, BaseMessageChunk, RemoveMessage, ToolMessage

from langgraph_once.stream.annotation import Annotation, annotation_of, source_in
from langgraph_once.stream.content import Content, Space, content_of, is_auto
from langgraph_once.stream.entries import Entry, State, saying
from langgraph_once.stream.forms import Because, DedupStats
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.places import NS_SEP, TASK_NS_KEY, Place, lineage
from langgraph_once.stream.shapes import Part

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
    """

    __slots__ = (
        "_content",
        "id",
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
"""How many of the messages that a task streams are looked at: the last ones. Some sources name no
last chunk: all messages of a task stay open there."""

MAX_WITHDRAWN: Final = 1024
"""Bounds memory: one leaves only if its message goes on, which few ever do."""

Key = tuple[str, str]
"""The task and the id of a message."""


class Guess:
    """Guesses what a part without an annotation speaks of.

    A model that broke off (D4) looks like two at once, of which one says the same as the other, a
    little behind it. So what was taken back may go on all the same.

    Args:
        ledger: What the consumer has.
        stats: Counts the guesses.

    Attributes:
        shares_metadata: The chunks of a model run bear one and the same object as metadata, as
            LangGraph sends them; what came over a network does not.
        beside: For a message that streams, what its task is streaming besides.
        withdrawn: What was taken back, and may go on.
    """

    def __init__(self, ledger: Ledger, stats: DedupStats) -> None:
        self._ledger = ledger
        self._stats = stats
        self.shares_metadata = False
        self.beside: dict[Key, list[Entry]] = {}
        self.withdrawn: dict[Key, Entry] = {}

    # Under one id, or two.

    def same_id_in_task(self, fact: MessageFact) -> Entry | None:
        """The message that the task streams under the same id, or has just finished.

        The last, empty chunk may come again, or bear the usage alone.
        """
        if (entry := self._ledger.open_entries((fact.task, fact.id))) is not None:
            return entry
        of_now = self._of_now(fact, fact.id)
        return next((entry for entry in of_now if fact.is_empty or entry.is_open), None)

    def other_id_of_run(self, fact: MessageFact) -> Entry | None:
        """D9: the last message its task is streaming, if one of the two ids is LangChain's own.

        LangChain puts the id of the run on chunks that have none, so a provider that names
        only some chunks seems to send two messages. Another model has other metadata: one that
        answers in place of one that broke off, say.
        """
        metadata = fact.part.meta
        for entry in islice(self._ledger.open_in(fact.task), MAX_OPEN):
            # A message of a run has two ids at most: the provider's and LangChain's.
            is_other_name = len(entry.ids) == 1 and is_auto(fact.id) != is_auto(entry.id)
            is_equal = not self.shares_metadata and entry.metadata == metadata
            if is_other_name and (entry.metadata is metadata or is_equal):
                self._stats.inferred += 1
                self._ledger.alias(entry, fact.id)
                return entry
        return None

    def nameless_run(self, fact: MessageFact) -> Entry | None:
        """D9: what a model streamed whose provider sends `""` as the id of each chunk.

        Upstream does not find that id again and sends the whole message behind its chunks.
        """
        if fact.source != "model" or not is_auto(fact.id):
            return None
        of_now = (entry for entry in self._of_now(fact, "") if len(entry.ids) == 1)
        entry = saying(fact.content, of_now)
        self._stats.inferred += entry is not None
        return entry

    def _of_now(self, fact: MessageFact, message_id: str) -> Iterator[Entry]:
        """What the task of a fact has said in this stream under an id."""
        for entry in self._ledger.entries(message_id):
            if entry.task == fact.task and entry.epoch == self._ledger.epoch:
                yield entry

    # Copies.

    def copy_in_task(self, fact: MessageFact) -> Entry | None:
        """D1, D2: what a whole message repeats word for word: both may be in the state."""
        entry = self._ledger.match_copy(fact.task, fact.content)
        self._stats.inferred += entry is not None
        return entry

    def copy_in_update(self, node: str, content: Content, listed: Collection[str]) -> Entry | None:
        """What an update of a node repeats under a new id or none.

        Args:
            node: The node, named as by `bare`.
            content: What the message says.
            listed: The ids in the update: what is in it itself has no copy there.
        """
        entry = self._ledger.match_in_update(node, content)
        if entry is None or any(known in listed for known in entry.ids):
            return None
        self._stats.inferred += 1
        return entry

    def told_inside(self, ns: Place, node: str, content: Content) -> bool:
        """D2: whether an update of a graph inside a node told, without an id, what an update of
        the node repeats without one.

        LangGraph gives a message its id while the update goes out: who reads fast sees none.
        """
        is_known = self._ledger.pending_ids.leaves_graph(ns, node, content)
        self._stats.inferred += is_known
        return is_known

    # Models that broke off.

    def begins(self, entry: Entry) -> None:
        """Note a message that begins beside others of its task."""
        streamed = islice(self._ledger.open_in(entry.task), MAX_OPEN + 1)
        if others := [other for other in streamed if other is not entry]:
            self.beside[entry.task, entry.id] = others[::-1]

    def ends(self, entry: Entry) -> None:
        """Note that a message is complete."""
        self.beside.pop((entry.task, entry.id), None)

    def abandoned(self, new: Entry) -> list[Entry]:
        """What a model began to say and broke off, as another now says all of it too.

        Should it go on after all, `revived` has what was taken back.
        """
        others = self.beside.pop((new.task, new.id), ())
        others = [old for old in others if old.state is State.OPEN]
        later = [old for old in others if old.size > new.size]
        if later:
            self.beside[new.task, new.id] = later
        gone = [o for o in others if o not in later and new.content.begins_with(o.content)]
        for old in gone:
            self.withdrawn[old.task, old.id] = old
            if len(self.withdrawn) > MAX_WITHDRAWN:
                del self.withdrawn[next(iter(self.withdrawn))]
        self._stats.inferred += len(gone)
        return gone

    def revived(self, task: str, message_id: str) -> AIMessageChunk:
        """What was taken back of a message that goes on all the same."""
        old = self.withdrawn.pop((task, message_id))
        return AIMessageChunk(content=old.content.text, id=message_id)


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
