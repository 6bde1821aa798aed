"""What nobody tells, guessed from ids, texts and order; nothing else guesses.

The handler of a wrapped graph says beside each message which task and which model run it is of.
`dedup` of any other graph has the parts alone: there a message may go on under another id, a model
may have broken off, and an update may hold copies of its node. Each guess is counted, as
`DedupStats.inferred`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Final

from langchain_core.messages import AIMessageChunk

from langgraph_once.stream.dedup.message_fact import MessageFact
from langgraph_once.stream.dedup.operations import DedupStats
from langgraph_once.stream.ledger.entries import saying
from langgraph_once.stream.ledger.entry import Entry, State
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.part.content import Content, is_auto
from langgraph_once.stream.part.places import Place

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
