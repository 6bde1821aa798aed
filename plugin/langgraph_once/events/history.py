"""The messages that were told last, for what may still be said of them."""

from __future__ import annotations

from collections import OrderedDict

from langchain_core.messages import BaseMessage

from langgraph_once.events.namespace import Where

__all__ = ["History"]


class History:
    """Finished messages by id; those of equal ids in parallel tasks are apart.

    Args:
        max_messages: The most ids to keep; the oldest are forgotten first.
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
        self._by_id.setdefault(message_id, {})[where] = message
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
