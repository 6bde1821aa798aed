"""What is decided on a part: a value with its reason, which each form renders in its own way."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from langchain_core.messages import RemoveMessage

from langgraph_once.stream.part.envelope import Part

__all__ = ["ATTEMPTS", "Because", "Kind", "Operation", "removing"]


class Kind(StrEnum):
    """What becomes of a message that the consumer has, or does not have yet."""

    BEGIN = "begin"
    """It is new: the whole of it, or its first chunk."""

    APPEND = "append"
    """More of a message that the consumer has."""

    REPLACE = "replace"
    """Another text takes the place of one that the consumer has. The REMOVE before it has the same
    reason, and names the id under which the consumer has that."""

    REMOVE = "remove"
    """The consumer drops a message."""

    COMMIT = "commit"
    """The consumer has it. At most its usage, or the mark of its end, is still to be sent."""

    DISCARD = "discard"
    """The complete answer of a model that no task put into the state."""

    HOLD = "hold"
    """Nothing is sent yet: it may repeat what the consumer has, or its id is not known."""

    STATE = "state"
    """A state or an update, without what the consumer has of it."""

    PASS = "pass"  # noqa: S105  # no password
    """It carries no message, or is not understood."""


class Because(StrEnum):
    """Why. The numbers are those of `docs/how-it-decides.md`."""

    NEW = "new"
    NEXT = "next"
    COPY_IN_TASK = "D1"
    COPY_OF_INNER_TASK = "D2"
    EARLIER_STREAM = "D3"
    EARLIER_ATTEMPT = "D4"
    SAME_ID = "D7"
    ACCUMULATED = "D8"
    OTHER_ID_OF_RUN = "D9"
    EDITED = "L2"
    REMOVED = "L3"
    REST = "rest"
    WHITE_SPACE = "white space"
    CONCURRENT_WRITE = "concurrent write"
    NO_ID_YET = "no id yet"
    NOT_KEPT = "not kept"
    OTHER = "other"


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
