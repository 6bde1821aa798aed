"""Folds events to what a consumer has: messages, tool calls, channels, and the rest."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, assert_never

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata, add_usage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.events.vocabulary.base import ToolCallEvent, related
from langgraph_once.events.vocabulary.event import (
    ArtifactEvent,
    CustomEvent,
    Event,
    GapPossibleEvent,
    InterruptEvent,
    MessageCompletedEvent,
    MessageRemovedEvent,
    MessageReplacedEvent,
    MessageSupersededEvent,
    StreamErrorEvent,
    TokenStreamEvent,
    ToolCallCompletedEvent,
    ToolCallFailedEvent,
    ToolCallProgressEvent,
    ToolCallStartedEvent,
    ToolResultEvent,
    UIEvent,
)
from langgraph_once.events.vocabulary.growing_text import SoFar
from langgraph_once.stream.part.places import Where

__all__ = ["ToolCallRecord", "Transcript"]

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

    @property
    def args(self) -> str:
        """The arguments as text, as far as they have come."""
        return str(self.so_far)


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
        self._calls: list[ToolCallRecord] = []
        self._call_by_key: dict[tuple[Where, str | None, int], ToolCallRecord] = {}
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
        return [
            call for call in self._calls if namespace is None or call.where.namespace == namespace
        ]

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
        if isinstance(event, ToolCallEvent):
            self._apply_call(event)
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
            case "tool_result":
                self._answer(event)
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
            case "task_started" | "task_finished":
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

    def _apply_call(self, event: ToolCallEvent) -> None:
        call = self._call_by_key.get((event.where, event.message_id, event.index))
        if call is None or isinstance(event, ToolCallStartedEvent):
            call = ToolCallRecord(event.tool_call_id, event.name, event.message_id, event.where)
            self._add_call(event.index, call)
        match event:
            case ToolCallProgressEvent():
                call.so_far = event.so_far
            case ToolCallCompletedEvent():
                call.so_far, call.parsed_args = SoFar.of(event.final_args), event.parsed_args
            case ToolCallFailedEvent():
                call.so_far, call.error = SoFar.of(event.accumulated_args), event.error

    def _answer(self, event: ToolResultEvent) -> None:
        """Put a result to the call that it answers."""
        calls = [
            call
            for call in self._calls
            if call.tool_call_id == event.tool_call_id
            and call.message_id == event.message_id
            and related(call.where.namespace, event.namespace)
        ]
        same_task = [call for call in calls if call.where.task_id == event.task_id]
        found = same_task or [call for call in calls if not call.results] or calls
        if found:
            found[-1].results.append(event)

    def _line(self, message_id: str | None, where: Where) -> _Line:
        """The message of this id; of those without one, the one that is not complete."""
        key = where, message_id or self._nameless[where]
        if (line := self._lines.get(key)) is None:
            line = self._lines[key] = _Line(message_id, where)
        return line

    def _found(self, message_id: str, namespace: Namespace) -> list[_Line]:
        """The messages of an id: those of this graph and of those around and inside it, if there
        are any, since parallel tasks may use equal ids."""
        found = [line for line in self._lines.values() if line.message_id == message_id]
        return [line for line in found if related(line.where.namespace, namespace)] or found

    def _complete(self, event: MessageCompletedEvent) -> None:
        self._line(event.message_id, event.where).message = event.message
        if not event.message_id:  # the next message without an id is another one
            self._nameless[event.where] += 1

    def _replace(self, event: MessageReplacedEvent) -> None:
        found = self._found(event.message_id, event.namespace)
        line = found[-1] if found else self._line(event.message_id, event.where)
        line.message = event.message
        self._drop_calls(line)
        if isinstance(event.message, AIMessage):
            for at, call in enumerate(event.message.tool_calls):
                text = SoFar.of(json.dumps(call["args"], default=str))
                whose = line.message_id, line.where
                made = ToolCallRecord(call["id"], call["name"], *whose, text, call["args"])
                self._add_call(at, made)

    def _remove(self, event: MessageRemovedEvent | MessageSupersededEvent) -> None:
        message_id = event.message_id if event.type == "message_removed" else event.old_id
        size, is_all = len(event.namespace), message_id == REMOVE_ALL_MESSAGES
        gone = self._found(message_id, event.namespace)
        for key, line in [*self._lines.items()]:
            if line in gone or (is_all and line.where.namespace[:size] == event.namespace):
                del self._lines[key]
                self._drop_calls(line)

    def _add_call(self, index: int, call: ToolCallRecord) -> None:
        """Add a call. If the same message makes the call again, it takes the place of the first."""
        key = (call.where, call.message_id, index)
        if call.message_id and (old := self._call_by_key.get(key)) is not None:
            self._calls = [other for other in self._calls if other is not old]
        self._calls.append(call)
        self._call_by_key[key] = call

    def _drop_calls(self, line: _Line) -> None:
        said = (line.where, line.message_id)
        self._calls = [call for call in self._calls if (call.where, call.message_id) != said]
        for key in [key for key in self._call_by_key if key[:2] == said]:
            del self._call_by_key[key]
