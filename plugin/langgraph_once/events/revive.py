"""JSON back into messages: what a server or `to_dict` makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AnyMessage, BaseMessage, RemoveMessage
from pydantic import TypeAdapter

from langgraph_once.stream import Part

__all__ = ["revived", "revived_part"]

MESSAGE: TypeAdapter[BaseMessage] = TypeAdapter(AnyMessage)
MESSAGE_TYPES = frozenset({"ai", "human", "system", "tool", "chat", "function", "remove"})
MESSAGE_KEYS = frozenset({"type", "content", "id", "additional_kwargs", "response_metadata"})


def revived_part(part: Part) -> Part:
    """A part of JSON, with its messages as message objects; any other part as it is."""
    if part.mode == "messages":
        data = part.data
        return part if isinstance(data, BaseMessage) else part._replace(data=revived(data))
    if part.mode in ("values", "updates"):
        return part._replace(data=revived(part.data))
    return part


def revived(value: Any) -> Any:
    """A copy of a value of JSON, with its messages as message objects.

    A mapping is a message when its `type` is a message type and it has every key with which
    one is written; a user's own mapping that merely looks alike stays as it is.
    """
    if isinstance(value, list):
        return [revived(item) for item in value]
    if type(value) is not dict:
        return value
    if not _is_message(value):
        return {key: revived(item) for key, item in value.items()}
    if value["type"] == "remove":
        return RemoveMessage(id=value["id"])
    return MESSAGE.validate_python(value)


def _is_message(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    return (
        isinstance(kind, str)
        and (kind in MESSAGE_TYPES or kind.endswith("MessageChunk"))
        and value.keys() >= MESSAGE_KEYS
    )
