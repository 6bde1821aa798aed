"""The messages that one consumer is shown, with what was decided of each piece."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, BaseMessageChunk, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.events.reading.content_blocks import Saying, sayings
from langgraph_once.events.vocabulary.base import akin
from langgraph_once.stream import Part, annotation_of
from langgraph_once.stream.part.where import where_of
from langgraph_once.watch.items import Items, Namespace
from langgraph_once.watch.vocabulary import Counts, ItemChanged, Mark, TextAppended, ViewEvent

__all__ = ["MessageItems", "Shown"]

VOID = frozenset({"repeated", "not_kept", "retracted"})


@dataclass(slots=True, eq=False)
class Shown:
    """A message as its consumer has it."""

    item: int
    namespace: Namespace
    node: str | None
    role: str
    id: str | None
    pieces: list[str] = field(default_factory=list)
    mark: Mark = "kept"
    marks: set[Mark] = field(default_factory=set)
    """Those of its pieces."""
    is_judged: bool = False
    """A state has been compared with it."""

    @property
    def text(self) -> str:
        """All that it says."""
        return "".join(self.pieces)

    @property
    def is_void(self) -> bool:
        """Whether it repeats another, is in no state, or was taken back."""
        return self.mark in VOID or self.marks == {"repeated"}


class MessageItems:
    """Makes items of the parts of mode `messages`.

    Args:
        items: Numbers them.
        counts: Counts what becomes of them.
        obeys: The consumer gets what was decided; else it gets each part as it came, and the
            decision only tells what is wrong with it.
    """

    def __init__(self, items: Items, counts: Counts, *, obeys: bool) -> None:
        self._items = items
        self._counts = counts
        self._obeys = obeys
        self._open: dict[tuple[Namespace, str], Shown] = {}
        self.shown: list[Shown] = []
        self._calls: dict[tuple[Namespace, str | None], list[int]] = {}
        self._void_calls: dict[tuple[Namespace, str | None], list[int]] = {}

    def feed(self, part: Part, decided: Sequence[Part]) -> Iterator[ViewEvent]:
        """What to tell of a part.

        Args:
            part: As it came.
            decided: What of it the consumer lacks.
        """
        for each in decided if self._obeys else (part,):
            if isinstance(each.data, RemoveMessage):
                yield from self._take_back(each)
        if not isinstance(part.data, BaseMessage) or isinstance(part.data, RemoveMessage):
            return
        news = [
            each
            for each in decided
            if isinstance(each.data, BaseMessage) and not isinstance(each.data, RemoveMessage)
        ]
        is_whole = any(each.data is part.data for each in news)
        if not news:
            yield from self._say(part, part.data, "repeated")
            return
        for new in news:
            note: Mapping[str, Any] = annotation_of(new.meta) or {}
            if note.get("draft"):
                yield from self._drafted(new)
                continue
            if not (is_whole or note.get("repairs")):
                yield from self._say_cut_before(part, new)
            yield from self._say(new, new.data, "repaired" if note.get("repairs") else "kept")

    def _say_cut_before(self, part: Part, new: Part) -> Iterator[ViewEvent]:
        """What a part repeats before it goes on with what is new."""
        before = _words(part.data).removesuffix(_words(new.data))
        if before:
            yield from self._said(self._shown(new), before, "repeated")

    def _say(self, part: Part, message: BaseMessage, mark: Mark) -> Iterator[ViewEvent]:
        said = list(sayings(message))
        if mark == "repeated" and not said:
            said = [Saying("text", 0, text) for text in _calls(message)]
        if not said:
            return
        known = self._shown(part)
        for kind, _, text in said:
            yield from self._said(known, text, mark, kind)
        if not isinstance(message, BaseMessageChunk):
            self._close(part)

    def _said(self, shown: Shown, text: str, mark: Mark, kind: Any = "text") -> Iterator[ViewEvent]:
        if shown.item < 0:
            shown.item, told = self._items.open(
                shown.namespace, "message", node=shown.node, name=shown.role
            )
            yield from told
            self._counts.texts += 1
            self.shown.append(shown)
            yield from self._revive_calls(shown)
        if mark not in shown.marks:
            self._count(mark)
            shown.marks.add(mark)
        if kind == "text":
            shown.pieces.append(text)
        yield TextAppended(side=self._items.side, item=shown.item, text=text, mark=mark, kind=kind)

    def _count(self, mark: Mark) -> None:
        match mark:
            case "repeated" if self._obeys:
                self._counts.left_out += 1
            case "repeated":
                self._counts.repeated += 1
            case "repaired":
                self._counts.repaired += 1
            case "not_kept":
                self._counts.not_kept += 1
            case "retracted":
                self._counts.retracted += 1

    def mark(self, shown: Shown, mark: Mark) -> Iterator[ViewEvent]:
        """Decide of a message as a whole; once, since what is void stays so."""
        if shown.mark == "kept":
            shown.mark = mark
            if mark == "repeated":
                self._counts.repeated += "repeated" not in shown.marks or self._obeys
            else:
                self._count(mark)
            yield ItemChanged(side=self._items.side, item=shown.item, mark=mark)
            if mark == "repeated":
                yield from self._mark_calls(shown.namespace, shown.id, mark)

    def add_call(self, namespace: Namespace, message_id: str | None, item: int) -> None:
        """Note the item of a tool call: what becomes of its message becomes of it."""
        self._calls.setdefault((namespace, message_id), []).append(item)

    def _mark_calls(
        self, namespace: Namespace, message_id: str | None, mark: Mark
    ) -> Iterator[ViewEvent]:
        for item in self._calls.pop((namespace, message_id), ()):
            yield ItemChanged(side=self._items.side, item=item, mark=mark)

    def _revive_calls(self, shown: Shown) -> Iterator[ViewEvent]:
        """A message that takes the place of one under its id makes its calls, as an edit does."""
        at = (shown.namespace, shown.id)
        for item in self._void_calls.pop(at, ()):
            self.add_call(*at, item)
            yield ItemChanged(side=self._items.side, item=item, mark="kept")

    def _drafted(self, part: Part) -> Iterator[ViewEvent]:
        known = self._open.get(_key(part))
        if known is not None and known.item >= 0:
            yield from self.mark(known, "not_kept")

    def _take_back(self, part: Part) -> Iterator[ViewEvent]:
        """Mark what a removal names; it may be said again, as another message."""
        for key, known in list(self._open.items()):
            is_named = part.data.id in (REMOVE_ALL_MESSAGES, known.id)
            if is_named and akin(known.namespace, part.ns):
                del self._open[key]
                if known.item >= 0:
                    yield from self.mark(known, "retracted")
        for namespace, message_id in list(self._calls):
            is_named = part.data.id in (REMOVE_ALL_MESSAGES, message_id)
            if is_named and akin(namespace, part.ns):
                self._void_calls[namespace, message_id] = self._calls[namespace, message_id]
                yield from self._mark_calls(namespace, message_id, "retracted")

    def _shown(self, part: Part) -> Shown:
        key = _key(part)
        known = self._open.get(key)
        if known is None:
            where = where_of(part.ns, part.meta)
            message = part.data
            role = message.type.removesuffix("MessageChunk").lower()
            known = Shown(-1, part.ns, where.node, role, message.id)
            self._open[key] = known
        return known

    def _close(self, part: Part) -> None:
        """A whole message without an id is not found again."""
        if not part.data.id:
            self._open.pop(_key(part), None)


def _key(part: Part) -> tuple[Namespace, str]:
    where = where_of(part.ns, part.meta)
    return part.ns, str(part.data.id or f"task {where.task_id}")


def _words(message: BaseMessage) -> str:
    return "".join(text for kind, _, text in sayings(message) if kind == "text")


def _calls(message: BaseMessage) -> Iterator[str]:
    """The calls of a whole message, as lines of text."""
    if isinstance(message, AIMessage) and not isinstance(message, BaseMessageChunk):
        for call in message.tool_calls:
            yield f"{call['name']}({json.dumps(call['args'], ensure_ascii=False, default=str)})\n"
