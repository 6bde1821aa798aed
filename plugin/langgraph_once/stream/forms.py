"""What is decided on a part, and which parts one kind of reader gets of it.

An `Operation` is a decision with its reason; each form renders it in its own way. The deduplicator,
the handler of a running graph and the opener of a stream ask the form what its reader needs. A new
form is a subclass of `Form`, and `readers.py` says which reader gets it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple, Self

from langchain_core.messages import BaseMessageChunk, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.config import DedupConfig
from langgraph_once.metrics import OUTCOMES, streams
from langgraph_once.stream.annotation import PrivateMetadata, annotation_of, flagged, source_in
from langgraph_once.stream.content import Space
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.shapes import Part


class _Told(StrEnum):
    """Names with what they mean, which `docs/repetitions.md` shows."""

    meaning: str

    def __new__(cls, name: str, meaning: str) -> Self:
        member = str.__new__(cls, name)
        member._value_, member.meaning = name, meaning
        return member


class Kind(_Told):
    """What becomes of a message that the consumer has, or does not have yet."""

    BEGIN = "begin", "A new message: the whole of it, or its first chunk."
    APPEND = "append", "More of a message that the consumer has."
    REPLACE = "replace", "Another text for the message that the `remove` before it names."
    REMOVE = "remove", "The consumer drops a message."
    COMMIT = (
        "commit",
        "The consumer has the message. At most its usage or its end is still to be sent.",
    )
    DISCARD = "discard", "The complete answer of a model that no task put into the state."
    HOLD = "hold", "Nothing is sent yet: the message may be a repetition, or has no id yet."
    STATE = "state", "A state or an update, without the messages that the consumer has."
    PASS = "pass", "No message, or not understood: it is passed on."  # no password


class Because(_Told):
    """Why. `docs/repetitions.md` explains the numbers."""

    NEW = "new", "The consumer does not have the message."
    NEXT = "next", "The model run goes on."
    COPY_IN_TASK = "D1", "A task returned a copy, with an id of its own, of what it streamed."
    COPY_OF_INNER_TASK = "D2", "A task returned a copy of what a task inside it said."
    EARLIER_STREAM = "D3", "The task sent the message in an earlier stream, and runs again."
    EARLIER_ATTEMPT = "D4", "The task sent the message in an attempt that failed (D4, D5)."
    SAME_ID = "D7", "The id is known: the message was streamed, an input, or in an earlier turn."
    ACCUMULATED = "D8", "The last chunk repeats the whole text of the chunks before it."
    OTHER_ID_OF_RUN = "D9", "One model run used two ids."
    SAME_UPDATE = "D11", "The run resumes and repeats the update of a finished task."
    SAME_STATE = "same state", "The state of the graph is the one before."
    EDITED = "L2", "A known id comes with another text."
    DETAILS = "details", "Its name, `additional_kwargs` or `response_metadata` are others."
    REMOVED = "L3", "A task removed the message."
    REST = "rest", "The consumer has only the beginning: tokens were lost."
    WHITE_SPACE = "white space", "The texts differ only in white space at their ends."
    CONCURRENT_WRITE = "concurrent write", "Tasks of one step wrote under one id; one write stays."
    NO_ID_YET = "no id yet", "The reducer has not given the message its id yet."
    NOT_KEPT = "not kept", "No task returned the message."
    OTHER = "other", "The part is no message."


ATTEMPTS = frozenset({Because.EARLIER_STREAM, Because.EARLIER_ATTEMPT})
"""Its task ran again: after an interrupt or a crash, or within the stream."""


class Operation(NamedTuple):
    """One decision."""

    kind: Kind
    because: Because
    part: Part | None = None
    """What exact readers are sent; None where they are sent nothing."""


def removing(part: Part, message_id: str, because: Because) -> Operation:
    """The consumer is to drop a message, as `part` tells."""
    gone = part._replace(data=RemoveMessage(id=message_id))
    return Operation(Kind.REMOVE, because, gone)


@dataclass(slots=True)
class DedupStats:
    """Counts of what became of the parts of a stream."""

    suppressed: int = 0
    """Parts of which the consumer had everything."""

    repaired: int = 0
    """Gaps closed by a chunk with the missing rest."""

    replaced: int = 0
    """Messages that came again with other content."""

    retracted: int = 0
    """Messages taken back, as their task ran again."""

    held: int = 0
    """Chunks withheld while a task that ran again repeated what it said."""

    inferred: int = 0
    """Decisions made by content and order, for want of an annotation."""

    hidden: int = 0
    """Parts that were left out because of who says them."""

    unknown: Counter[str] = field(default_factory=Counter)
    """Parts of modes and types that this version does not know, passed on, by mode."""

    reasons: Counter[str] = field(default_factory=Counter)
    """What was decided and why, as `commit D1`; but for tokens that simply go on, and states that
    have news."""

    def publish(self) -> None:
        """Add these to the metrics of the process: once, as the stream ends, well or badly."""
        found = {name: number for name in OUTCOMES if (number := getattr(self, name))}
        if self.unknown:
            found["unknown"] = self.unknown.total()
        streams.end(self.reasons, found)

    def count(self, operation: Operation) -> None:
        """Count one decision."""
        kind, because, part = operation
        self.reasons[f"{kind} {because}"] += 1
        if kind is Kind.REPLACE:
            self.replaced += 1
        elif because is Because.REST:
            self.repaired += 1
        elif because in ATTEMPTS and kind is Kind.REMOVE:
            self.retracted += 1
        elif because in ATTEMPTS and part is None:
            self.held += 1
        elif kind is Kind.COMMIT and part is None:
            self.suppressed += 1


STATE_MODES = frozenset({"updates", "values"})
MESSAGE_MODES = STATE_MODES | {"messages"}


class Form(ABC):
    """One stream, as one kind of reader gets it. Each stream has a form of its own.

    What is not overridden is right for a reader that folds what it is sent by id.
    """

    takes_back: ClassVar[bool] = True
    """It drops what it is told to drop, and takes another text in its place."""

    folds: ClassVar[bool] = True
    """What folds to the state is said in `messages`: also what only a state names, for which
    `values` are asked for on our own account. Else `messages` has what plain LangGraph sends."""

    reads_annotations: ClassVar[bool] = True
    """It is sent the annotations of messages. Else they are for this process alone."""

    keeps_thread: ClassVar[bool] = True
    """It has what earlier streams of the thread told it. Else it may be new: nothing is kept
    between streams, and what LangGraph knows of the thread is not told once more."""

    merges_states: ClassVar[bool] = False
    """It keeps messages and states in one list, whose place each `values` takes. So states come
    whole, also one that equals the one before."""

    tells_details: ClassVar[bool] = False
    """It is told what changes of a message beside what it says: its name, `additional_kwargs` and
    `response_metadata`."""

    sees_tokens: ClassVar[bool] = False
    """`sent` is asked about each token; else not about one that simply goes on, to save time."""

    def begin(self, ledger: Ledger) -> None:
        """Begin the stream.

        Args:
            ledger: What the reader has.
        """
        self.ledger = ledger

    def policy(self, config: DedupConfig) -> DedupConfig:
        """What counts as a repetition to this reader, where the graph is configured so."""
        return config

    def cuts_states(self, config: DedupConfig, modes: Collection[str]) -> bool:
        """Whether states go without the messages that the reader has."""
        if self.merges_states:
            return False
        state = self.policy(config).state
        return len(MESSAGE_MODES & set(modes)) > 1 if state == "auto" else state == "new_messages"

    def goes_on(self, modes: Collection[str]) -> bool:
        """Whether an attempt that says more than the one before goes on under the id of that.

        The state has it under its own id: who merges states by id would show it under both.
        """
        return not (self.merges_states and STATE_MODES & set(modes))

    @property
    def space(self) -> Space:
        """What white space a copy may differ in.

        Who takes nothing back keeps what was streamed in place of the copy, so that their words
        and what is between them must be the same.
        """
        return "any" if self.takes_back else "ends"

    @abstractmethod
    def sent(self, operations: Iterable[Operation]) -> Iterator[Part]:
        """What the reader is sent of some decisions, in order."""


REMOVED_BY: Mapping[str | None, Because] = {
    "retry": Because.EARLIER_ATTEMPT,
    "model": Because.EARLIER_STREAM,  # no model removes: it is what the part of a new run displaced
}
"""Why a removal of this source was sent."""


class ExactForm(Form):
    """Says all that was decided, to a reader that announced itself: folding it gives the state.

    A removal clears its id; another text comes as a removal and the message. The annotation tells a
    deduplicator behind this one, in a client say, what was decided: it was not sent what was left
    out. `operation_of` reads it back, for those who render what comes and do not decide again.
    """

    tells_details = True

    def sent(self, operations: Iterable[Operation]) -> Iterator[Part]:
        """The parts that say these operations, one for each that has any."""
        for kind, because, part in operations:
            if part is None:
                continue
            if because is Because.WHITE_SPACE:
                part = part._replace(meta=flagged(part.meta, "respaced"))
            elif kind is Kind.COMMIT or because is Because.REST:  # its usage, end, details, or text
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


NO_MESSAGES = frozenset({Kind.STATE, Kind.PASS})


class StockForm(Form):
    """Leaves out of the messages of one stream what a stock reader would misread.

    Stock clients fold a stream each in their own way (tests/clients/folding.md), and agree on one
    thing, which is all that plain LangGraph sends: under one message id come either chunks, to be
    added up, or one whole message. None takes back rightly what it has, and the server itself,
    which adds up for `stream_mode="messages"`, fails on a removal. So removals and edits are left
    to `values` and `updates`, as plain LangGraph leaves them.
    """

    takes_back = folds = reads_annotations = keeps_thread = False
    merges_states = True

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._in_chunks: set[str] = set()

    def policy(self, config: DedupConfig) -> DedupConfig:
        """States are whole. What runs again is held while it repeats, as nothing is taken back."""
        return replace(config, state="full", reexecution="hold")

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
