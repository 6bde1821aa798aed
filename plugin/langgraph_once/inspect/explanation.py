"""Why each part of a recorded stream was kept, cut or retracted: its operation, with its reason.

The deduplicator decides, as it does in a server and in a client. Here it is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from langchain_core.messages import BaseMessage

from langgraph_once.config import DedupConfig
from langgraph_once.errors import StreamError
from langgraph_once.inspect.recording import FAILS, RecordedPart
from langgraph_once.stream import Deduplicator, Ledger, Part
from langgraph_once.stream.dedup.forms.exact import exact, operation_of
from langgraph_once.stream.dedup.forms.stock import StockForm, as_stock_reads
from langgraph_once.stream.dedup.operations import Because, Kind, Operation
from langgraph_once.stream.part.annotation import annotation_of
from langgraph_once.stream.part.messages_within import found_in_update
from langgraph_once.stream.part.namespace import node_names

__all__ = ["Explained", "Outcome", "Reader", "explained", "is_annotated", "reasons"]

Reader: TypeAlias = Literal["exact", "stock"]
Outcome: TypeAlias = Literal["kept", "cut", "held", "retracted", "noted"]

_SENT: Final[dict[Kind, Outcome]] = {Kind.REMOVE: "retracted", Kind.DISCARD: "noted"}
_NOT_SENT: Final[dict[Kind, Outcome]] = {Kind.HOLD: "held"}
"""Of other kinds, what is sent is kept, and what is not is cut."""


@dataclass(slots=True)
class Explained:
    """What became of a part, or of several that are alike.

    Attributes:
        first: The line of the recording; 0 for what is said at the end of a run.
        last: That of the last that is alike.
        count: How many they are.
        kind: The type of a message, or of other data.
        name: The id of a message; the keys of a state or an update.
        chars: How long its text is.
        operation: What was decided; None: nothing in it was for this reader.
        texts: The texts of the parts, in their order.
    """

    first: int
    last: int
    count: int
    mode: str
    where: str
    kind: str
    name: str
    chars: int
    outcome: Outcome
    operation: Operation | None
    texts: list[str]

    def is_like(self, other: Explained) -> bool:
        """Whether they differ by their texts alone."""
        mine, its = (
            (each.mode, each.where, each.name, each.outcome, each.operation and each.operation[:2])
            for each in (self, other)
        )
        return mine == its


def explained(
    recorded: Iterable[RecordedPart], config: DedupConfig, reader: Reader
) -> Iterator[Explained]:
    """What became of each part, in order; neighbours that are alike are one.

    Args:
        recorded: The recording; its runs are those of one thread and one consumer.
        config: What counts as a repetition.
        reader: Whose form it is told for.
    """
    last: Explained | None = None
    for each in _edits(_explained([*recorded], config, reader)):
        if last is not None and last.is_like(each):
            last.last, last.count = each.last, last.count + 1
            last.chars += each.chars
            last.texts += each.texts
            continue
        if last is not None:
            yield last
        last = each
    if last is not None:
        yield last


def reasons(found: Iterable[Explained]) -> Counter[tuple[Outcome, Operation | None]]:
    """How many parts had which outcome, by operation and reason (without the part)."""
    counted: Counter[tuple[Outcome, Operation | None]] = Counter()
    for each in found:
        operation = each.operation and Operation(each.operation.kind, each.operation.because)
        counted[each.outcome, operation] += each.count
    return counted


def is_annotated(recorded: Iterable[RecordedPart]) -> bool:
    """Whether a wrapped graph was recorded, with what its server knows beside its messages."""
    return any(
        each.part is not None and annotation_of(each.part.meta) is not None for each in recorded
    )


def _edits(found: Iterable[Explained]) -> Iterator[Explained]:
    """Call a removal, and the message behind it under its id, the edit that they are.

    A reader of the exact form is sent these two of it, with no more than that.
    """
    before: Explained | None = None
    for each in found:
        if before is not None and _is_edited(before, each):
            before.operation = Operation(Kind.REMOVE, Because.EDITED)
            each.operation = Operation(Kind.REPLACE, Because.EDITED)
        if before is not None:
            yield before
        before = each
    if before is not None:
        yield before


def _is_edited(removed: Explained, begun: Explained) -> bool:
    decided = [each.operation and each.operation[:2] for each in (removed, begun)]
    is_pair = decided == [(Kind.REMOVE, Because.REMOVED), (Kind.BEGIN, Because.NEW)]
    return is_pair and removed.name == begun.name


def _explained(
    recorded: list[RecordedPart], config: DedupConfig, reader: Reader
) -> Iterator[Explained]:
    is_stock = reader == "stock"
    config = as_stock_reads(config) if is_stock else config
    modes = {each.part.mode for each in recorded if each.part is not None}
    ledger = Ledger.within(config)
    for run in _runs(recorded):
        dedup = Deduplicator(config, ledger=ledger, modes=modes, for_stock=is_stock)
        form = StockForm().sent if is_stock else exact
        for line, part in run:
            decided = False
            for operation in dedup.decide(part):
                decided = True
                is_sent = any(True for _ in form([operation]))
                yield _told(line, operation.part or part, operation, is_sent=is_sent)
            if not decided:
                yield _told(line, part, None, is_sent=False)
        is_failed = any(part.mode == FAILS for _, part in run)
        for part in dedup.close(StreamError("the run failed") if is_failed else None):
            yield _told(0, part, operation_of(part), is_sent=True)


def _runs(recorded: list[RecordedPart]) -> Iterator[list[tuple[int, Part]]]:
    run: list[tuple[int, Part]] = []
    for line, part in recorded:
        if part is not None:
            run.append((line, part))
        elif run:
            yield run
            run = []
    yield run


def _told(line: int, part: Part, operation: Operation | None, *, is_sent: bool) -> Explained:
    outcome: Outcome = "kept" if is_sent else "cut"
    if operation is not None:
        outcome = (_SENT if is_sent else _NOT_SENT).get(operation.kind, outcome)
    where = "/".join(node_names(part.ns))
    kind, name, text = _thing(part)
    if part.mode == "messages":
        where = "/".join(filter(None, (where, str(part.meta.get("langgraph_node", "")))))
    return Explained(
        line, line, 1, part.mode, where, kind, name, len(text), outcome, operation, [text]
    )


def _thing(part: Part) -> tuple[str, str, str]:
    """What a part is of, by its kind and its name; and its text."""
    data: Any = part.data
    if isinstance(data, BaseMessage):
        return data.type.removesuffix("MessageChunk").lower(), str(data.id), str(data.text)
    messages = found_in_update(data).messages if part.mode in ("updates", "values") else ()
    text = "".join(str(each.text) for each in messages)
    return type(data).__name__, ", ".join(map(str, data)) if isinstance(data, dict) else "", text
