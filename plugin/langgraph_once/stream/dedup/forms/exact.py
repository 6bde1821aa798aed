"""What a reader is sent that announced itself: folding it by id gives the state.

A removal clears its id; another text comes as a removal and the message. The annotation tells a
deduplicator behind this one, in a client say, what was decided: it was not sent what was left out.
`operation_of` reads it back, for those who render what comes and do not decide again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain_core.messages import BaseMessageChunk, RemoveMessage

from langgraph_once.stream.dedup.forms.form import Form
from langgraph_once.stream.dedup.operations import ATTEMPTS, Because, Kind, Operation
from langgraph_once.stream.part.annotation import annotation_of, flagged, source_in
from langgraph_once.stream.part.envelope import Part

__all__ = ["ExactForm", "operation_of"]

REMOVED_BY: Mapping[str | None, Because] = {
    "retry": Because.EARLIER_ATTEMPT,
    "model": Because.EARLIER_STREAM,  # no model removes: it is what the part of a new run displaced
}
"""Why a removal of this source was sent."""


class ExactForm(Form):
    """Says all that was decided."""

    tells_details = True

    def sent(self, operations: Iterable[Operation]) -> Iterator[Part]:
        """The parts that say these operations, one for each that has any."""
        for kind, because, part in operations:
            if part is None:
                continue
            if because is Because.WHITE_SPACE:
                part = part._replace(meta=flagged(part.meta, "respaced"))
            elif because is Because.REST:
                meta = flagged(part.meta, "repairs")
                is_space = part.data.content.isspace()
                part = part._replace(meta=flagged(meta, "respaced") if is_space else meta)
            elif because in ATTEMPTS and kind is Kind.REMOVE and _is_of_message(part):
                part = part._replace(meta=flagged(part.meta, "rerun"))
            elif kind is Kind.BEGIN and _is_annotated_whole(part):
                part = part._replace(meta=flagged(part.meta, "new"))
            yield part


def operation_of(part: Part) -> Operation:
    """What was decided of a part of mode `messages` in exact form, here or on a server.

    A removal may belong to the message behind it, which alone shows whether it was edited.
    """
    note = annotation_of(part.meta)
    flags: Mapping[str, Any] = note or {}
    if isinstance(part.data, RemoveMessage):
        because = REMOVED_BY.get(source_in(part.meta, note), Because.REMOVED)
        if "respaced" in flags:
            because = Because.WHITE_SPACE
        elif "rerun" in flags:
            because = Because.EARLIER_STREAM
        return Operation(Kind.REMOVE, because, part)
    if "draft" in flags:
        return Operation(Kind.DISCARD, Because.NOT_KEPT, part)
    if "repairs" in flags:
        return Operation(Kind.APPEND, Because.REST, part)
    if isinstance(part.data, BaseMessageChunk):
        return Operation(Kind.APPEND, Because.NEXT, part)
    return Operation(Kind.BEGIN, Because.NEW, part)


def _is_of_message(removal: Part) -> bool:
    """Whether a removal has the metadata of the message behind it, which is no model's."""
    source = source_in(removal.meta, annotation_of(removal.meta))
    return source not in {*REMOVED_BY, "resume"}


def _is_annotated_whole(part: Part) -> bool:
    return not isinstance(part.data, BaseMessageChunk) and annotation_of(part.meta) is not None
