"""States of a graph: which keys changed, and which elements of their lists are new."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from langchain_core.messages import BaseMessage

from langgraph_once.events.reading.artifacts import ArtifactTracker
from langgraph_once.stream import Part
from langgraph_once.stream.part.envelope import INTERRUPT_KEY
from langgraph_once.stream.part.messages_within import entries_of, found_in_update
from langgraph_once.watch.items import Items, Namespace
from langgraph_once.watch.preview import preview
from langgraph_once.watch.vocabulary import ViewEvent

__all__ = ["StateItems"]

MAX_KNOWN = 1_000


class StateItems:
    """Makes items of states, which come cut to the keys that changed.

    A list of messages is told as their number: they are items themselves. What is new in a list
    of other objects is an artifact.

    Args:
        items: Numbers them.
    """

    def __init__(self, items: Items) -> None:
        self._items = items
        self._trackers: dict[tuple[Namespace, str], ArtifactTracker] = {}

    def feed(self, part: Part) -> Iterator[ViewEvent]:
        """What to tell of a part of mode `values`."""
        changed: dict[str, Any] = {}
        for key, value in entries_of(part.data):
            if key == INTERRUPT_KEY:
                continue
            messages = found_in_update({key: value}, lambda _: False).messages
            if messages:
                changed[key] = _number(len(messages), "message")
            elif _is_list_of_objects(value):
                yield from self._artifacts(part.ns, key, value)
                changed[key] = _number(len(value), "element")
            elif value not in (None, "", [], {}):
                changed[key] = preview(value)
        if changed:
            _, told = self._items.open(part.ns, "state", value=changed)
            yield from told

    def _artifacts(self, namespace: Namespace, key: str, value: Any) -> Iterator[ViewEvent]:
        tracker = self._trackers.setdefault((namespace, key), ArtifactTracker(MAX_KNOWN))
        for artifact in tracker.values(value):
            data = preview(artifact.data)
            yield from self._items.open(namespace, "artifact", name=key, value=data)[1]


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _is_list_of_objects(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(isinstance(each, Mapping) and not isinstance(each, BaseMessage) for each in value)
    )
