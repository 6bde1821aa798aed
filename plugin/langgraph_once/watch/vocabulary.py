"""What the view model tells: a few operations, to be folded in order.

A view is made of items: a message, a tool call, a change of the state. Items are opened, their
text goes on, their fields change; nothing is ever deleted, so that a renderer needs no more than
`View` does. Each event is a frozen dataclass; `to_dict` makes JSON of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, TypeAlias

__all__ = [
    "Began",
    "Counts",
    "CountsChanged",
    "Ended",
    "ItemChanged",
    "ItemOpened",
    "Kind",
    "LaneOpened",
    "Mark",
    "Side",
    "Status",
    "TextAppended",
    "ViewEvent",
    "to_dict",
]

Side: TypeAlias = Literal["stock", "once"]
"""Whose consumer it is: that of LangGraph's own stream, or of ours."""

Mark: TypeAlias = Literal["kept", "repeated", "repaired", "not_kept", "retracted", "missing"]
"""What was decided of a text, or of an item as a whole.

kept        It is new, and it stays.
repeated    The consumer has it. `once` leaves it out; a stock consumer is shown it again.
repaired    It was missing, and is filled in.
not_kept    It was streamed, and is in no state. Only a consumer of `once` is told.
retracted   The consumer was told to drop it.
missing     It is in the state, and was never streamed in `messages`.
"""

Kind: TypeAlias = Literal[
    "message",
    "tool_call",
    "artifact",
    "state",
    "custom",
    "ui",
    "interrupt",
    "gap",
    "error",
]

Status: TypeAlias = Literal["running", "finished", "interrupted", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    """A run begins, or is joined. All that follows, up to `Ended`, is of it."""

    op: ClassVar[str] = "began"

    side: Side
    thread_id: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneOpened:
    """A graph speaks for the first time: its items are in a lane of their own."""

    op: ClassVar[str] = "lane"

    side: Side
    lane: int
    """From 0, in the order of delivery; 0 is the outermost graph, which always comes first."""
    path: tuple[str, ...]
    """The nodes that lead to it, outermost first; `()` for the outermost."""
    number: int
    """From 1: which of those that have this path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOpened:
    """An item begins, at the end of all that came."""

    op: ClassVar[str] = "item"

    side: Side
    item: int
    """From 0, counted on each side."""
    kind: Kind
    lane: int
    node: str | None = None
    name: str = ""
    """Of a message its role (`ai`, `human`, `tool`, …), of a tool call the tool, of an artifact
    or interrupt its key or id."""
    value: Any = None
    """What it holds, as JSON; cut off by `preview` where it is long."""
    mark: Mark = "kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAppended:
    """The text of an item goes on: of a message its words, of a tool call its arguments."""

    op: ClassVar[str] = "said"

    side: Side
    item: int
    text: str
    mark: Mark = "kept"
    kind: Literal["text", "reasoning", "refusal"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemChanged:
    """An item has other fields now. `None` leaves a field as it is."""

    op: ClassVar[str] = "changed"

    side: Side
    item: int
    mark: Mark | None = None
    value: Any = None
    status: str | None = None
    """Of a tool call `completed`, `failed`, `success` or `error`; of an interrupt `answered`."""


@dataclass(slots=True, kw_only=True)
class Counts:
    """What one consumer was sent so far. Texts are messages, each counted once."""

    parts: int = 0
    """Events of the stream."""
    annotated: int = 0
    """Of those, what the server's `once` has annotated; 0 where the graph is not wrapped."""
    texts: int = 0
    """Messages that were streamed in `messages`."""
    repeated: int = 0
    """Texts that the consumer was shown again."""
    missing: int = 0
    """Texts of the state that were never streamed in `messages`."""
    left_out: int = 0
    """Repetitions that were left out for this consumer, here; a server's are not even sent."""
    retracted: int = 0
    """Texts that the consumer was told to drop."""
    not_kept: int = 0
    """Texts that were streamed, and are in no state."""
    repaired: int = 0
    """Texts of which something missing was filled in."""
    bytes: int = 0
    """Of the event stream, as it was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountsChanged:
    """The counts are others now."""

    op: ClassVar[str] = "counted"

    side: Side
    counts: Counts = field(default_factory=Counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The run is over, or waits for an answer."""

    op: ClassVar[str] = "ended"

    side: Side
    status: Status
    error: str | None = None


ViewEvent: TypeAlias = (
    Began | LaneOpened | ItemOpened | TextAppended | ItemChanged | CountsChanged | Ended
)


def to_dict(event: ViewEvent) -> dict[str, Any]:
    """An event as JSON values: `op`, and its fields; those that are None are left out."""
    plain: dict[str, Any] = {"op": event.op}
    for each in fields(event):
        value = getattr(event, each.name)
        if isinstance(value, Counts):
            value = {count.name: getattr(value, count.name) for count in fields(value)}
        elif isinstance(value, tuple):
            value = list(value)
        if value is not None:
            plain[each.name] = value
    return plain
