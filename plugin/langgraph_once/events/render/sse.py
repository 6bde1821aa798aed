"""Events as Server-Sent Events, through `sse-starlette`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from langgraph_once.events.vocabulary.codec import to_dict
from langgraph_once.events.vocabulary.event import Event
from langgraph_once.extras import install_command

if TYPE_CHECKING:
    from sse_starlette import ServerSentEvent

__all__ = ["public_dict", "to_sse"]

HIDDEN_ERROR = "the run failed"


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


def public_dict(event: Event, *, accumulated: bool, expose_errors: bool) -> dict[str, Any]:
    """`to_dict`, for those outside."""
    plain = to_dict(event, accumulated=accumulated)
    if not expose_errors:
        if event.type == "stream_error":
            plain["message"] = HIDDEN_ERROR
        elif event.type == "task_finished" and plain["error"] is not None:
            plain["error"] = HIDDEN_ERROR
    return plain
