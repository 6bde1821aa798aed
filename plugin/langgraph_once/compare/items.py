"""The items of one side, numbered in the order of delivery: messages, and all others."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, BaseMessageChunk, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.compare import view
from langgraph_once.events import related, text_pieces
from langgraph_once.stream import Because, Kind, Part, node_names, operation_of, where_of

Namespace = tuple[str, ...]


class Items:
    """Numbers and counts the items of a side, and keeps what is to be told until it is taken."""

    def __init__(self, side: view.Side) -> None:
        self.counts = view.Counts()
        self._side = side
        self._lanes: dict[Namespace, int] = {}
        self._paths: list[tuple[str, ...]] = []
        self._next = itertools.count().__next__
        self._events: list[view.ViewEvent] = []

    def tell(self, event: type[view.ViewEvent], **fields: Any) -> None:
        """Tell an event with these fields."""
        self._events.append(event(side=self._side, **fields))

    def tell_counts(self) -> None:
        """Tell the counts as they are now."""
        self.tell(view.CountsChanged, counts=replace(self.counts))

    def take(self) -> Iterator[view.ViewEvent]:
        """What is to be told since the last time."""
        events, self._events = self._events, []
        return iter(events)

    def lane(self, namespace: Namespace) -> int:
        """The lane of a graph."""
        if namespace not in self._lanes:
            lane = self._lanes[namespace] = len(self._lanes)
            self._paths.append(path := node_names(namespace))
            self.tell(view.LaneOpened, lane=lane, path=path, number=self._paths.count(path))
        return self._lanes[namespace]

    def open(self, namespace: Namespace, kind: view.Kind, **fields: Any) -> int:
        """Open an item with these fields, and return its number."""
        self.lane(())  # the outermost graph always comes first
        item, lane = self._next(), self.lane(namespace)
        self.tell(view.ItemOpened, item=item, kind=kind, lane=lane, **fields)
        return item


@dataclass(slots=True, eq=False)
class Shown:
    """A message as its consumer has it."""

    item: int
    namespace: Namespace
    id: str | None
    speaker: tuple[str | None, str]  # its node and its role
    pieces: list[str] = field(default_factory=list)
    piece_marks: set[view.Mark] = field(default_factory=set)
    mark: view.Mark = "kept"
    is_judged: bool = False  # a state has been compared with it

    @property
    def text(self) -> str:
        """All that it says."""
        return "".join(self.pieces)

    @property
    def is_void(self) -> bool:
        """Whether it is repeated, not kept, or retracted."""
        return self.mark != "kept" or self.piece_marks == {"repeated"}


class MessageItems:
    """Makes items of the parts of mode `messages`.

    A consumer that obeys gets what was decided. Any other gets each part as it came, and the
    decision only tells what is wrong with it.
    """

    def __init__(self, items: Items, *, obeys: bool) -> None:
        self.shown: list[Shown] = []
        self.calls: defaultdict[Any, list[int]] = defaultdict(list)
        """The tool calls of a message, which share its fate, by its graph and id."""
        self._retracted_calls: dict[Any, list[int]] = {}
        self._items = items
        self._obeys = obeys
        self._open: dict[tuple[Namespace, str], Shown] = {}

    def feed(self, part: Part, decided: Sequence[Part]) -> None:
        """Take a part as it came, and what was decided: what of it the consumer lacks."""
        for each in decided if self._obeys else (part,):
            if isinstance(each.data, RemoveMessage):
                self._retract(each)
        if not _is_said(part):
            return
        news = [each for each in decided if _is_said(each)]
        if not news:
            self._say(part, "repeated")
        came_whole = any(each.data is part.data for each in news)
        for new in news:
            kind, because, _ = operation_of(new)
            if kind is Kind.DISCARD:
                if known := self._open.get(_key(new)):
                    self.mark(known, "not_kept")
            elif because is Because.REST:
                self._say(new, "repaired")
            else:
                before = "" if came_whole else _words(part.data).removesuffix(_words(new.data))
                if before:
                    self._append(new, "text", before, "repeated")
                self._say(new, "kept")

    def mark(self, shown: Shown, mark: view.Mark) -> None:
        """Mark a whole message. Its first mark stays."""
        if shown.mark != "kept":
            return
        self._count(shown, mark)
        self._items.tell(view.ItemChanged, item=shown.item, mark=mark)

    def mark_repeated(self, void: Shown, again: Shown) -> None:
        """Mark what `again` repeats of an earlier message, which is void, and its tool calls."""
        self._count(void, "repeated")
        if void.text:
            self._items.tell(view.ItemChanged, item=again.item, repeats=len(void.text))
        else:  # it thought, and no more
            self._items.tell(view.ItemChanged, item=void.item, mark="repeated")
        if self.calls.get((void.namespace, void.id)):
            self._mark_calls(self.calls, (again.namespace, again.id), "repeated")

    def _count(self, shown: Shown, mark: view.Mark) -> None:
        shown.mark = mark
        if self._obeys or mark not in shown.piece_marks:
            self._items.counts.add(mark)

    def _say(self, part: Part, mark: view.Mark) -> None:
        message, is_chunk = part.data, isinstance(part.data, BaseMessageChunk)
        said = [(str(kind), text) for kind, _, text in text_pieces(message)]
        if not said and mark == "repeated" and isinstance(message, AIMessage) and not is_chunk:
            for call in message.tool_calls:
                args = json.dumps(call["args"], ensure_ascii=False, default=str)
                said.append(("text", f"{call['name']}({args})\n"))
        for kind, text in said:
            self._append(part, kind, text, mark)
        if said and not (message.id or is_chunk):
            del self._open[_key(part)]  # nothing names it again

    def _append(self, part: Part, kind: str, text: str, mark: view.Mark) -> None:
        shown = self._open.get(_key(part))
        if shown is None:
            at, node = (part.ns, part.data.id), where_of(part.ns, part.meta).node
            role = part.data.type.removesuffix("MessageChunk").lower()
            item = self._items.open(part.ns, "message", node=node, name=role)
            shown = self._open[_key(part)] = Shown(item, *at, (node, role))
            self._items.counts.add("texts")
            self.shown.append(shown)
            # A message that takes the place of one under its id makes its calls, as an edit does.
            self.calls[at] += self._mark_calls(self._retracted_calls, at, "kept")
        if mark not in shown.piece_marks and mark != "kept":
            self._items.counts.add("left_out" if mark == "repeated" and self._obeys else mark)
        shown.piece_marks.add(mark)
        if kind == "text":
            shown.pieces.append(text)
        self._items.tell(view.TextAppended, item=shown.item, text=text, mark=mark, kind=kind)

    def _retract(self, removal: Part) -> None:
        """Mark what a removal names; it may be said again, as another message."""

        def is_named(namespace: Namespace, id: str | None) -> bool:
            return removal.data.id in (REMOVE_ALL_MESSAGES, id) and related(namespace, removal.ns)

        for key, shown in [*self._open.items()]:
            if is_named(shown.namespace, shown.id):
                del self._open[key]
                self.mark(shown, "retracted")
        for at in [at for at in self.calls if is_named(*at)]:
            self._retracted_calls[at] = self._mark_calls(self.calls, at, "retracted")

    def _mark_calls(self, calls: dict[Any, list[int]], message: Any, mark: view.Mark) -> list[int]:
        found = calls.pop(message, [])
        for item in found:
            self._items.tell(view.ItemChanged, item=item, mark=mark)
        return found


def _is_said(part: Part) -> bool:
    return isinstance(part.data, BaseMessage) and not isinstance(part.data, RemoveMessage)


def _key(part: Part) -> tuple[Namespace, str]:
    return part.ns, str(part.data.id or f"task {where_of(part.ns, part.meta).task_id}")


def _words(message: BaseMessage) -> str:
    return "".join(text for kind, _, text in text_pieces(message) if kind == "text")
