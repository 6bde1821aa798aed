"""Holds what a consumer was shown against the states of the run.

The deduplicator decides as parts pass. A stock stream has no annotations, so there it cannot
know that a task ran again, or that a hand-off never came. The states of the same run can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, ToolMessage

from langgraph_once.events.vocabulary.base import akin
from langgraph_once.stream.part.messages_within import found_in_update
from langgraph_once.watch.items import Items, Namespace
from langgraph_once.watch.messages import MessageItems, Shown
from langgraph_once.watch.vocabulary import Counts, TextAppended, ViewEvent

__all__ = ["Judge"]


class Judge:
    """Finds what is not kept, what was repeated, and what is missing.

    Args:
        messages: What the consumer was shown.
        items: Numbers what is missing.
        counts: Counts it.
    """

    def __init__(self, messages: MessageItems, items: Items, counts: Counts) -> None:
        self._messages = messages
        self._items = items
        self._counts = counts
        self._states: dict[Namespace, dict[str, str]] = {}
        self._claimed: set[str] = set()
        self._last: dict[Namespace, list[BaseMessage]] = {}
        self._known: set[str] = set()
        self._begun: set[Namespace] = set()
        self._has_gap = False

    def begin(self) -> None:
        """A run begins: the first state of each graph is what it was given."""
        self._begun = set()
        self._has_gap = False

    def gap(self) -> None:
        """Something of the run may not have come here; nobody can say what is missing."""
        self._has_gap = True

    def wrote(self, namespace: Namespace, data: Any) -> None:
        """Take what nodes wrote. It is in the state, whatever becomes of it later."""
        self._begun.add(namespace)
        self._take(namespace, _messages_in(data))

    def state(self, namespace: Namespace, data: Any, *, waits: bool) -> Iterator[ViewEvent]:
        """Take the state of a graph after a step, and judge what was said in the step.

        Args:
            namespace: The graph.
            data: Its state.
            waits: A task of the step waits for an answer, so the step is not over.
        """
        messages = self._last[namespace] = _messages_in(data)
        self._take(namespace, messages)
        if namespace not in self._begun:
            self._begun.add(namespace)
            self._known.update(_text(message) for message in messages)
            return
        if waits or self._has_gap:
            return
        yield from self._void(namespace)
        yield from self._void(namespace)  # what is void may show that its graph has died
        yield from self._rewritten(namespace)
        yield from self._missing(namespace, messages)

    def _take(self, namespace: Namespace, messages: Iterable[BaseMessage]) -> None:
        known = self._states.setdefault(namespace, {})
        for message in messages:
            text = _text(message)
            known[message.id or f"unnamed {text}"] = text

    def _void(self, namespace: Namespace) -> Iterator[ViewEvent]:
        """What was said in this graph, or inside it, and came into no state."""
        size, everything = len(namespace), self._messages.shown
        self._drop_abandoned(namespace)
        new = [s for s in everything if not s.is_judged and s.namespace[:size] == namespace]
        if not any(shown.id in self._around(shown) for shown in everything):
            return  # states that come without the messages that were told prove nothing
        named = {shown.id for shown in everything if not shown.is_void}
        for shown in new:
            shown.is_judged = True
            if not (shown.is_void or self._is_in_state(shown, named)):
                repeats = any(_repeats(shown, other) for other in everything)
                yield from self._messages.mark(shown, "repeated" if repeats else "not_kept")

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
                for shown in self._messages.shown:
                    shown.is_judged = shown.is_judged and not akin(shown.namespace, ns)

    def _has_died(self, namespace: Namespace) -> bool:
        """Whether a graph has stopped amid its work, as far as its messages tell."""
        messages = self._last.get(namespace, [])
        asked = {call["id"] for m in messages if isinstance(m, AIMessage) for call in m.tool_calls}
        answered = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
        said = [shown for shown in self._messages.shown if shown.namespace == namespace]
        return bool(asked - answered) or any(
            shown.mark in ("repeated", "not_kept") for shown in said
        )

    def _rewritten(self, namespace: Namespace) -> Iterator[ViewEvent]:
        """What stands under the id of a message that says something else by now."""
        held = self._states[namespace]
        for shown in self._messages.shown:
            text = held.get(str(shown.id)) if shown.is_judged and not shown.is_void else None
            if text and text not in shown.text:
                yield from self._messages.mark(shown, "not_kept")

    def _is_in_state(self, shown: Shown, named: set[str | None]) -> bool:
        """Whether a state holds it, under its id or another that no other message bears."""
        states = self._around(shown)
        if shown.id in states:
            return True
        text = shown.text.strip()
        free = (id for id, held in states.items() if held == text)
        found = next((id for id in free if id not in named and id not in self._claimed), None)
        self._claimed.update(() if found is None else (found,))
        return found is not None

    def _around(self, shown: Shown) -> dict[str, str]:
        """The messages of the graphs that it was said in, and of those around and inside."""
        near = (held for ns, held in self._states.items() if akin(ns, shown.namespace))
        return {id: text for held in near for id, text in held.items()}

    def _missing(
        self, namespace: Namespace, messages: Iterable[BaseMessage]
    ) -> Iterator[ViewEvent]:
        told = {shown.text.strip() for shown in self._messages.shown if shown.mark != "retracted"}
        for message in messages:
            text = _text(message)
            if not text or text in told or text in self._known:
                continue
            self._known.add(text)
            self._counts.missing += 1
            item, opened = self._items.open(namespace, "message", name=message.type, mark="missing")
            yield from opened
            yield TextAppended(side=self._items.side, item=item, text=text, mark="missing")


def _task(namespace: Namespace) -> Namespace:
    """A graph without the count of the times that its task ran it."""
    return tuple(part for part in namespace if not part.isdecimal())


def _repeats(shown: Shown, other: Shown) -> bool:
    """Whether what is in no state is, as far as it goes, what another message of the node says."""
    return (
        other is not shown
        and not other.is_void
        and (other.node, other.role) == (shown.node, shown.role)
        and other.text.startswith(shown.text)
    )


def _messages_in(data: Any) -> list[BaseMessage]:
    found = found_in_update(data, lambda _: False).messages
    return [message for message in found if not isinstance(message, RemoveMessage)]


def _text(message: BaseMessage) -> str:
    return str(message.text).strip()
