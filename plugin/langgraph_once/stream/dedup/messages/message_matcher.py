"""Which of the messages that the consumer has a part speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from langchain_core.messages import BaseMessageChunk, ToolMessage

from langgraph_once.config import DedupConfig
from langgraph_once.stream.dedup.messages.message_part import MessagePart, is_empty
from langgraph_once.stream.dedup.stats import DedupStats
from langgraph_once.stream.ledger.entry import Entry
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.part.content import Content, Space, is_auto

__all__ = ["MessageMatcher", "space_of"]

MAX_OPEN: Final = 32
"""How many of the messages that a task streams may be the one that a chunk goes on with under
another id. Some sources name no last chunk: all messages of a task stay open there."""


class MessageMatcher:
    """Finds the message that a chunk goes on with, or that a whole message is or repeats.

    Args:
        ledger: What the consumer has.
        config: What counts as a repetition.
        stats: Counts what was inferred.
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

    def of_chunk(self, said: MessagePart, chunk: BaseMessageChunk) -> Entry | None:
        """The message that a chunk goes on with, under whatever id."""
        open_entry = self._ledger.open_entries((said.task, str(chunk.id)))
        if open_entry is not None and said.note is None:
            return open_entry
        if said.note is not None and said.note.get("repairs"):
            known = self._ledger.entries(str(chunk.id))
            return next((entry for entry in known if entry.akin(said.task)), None)
        if said.note is not None:
            run = said.note.get("run")
            return open_entry if open_entry is not None and open_entry.run == run else None
        for entry in self._ledger.entries(str(chunk.id)):
            # The last, empty chunk may come again, or bear the usage alone.
            if entry.task == said.task and entry.epoch == self._ledger.epoch:
                if not is_empty(chunk) and entry.is_final:
                    continue
                return entry
        return self._same_run(said, chunk)

    def _same_run(self, said: MessagePart, chunk: BaseMessageChunk) -> Entry | None:
        """The last message its task is streaming, if one of the two ids is LangChain's own.

        LangChain puts the id of the run on chunks that have none, so a provider that names
        only some chunks seems to send two messages (D9).
        """
        mine = str(chunk.id)
        for entry in islice(self._ledger.open_in(said.task), MAX_OPEN):
            is_other_name = len(entry.ids) == 1 and is_auto(mine) != is_auto(entry.id)
            if is_other_name and self._may_be_of(said.part.meta, entry):
                self._stats.inferred += 1
                self._ledger.alias(entry, mine)
                return entry
        return None

    def _may_be_of(self, metadata: Mapping[str, Any], entry: Entry) -> bool:
        """Whether metadata may be those of the model run that is saying a message.

        Another model has others: one that answers in place of one that broke off, say.
        """
        known = entry.metadata
        return known is metadata or (not self.shares_metadata and known == metadata)

    def of_whole(self, said: MessagePart, content: Content) -> Entry | None:
        """What the consumer has of a whole message, by its id or by that of its model run."""
        ids = [str(said.message.id)]
        if said.note is not None and said.note.get("id"):
            ids.append(said.note["id"])
        for message_id in ids:
            known = reversed(self._ledger.entries(message_id))
            before = [entry for entry in known if said.follows(entry, self._ledger.epoch)]
            if before:  # its own, if tasks beside it said something under this id, too
                return max(before, key=lambda entry: entry.akin(said.task))
        return self._nameless_run(said, content)

    def _nameless_run(self, said: MessagePart, content: Content) -> Entry | None:
        """What a model streamed whose provider sends `""` as the id of each chunk (D9).

        Upstream does not find that id again and sends the whole message behind its chunks.
        """
        if said.source != "model" or said.note is not None or not is_auto(str(said.message.id)):
            return None
        for entry in self._ledger.entries(""):
            is_of_now = entry.task == said.task and entry.epoch == self._ledger.epoch
            if is_of_now and len(entry.ids) == 1 and entry.content == content:
                self._stats.inferred += 1
                return entry
        return None

    def of_copy(self, said: MessagePart, content: Content) -> Entry | None:
        """What a whole message with an id of its own repeats."""
        if said.source in ("model", "push", "history"):
            return None
        if said.note is not None and said.note.get("new"):
            return None
        if isinstance(said.message, ToolMessage) and self._config.tool_results == "always":
            return None
        # Without an annotation nobody knows whether what was streamed is in the state, too.
        space: Space = "same" if said.note is None else self.space
        original = self._ledger.match_copy(said.task, content, space=space)
        if original is not None and said.note is None:
            self._stats.inferred += 1
        return original


def space_of(config: DedupConfig, *, takes_back: bool) -> Space:
    """What white space a copy may differ in.

    Who takes nothing back keeps what was streamed in place of the copy, so that their words and
    what is between them must be the same.
    """
    if config.copies == "exact":
        return "same"
    return "any" if takes_back else "ends"
