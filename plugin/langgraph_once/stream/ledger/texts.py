"""The messages of one task or node, found by what they say.

A copy is looked for among all that its task has said. A list of that made the time for each
message grow with their number: 1,000 cost 0.6 s at first, and 11.7 s after 7,000.
"""

from __future__ import annotations

from collections.abc import Iterator

from langgraph_once.stream.ledger.entry import Entry
from langgraph_once.stream.part.content import Content

__all__ = ["Texts"]


class Texts:
    """Which messages may say the same as another.

    What still streams may say anything in the end, and its text is not looked at before.
    """

    __slots__ = ("_by_text", "_keys", "_open")

    def __init__(self) -> None:
        self._open: dict[Entry, None] = {}
        self._by_text: dict[int, list[Entry]] = {}
        self._keys: dict[Entry, int] = {}

    def add(self, entry: Entry, name: str) -> None:
        """Note a message, unless one of the task or node of this name was found to be it."""
        if name in entry.claimed:
            return
        if entry.is_open:
            self._open[entry] = None
            return
        self._keys[entry] = key = _key(entry.content)
        self._by_text.setdefault(key, []).append(entry)

    def settle(self, entry: Entry) -> None:
        """Note that a message is complete now."""
        if self._open.pop(entry, self) is None:
            self._keys[entry] = key = _key(entry.content)
            self._by_text.setdefault(key, []).append(entry)

    def discard(self, entry: Entry) -> None:
        """Know a message no longer, if it is known."""
        self._open.pop(entry, None)
        key = self._keys.pop(entry, None)
        if key is None:
            return
        self._by_text[key].remove(entry)
        if not self._by_text[key]:
            del self._by_text[key]

    def like(self, content: Content) -> list[Entry]:
        """The messages that may say this, with any white space, in the order in which they came."""
        return [*self._by_text.get(_key(content), ()), *self._open]

    def open_last_first(self) -> Iterator[Entry]:
        """What still streams."""
        return reversed(self._open)


def _key(content: Content) -> int:
    """What all messages have in common of which one may be a copy of the other."""
    return hash("".join(content.text.split()))
