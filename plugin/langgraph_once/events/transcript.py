"""Folds events to what a consumer has: messages, tool calls, channels, and the rest."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, assert_never

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata, add_usage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.events.content_blocks import whole_calls
from langgraph_once.events.vocabulary import (
    ArtifactEvent,
    CustomEvent,
    Event,
    GapPossibleEvent,
    InterruptEvent,
    MessageCompletedEvent,
    MessageRemovedEvent,
    MessageReplacedEvent,
    MessageSupersededEvent,
    SoFar,
    StreamErrorEvent,
    TokenStreamEvent,
    ToolCallCompletedEvent,
    ToolCallEvent,
    ToolCallFailedEvent,
    ToolCallProgressEvent,
    ToolCallStartedEvent,
    ToolResultEvent,
    UIEvent,
    related,
)
from langgraph_once.stream import Where

Namespace = tuple[str, ...]

KINDS = ("reasoning", "text", "refusal")


@dataclass(slots=True)
class ToolCallRecord:
    """A tool call, and what came of it."""

    tool_call_id: str | None
    name: str
    message_id: str | None
    where: Where
    so_far: SoFar = field(default_factory=SoFar.of, repr=False)
    parsed_args: dict[str, Any] | None = field(default=None, repr=False)
    error: str | None = None
    results: list[ToolResultEvent] = field(default_factory=list)
    index: int = 0

    @property
    def args(self) -> str:
        """The arguments as text, as far as they have come."""
        return str(self.so_far)

    @property
    def is_open(self) -> bool:
        """Whether more of its arguments may come."""
        return self.parsed_args is None and self.error is None


class ToolCallTracker:
    """The tool calls that events tell of, over any number of streams of a thread.

    Args:
        events: The events so far; `apply` takes others.
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._calls: list[ToolCallRecord] = []
        self._by_place: dict[tuple[Where, str | None, int], ToolCallRecord] = {}
        for event in events:
            self.apply(event)

    def calls(self, namespace: Namespace | None = None) -> list[ToolCallRecord]:
        """The calls made in one graph, or by default in all, in order."""
        return [c for c in self._calls if namespace is None or c.where.namespace == namespace]

    @property
    def in_progress(self) -> dict[tuple[str | None, int], ToolCallRecord]:
        """The calls whose arguments are still coming, by their message and their place in it."""
        return {(call.message_id, call.index): call for call in self._calls if call.is_open}

    @property
    def completed(self) -> list[ToolCallRecord]:
        """The calls whose arguments are whole, and could be read."""
        return [call for call in self._calls if call.parsed_args is not None]

    @property
    def unanswered(self) -> list[ToolCallRecord]:
        """The complete calls that have no result yet."""
        return [call for call in self.completed if not call.results]

    def apply(self, event: Event) -> None:
        """Take one event. Events of other things are passed over."""
        if isinstance(event, ToolCallEvent):
            self._apply_call(event)
        elif isinstance(event, ToolResultEvent):
            self._answer(event)
        elif isinstance(event, MessageReplacedEvent):
            self._replace(event)
        elif isinstance(event, MessageRemovedEvent):
            self._drop(event.message_id, event.namespace)
        elif isinstance(event, MessageSupersededEvent):
            self._drop(event.old_id, event.namespace)

    def _apply_call(self, event: ToolCallEvent) -> None:
        key = event.where, event.message_id, event.index
        call = self._by_place.get(key)
        if call is None or isinstance(event, ToolCallStartedEvent):
            # Calls of messages without an id are each another; else a message makes it again.
            if call is not None and event.message_id:
                self._calls = [other for other in self._calls if other is not call]
            call = ToolCallRecord(event.tool_call_id, event.name, event.message_id, event.where)
            call.index = event.index
            self._add(call)
        match event:
            case ToolCallProgressEvent():
                call.so_far = event.so_far
            case ToolCallCompletedEvent():
                call.so_far, call.parsed_args = SoFar.of(event.final_args), event.parsed_args
            case ToolCallFailedEvent():
                call.so_far, call.error = SoFar.of(event.accumulated_args), event.error

    def _answer(self, event: ToolResultEvent) -> None:
        """Put a result to the call that it answers. An event without a message is of a stream
        that did not know the call."""
        calls = [
            call
            for call in self._calls
            if call.tool_call_id == event.tool_call_id
            and event.message_id in (None, call.message_id)
            and related(call.where.namespace, event.namespace)
        ]
        same_task = [call for call in calls if call.where.task_id == event.task_id]
        found = same_task or [call for call in calls if not call.results] or calls
        if found:
            found[-1].results.append(event)

    def _replace(self, event: MessageReplacedEvent) -> None:
        """Take the calls of a message that says something else now; their results stay."""
        old = {call.tool_call_id: call for call in self._drop(event.message_id, event.namespace)}
        if not isinstance(event.message, AIMessage):
            return
        for at, made in enumerate(whole_calls(event.message)):
            before = old.get(made.id)
            where = before.where if before is not None else event.where
            call = ToolCallRecord(made.id, made.name, event.message_id, where, index=at)
            call.so_far, call.parsed_args = SoFar.of(made.text), made.args
            call.error = made.error or None
            call.results = before.results if before is not None else []
            self._add(call)

    def _add(self, call: ToolCallRecord) -> None:
        self._calls.append(call)
        self._by_place[call.where, call.message_id, call.index] = call

    def _drop(self, message_id: str, namespace: Namespace) -> list[ToolCallRecord]:
        """Forget the calls of a message, or of all messages of a graph; those that are gone."""
        if message_id == REMOVE_ALL_MESSAGES:
            gone = [c for c in self._calls if c.where.namespace[: len(namespace)] == namespace]
        else:
            gone = _near([c for c in self._calls if c.message_id == message_id], namespace)
        self._calls = [call for call in self._calls if not any(call is each for each in gone)]
        for call in gone:
            self._by_place.pop((call.where, call.message_id, call.index), None)
        return gone


class _HasPlace(Protocol):
    @property
    def where(self) -> Where: ...


P = TypeVar("P", bound=_HasPlace)


def _near(found: list[P], namespace: Namespace) -> list[P]:
    """What is of this graph and of those around and inside it, if anything is: parallel tasks may
    use equal ids."""
    return [each for each in found if related(each.where.namespace, namespace)] or found


@dataclass(slots=True, eq=False)
class _Line:
    """One message, whole or still being said."""

    message_id: str | None
    where: Where
    message: BaseMessage | None = None
    said: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    def shown(self) -> BaseMessage:
        if self.message is not None:
            return self.message
        said = {kind: "".join(pieces) for kind, pieces in self.said.items()}
        blocks: Any = [{"type": k, k: text} for k, text in said.items() if text or k == "text"]
        return AIMessage(blocks if len(blocks) > 1 else said["text"], id=self.message_id)


class Transcript:
    """What a consumer has of a thread, over any number of streams.

    Attributes:
        discarded: The ids of messages that are shown, and no state holds: no task kept them.
        interrupts: What the graph waits for since the last stream began.
        ui: The UI messages that are shown, by id.
        usage: The sum over all streams.
        errors: The streams that died.
        gaps: What may be missing.
        is_ended: Whether the last stream ended.
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._lines: dict[tuple[Where, str | int], _Line] = {}
        self._nameless: Counter[Where] = Counter()
        self._calls = ToolCallTracker()
        self._channels: dict[tuple[Namespace, str], Any] = {}
        self._updates: dict[tuple[Namespace, str], list[Any]] = defaultdict(list)
        self._spent: UsageMetadata | None = None
        self.discarded: set[str] = set()
        self.interrupts: dict[str, InterruptEvent] = {}
        self._artifacts: dict[tuple[Namespace, str, str], ArtifactEvent] = {}
        self.ui: dict[str, UIEvent] = {}
        self.custom: list[CustomEvent] = []
        self.usage: UsageMetadata | None = None
        self.errors: list[StreamErrorEvent] = []
        self.gaps: list[GapPossibleEvent] = []
        self.is_ended: bool = False
        for event in events:
            self.apply(event)

    def messages(self, namespace: Namespace | None = ()) -> list[BaseMessage]:
        """The messages said in one graph, in order.

        A message that is still being said is there with what it has said.

        Args:
            namespace: The graph; None for all of them together.
        """
        return [
            line.shown()
            for line in self._lines.values()
            if namespace is None or line.where.namespace == namespace
        ]

    def tool_calls(self, namespace: Namespace | None = None) -> list[ToolCallRecord]:
        """The tool calls made in one graph, or by default in all, in order."""
        return self._calls.calls(namespace)

    def channels(self, namespace: Namespace = ()) -> dict[str, Any]:
        """The last value of each key that is watched in a graph."""
        return {key: value for (ns, key), value in self._channels.items() if ns == namespace}

    def updates(self, key: str, namespace: Namespace = ()) -> list[tuple[str | None, Any]]:
        """What was written to a key of a graph: the node, and what it wrote."""
        return list(self._updates.get((namespace, key), ()))

    @property
    def artifacts(self) -> dict[tuple[str, str], ArtifactEvent]:
        """The artifacts of all graphs by key and id, each as it was told last."""
        return {(key, artifact_id): e for (_, key, artifact_id), e in self._artifacts.items()}

    def artifacts_of(self, namespace: Namespace = ()) -> dict[tuple[str, str], ArtifactEvent]:
        """The artifacts of one graph by key and id, each as it was told last."""
        return {at[1:]: event for at, event in self._artifacts.items() if at[0] == namespace}

    @property
    def namespaces(self) -> tuple[Namespace, ...]:
        """The graphs that said something."""
        said = [line.where.namespace for line in self._lines.values()]
        return tuple(dict.fromkeys([*said, *(ns for ns, _ in self._channels)]))

    def apply(self, event: Event) -> None:  # noqa: C901  # one match, checked for completeness
        """Take one event."""
        if self.is_ended:
            self._begin()
        self._calls.apply(event)
        if isinstance(event, ToolCallEvent):
            return
        match event.type:
            case "token":
                self._extend(event)
            case "message_completed":
                self._complete(event)
            case "message_replaced":
                self._replace(event)
            case "message_removed" | "message_superseded":
                self._remove(event)
            case "message_discarded":
                self.discarded.add(event.message_id)
            case "channel_value":
                self._channels[event.namespace, event.key] = event.value
            case "channel_update":
                self._updates[event.namespace, event.key].append((event.node, event.update))
            case "artifact" | "ui" | "interrupt":
                self._show(event)
            case "custom":
                self.custom.append(event)
            case "gap_possible":
                self.gaps.append(event)
            case "stream_error":
                self.errors.append(event)
            case "usage":
                self.usage = add_usage(self._spent, event.total)
            case "stream_ended":
                self.is_ended = True
            case "task_started" | "task_finished" | "tool_result":
                pass
            case _:
                assert_never(event)

    def _begin(self) -> None:
        """Begin another stream: its interrupts were answered, or will be told again."""
        self.is_ended, self.interrupts = False, {}
        self._spent = self.usage

    def _extend(self, event: TokenStreamEvent) -> None:
        line = self._line(event.message_id, event.where)
        line.said[event.kind].append(event.content_delta)

    def _show(self, event: ArtifactEvent | UIEvent | InterruptEvent) -> None:
        if event.type == "interrupt":
            self.interrupts[event.interrupt_id] = event
        elif event.type == "artifact":
            at = event.namespace, event.key, event.artifact_id
            self._artifacts.pop(at, None)  # the one told last comes last
            self._artifacts[at] = event
        elif event.action == "remove":
            self.ui.pop(event.ui_id, None)
        else:
            self.ui[event.ui_id] = event

    def _line(self, message_id: str | None, where: Where) -> _Line:
        """The message of this id; of those without one, the one that is not complete."""
        key = where, message_id or self._nameless[where]
        if (line := self._lines.get(key)) is not None:
            return line
        if message_id and where.task_id is None and (found := self._found(message_id, where)):
            return found[-1]  # who tells more of a message need not know who said it
        line = self._lines[key] = _Line(message_id, where)
        return line

    def _found(self, message_id: str, where: Where) -> list[_Line]:
        """The messages of an id that an event at this place may speak of."""
        lines = [line for line in self._lines.values() if line.message_id == message_id]
        return _near(lines, where.namespace)

    def _complete(self, event: MessageCompletedEvent) -> None:
        self._line(event.message_id, event.where).message = event.message
        if not event.message_id:  # the next message without an id is another one
            self._nameless[event.where] += 1

    def _replace(self, event: MessageReplacedEvent) -> None:
        found = self._found(event.message_id, event.where)
        line = found[-1] if found else self._line(event.message_id, event.where)
        line.message = event.message

    def _remove(self, event: MessageRemovedEvent | MessageSupersededEvent) -> None:
        message_id = event.message_id if event.type == "message_removed" else event.old_id
        size, is_all = len(event.namespace), message_id == REMOVE_ALL_MESSAGES
        gone = self._found(message_id, event.where)
        for key, line in [*self._lines.items()]:
            if line in gone or (is_all and line.where.namespace[:size] == event.namespace):
                del self._lines[key]
