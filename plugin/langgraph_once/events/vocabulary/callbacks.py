"""Calls functions of the user with events; an error of theirs comes with the event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph_once.errors import CallbackError
from langgraph_once.events.vocabulary.base import BaseEvent

__all__ = ["called", "checked"]


def called(callback: Callable[[Any], Any], event: BaseEvent) -> Any:
    """What `callback` gives for an event.

    Raises:
        CallbackError: It raised.
    """
    try:
        return callback(event)
    except Exception as error:
        raise CallbackError(event, callback) from error


def checked(filter_fn: Callable[[Any], bool] | None, event: BaseEvent) -> bool:
    """Whether a filter lets an event pass; without one it does.

    Raises:
        CallbackError: It raised.
    """
    return filter_fn is None or bool(called(filter_fn, event))
