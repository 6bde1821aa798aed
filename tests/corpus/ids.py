"""Every id of a whole message in mode `messages` is one that a state shows it under."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage, BaseMessageChunk, RemoveMessage

from tests.corpus.play import Event
from tests.corpus.states import listed


def misnamed(events: Sequence[Event]) -> list[str]:
    """The whole messages whose text a state shows, under other ids."""
    states = [event for event in events if event.mode == "values"]
    shown = {found.message.id for event in states for found in listed(event.data)}
    said = {str(found.message.content) for event in states for found in listed(event.data)}
    return [
        f"{message.id}: {message.content}"
        for message in (event.data[0] for event in events if event.mode == "messages")
        if isinstance(message, BaseMessage)
        and not isinstance(message, BaseMessageChunk | RemoveMessage)
        and message.id not in shown
        and str(message.content) in said
    ]
