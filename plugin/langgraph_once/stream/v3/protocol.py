"""v3: what a stock client of the protocol is sent over a network.

Of the `messages` of v3 a LangGraph server sends only the events of models: no whole message, no
removal, no metadata (langgraph-api 0.16.7). Clients keep a list of messages by id. A message that
was streamed and is in no `values` stays in it, and its streamed text wins over that of `values`
(`@langchain/react` 1.1). Only one event takes something back: a `message-start` under a known id
begins that message anew. So a message that no state will hold is begun anew and left empty, and a
message that the state has otherwise is begun anew with that text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models._compat_bridge import message_to_events
from langchain_core.messages import AIMessage, BaseMessage

from langgraph_once.stream.dedup.operations import ATTEMPTS, Because, Kind, Operation
from langgraph_once.stream.part.content import Content
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.namespace import lineage, task_in
from langgraph_once.stream.v3.exact import RUN_KEY, EventForm
from langgraph_once.stream.v3.marks import mark_of, marked

__all__ = ["ProtocolForm"]


@dataclass(slots=True, eq=False)
class _ShownMessage:
    """A message that the client shows."""

    id: str
    ns: tuple[str, ...]
    text: str = ""
    is_text: bool = True
    """It says nothing but text."""

    node: str | None = None
    """The node that its events name, where a client needs that to tell them from others."""

    run: str | None = None
    """The model run that says it, while that goes on."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to take back."""
        return self.is_text and not self.text


class _Held:
    """The events of a message that so far repeats one that the client shows."""

    def __init__(self, old: _ShownMessage, start: Part) -> None:
        self.old = old
        self.events = [start]
        self._text = ""

    def goes_on(self, part: Part) -> bool:
        """Note an event; whether the client has all that it says."""
        event, last = part.data, self.events[-1].data
        said = _text_of(event)
        if said is None or last.get("index") != event["index"] or "delta" not in last:
            self.events.append(part)
        else:  # one event in place of many
            delta = {**event["delta"], "text": last["delta"]["text"] + said}
            self.events[-1] = part._replace(data={**event, "delta": delta})
        if said is None:
            block: Mapping[str, Any] = event.get("content", {})
            begins = event.get("event"), block.get("type")
            return begins == ("content-block-start", "text")
        self._text += said
        return self.old.text.startswith(self._text)


class ProtocolForm(EventForm):
    """Says with events of the protocol what the deduplicator takes back."""

    takes_back = False

    def __init__(self) -> None:
        self._shown: dict[str, _ShownMessage] = {}
        self._runs: dict[str, _ShownMessage] = {}
        self._held: dict[str, _Held] = {}
        self._gone: dict[str, list[_ShownMessage]] = {}
        self._moved: dict[str, _ShownMessage] = {}
        self._in_state: set[str] = set()
        self._has_state = False  # which the first one of a stream shows to have been before it
        self._answered: set[str] = set()  # by tasks that say nothing else a draft is all there is

    def told(self, part: Part, operations: Iterable[Operation]) -> Iterator[Part]:
        """What to send of a part: the operations on it, whose parts are events."""
        if part.mode == "values":
            yield from self._state(part)
        elif part.mode != "messages":
            yield part
        elif isinstance(part.data, Mapping):
            yield from self._event(part, operations)
        else:
            for operation in operations:
                yield from self._message(part, operation)

    def _state(self, part: Part) -> Iterator[Part]:
        """A state: what runs again has ended, and what a client shows is to be what it says."""
        for gone in self._gone.values():
            over = [old for old in gone if old.ns[: len(part.ns)] == part.ns]
            gone[:] = [old for old in gone if old not in over]
            for old in over:
                yield from self._emptied(old)
        said = _messages(part.data)
        ids = Counter(str(message.id) for message in said)
        before, is_first = self._in_state, not self._has_state
        if not part.ns:
            self._in_state, self._has_state = set(ids), True
        for message in said:
            # Two messages under one id: the client shows one, and nobody knows which.
            if isinstance(message, AIMessage) and ids[str(message.id)] == 1:
                yield from self._corrected(message, is_root=not part.ns)
        yield part
        if not part.ns and not is_first:
            for message_id in self._in_state - before:
                yield from self._copied(message_id)

    def _copied(self, message_id: str) -> Iterator[Part]:
        """Begin anew with nothing what streamed, in this stream or one before, under another id."""
        yield from self._emptied(self._moved.pop(message_id, None), ())
        for entry in self.ledger.entries(message_id):
            if entry.is_model and entry.id != message_id:
                old = self._shown.get(entry.id) or _shown(entry.id, (), entry.content)
                yield from self._emptied(old, ())

    def _corrected(self, message: AIMessage, *, is_root: bool) -> Iterator[Part]:
        """Begin anew what a client shows of a message, if the state says something else."""
        message_id, text = str(message.id), str(message.text)
        shown = self._shown.get(message_id)
        if shown is None and is_root:
            self._shown[message_id] = _ShownMessage(message_id, (), text)
        elif shown is not None and shown.text != text and shown.run is None:
            shown.text = text
            yield from _told(shown, message)

    def _event(self, part: Part, operations: Iterable[Operation]) -> Iterator[Part]:
        is_start = part.data.get("event") == "message-start"
        for operation in operations:
            if operation.part is not part:
                yield from self._message(part, operation)
            else:
                yield from self._start(part) if is_start else self._next(part)

    def _take_back(self, removal: Part) -> Iterator[Part]:
        """Note what runs again; what the client shows of it stays until that has caught up."""
        message_id, task = str(removal.data.id), task_in(removal.meta)
        had = mark_of(removal.meta).had
        for run, held in list(self._held.items()):
            if self._runs[run].id == message_id:  # which nobody was shown
                del self._held[run], self._runs[run]
                self._gone.setdefault(task, []).append(held.old)
        old = self._shown.pop(message_id, None)
        if old is None and had is not None:
            old = _shown(message_id, removal.ns, had)
        if old is not None and old.run is not None:
            # The model that said it died, and upstream leaves its message open.
            end = self._out(Part(old.ns, "messages", {"event": "message-finish"}), old)
            yield marked(end, to="log")
            self._end(old)
        if old is not None and message_id not in self._in_state:
            self._gone.setdefault(task, []).append(old)

    def _start(self, part: Part) -> Iterator[Part]:
        run, message_id = str(part.meta.get(RUN_KEY)), str(part.data.get("id"))
        shown = self._runs[run] = _ShownMessage(message_id, part.ns)
        gone = self._gone.pop(task_in(part.meta), [])
        # Only text is compared while it streams, and only with a single message.
        if len(gone) == 1 and gone[0].is_text and not gone[0].is_empty:
            self._held[run] = _Held(gone[0], part)
            return
        for old in gone:
            yield from self._emptied(old)
        self._begin(shown, run, part)
        yield self._out(part, shown)

    def _next(self, part: Part) -> Iterator[Part]:
        run = str(part.meta.get(RUN_KEY))
        shown, held = self._runs.get(run), self._held.get(run)
        if shown is None:
            yield part
        elif held is None:
            yield self._out(part, shown)
        elif not held.goes_on(part):
            del self._held[run]
            self._begin(shown, run, part)
            for event in held.events:
                yield self._out(event, shown)
            yield from self._emptied(held.old)  # now, so that at no moment there is neither
        if shown is not None and part.data.get("event") == "message-finish":
            self._end(shown)

    def _begin(self, shown: _ShownMessage, run: str, part: Part) -> None:
        """Note that a message begins; if another is open, its events are to be told apart."""
        nodes = [other.node for other in self._beside(shown)]
        if nodes:
            node = str(part.meta.get("langgraph_node"))
            shown.node = f"{node}:{run}" if node in nodes else node
        shown.run = run
        self._shown[shown.id] = shown

    def _end(self, shown: _ShownMessage) -> None:
        self._runs.pop(str(shown.run), None)
        shown.run = None

    def _beside(self, shown: _ShownMessage) -> list[_ShownMessage]:
        """The other messages that are open in its namespace."""
        runs = self._runs.values()
        return [one for one in runs if one.run and one.ns == shown.ns and one is not shown]

    def _out(self, part: Part, shown: _ShownMessage) -> Part:
        """An event as it goes out: with its node and its id where clients need them.

        One of them tells by the one, another by the other which message an event goes on with;
        with one message at a time they need neither.
        """
        event, said = part.data, _text_of(part.data)
        if said is not None:
            shown.text += said
        elif event.get("content", {}).get("type", "text") != "text":
            shown.is_text = False
        if self._beside(shown):
            part = part._replace(data={**event, "id": shown.id})
        return part if shown.node is None else marked(part, node=shown.node)

    def _message(self, part: Part, operation: Operation) -> Iterator[Part]:
        """A message, a removal or a mark, with the events that say what it means."""
        kind, because, out = operation
        if out is not None:
            if kind is Kind.REMOVE and because in ATTEMPTS:
                yield from self._take_back(out)
            yield out
            if because is Because.REMOVED:
                yield from self._emptied(self._shown.get(str(out.data.id)))
        if kind is Kind.DISCARD and self._answered.intersection(lineage(task_in(part.meta))):
            yield from self._emptied(self._shown.get(str(part.data.id)))
        if type(part.data) is AIMessage:
            self._answer(part)

    def _answer(self, answer: Part) -> None:
        """Note that a task returned an answer, perhaps a copy of what a client shows."""
        self._answered.add(task_in(answer.meta))
        answer_id = str(answer.data.id)
        for entry in self.ledger.entries(answer_id):
            copied = self._shown.get(entry.id)
            if copied is not None and entry.id != answer_id:
                self._moved[answer_id] = copied  # an edit makes the ledger forget it

    def _emptied(
        self, old: _ShownMessage | None, ns: tuple[str, ...] | None = None
    ) -> Iterator[Part]:
        """Begin anew with nothing what a client shows, unless a state has it, or had it."""
        if old is not None and not old.is_empty and old.id not in self._in_state:
            self._shown[old.id] = emptied = _ShownMessage(old.id, old.ns if ns is None else ns)
            yield from _told(emptied, AIMessage("", id=old.id))


def _told(shown: _ShownMessage, message: AIMessage) -> Iterator[Part]:
    """The events that say a message from its start to its end.

    They name no node of the graph, so that they are not taken for events of what one says.
    """
    for event in message_to_events(message, message_id=shown.id):
        part = Part(shown.ns, "messages", {**event, "id": shown.id})
        yield marked(part, to="log", node=f"once:{shown.id}")


def _messages(state: Any) -> list[BaseMessage]:
    values = state.values() if isinstance(state, Mapping) else ()
    lists = [value for value in values if isinstance(value, list)]
    return [m for each in lists for m in each if isinstance(m, BaseMessage) and m.id]


def _shown(message_id: str, ns: tuple[str, ...], said: Content) -> _ShownMessage:
    return _ShownMessage(message_id, ns, said.text, is_text=not (said.calls or said.rest))


def _text_of(event: Mapping[str, Any]) -> str | None:
    """The text that an event adds, if that is all it does."""
    delta = event.get("delta") or {}
    text: str | None = delta.get("text") if delta.get("type") == "text-delta" else None
    return text
