"""What a consumer was shown, item by item, and what the states of the run prove of it.

Items are numbered in the order of delivery: messages, and all others. The deduplicator decides as
parts pass. A stock stream has no annotations, so there it cannot know that a task ran again, or
that a hand-off never came. The states of the same run can: `Judge`.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    BaseMessageChunk,
    RemoveMessage,
    ToolMessage,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.compare import view
from langgraph_once.compare.view import TextAppended
from langgraph_once.events import related, text_pieces
from langgraph_once.stream import (
    GAP_MODE,
    Because,
    Kind,
    Part,
    found_in_update,
    node_names,
    operation_of,
    where_of,
)

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


class Judge:
    """Finds what is repeated, what is not kept, and what is missing."""

    def __init__(self, messages: MessageItems, items: Items) -> None:
        self._messages = messages
        self._shown = messages.shown
        self._items = items
        self._states: dict[Namespace, dict[str, str]] = {}
        self._last: dict[Namespace, list[BaseMessage]] = {}
        self._claimed: set[str] = set()
        self._known: set[str] = set()
        self.begin()

    def begin(self) -> None:
        """A run begins: the first state of each graph is what it was given."""
        self._begun: set[Namespace] = set()
        self._has_gap = False

    def feed(self, part: Part) -> None:
        """Take a part as it came, after its consumer was shown it."""
        self._has_gap |= part.mode == GAP_MODE  # from here on nobody can say what is missing
        if part.mode not in ("updates", "values"):
            return
        found = found_in_update(part.data).messages
        messages = [each for each in found if not isinstance(each, RemoveMessage)]
        texts = {each.id or f"unnamed {_text(each)}": _text(each) for each in messages}
        self._states.setdefault(part.ns, {}).update(texts)
        is_given = part.ns not in self._begun
        self._begun.add(part.ns)
        if part.mode == "updates":
            return
        self._last[part.ns] = messages
        if is_given:
            self._known.update(map(_text, messages))
        elif not (self._has_gap or part.interrupts is not None):  # else the step is not over
            self._void(part.ns)
            self._void(part.ns)  # what is void may show that its graph has died
            self._compare(part.ns, messages)

    def _void(self, namespace: Namespace) -> None:
        """Mark what was said in this graph, or inside it, and came into no state."""
        self._drop_abandoned(namespace)
        if not any(shown.id in self._around(shown) for shown in self._shown):
            return  # states that come without the messages that were told prove nothing
        named = {shown.id for shown in self._shown if not shown.is_void}
        for shown in self._shown:
            if shown.is_judged or shown.namespace[: len(namespace)] != namespace:
                continue
            shown.is_judged = True
            if not (shown.is_void or self._is_in_state(shown, named)):
                self._mark(shown)

    def _mark(self, void: Shown) -> None:
        """Mark a message that no state holds; another that begins with its text repeats it."""
        others = (o for o in self._shown if o.speaker == void.speaker and not o.is_void)
        same = [o for o in others if o is not void and o.text.startswith(void.text)]
        later = [o for o in same if o.item > void.item]
        if same:
            self._messages.mark_repeated(*((void, later[0]) if later else (void, void)))
        else:
            self._messages.mark(void, "not_kept")

    def _drop_abandoned(self, namespace: Namespace) -> None:
        """Forget the states of graphs that a failed attempt ran, and that its task ran anew.

        A node may also run a graph twice because it wants to; then the first run has ended.
        """
        size, states = len(namespace), [*self._states]
        for at, ns in enumerate(states):
            is_inside = len(ns) > size and ns[:size] == namespace
            ran_anew = any(_task(later) == _task(ns) for later in states[at + 1 :])
            if is_inside and ran_anew and self._has_died(ns):
                del self._states[ns]
                for shown in self._shown:
                    shown.is_judged = shown.is_judged and not related(shown.namespace, ns)

    def _has_died(self, namespace: Namespace) -> bool:
        """Whether a graph has stopped amid its work, as far as its messages tell."""
        messages = self._last.get(namespace, [])
        asked = {call["id"] for m in messages if isinstance(m, AIMessage) for call in m.tool_calls}
        answered = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
        marks = {shown.mark for shown in self._shown if shown.namespace == namespace}
        return bool(asked - answered or marks & {"repeated", "not_kept"})

    def _is_in_state(self, shown: Shown, named: set[str | None]) -> bool:
        """Whether a state holds it, under its id or another that no other message bears."""
        states, text, taken = self._around(shown), shown.text.strip(), named | self._claimed
        if shown.id in states:
            return True
        free = [id for id, held in states.items() if held == text and id not in taken]
        self._claimed.update(free[:1])
        return bool(free)

    def _around(self, shown: Shown) -> dict[str, str]:
        """The messages of the graphs that it was said in, and of those around and inside."""
        near = (held for ns, held in self._states.items() if related(ns, shown.namespace))
        return {id: text for held in near for id, text in held.items()}

    def _compare(self, namespace: Namespace, messages: list[BaseMessage]) -> None:
        """Mark what has other words in the state by now, and tell what was never streamed."""
        for shown in self._shown:
            text = self._states[namespace].get(str(shown.id))
            if text and shown.is_judged and not shown.is_void and text not in shown.text:
                self._messages.mark(shown, "not_kept")
        told = {shown.text.strip() for shown in self._shown if shown.mark != "retracted"}
        for message in messages:
            text = _text(message)
            if text and text not in told and text not in self._known:
                self._known.add(text)
                self._items.counts.add("missing")
                item = self._items.open(namespace, "message", name=message.type, mark="missing")
                self._items.tell(TextAppended, item=item, text=text, mark="missing")


def _task(namespace: Namespace) -> Namespace:
    """A graph without the count of the times that its task ran it."""
    return tuple(part for part in namespace if not part.isdecimal())


def _text(message: BaseMessage) -> str:
    return str(message.text).strip()
