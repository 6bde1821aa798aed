"""What a client has that keeps messages by id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

__all__ = ["folded", "is_same"]


def folded(messages: Iterable[BaseMessage]) -> dict[str, BaseMessage]:
    """The messages by id, with chunks joined to what came under their id."""
    has: dict[str, Any] = {}
    for message in messages:
        known = str(message.id)
        if isinstance(message, RemoveMessage):
            has = (
                {} if known == REMOVE_ALL_MESSAGES else {k: m for k, m in has.items() if k != known}
            )
        elif isinstance(message, AIMessageChunk) and known in has:
            has[known] += message
        else:
            has[known] = message
    return has


def is_same(streamed: BaseMessage | None, kept: BaseMessage) -> bool:
    """Whether a message was streamed as the state keeps it; a copy without usage may have one."""
    if streamed is None or _said(streamed) != _said(kept):
        return False
    return _has_usage(streamed) or not _has_usage(kept)


def _said(message: BaseMessage) -> tuple[Any, ...]:
    calls = [(c["id"], c["name"], c["args"]) for c in getattr(message, "tool_calls", ())]
    return str(message.text), calls


def _has_usage(message: BaseMessage) -> bool:
    return getattr(message, "usage_metadata", None) is not None
