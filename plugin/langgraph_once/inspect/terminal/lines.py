"""A view as lines of text: what is told to a pipe."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from langgraph_once.inspect import (
    Began,
    Ended,
    Item,
    ItemChanged,
    ItemOpened,
    Mark,
    SideView,
    TextAppended,
    View,
    ViewEvent,
)

__all__ = ["Lines", "held", "plain", "summary", "word_for"]


class Lines:
    """Tells each item on a line of its own, once another begins in its lane, or the run ends.

    Args:
        names_sides: Whether each line begins with its side.
    """

    def __init__(self, *, names_sides: bool) -> None:
        self._view = View()
        self._names_sides = names_sides
        self._waiting: dict[tuple[str, int], None] = {}
        self._told: dict[tuple[str, int], int] = {}

    def feed(self, event: ViewEvent) -> Iterator[str]:
        """The lines that an event completes."""
        self._view.apply(event)
        match event:
            case ItemOpened():
                yield from self._tell(event.side, lane=event.lane)
                self._waiting[event.side, event.item] = None
            case TextAppended():
                self._waiting[event.side, event.item] = None
            # A pipe takes nothing back: what was told wrongly is told again, with its mark.
            case ItemChanged() if (event.side, event.item) in self._told:
                yield from self._corrected(event)
            case Began() if event.run_id:
                yield self._line(event.side, f"run {event.run_id} of thread {event.thread_id}")
            case Ended():
                yield from self._tell(event.side)
                told = summary(self._view.sides[event.side])
                yield self._line(event.side, f"{event.status}: {told}")
                if event.error:
                    yield self._line(event.side, plain(event.error))

    def _tell(self, name: str, lane: int | None = None) -> Iterator[str]:
        """What has not been told yet; of an item that goes on all the same, its rest."""
        side = self._view.sides[name]
        for key in [key for key in self._waiting if key[0] == name]:
            item = side.items[key[1]]
            if lane is not None and item.lane != lane:
                continue
            del self._waiting[key]
            yield self._line(name, f"{_where(side, item)}: {_what(item, self._told.get(key, 0))}")
            self._told[key] = len(item.text)

    def _corrected(self, event: ItemChanged) -> Iterator[str]:
        """What is not as it was told."""
        side = self._view.sides[event.side]
        item = side.items[event.item]
        word = "repeated" if event.repeats else word_for(event.mark) if event.mark else None
        if word is not None:
            told = _named(item) if item.kind != "message" else ""
            text = f"{told} {item.text[: event.repeats]}".strip()
            yield self._line(event.side, plain(f"{_where(side, item)}: {word or 'kept'}: {text}"))

    def _line(self, side: str, text: str) -> str:
        return f"[{side}] {text}" if self._names_sides else text


def plain(text: str) -> str:
    """Text of a stream on one line, without what would move the cursor of a terminal."""
    return "".join(each if each.isprintable() else " " for each in text)


def word_for(mark: Mark) -> str:
    """What the user reads for a mark; what is kept needs no word."""
    return "" if mark == "kept" else mark.replace("_", " ")


def summary(side: SideView) -> str:
    """What one consumer was sent, in a few words."""
    counts = side.counts
    told = [f"{counts.texts} texts", f"{counts.repeated} repeated", f"{counts.missing} missing"]
    told += [f"{counts.retracted} retracted"] * bool(counts.retracted)
    told += [f"{counts.not_kept} not kept"] * bool(counts.not_kept)
    told += [f"{counts.repaired} repaired"] * bool(counts.repaired)
    return ", ".join([*told, f"{counts.bytes:,} bytes"])


def held(item: Item) -> str:
    """The value of an item as text: of a tool call its result, whose arguments are its text."""
    value = item.value
    if item.kind == "tool_call":
        value = value.get("result") if isinstance(value, dict) else None
        return "" if value is None else f" = {_text(value)}"
    return "" if value is None else _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _where(side: SideView, item: Item) -> str:
    lane = side.lanes[item.lane].label
    return plain(f"{lane} {item.node}" if item.node else lane)


def _what(item: Item, begin: int) -> str:
    words = dict.fromkeys(word_for(piece.mark) for piece in item.pieces)
    word = word_for(item.mark) or " and ".join(filter(None, words))
    told = item.text[begin:] + (held(item) if begin == 0 else "")
    status = f" -> {item.status}" if item.status else ""
    return plain(f"{_named(item)}{f' ({word})' if word else ''} {told}{status}")


def _named(item: Item) -> str:
    return item.name if item.kind == "message" else f"{item.kind} {item.name}".strip()
