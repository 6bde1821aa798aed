"""Events as text for a terminal."""

from __future__ import annotations

import re
from typing import assert_never

from langgraph_once.events.vocabulary.event import (
    ArtifactEvent,
    ChannelUpdateEvent,
    ChannelValueEvent,
    CustomEvent,
    Event,
    GapPossibleEvent,
    InterruptEvent,
    MessageCompletedEvent,
    MessageRemovedEvent,
    MessageReplacedEvent,
    MessageSupersededEvent,
    StreamEndedEvent,
    StreamErrorEvent,
    TaskFinishedEvent,
    TaskStartedEvent,
    TokenStreamEvent,
    ToolCallCompletedEvent,
    ToolCallFailedEvent,
    ToolCallProgressEvent,
    ToolCallStartedEvent,
    ToolResultEvent,
    UIEvent,
    UsageEvent,
)

__all__ = ["to_console"]

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What could steer the terminal; a model's words must not."""


def to_console(event: Event) -> str:
    """What to write to a terminal for an event: tokens as they are, the rest in lines of its own.

    Control characters are left out.
    """
    return CONTROLS.sub("", _text(event))


def _text(event: Event) -> str:  # noqa: C901  # one match, checked for completeness
    match event:
        case TokenStreamEvent():
            return event.content_delta
        case MessageCompletedEvent():
            return "\n"
        case MessageReplacedEvent():
            return f"\n[replaced] {event.message.text}\n"
        case MessageRemovedEvent():
            return _line("removed", event.message_id)
        case MessageSupersededEvent():
            return _line(event.reason, "what was said is void")
        case ToolCallStartedEvent() | ToolCallProgressEvent():
            return ""
        case ToolCallCompletedEvent():
            return _line("call", f"{event.name}({event.final_args})")
        case ToolCallFailedEvent():
            return _line("call failed", f"{event.name}: {event.error}")
        case ToolResultEvent():
            return _line(event.status, f"{event.name or event.tool_call_id}: {event.content}")
        case InterruptEvent():
            return _line("waiting", str(event.value))
        case CustomEvent():
            return _line("custom", str(event.data))
        case _:
            return _state_text(event)


def _state_text(
    event: ChannelValueEvent
    | ChannelUpdateEvent
    | ArtifactEvent
    | UIEvent
    | TaskStartedEvent
    | TaskFinishedEvent
    | UsageEvent
    | GapPossibleEvent
    | StreamErrorEvent
    | StreamEndedEvent,
) -> str:
    match event:
        case ChannelValueEvent() | ChannelUpdateEvent():
            return _line("state", event.key)
        case ArtifactEvent():
            return _line(event.artifact_type, event.artifact_id)
        case UIEvent():
            return _line("ui", f"{event.action} {event.name or event.ui_id}")
        case TaskStartedEvent():
            return _line("start", str(event.node))
        case TaskFinishedEvent():
            return _line("end", str(event.node))
        case UsageEvent():
            return ""
        case GapPossibleEvent():
            return _line("gap", event.reason)
        case StreamErrorEvent():
            return _line(event.error_type, event.message)
        case StreamEndedEvent():
            return _line(event.status, "")
        case _:
            assert_never(event)


def _line(label: str, text: str) -> str:
    return f"[{label}] {text}".rstrip() + "\n"
