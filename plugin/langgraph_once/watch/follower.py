"""`Follower`: the parts of one consumer's streams in, view events out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from langgraph_once.config import DedupConfig
from langgraph_once.events import ChannelStreamingProcessor, TokenStreamingConfig
from langgraph_once.events.vocabulary.event import (
    CustomEvent,
    Event,
    GapPossibleEvent,
    InterruptEvent,
    StreamEndedEvent,
    StreamErrorEvent,
    ToolCallCompletedEvent,
    ToolCallFailedEvent,
    ToolCallProgressEvent,
    ToolCallStartedEvent,
    ToolResultEvent,
    UIEvent,
)
from langgraph_once.stream import GAP_MODE, Deduplicator, Ledger, Part, annotation_of
from langgraph_once.stream.part.envelope import INTERRUPT_KEY
from langgraph_once.watch.items import Items
from langgraph_once.watch.judge import Judge
from langgraph_once.watch.messages import MessageItems
from langgraph_once.watch.preview import preview
from langgraph_once.watch.states import StateItems
from langgraph_once.watch.vocabulary import (
    Began,
    Counts,
    CountsChanged,
    Ended,
    ItemChanged,
    Kind,
    Side,
    TextAppended,
    ViewEvent,
)

__all__ = ["MODES", "Follower"]

MODES: Final = ("messages", "updates", "values", "custom")
"""The modes that a stream is to be asked for, from subgraphs too."""

DEDUP: Final = DedupConfig(state="changed")


class Follower:
    """Turns what one consumer is sent into view events, over any number of runs of a thread.

    For each run call `begin`, `feed` with each part, and `end`. It does no I/O and has no clock.

    Args:
        side: Whose stream it is. Of side `stock` parts come as a stock client gets them, and what
            is repeated is shown and counted. Of side `once` the consumer gets what the
            deduplicator lets pass.
    """

    def __init__(self, side: Side) -> None:
        self._side: Side = side
        self._counts = Counts()
        self._told = replace(self._counts)
        self._items = Items(side)
        self._messages = MessageItems(self._items, self._counts, obeys=side == "once")
        self._judge = Judge(self._messages, self._items, self._counts)
        self._states = StateItems(self._items)
        self._ledger = Ledger.within(DEDUP)
        self._calls: dict[Any, int] = {}
        self._interrupts: list[int] = []
        self._status: Any = "finished"
        self._start()

    def _start(self) -> None:
        self._dedup = Deduplicator(DEDUP, ledger=self._ledger)
        self._processor = ChannelStreamingProcessor(
            token_streaming=TokenStreamingConfig(enabled_namespaces={"**"}),
            dedup=None,
            include=("custom", "ui", "interrupts"),
        )
        self._judge.begin()

    def begin(self, thread_id: str | None = None, run_id: str | None = None) -> Iterator[ViewEvent]:
        """A run begins, or is joined."""
        self._start()
        yield Began(side=self._side, thread_id=thread_id, run_id=run_id)
        for item in self._interrupts:
            yield ItemChanged(side=self._side, item=item, status="answered")
        self._interrupts.clear()
        yield from self._items.lane(())

    def received(self, size_bytes: int) -> None:
        """Count bytes of the event stream, as they were sent; they are told with the next part."""
        self._counts.bytes += size_bytes

    def feed(self, part: Part) -> Iterator[ViewEvent]:
        """What to tell of a part."""
        self._counts.parts += 1
        self._counts.annotated += annotation_of(part.meta) is not None
        yield from self._decided(part, list(self._dedup.feed(part)))
        yield from self._counted()

    def end(self, error: BaseException | None = None) -> Iterator[ViewEvent]:
        """The run is over, waits for an answer, or cannot be read any further.

        Args:
            error: What ended it, if it did not end by itself.
        """
        for part in self._dedup.close(error):
            yield from self._decided(part, [part])
        for event in self._processor.close(error):
            yield from self._event(event)
        yield from self._counted()
        said = None if error is None else _text(error)
        yield Ended(side=self._side, status=self._status, error=said)

    def _decided(self, part: Part, decided: list[Part]) -> Iterator[ViewEvent]:
        if part.mode == "messages":
            yield from self._messages.feed(part, decided)
        elif part.mode == "updates":
            self._judge.wrote(part.ns, part.data)
        elif part.mode == GAP_MODE:
            self._judge.gap()
        for each in decided:
            if each.mode == "values":
                yield from self._states.feed(each)
            for event in self._processor.feed(each):
                yield from self._event(event)
        if part.mode == "values":
            yield from self._judge.state(part.ns, part.data, waits=_waits(part))

    def _counted(self) -> Iterator[ViewEvent]:
        if self._counts != self._told:
            self._told = replace(self._counts)
            yield CountsChanged(side=self._side, counts=self._told)

    def _event(self, event: Event) -> Iterator[ViewEvent]:
        """Messages and states are told on their own; this is the rest."""
        match event:
            case (
                ToolCallStartedEvent()
                | ToolCallProgressEvent()
                | ToolCallCompletedEvent()
                | ToolCallFailedEvent()
            ):
                yield from self._call(event)
            case ToolResultEvent():
                yield from self._result(event)
            case InterruptEvent():
                item, told = self._open(event, "interrupt", event.interrupt_id, event.value)
                self._interrupts.append(item)
                yield from told
            case CustomEvent():
                yield from self._open(event, "custom", "", event.data)[1]
            case UIEvent():
                props = {"action": event.action, "props": event.props}
                yield from self._open(event, "ui", event.name or event.ui_id, props)[1]
            case GapPossibleEvent():
                yield from self._open(event, "gap", "", event.reason)[1]
            case StreamErrorEvent():
                yield from self._open(event, "error", event.error_type, event.message)[1]
            case StreamEndedEvent():
                self._status = event.status

    def _open(self, event: Event, kind: Kind, name: str, value: Any) -> tuple[int, list[ViewEvent]]:
        return self._items.open(
            event.namespace, kind, node=event.node, name=name, value=preview(value)
        )

    def _call(
        self,
        event: ToolCallStartedEvent
        | ToolCallProgressEvent
        | ToolCallCompletedEvent
        | ToolCallFailedEvent,
    ) -> Iterator[ViewEvent]:
        key = (event.namespace, event.message_id, event.index)
        if key not in self._calls or isinstance(event, ToolCallStartedEvent):
            self._calls[key], told = self._open(event, "tool_call", event.name, None)
            self._messages.add_call(event.namespace, event.message_id, self._calls[key])
            yield from told
        item = self._calls[key]
        if event.tool_call_id:
            self._calls[event.tool_call_id] = item
        match event:
            case ToolCallProgressEvent():
                yield TextAppended(side=self._side, item=item, text=event.args_delta)
            case ToolCallCompletedEvent():
                args = preview(event.parsed_args)
                yield ItemChanged(
                    side=self._side, item=item, status="completed", value={"args": args}
                )
            case ToolCallFailedEvent():
                yield ItemChanged(side=self._side, item=item, status="failed")

    def _result(self, event: ToolResultEvent) -> Iterator[ViewEvent]:
        item = self._calls.get(event.tool_call_id)
        if item is not None:
            result = {"result": preview(event.content)}
            yield ItemChanged(side=self._side, item=item, status=event.status, value=result)
        if event.artifact is not None:
            yield from self._open(event, "artifact", event.name or "", event.artifact)[1]


def _waits(part: Part) -> bool:
    """Whether a state comes while a task waits for an answer."""
    data = part.data
    return bool(
        part.meta.get("interrupts") or (isinstance(data, Mapping) and data.get(INTERRUPT_KEY))
    )


def _text(error: BaseException) -> str:
    said = error.args[0] if error.args else error
    if isinstance(said, Mapping):
        said = said.get("message", said)
    return f"{type(error).__name__}: {said}"
