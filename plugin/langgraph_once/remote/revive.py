"""JSON from the server back into what the graph sent: messages and interrupts."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AnyMessage, BaseMessage, RemoveMessage
from langgraph.types import Interrupt
from pydantic import TypeAdapter

__all__ = ["revive"]

MESSAGE: TypeAdapter[BaseMessage] = TypeAdapter(AnyMessage)
MESSAGE_TYPES = frozenset({"ai", "human", "system", "tool", "chat", "function", "remove"})
MESSAGE_KEYS = frozenset({"type", "content", "id", "additional_kwargs", "response_metadata"})
INTERRUPT_KEY = "__interrupt__"


def revive(value: Any) -> Any:
    """A copy of `value`, JSON as the server sends it, with its messages as message objects.

    A mapping is a message when its `type` is a message type and it has every key with which
    the server writes one; a user's own mapping that merely looks alike stays as it is.
    """
    if isinstance(value, list):
        return [revive(item) for item in value]
    if not isinstance(value, dict):
        return value
    if _is_message(value):
        return _message(value)
    revived = {key: revive(item) for key, item in value.items()}
    if isinstance(revived.get(INTERRUPT_KEY), list):
        revived[INTERRUPT_KEY] = tuple(map(_interrupt, revived[INTERRUPT_KEY]))
    return revived


def _is_message(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    return (
        isinstance(kind, str)
        and (kind in MESSAGE_TYPES or kind.endswith("MessageChunk"))
        and value.keys() >= MESSAGE_KEYS
    )


def _message(value: dict[str, Any]) -> BaseMessage:
    if value["type"] == "remove":
        return RemoveMessage(id=value["id"])
    return MESSAGE.validate_python(value)


def _interrupt(value: Any) -> Any:
    return Interrupt(value["value"], id=value["id"]) if isinstance(value, dict) else value
