"""Makes `TokenStreamEvent`s fast: there is one for each token."""

from __future__ import annotations

from dataclasses import fields
from typing import Literal

from langgraph_once.events.vocabulary.event import TokenStreamEvent
from langgraph_once.events.vocabulary.growing_text import SoFar
from langgraph_once.stream.part.where import Where

__all__ = ["token_event"]

_NEW = object.__new__
_SEQ, _WHERE, _MESSAGE_ID, _DELTA, _SO_FAR, _BLOCK_INDEX, _KIND = (
    getattr(TokenStreamEvent, field.name).__set__ for field in fields(TokenStreamEvent)
)


def token_event(
    seq: int,
    where: Where,
    message_id: str,
    content_delta: str,
    so_far: SoFar,
    block_index: int | str = 0,
    kind: Literal["text", "reasoning"] = "text",
) -> TokenStreamEvent:
    """The event, in a third of the time that a frozen dataclass takes to set its fields."""
    event = _NEW(TokenStreamEvent)
    _SEQ(event, seq)
    _WHERE(event, where)
    _MESSAGE_ID(event, message_id)
    _DELTA(event, content_delta)
    _SO_FAR(event, so_far)
    _BLOCK_INDEX(event, block_index)
    _KIND(event, kind)
    return event
