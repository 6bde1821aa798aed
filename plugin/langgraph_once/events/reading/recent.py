"""What was told last, for what may still be said of it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from langchain_core.messages import BaseMessage

from langgraph_once.stream.where import Where

__all__ = ["History", "Recent"]

K = TypeVar("K", bound=Hashable)


class History:
    """Finished messages by id; those of equal ids in parallel tasks are apart.

    Args:
        max_messages: The most ids to keep, and messages of each; the oldest are forgotten first.
    """

    def __init__(self, max_messages: int) -> None:
        self._max_messages = max_messages
        self._by_id: OrderedDict[str, dict[Where, BaseMessage | None]] = OrderedDict()

    def add(self, where: Where, message_id: str, message: BaseMessage | None) -> None:
        """Remember a message; None for one whose events were not told.

        The empty id of a provider that gives none names nothing that could be found again.
        """
        if not message_id:
            return
        places = self._by_id.setdefault(message_id, {})
        places[where] = message
        while len(places) > self._max_messages:
            del places[next(iter(places))]
        while len(self._by_id) > self._max_messages:
            self._by_id.popitem(last=False)

    def has(self, where: Where, message_id: str) -> bool:
        """Whether it is remembered."""
        return where in self._by_id.get(message_id, ())

    def get(self, where: Where, message_id: str) -> BaseMessage | None:
        """The message, if its events were told."""
        return self._by_id.get(message_id, {}).get(where)

    def forget(self, message_id: str) -> list[bool]:
        """Forget an id; for each of its messages, whether its events were told."""
        return [message is not None for message in self._by_id.pop(message_id, {}).values()]


class Recent(Generic[K]):
    """The keys that were added last.

    Args:
        max_size: The most to keep; those that were added longest ago are forgotten first.

    Attributes:
        max_size: The same.
    """

    def __init__(self, max_size: int) -> None:
        self.max_size: int = max_size
        self._keys: OrderedDict[K, None] = OrderedDict()

    def add(self, key: K) -> bool:
        """Add a key, and say whether it is new."""
        is_new = key not in self._keys
        self._keys[key] = None
        self._keys.move_to_end(key)
        while len(self._keys) > self.max_size:
            self._keys.popitem(last=False)
        return is_new
