"""Events in; the forms of others out: JSON (and back), Server-Sent Events, text, AG-UI.

AG-UI goes through `ag-ui-protocol`. It opens and closes each message and step; which are open is
all that is kept between events. What it has no event for goes out as its `CUSTOM`, under the type
it has here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from langchain_core.messages import AIMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from pydantic_core import to_jsonable_python

from langgraph_once.errors import StreamError
from langgraph_once.events.vocabulary import (
    EVENT_TYPES,
    ChannelValueEvent,
    Event,
    InterruptEvent,
    MessageCompletedEvent,
    SoFar,
    TaskFinishedEvent,
    TaskStartedEvent,
    TokenStreamEvent,
    ToolCallCompletedEvent,
    ToolCallEvent,
    ToolCallFailedEvent,
    ToolCallStartedEvent,
    ToolResultEvent,
)
from langgraph_once.floors import install_command
from langgraph_once.stream import Where, revive

if TYPE_CHECKING:
    from ag_ui.core import BaseEvent
    from sse_starlette import ServerSentEvent

__all__ = ["AgUiRenderer", "to_ag_ui", "to_console", "to_dict", "to_sse"]

EVENT_VERSION: Final = 1

ACCUMULATED = {"token": "accumulated_content", "tool_call_progress": "accumulated_args"}
OWN_FIELDS = frozenset({"where", "so_far", "error"})
TUPLES = frozenset({"triggers", "interrupts"})


def to_dict(event: Event, *, accumulated: bool = True) -> dict[str, Any]:
    """An event as JSON values.

    Messages become mappings as the server writes them. Values that JSON cannot hold become text.

    Args:
        event: The event.
        accumulated: Whether tokens and arguments come with all there was before them. Over a
            network that costs the square of the length of a message; a reader can add up the
            deltas instead.
    """
    where = event.where
    plain: dict[str, Any] = {
        "v": EVENT_VERSION,
        "type": event.type,
        "seq": event.seq,
        "namespace": list(where.namespace),
        "formatted_namespace": where.formatted,
        "path": list(where.path),
        "node": where.node,
        "task_id": where.task_id,
    }
    for field in fields(event):
        if field.name not in OWN_FIELDS and field.name != "seq":
            plain[field.name] = as_json(getattr(event, field.name))
    if event.type == "task_finished" or event.type == "tool_call_failed":
        plain["error"] = event.error
    if accumulated and event.type in ACCUMULATED:
        name = ACCUMULATED[event.type]
        plain[name] = getattr(event, name)
    return plain


def as_json(value: Any) -> Any:
    """A value as JSON; what JSON cannot hold as text."""
    if value is None or type(value) in (str, int, bool):
        return value
    return to_jsonable_python(
        value, serialize_unknown=True, bytes_mode="base64", inf_nan_mode="null"
    )


def from_dict(plain: Mapping[str, Any]) -> Event:
    """The event that `to_dict` wrote.

    Messages are messages again; other objects stay as the JSON they became. A token or progress
    that was written without what was accumulated has its own delta there.

    Raises:
        StreamError: It is no event, or one of a newer version.
    """
    kind = EVENT_TYPES.get(str(plain.get("type")))
    version = plain.get("v")
    if kind is None or version != EVENT_VERSION:
        raise StreamError(
            f"no event of version {EVENT_VERSION}: type {plain.get('type')!r}, version "
            f"{version!r}; read it with the langgraph-once that wrote it"
        )
    where = Where(tuple(plain["namespace"]), plain["node"], plain["task_id"])
    given: dict[str, Any] = {"where": where}
    for field in fields(kind):
        if field.name == "so_far":
            given["so_far"] = _so_far(plain)
        elif field.name in plain:
            value = plain[field.name]
            given[field.name] = tuple(value) if field.name in TUPLES else revive(value)
    return kind(**given)


def _so_far(plain: Mapping[str, Any]) -> SoFar:
    delta = plain.get("content_delta", plain.get("args_delta"))
    return SoFar.of(plain.get(ACCUMULATED[plain["type"]], delta))


HIDDEN_ERROR: Final = "the run failed"


def public_dict(event: Event, *, accumulated: bool, expose_errors: bool) -> dict[str, Any]:
    """`to_dict`, for those outside."""
    plain = to_dict(event, accumulated=accumulated)
    if not expose_errors:
        if event.type == "stream_error":
            plain["message"] = HIDDEN_ERROR
        elif event.type == "task_finished" and plain["error"] is not None:
            plain["error"] = HIDDEN_ERROR
    return plain


ROLES = {"human": "user", "system": "system"}


def to_ag_ui(
    events: Iterable[Event], *, thread_id: str, run_id: str, expose_errors: bool = False
) -> Iterator[BaseEvent]:
    """The AG-UI events of one stream.

    Args:
        events: The stream.
        thread_id: As the client asked; so is `run_id`.
        expose_errors: Whether the client is told the message of an error.

    Raises:
        ImportError: `ag-ui-protocol` is not installed.
    """
    renderer = AgUiRenderer(thread_id=thread_id, run_id=run_id, expose_errors=expose_errors)
    for event in events:
        yield from renderer.render(event)


class AgUiRenderer:
    """`to_ag_ui`, an event at a time; the arguments are the same."""

    def __init__(self, *, thread_id: str, run_id: str, expose_errors: bool = False) -> None:
        try:
            from ag_ui import core
        except ImportError as error:
            raise ImportError(f"AG-UI needs an extra: {install_command('ag-ui')}") from error
        self._core = core
        self._ids = {"thread_id": thread_id, "run_id": run_id}
        self._expose_errors = expose_errors
        self._is_started = False
        self._has_failed = False
        self._open: dict[tuple[Where, str, str | None], str] = {}
        self._calls: dict[tuple[Where, str | None, int], str] = {}
        self._silent: set[str] = set()
        self._steps: dict[str, None] = {}
        self._interrupts: list[InterruptEvent] = []

    def render(self, event: Event) -> Iterator[BaseEvent]:  # noqa: C901  # one match
        """The AG-UI events of one event."""
        core = self._core
        if not self._is_started:
            self._is_started = True
            yield core.RunStartedEvent(**self._ids)
        match event.type:
            case "token":
                yield from self._token(event)
            case "message_completed":
                yield from self._completed(event)
            case "message_replaced" | "message_superseded" | "message_removed":
                ended = event.old_id if event.type == "message_superseded" else event.message_id
                yield from self._close_all(ended)
                yield self._custom(event)
            case "tool_call_started":
                yield from self._close(event.where, event.message_id)
                yield self._call_start(event)
            case "tool_call_progress":
                self._silent.discard(self._call_id(event))
                yield core.ToolCallArgsEvent(
                    tool_call_id=self._call_id(event), delta=event.args_delta
                )
            case "tool_call_completed" | "tool_call_failed":
                yield from self._call_end(event)
            case "tool_result":
                yield self._result(event)
            case "task_started" | "task_finished":
                yield from self._task(event)
            case "channel_value" if event.namespace == ():
                yield self._state(event)
            case "interrupt":
                self._interrupts.append(event)
            case "stream_error":
                self._has_failed = True
                message = self._plain(event)["message"] or event.error_type
                yield core.RunErrorEvent(message=message, code=event.error_type)
            case "stream_ended":
                if not self._has_failed:
                    yield from self._finished()
            case _:
                yield self._custom(event)

    def _token(self, event: TokenStreamEvent) -> Iterator[BaseEvent]:
        core, is_thought = self._core, event.kind == "reasoning"  # AG-UI knows no refusal
        kind, other = ("reasoning", "text") if is_thought else ("text", "reasoning")
        yield from self._close(event.where, event.message_id, other)
        key = event.where, kind, event.message_id
        wire_id = self._open.get(key)
        if wire_id is None:
            wire_id = f"{event.message_id}:reasoning" if is_thought else event.message_id
            if wire_id in self._open.values():  # parallel tasks may use equal ids at a time
                wire_id += f":{event.task_id}"
            self._open[key] = wire_id
            if is_thought:
                yield core.ReasoningStartEvent(message_id=wire_id)
                yield core.ReasoningMessageStartEvent(message_id=wire_id, role="reasoning")
            else:
                yield core.TextMessageStartEvent(message_id=wire_id, role="assistant")
        if is_thought:
            yield core.ReasoningMessageContentEvent(message_id=wire_id, delta=event.content_delta)
        else:
            yield core.TextMessageContentEvent(message_id=wire_id, delta=event.content_delta)

    def _close(self, where: Where, message_id: str | None, *kinds: str) -> Iterator[BaseEvent]:
        core = self._core
        for kind in kinds or ("reasoning", "text"):
            wire_id = self._open.pop((where, kind, message_id), None)
            if wire_id is None:
                continue
            if kind == "text":
                yield core.TextMessageEndEvent(message_id=wire_id)
            else:
                yield core.ReasoningMessageEndEvent(message_id=wire_id)
                yield core.ReasoningEndEvent(message_id=wire_id)

    def _close_all(self, message_id: str) -> Iterator[BaseEvent]:
        """Close a message wherever it is open: who takes it back need not be who says it."""
        for where, _, open_id in [*self._open]:
            if message_id in (open_id, REMOVE_ALL_MESSAGES):
                yield from self._close(where, open_id)

    def _completed(self, event: MessageCompletedEvent) -> Iterator[BaseEvent]:
        core, message = self._core, event.message
        role: Any = ROLES.get(message.type)
        if isinstance(message, AIMessage):
            yield from self._close(event.where, event.message_id)
        elif role is not None and message.text:
            wire_id = event.message_id or f"message-{event.seq}"
            yield core.TextMessageStartEvent(message_id=wire_id, role=role)
            yield core.TextMessageContentEvent(message_id=wire_id, delta=str(message.text))
            yield core.TextMessageEndEvent(message_id=wire_id)

    def _call_start(self, event: ToolCallStartedEvent) -> BaseEvent:
        key = event.where, event.message_id, event.index
        self._calls[key] = event.tool_call_id or f"call-{event.seq}"
        self._silent.add(self._calls[key])
        return self._core.ToolCallStartEvent(
            tool_call_id=self._calls[key],
            tool_call_name=event.name,
            parent_message_id=event.message_id,
        )

    def _call_id(self, event: ToolCallEvent) -> str:
        key = event.where, event.message_id, event.index
        return self._calls.get(key) or event.tool_call_id or f"call-{event.seq}"

    def _call_end(self, event: ToolCallCompletedEvent | ToolCallFailedEvent) -> Iterator[BaseEvent]:
        call_id = self._call_id(event)
        self._calls.pop((event.where, event.message_id, event.index), None)
        is_silent = call_id in self._silent
        self._silent.discard(call_id)
        if is_silent and isinstance(event, ToolCallCompletedEvent):  # it came whole
            yield self._core.ToolCallArgsEvent(tool_call_id=call_id, delta=event.final_args)
        yield self._core.ToolCallEndEvent(tool_call_id=call_id)
        if isinstance(event, ToolCallFailedEvent):
            yield self._custom(event)

    def _result(self, event: ToolResultEvent) -> BaseEvent:
        blocks = event.content if isinstance(event.content, list) else [event.content]
        return self._core.ToolCallResultEvent(
            message_id=f"{event.tool_call_id}:result:{event.seq}",
            tool_call_id=event.tool_call_id,
            content="".join(map(_text, blocks)),
            role="tool",
        )

    def _state(self, event: ChannelValueEvent) -> BaseEvent:
        key = event.key.replace("~", "~0").replace("/", "~1")
        value = self._plain(event)["value"]
        change: Any = {"op": "add", "path": f"/{key}", "value": value}
        return self._core.StateDeltaEvent(delta=[change])

    def _task(self, event: TaskStartedEvent | TaskFinishedEvent) -> Iterator[BaseEvent]:
        """The step of a task. AG-UI takes no start of one that is open, and no end of another."""
        name, begins = f"{event.node}:{event.task_id}", isinstance(event, TaskStartedEvent)
        if begins and name not in self._steps:
            self._steps[name] = None
            yield self._core.StepStartedEvent(step_name=name)
        elif not begins and name in self._steps:
            del self._steps[name]
            yield self._core.StepFinishedEvent(step_name=name)

    def _finished(self) -> Iterator[BaseEvent]:
        core = self._core
        for name in self._steps:  # of tasks that hand over or wait, LangGraph tells no end
            yield core.StepFinishedEvent(step_name=name)
        self._steps = {}
        outcome: Any = core.RunFinishedSuccessOutcome(type="success")
        if self._interrupts:
            values = [self._plain(event)["value"] for event in self._interrupts]
            for value in values:  # CopilotKit's hooks read this, and not the outcome
                yield core.CustomEvent(name="on_interrupt", value=_text(value))
            waiting = [
                core.Interrupt(id=event.interrupt_id, reason="interrupt", metadata={"value": value})
                for event, value in zip(self._interrupts, values, strict=True)
            ]
            outcome = core.RunFinishedInterruptOutcome(type="interrupt", interrupts=waiting)
        yield core.RunFinishedEvent(**self._ids, outcome=outcome)

    def _custom(self, event: Event) -> BaseEvent:
        return self._core.CustomEvent(name=event.type, value=self._plain(event))

    def _plain(self, event: Event) -> dict[str, Any]:
        return public_dict(event, accumulated=False, expose_errors=self._expose_errors)


def _text(value: Any) -> str:
    """A value as AG-UI's own agent for LangGraph writes it: text as it is, all else as JSON."""
    if isinstance(value, dict) and value.get("type") == "text":
        value = value.get("text", "")
    return value if isinstance(value, str) else json.dumps(as_json(value), ensure_ascii=False)


def to_sse(
    event: Event, *, accumulated: bool = False, expose_errors: bool = False
) -> ServerSentEvent:
    """An event for `EventSourceResponse`: its type, its number as the id, and its JSON.

    Args:
        event: The event.
        accumulated: Whether a token comes with all the text before it, as in `to_dict`.
        expose_errors: Whether the browser is told the message of an error, which may hold what
            it should not see.

    Raises:
        ImportError: `sse-starlette` is not installed.
    """
    try:
        from sse_starlette import ServerSentEvent
    except ImportError as error:
        raise ImportError(f"to_sse needs an extra: {install_command('sse')}") from error
    plain = public_dict(event, accumulated=accumulated, expose_errors=expose_errors)
    return ServerSentEvent(_json(plain), event=event.type, id=str(event.seq))


def _json(plain: dict[str, Any]) -> str:
    data = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    try:
        data.encode()
    except UnicodeEncodeError:  # half of a character, which a provider cut between two tokens
        return json.dumps(plain, separators=(",", ":"))
    return data


CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What could steer the terminal; a model's words must not."""


def to_console(event: Event) -> str:
    """What to write to a terminal for an event: tokens as they are, the rest in lines of its own.

    Control characters are left out.
    """
    return CONTROLS.sub("", TEXTS[event.type](event))


def _line(label: str, text: object = "") -> str:
    return f"[{label}] {text}".rstrip() + "\n"


TEXTS: Mapping[str, Callable[[Any], str]] = {
    "token": lambda e: e.content_delta,
    "message_completed": lambda _: "\n",
    "message_replaced": lambda e: f"\n[replaced] {e.message.text}\n",
    "message_discarded": lambda e: _line("not kept", e.message_id),
    "message_removed": lambda e: _line("removed", e.message_id),
    "message_superseded": lambda e: _line(e.reason, "what was said is void"),
    "tool_call_started": lambda _: "",
    "tool_call_progress": lambda _: "",
    "tool_call_completed": lambda e: _line("call", f"{e.name}({e.final_args})"),
    "tool_call_failed": lambda e: _line("call failed", f"{e.name}: {e.error}"),
    "tool_result": lambda e: _line(e.status, f"{e.name or e.tool_call_id}: {e.content}"),
    "channel_value": lambda e: _line("state", e.key),
    "channel_update": lambda e: _line("state", e.key),
    "artifact": lambda e: _line(e.artifact_type, e.artifact_id),
    "ui": lambda e: _line("ui", f"{e.action} {e.name or e.ui_id}"),
    "custom": lambda e: _line("custom", e.data),
    "interrupt": lambda e: _line("waiting", e.value),
    "task_started": lambda e: _line("start", e.node),
    "task_finished": lambda e: _line("end", e.node),
    "usage": lambda _: "",
    "gap_possible": lambda e: _line("gap", e.reason),
    "stream_error": lambda e: _line(e.error_type, e.message),
    "stream_ended": lambda e: _line(e.status),
}
"""One row for each type of event."""
