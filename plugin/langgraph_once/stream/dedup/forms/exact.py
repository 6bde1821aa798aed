"""What a reader is sent that announced itself: folding it by id gives the state.

A removal clears its id; another text comes as a removal and the message. The annotation tells a
deduplicator behind this one, in a client say, what was decided: it was not sent what was left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from langchain_core.messages import BaseMessageChunk

from langgraph_once.stream.dedup.operations import Because, Kind, Operation
from langgraph_once.stream.part.annotation import annotation_of, flagged
from langgraph_once.stream.part.envelope import Part

__all__ = ["exact"]


def exact(operations: Iterable[Operation]) -> Iterator[Part]:
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
        elif kind is Kind.BEGIN and _is_annotated_whole(part):
            part = part._replace(meta=flagged(part.meta, "new"))
        yield part


def _is_annotated_whole(part: Part) -> bool:
    return not isinstance(part.data, BaseMessageChunk) and annotation_of(part.meta) is not None
