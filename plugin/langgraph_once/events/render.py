"""Events in; the forms of others out: Server-Sent Events, text for a terminal, AG-UI.

What outsiders may see of an event, and JSON, is `codec.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from langgraph_once.events.ag_ui import AgUiRenderer, to_ag_ui
from langgraph_once.events.codec import public_dict, to_dict
from langgraph_once.events.vocabulary import Event
from langgraph_once.floors import install_command

if TYPE_CHECKING:
    from sse_starlette import ServerSentEvent

__all__ = ["AgUiRenderer", "to_ag_ui", "to_console", "to_dict", "to_sse"]


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
