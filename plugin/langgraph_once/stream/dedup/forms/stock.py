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

from langchain_core.messages import BaseMessageChunk
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.config import DedupConfig
from langgraph_once.stream.dedup.forms.form import Form
from langgraph_once.stream.dedup.operations import Because, Kind, Operation
from langgraph_once.stream.part.annotation import PrivateMetadata, annotation_of
from langgraph_once.stream.part.envelope import Part

__all__ = ["StockForm"]

NO_MESSAGES = frozenset({Kind.STATE, Kind.PASS})


class StockForm(Form):
    """Leaves out of the messages of one stream what a stock reader would misread."""

    takes_back = folds = reads_annotations = keeps_thread = False
    merges_states = True

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._in_chunks: set[str] = set()

    def policy(self, config: DedupConfig) -> DedupConfig:
        """States are whole. What runs again is held while it repeats, as nothing is taken back."""
        runs_again = "hold" if config.reexecution == "retract" else config.reexecution
        return replace(config, state="full", reexecution=runs_again)

    def sent(self, operations: Iterable[Operation]) -> Iterator[Part]:
        """The parts that a stock reader is to have of some operations."""
        for operation in operations:
            part = operation.part
            if part is None:
                continue
            if operation.kind in NO_MESSAGES:
                yield part
                continue
            note: Mapping[str, Any] = annotation_of(part.meta) or {}
            # A note that is sent is for a reader that has announced itself to the graph.
            is_for_exact = note and type(part.meta) is not PrivateMetadata
            if is_for_exact or self._takes(operation, part, note):
                yield self._as_named(part, note)

    def _as_named(self, part: Part, note: Mapping[str, Any]) -> Part:
        """A chunk under the id that its provider gave it, which is the id of the state.

        Who has seen it does not take the message of the state for another. Plain LangGraph, too,
        sends the chunks before it under the id of the run.
        """
        if (own := note.get("named")) is None or part.data.id != note.get("id"):
            return part
        self._told.add(own)
        self._in_chunks.add(own)
        return part._replace(data=part.data.model_copy(update={"id": own}))

    def _takes(self, operation: Operation, part: Part, note: Mapping[str, Any]) -> bool:
        """Whether a stock reader is to have a part. Notes it as sent."""
        message_id, was_told = part.data.id, part.data.id in self._told
        # Its mark is an empty chunk, under whose id some clients begin an empty bubble.
        if operation.kind is Kind.DISCARD:
            return False
        self._told.add(message_id)  # also what is removed: what takes its place is an edit
        if operation.kind is Kind.REMOVE:
            # Plain LangGraph, too, sends it once; of other removals it sent the id before.
            return message_id == REMOVE_ALL_MESSAGES and not was_told
        if not isinstance(part.data, BaseMessageChunk):
            is_edit = note.get("given") or was_told
            return not is_edit or note.get("source") == "push"  # upstream sends each push, too
        is_ours = operation.kind is Kind.COMMIT or operation.because is Because.REST
        is_whole = was_told and message_id not in self._in_chunks
        if is_ours or (is_whole and not part.data.content):
            return message_id in self._in_chunks  # no client adds a chunk to what it has whole
        self._in_chunks.add(message_id)
        return True
