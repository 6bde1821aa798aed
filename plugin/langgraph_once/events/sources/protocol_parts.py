"""Parts of v3 to parts like those of v2.

v3 keeps tool messages out of `messages`: the result of a tool is only in the update of its node,
and in the state after it. A consumer of messages wants it like any other message. So it is told
before that update; in a run without updates, before the first state that has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain_core.messages import AIMessageChunk, ToolMessage

from langgraph_once.events.reading.channels import node_updates
from langgraph_once.events.reading.recent_keys import Bounded, RecentKeys
from langgraph_once.stream import Part
from langgraph_once.stream.part.messages_within import found_in_update
from langgraph_once.stream.part.places import NODE_KEY, TASK_NS_KEY
from langgraph_once.stream.v3.reading import EventReader

__all__ = ["ProtocolParts"]


class ProtocolParts:
    """Reads the parts of one stream, of v3 or not; without `is_v3`, its first message shows it."""

    def __init__(self, *, max_history: int, is_v3: bool | None = None) -> None:
        self._is_v3 = is_v3
        self._events = EventReader()
        self._tools = _ToolMessages(max_history)

    def read(self, part: Part) -> Iterable[Part]:
        """What a part says, in parts like those of v2."""
        if part.mode == "messages":
            if type(part.data) is AIMessageChunk:
                self._is_v3 = self._is_v3 or False
                return (part,)
            self._is_v3 = isinstance(part.data, Mapping) or self._is_v3 or False
            said = self._events.read(part)
            return () if said is None else (said,)
        if part.mode == "updates" and self._is_v3:
            return (*self._tools.in_updates(part), part)
        if part.mode == "values" and self._is_v3 is not False:
            # States before it showed hold what was there before.
            return (*self._tools.in_values(part, is_told=not self._is_v3), part)
        return (part,)


class _ToolMessages:
    """Finds the tool messages that are new."""

    def __init__(self, max_history: int) -> None:
        self._max_history = max_history
        self._begun: RecentKeys[tuple[str, ...]] = RecentKeys(max_history)
        self._ids: RecentKeys[str] = RecentKeys(max_history)
        self._nameless: Bounded[int, ToolMessage] = Bounded(max_history)

    def in_updates(self, part: Part) -> Iterator[Part]:
        """Those in what nodes wrote."""
        for node, update in node_updates(part.data):
            meta = {NODE_KEY: node, TASK_NS_KEY: "|".join((*part.ns, node))}
            for message in _tool_messages(update):
                if self._is_new(message):
                    yield Part(part.ns, "messages", message, meta)

    def in_values(self, part: Part, *, is_told: bool) -> Iterator[Part]:
        """Those in a state; what is in the first of a graph was there before."""
        messages = _tool_messages(part.data)
        self._ids.max_size = max(self._max_history, len(messages))
        is_told = self._begun.add(part.ns) or is_told
        for message in messages:
            if self._is_new(message) and not is_told:
                yield Part(part.ns, "messages", message)

    def _is_new(self, message: ToolMessage) -> bool:
        """Whether a message was not seen. The reducer gives it an id after its update went out;
        the object stays the same."""
        is_same = self._nameless.pop(id(message), None) is message
        if message.id is not None:
            return self._ids.add(message.id) and not is_same
        self._nameless[id(message)] = message
        return not is_same


def _tool_messages(state: Any) -> list[ToolMessage]:
    found = found_in_update(state).messages
    return [message for message in found if isinstance(message, ToolMessage)]
