"""JSON back into what a graph sent: messages and interrupts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from langchain_core import messages
from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.types import Interrupt

from langgraph_once.stream.part.shapes import INTERRUPT_KEY, Part

__all__ = ["revive", "revive_part"]

CLASSES: Final[Mapping[str, type[BaseMessage]]] = {
    cls.model_fields["type"].default: cls
    for cls in (
        messages.AIMessage,
        messages.AIMessageChunk,
        messages.ChatMessage,
        messages.ChatMessageChunk,
        messages.FunctionMessage,
        messages.FunctionMessageChunk,
        messages.HumanMessage,
        messages.HumanMessageChunk,
        messages.SystemMessage,
        messages.SystemMessageChunk,
        messages.ToolMessage,
        messages.ToolMessageChunk,
    )
}
"""By the `type` that they write. A `TypeAdapter` of `AnyMessage` would validate each twice."""

MESSAGE_TYPES = frozenset({"ai", "human", "system", "tool", "chat", "function", "remove"})
MESSAGE_KEYS = frozenset({"type", "content", "id", "additional_kwargs", "response_metadata"})
STRAY_KEYS = ("invalid_tool_calls", "usage_metadata")
MALFORMED = (TypeError, ValueError, AttributeError, LookupError)
"""What the validators of messages raise for data that they did not expect."""

INTERRUPTS = "interrupts"


def revive_part(part: Part) -> Part:
    """A part of JSON, with its messages and interrupts as objects; any other part as it is."""
    if isinstance(part.data, BaseMessage):
        return part
    meta = part.meta
    if INTERRUPTS in meta:
        meta = {**meta, INTERRUPTS: _interrupts(revive(meta[INTERRUPTS]))}
    return part._replace(data=revive(part.data), meta=meta)


def revive(value: Any) -> Any:
    """A copy of a value of JSON, with its messages and interrupts as objects.

    A mapping is a message when its `type` is a message type and it has every key with which
    one is written; a user's own mapping that merely looks alike stays as it is.
    """
    if type(value) is list:
        return [revive(item) for item in value]
    if type(value) is not dict:
        return value
    if _is_message(value) and (message := _message(value)) is not None:
        return message
    revived = {key: revive(item) for key, item in value.items()}
    if INTERRUPT_KEY in revived:
        revived[INTERRUPT_KEY] = _interrupts(revived[INTERRUPT_KEY])
    return revived


def _is_message(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    return (
        isinstance(kind, str)
        and (kind in MESSAGE_TYPES or kind.endswith("MessageChunk"))
        and value.keys() >= MESSAGE_KEYS
    )


def _message(value: Mapping[str, Any]) -> BaseMessage | None:
    """The message that a mapping says; None if it cannot be one after all."""
    try:
        if value["type"] == "remove":
            return RemoveMessage(id=value["id"])
        return CLASSES[value["type"]](**_with_own_fields(value))
    except MALFORMED:
        return None


def _with_own_fields(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message with the fields that `convert_to_messages` takes for additional ones.

    A server that is given a message in JSON, as part of an input, reads it so.
    """
    extra = value["additional_kwargs"]
    if value["type"] != "ai" or not isinstance(extra, dict) or extra.keys().isdisjoint(STRAY_KEYS):
        return value
    stray = {key: extra[key] for key in STRAY_KEYS if key in extra and not value.get(key)}
    kept = {key: item for key, item in extra.items() if key not in stray}
    return {**value, "additional_kwargs": kept, **{k: v for k, v in stray.items() if v}}


def _interrupts(value: Any) -> Any:
    return tuple(map(_interrupt, value)) if isinstance(value, list) else value


def _interrupt(value: Any) -> Any:
    if not isinstance(value, Mapping) or not {"value", "id"} <= value.keys():
        return value
    schema = value.get("response_schema")
    return Interrupt(value["value"], id=value["id"], response_schema=schema)
