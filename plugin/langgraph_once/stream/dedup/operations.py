"""What is decided on a part: a value with its reason, which each form renders in its own way."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Self

from langchain_core.messages import RemoveMessage

from langgraph_once.metrics import OUTCOMES, streams
from langgraph_once.stream.part.shapes import Part


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
