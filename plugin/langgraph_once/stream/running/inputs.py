"""What graphs and tasks were given: a node that returns it says nothing new."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import BaseMessage

from langgraph_once.stream.part.content import Content, content_of
from langgraph_once.stream.part.messages_within import (
    Found,
    IsMessageKey,
    coerced,
    entries_of,
    found_in_input,
    is_message_like,
    messages_given,
)

__all__ = ["GivenToGraph", "GivenToTask"]


class GivenToGraph:
    """The input of a graph.

    Args:
        value: The input; what has no id there gets one by the graph's reducers.
    """

    def __init__(self, value: Any) -> None:
        self._value = value
        self._messages: list[BaseMessage] | None = None

    def has(
        self, content: Content, is_message_key: IsMessageKey, *, under: str | None = None
    ) -> bool:
        """Whether a message in it says this, under this id where one is given."""
        if self._messages is None:
            self._messages = messages_given(self._value, is_message_key)
        return any(
            under in (None, known.id) and content_of(known) == content for known in self._messages
        )


class GivenToTask:
    """The input of one attempt of a task.

    Attributes:
        named: For each id the message, its content as it was, and the key it was under.
        inside: The ids of what the tasks inside it were given.
    """

    def __init__(self) -> None:
        self.named: dict[str, tuple[BaseMessage, object, str]] = {}
        self.inside: set[str] = set()
        self._value: Any = None
        # By `id()`, with the message: no other object has that `id()` while this one is held.
        self._unnamed: dict[int, tuple[BaseMessage, object]] = {}
        self._unclaimed: list[Content] | None = None

    def add(self, value: Any) -> None:
        """Note the input, and what its messages say, which a node may change."""
        self._value = value
        for key, message in found_in_input(value):
            if message.id is None:
                self._unnamed[id(message)] = message, message.content
            else:
                self.named[message.id] = message, message.content, key

    def has(self, message: BaseMessage) -> bool:
        """Whether it was given this message, and that says what it said then."""
        known, content, _ = self.named[str(message.id)]
        if known is message:
            return message.content is content
        return content_of(known) == content_of(message)

    def repeated(self, found: Found, replaces: Callable[[str], bool]) -> set[int]:
        """Which messages of an update repeat what has no id here: by `id()`.

        Those are, in a list that takes the place of the one that was given, the same objects,
        and from its beginning on copies at the same place. A list that is added to another says
        them once more.
        """
        again: set[int] = set()
        for key, value in entries_of(self._value) if found.by_key else ():
            messages = found.by_key.get(key)
            if messages and replaces(key) and self._is_in_part_unnamed(value):
                again.update(id(message) for message in messages if self._is_unnamed(message))
                for message, item in zip(messages, _items(value), strict=False):
                    if message is item:
                        continue
                    if content_of(message) != _content(item):
                        break
                    again.add(id(message))
        return again

    def claims(self, content: Content) -> bool:
        """Whether it says this without an id: each time for one message that a graph made of it."""
        if self._unclaimed is None:
            self._unclaimed = [
                content
                for _, value in entries_of(self._value)
                if self._is_in_part_unnamed(value)
                for content in map(_content, _items(value))
                if content is not None
            ]
        if content not in self._unclaimed:
            return False
        self._unclaimed.remove(content)
        return True

    def _is_unnamed(self, message: BaseMessage) -> bool:
        known, content = self._unnamed.get(id(message), (None, None))
        return known is message and content is message.content

    def _is_in_part_unnamed(self, value: Any) -> bool:
        return any(
            id(item) in self._unnamed if isinstance(item, BaseMessage) else is_message_like(item)
            for item in _items(value)
        )


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _content(item: Any) -> Content | None:
    """What an item of a list says, as a graph reads it that makes messages of strings."""
    if not isinstance(item, BaseMessage):
        item = coerced(item) if is_message_like(item) else None
    return None if item is None else content_of(item)
