"""What a reader that did not announce itself is sent.

Stock clients fold a stream each in their own way (docs/clients.md), and agree on one thing, which
is all that plain LangGraph sends: under one message id come either chunks, to be added up, or one
whole message. None takes back rightly what it has, and the server itself, which adds up for
`stream_mode="messages"`, fails on a removal. So removals and edits are left to `values` and
`updates`, as plain LangGraph leaves them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from langchain_core.messages import BaseMessageChunk, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.config import DedupConfig
from langgraph_once.stream.part.annotation import PrivateMetadata, annotation_of
from langgraph_once.stream.part.envelope import Part

__all__ = ["StockForm", "as_stock_reads"]


def as_stock_reads(dedup: DedupConfig) -> DedupConfig:
    """What counts as a repetition to a stock reader: it takes each state for the whole.

    What runs again is held while it repeats, since nothing can be retracted.
    """
    runs_again = "hold" if dedup.reexecution == "retract" else dedup.reexecution
    return replace(dedup, state="full", reexecution=runs_again)


class StockForm:
    """Leaves out of the parts of `messages` of one stream what a stock reader would misread."""

    def __init__(self) -> None:
        self._told: set[str | None] = set()
        self._in_chunks: set[str | None] = set()

    def sent(self, parts: Iterable[Part]) -> Iterator[Part]:
        """What a stock reader is to have of some parts."""
        return (self._as_named(part) for part in parts if self._takes(part))

    def _as_named(self, part: Part) -> Part:
        """A chunk under the id that its provider gave it, which is the id of the state.

        Who has seen it does not take the message of the state for another. Plain LangGraph, too,
        sends the chunks before it under the id of the run.
        """
        note: Mapping[str, Any] = annotation_of(part.meta) or {}
        if (own := note.get("named")) is None or part.data.id != note.get("id"):
            return part
        self._told.add(own)
        self._in_chunks.add(own)
        return part._replace(data=part.data.model_copy(update={"id": own}))

    def _takes(self, part: Part) -> bool:
        """Whether a stock reader is to have a part. Notes it as sent."""
        message = part.data
        note: Mapping[str, Any] = annotation_of(part.meta) or {}
        if note and type(part.meta) is not PrivateMetadata:
            return True  # the server sends it to a reader that has announced itself
        if isinstance(message, BaseMessageChunk):
            if not self._takes_chunk(message, note):
                return False
            self._in_chunks.add(message.id)
        elif isinstance(message, RemoveMessage):
            is_sent_upstream = message.id == REMOVE_ALL_MESSAGES and message.id not in self._told
            self._told.add(message.id)  # what takes the place of another is an edit
            return is_sent_upstream
        elif note.get("given") or message.id in self._told:
            return note.get("source") == "push"  # of which each is sent upstream, too
        self._told.add(message.id)
        return True

    def _takes_chunk(self, chunk: BaseMessageChunk, note: Mapping[str, Any]) -> bool:
        """Whether a chunk is of a model, or completes a message that came in chunks.

        No client adds a chunk rightly to a message that it has whole.
        """
        if note.get("draft"):
            return False
        is_whole = chunk.id in self._told and chunk.id not in self._in_chunks
        is_ours = note.get("repairs") or note.get("source", "model") != "model"
        if is_ours or (is_whole and not chunk.content):
            return chunk.id in self._in_chunks
        return True
