"""The view events, and `View`, which folds them to what a screen shows.

A view is made of items, which are opened, go on and change; nothing is ever deleted. The page folds
the same events in JavaScript.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Final, Literal, TypeAlias, assert_never

from langgraph_once.events import TextKind

Side: TypeAlias = Literal["stock", "once"]
"""Whose consumer it is: that of LangGraph's own stream, or of ours."""
SIDES: Final[tuple[Side, ...]] = ("stock", "once")
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
    "message", "tool_call", "artifact", "state", "custom", "ui", "interrupt", "gap", "error"
]
Status: TypeAlias = Literal["running", "finished", "interrupted", "failed"]


@dataclass(slots=True, kw_only=True)
class Counts:
    """What one consumer was sent so far; by marks, texts of messages, each counted once."""

    parts: int = 0
    """Events of the stream."""
    annotated: int = 0
    """Of those, what the server's `once` has annotated; 0 where the graph is not wrapped."""
    texts: int = 0
    """Messages that were streamed in `messages`."""
    repeated: int = 0
    left_out: int = 0
    """Repetitions that were left out for this consumer, here; a server's are not even sent."""
    repaired: int = 0
    missing: int = 0
    not_kept: int = 0
    retracted: int = 0
    bytes: int = 0
    """Of the events, before anything compresses them."""
    wire_bytes: int = 0
    """Of the event stream, as it was sent."""

    def add(self, name: str) -> None:
        """Count one more of these."""
        setattr(self, name, getattr(self, name) + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    """A run begins, or is joined. All that follows, up to `Ended`, is of it."""

    side: Side
    thread_id: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneOpened:
    """A graph speaks for the first time: its items are in a lane of their own."""

    side: Side
    lane: int
    """From 0, in the order of delivery; 0 is the outermost graph, which always comes first."""
    path: tuple[str, ...]
    """The nodes that lead to it, outermost first; `()` for the outermost."""
    number: int
    """From 1: which of those that have this path."""

    @property
    def label(self) -> str:
        """As `researcher 2`, or `main` for the outermost graph."""
        name = "/".join(self.path) or "main"
        return name if self.number == 1 else f"{name} {self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOpened:
    """An item begins, at the end of all that came. A side's items are numbered from 0."""

    side: Side
    item: int
    kind: Kind
    lane: int
    node: str | None = None
    name: str = ""
    """Of a message its role, of a tool call the tool, of an artifact or interrupt its key or id."""
    value: Any = None
    """What it holds, as JSON; as text with an ellipsis where it is long."""
    mark: Mark = "kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAppended:
    """The text of an item goes on: of a message its words, of a tool call its arguments."""

    side: Side
    item: int
    text: str
    mark: Mark = "kept"
    kind: TextKind = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemChanged:
    """An item has other fields now, and its value other keys; what is None stays as it was."""

    side: Side
    item: int
    mark: Mark | None = None
    value: dict[str, Any] | None = None
    status: str | None = None
    """Of a tool call `completed`, `failed`, `success` or `error`; of an interrupt `answered`."""
    repeats: int | None = None
    """So many characters of its words, from the first, turn out to repeat an earlier item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountsChanged:
    """The counts as they are now."""

    side: Side
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The run is over, or waits for an answer."""

    side: Side
    status: Status
    error: str | None = None


ViewEvent: TypeAlias = (
    Began | LaneOpened | ItemOpened | TextAppended | ItemChanged | CountsChanged | Ended
)


def to_dict(event: ViewEvent) -> dict[str, Any]:
    """An event as JSON values: its class as `op`, and its fields but those that are None."""
    told = {each.name: getattr(event, each.name) for each in fields(event)}
    if isinstance(event, CountsChanged):
        told["counts"] = asdict(event.counts)
    return {"op": type(event).__name__} | {k: v for k, v in told.items() if v is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Item(ItemOpened):
    """A message, a tool call, a change of the state: as it was opened, with what came since."""

    status: str | None = None
    pieces: list[TextAppended] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its words, or the arguments of a call."""
        return "".join(piece.text for piece in self.pieces if piece.kind == "text")

    def append(self, event: TextAppended) -> None:
        """Let the last piece go on, if it is of this mark and kind."""
        if self.pieces and (self.pieces[-1].mark, self.pieces[-1].kind) == (event.mark, event.kind):
            event = replace(event, text=self.pieces.pop().text + event.text)
        self.pieces.append(event)

    def changed(self, event: ItemChanged) -> Item:
        """The item with its new fields."""
        value = self.value if event.value is None else {**(self.value or {}), **event.value}
        mark, status = event.mark or self.mark, event.status or self.status
        pieces = [*_repeated(self.pieces, event.repeats or 0)]
        return replace(self, mark=mark, status=status, value=value, pieces=pieces)


def _repeated(pieces: Iterable[TextAppended], size: int) -> Iterator[TextAppended]:
    """The pieces, the first `size` characters of whose words are repeated."""
    for piece in pieces:
        if size and piece.kind == "text":
            head, tail = piece.text[:size], piece.text[size:]
            yield replace(piece, text=head, mark="repeated")
            if tail:
                yield replace(piece, text=tail)
            size -= len(head)
        else:
            yield piece


@dataclass(slots=True)
class SideView:
    """What one consumer has. Its status is None before the first run."""

    lanes: list[LaneOpened] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    status: Status | None = None
    error: str | None = None
    thread_id: str | None = None
    run_ids: list[str] = field(default_factory=list)

    @property
    def waiting(self) -> list[Item]:
        """The interrupts that wait for an answer."""
        return [it for it in self.items if it.kind == "interrupt" and it.status is None]


class View:
    """Folds view events, first those that it is made with. A side is there from its first on."""

    def __init__(self, events: Iterable[ViewEvent] = ()) -> None:
        self.sides: dict[str, SideView] = {}
        for event in events:
            self.apply(event)

    def apply(self, event: ViewEvent) -> None:
        """Take one event."""
        side = self.sides.setdefault(event.side, SideView())
        match event:
            case Began():
                side.status, side.error = "running", None
                side.thread_id = event.thread_id or side.thread_id
                side.run_ids += [event.run_id] if event.run_id else []
            case LaneOpened():
                side.lanes.append(event)
            case ItemOpened():
                side.items.append(Item(**{f.name: getattr(event, f.name) for f in fields(event)}))
            case TextAppended():
                side.items[event.item].append(event)
            case ItemChanged():
                side.items[event.item] = side.items[event.item].changed(event)
            case CountsChanged():
                side.counts = event.counts
            case Ended():
                side.status, side.error = event.status, event.error
            case _:
                assert_never(event)
