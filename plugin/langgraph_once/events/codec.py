"""Events to dicts of JSON values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from pydantic_core import to_jsonable_python

from langgraph_once.errors import StreamError
from langgraph_once.events.vocabulary import EVENT_TYPES, Event, SoFar
from langgraph_once.stream import Where, revive

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
