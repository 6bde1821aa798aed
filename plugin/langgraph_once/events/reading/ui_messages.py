"""UI messages of LangGraph, folded as `ui_message_reducer` folds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph_once.events.reading.recent_keys import Bounded
from langgraph_once.events.vocabulary.event import UIEvent
from langgraph_once.stream.part.places import Where

__all__ = ["UIMessages", "is_ui_message"]


def is_ui_message(data: Any) -> bool:
    """Whether what a node wrote to the stream is a UI message, and not merely like one."""
    return (
        isinstance(data, dict)
        and data.get("type") in ("ui", "remove-ui")
        and isinstance(data.get("id"), str)
        and all(isinstance(data.get(key) or {}, dict) for key in ("props", "metadata"))
    )


class UIMessages:
    """The properties of the UI messages that are shown.

    At most `max_messages` are remembered; a merge into a forgotten one has its own properties.
    """

    def __init__(self, seq: Callable[[], int], *, max_messages: int) -> None:
        self._seq = seq
        self._props: Bounded[str, dict[str, Any]] = Bounded(max_messages)

    def event(self, data: dict[str, Any], where: Where) -> UIEvent:
        """The event of one UI message."""
        ui_id = data["id"]
        if data["type"] == "remove-ui":
            self._props.pop(ui_id, None)
            return UIEvent(seq=self._seq(), where=where, action="remove", ui_id=ui_id)
        props, metadata = dict(data.get("props") or {}), dict(data.get("metadata") or {})
        # `ui_message_reducer` (langgraph 1.2.24) takes a merge into a missing message for a push.
        merges = bool(metadata.get("merge")) and ui_id in self._props
        if merges:
            props = {**self._props[ui_id], **props}
        self._props[ui_id] = props
        return UIEvent(
            seq=self._seq(),
            where=where,
            action="merge" if merges else "push",
            ui_id=ui_id,
            name=data.get("name"),
            props=props,
            metadata=metadata,
        )
