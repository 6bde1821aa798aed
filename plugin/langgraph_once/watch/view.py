"""View events folded to what a screen shows. The page does the same in JavaScript."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, assert_never

from langgraph_once.watch.vocabulary import (
    Began,
    Counts,
    CountsChanged,
    Ended,
    ItemChanged,
    ItemOpened,
    Kind,
    LaneOpened,
    Mark,
    Status,
    TextAppended,
    ViewEvent,
)

__all__ = ["Item", "Lane", "Piece", "SideView", "View"]


@dataclass(slots=True)
class Lane:
    """A graph that spoke."""

    path: tuple[str, ...]
    number: int

    @property
    def label(self) -> str:
        """As `researcher 2`, or `main` for the outermost graph."""
        name = "/".join(self.path) or "main"
        return name if self.number == 1 else f"{name} {self.number}"


@dataclass(slots=True)
class Piece:
    """Some text of an item, of one mark and kind."""

    text: str
    mark: Mark
    kind: str


@dataclass(slots=True)
class Item:
    """A message, a tool call, a change of the state."""

    kind: Kind
    lane: int
    node: str | None
    name: str
    mark: Mark
    value: Any = None
    status: str | None = None
    pieces: list[Piece] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its words, or the arguments of a call."""
        return "".join(piece.text for piece in self.pieces if piece.kind == "text")


@dataclass(slots=True)
class SideView:
    """What one consumer has."""

    lanes: list[Lane] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    status: Status | None = None
    """None before the first run."""
    error: str | None = None
    thread_id: str | None = None
    run_ids: list[str] = field(default_factory=list)

    @property
    def waiting(self) -> list[Item]:
        """The interrupts that wait for an answer."""
        return [it for it in self.items if it.kind == "interrupt" and it.status is None]


class View:
    """Folds view events.

    Args:
        events: The first of them.

    Attributes:
        sides: By name, each from its first event on.
    """

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
                if event.run_id:
                    side.run_ids.append(event.run_id)
            case LaneOpened():
                side.lanes.append(Lane(event.path, event.number))
            case ItemOpened():
                side.items.append(
                    Item(event.kind, event.lane, event.node, event.name, event.mark, event.value)
                )
            case TextAppended():
                _say(side.items[event.item], event)
            case ItemChanged():
                _change(side.items[event.item], event)
            case CountsChanged():
                side.counts = event.counts
            case Ended():
                side.status, side.error = event.status, event.error
            case _:
                assert_never(event)


def _say(item: Item, event: TextAppended) -> None:
    last = item.pieces[-1] if item.pieces else None
    if last is not None and (last.mark, last.kind) == (event.mark, event.kind):
        last.text += event.text
    else:
        item.pieces.append(Piece(event.text, event.mark, event.kind))


def _change(item: Item, event: ItemChanged) -> None:
    item.mark = event.mark or item.mark
    item.status = event.status or item.status
    if isinstance(item.value, dict) and isinstance(event.value, dict):
        item.value = {**item.value, **event.value}
    elif event.value is not None:
        item.value = event.value
