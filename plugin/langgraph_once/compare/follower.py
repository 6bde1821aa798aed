"""`Follower`: the parts of one consumer's streams in, view events out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import HumanMessage

from langgraph_once import events
from langgraph_once.compare.items import Items, Judge, MessageItems
from langgraph_once.compare.view import (
    Began,
    Ended,
    ItemChanged,
    Kind,
    Side,
    TextAppended,
    ViewEvent,
)
from langgraph_once.config import DedupConfig
from langgraph_once.events import ArtifactTracker, ToolCallEvent, as_json
from langgraph_once.stream import (
    INTERRUPT_KEY,
    Deduplicator,
    Ledger,
    Part,
    annotation_of,
    entries_of,
    found_in_update,
)

MODES: Final = ("messages", "updates", "values", "custom")
"""The modes that a stream is to be asked for, from subgraphs too."""

# A few pages of text: nobody reads more of a value here, and each event may have one.
MAX_CHARS: Final = 8_000
DEDUP: Final = DedupConfig(state="changed")


class Follower:
    """Turns what one consumer is sent into view events, over any number of runs of a thread.

    For each run call `begin`, then `feed` with each part, then `end`. The consumer of side `stock`
    is shown each part as it came, and repetitions are counted. The consumer of side `once` is shown
    what the deduplicator lets pass.
    """

    def __init__(self, side: Side) -> None:
        self._items = Items(side)
        self._messages = MessageItems(self._items, obeys=side == "once")
        self._judge = Judge(self._messages, self._items)
        self._ledger = Ledger()
        self._artifacts: dict[Any, ArtifactTracker] = {}
        self._calls: dict[Any, int] = {}
        self._interrupts: list[int] = []
        self._asked: set[str | None] = set()
        self._start()

    def _start(self) -> None:
        self._dedup = Deduplicator(DEDUP, ledger=self._ledger)
        self._processor = events.ChannelStreamingProcessor(
            token_streaming=events.TokenStreamingConfig(enabled_namespaces={"**"}),
            dedup=None,
            include=("custom", "ui", "interrupts"),
        )
        self._judge.begin()
        self._has_begun = False
        self._error: str | None = None

    def begin(self, thread_id: str | None = None, run_id: str | None = None) -> Iterator[ViewEvent]:
        """A run begins, or is joined."""
        self._start()
        self._items.tell(Began, thread_id=thread_id, run_id=run_id)
        while self._interrupts:
            self._items.tell(ItemChanged, item=self._interrupts.pop(0), status="answered")
        self._items.lane(())
        return self._items.take()

    def received(self, events_bytes: int, wire_bytes: int) -> None:
        """Count bytes of the events, and as they were sent; they are told with the next part."""
        self._items.counts.bytes += events_bytes
        self._items.counts.wire_bytes += wire_bytes

    def feed(self, part: Part) -> Iterator[ViewEvent]:
        """What to tell of a part."""
        self._items.counts.parts += 1
        self._items.counts.annotated += annotation_of(part.meta) is not None
        self._take(part, [*self._dedup.feed(part)])
        self._items.tell_counts()
        return self._items.take()

    def end(self, error: BaseException | None = None) -> Iterator[ViewEvent]:
        """The run is over, waits for an answer, or `error` ended it early."""
        for part in self._dedup.close(error):
            self._take(part, [part])
        for event in self._processor.close(error):
            self._event(event)
        return self._items.take()

    def _take(self, part: Part, decided: Sequence[Part]) -> None:
        if part.mode == "messages":
            self._messages.feed(part, decided)
        for each in decided:
            if each.mode == "values":
                self._state(each)
            for event in self._processor.feed(each):
                self._event(event)
        self._judge.feed(part)

    def _state(self, part: Part) -> None:
        """Tell the keys that changed. Messages are items themselves; new objects are artifacts."""
        if not (self._has_begun or part.ns):
            self._has_begun = True
            self._question(part)
        changed: dict[str, Any] = {}
        for key, value in entries_of(part.data):
            if key == INTERRUPT_KEY:
                continue
            is_list = isinstance(value, list | tuple) and bool(value)
            if messages := found_in_update({key: value}).messages:
                changed[key] = f"{len(messages)} message{'s' * (len(messages) > 1)}"
            elif is_list and all(isinstance(each, Mapping) for each in value):
                changed[key] = f"{len(value)} element{'s' * (len(value) > 1)}"
                # `max_known` bounds what nodes wrote; only whole values are given to it here.
                known = self._artifacts.setdefault((part.ns, key), ArtifactTracker(max_known=0))
                for _, data in known.values(value):
                    self._items.open(part.ns, "artifact", name=key, value=_json(data))
            elif value not in (None, "", [], {}):
                changed[key] = _json(value)
        if changed:
            self._items.open(part.ns, "state", value=changed)

    def _question(self, part: Part) -> None:
        """Show what the run was asked: no stream tells it, and the first state ends with it."""
        last = next(reversed(found_in_update(part.data).messages), None)
        told = self._asked | {shown.id for shown in self._messages.shown}
        if isinstance(last, HumanMessage) and last.id not in told and last.text:
            self._asked.add(last.id)
            item = self._items.open((), "message", name="human")
            self._items.tell(TextAppended, item=item, text=str(last.text))

    def _event(self, event: events.Event) -> None:
        """Messages and states are told on their own; this is the rest."""
        match event:
            case ToolCallEvent():
                self._call(event)
            case events.ToolResultEvent():
                self._result(event)
            case events.InterruptEvent():
                item = self._open(event, "interrupt", event.interrupt_id, event.value)
                self._interrupts.append(item)
            case events.CustomEvent():
                self._open(event, "custom", "", event.data)
            case events.UIEvent():
                props = {"action": event.action, "props": event.props}
                self._open(event, "ui", event.name or event.ui_id, props)
            case events.GapPossibleEvent():
                self._open(event, "gap", "", event.reason)
            case events.StreamErrorEvent():
                self._open(event, "error", event.error_type, event.message)
                self._error = f"{event.error_type}: {event.message}"
            case events.StreamEndedEvent():
                self._items.tell_counts()
                self._items.tell(Ended, status=event.status, error=self._error)

    def _open(self, event: events.BaseEvent, kind: Kind, name: str, value: Any) -> int:
        return self._items.open(
            event.namespace, kind, node=event.node, name=name, value=_json(value)
        )

    def _call(self, event: ToolCallEvent) -> None:
        message = (event.namespace, event.message_id)
        key = (message, event.index)
        if key not in self._calls or isinstance(event, events.ToolCallStartedEvent):
            self._calls[key] = self._open(event, "tool_call", event.name, None)
            self._messages.calls[message].append(self._calls[key])
        match event:
            case events.ToolCallProgressEvent():
                self._items.tell(TextAppended, item=self._calls[key], text=event.args_delta)
            case events.ToolCallCompletedEvent():
                args = {"args": _json(event.parsed_args)}
                self._items.tell(ItemChanged, item=self._calls[key], status="completed", value=args)
            case events.ToolCallFailedEvent():
                self._items.tell(ItemChanged, item=self._calls[key], status="failed")
        # A result names its call by this id alone.
        if event.tool_call_id:
            self._calls[event.tool_call_id] = self._calls[key]

    def _result(self, event: events.ToolResultEvent) -> None:
        if (item := self._calls.get(event.tool_call_id)) is not None:
            result = {"result": _json(event.content)}
            self._items.tell(ItemChanged, item=item, status=event.status, value=result)
        if event.artifact is not None:
            self._open(event, "artifact", event.name or "", event.artifact)


def _json(value: Any) -> Any:
    """`value` as JSON, what JSON cannot hold as text; if it is long, its beginning as text."""
    plain = as_json(value)
    text = plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
    return plain if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}…"
