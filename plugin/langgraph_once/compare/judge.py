"""Holds what a consumer was shown against the states of the run.

The deduplicator decides as parts pass. A stock stream has no annotations, so there it cannot
know that a task ran again, or that a hand-off never came. The states of the same run can.
"""

from __future__ import annotations

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, ToolMessage

from langgraph_once.compare.items import Items, MessageItems, Namespace, Shown
from langgraph_once.compare.view import TextAppended
from langgraph_once.events import related
from langgraph_once.stream import GAP_MODE, Part, found_in_update, has_interrupt


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
        elif not (self._has_gap or has_interrupt(part)):  # else the step is not over
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
        """Mark what came into no state: whoever says the same, as far as it goes, repeats it."""
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
