"""Messages found by what they say. How two texts compare is `Content`'s.

A copy is looked for among all that its task has said. A list of that made the time for each
message grow with their number: 1,000 cost 0.6 s at first, and 11.7 s after 7,000. So `Texts` is
an index of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from langgraph_once.stream.ledger.entry import Entry
from langgraph_once.stream.part.content import Content, Space

__all__ = ["Texts", "copied", "cut_short", "is_original", "original_of", "saying", "says"]

T = TypeVar("T")


class _Known(Protocol):
    @property
    def content(self) -> Content: ...


K = TypeVar("K", bound=_Known)


def saying(content: Content, among: Iterable[K]) -> K | None:
    """The first message that says just this."""
    return next((known for known in among if known.content == content), None)


def copied(content: Content, among: Iterable[K], space: Space = "same") -> K | None:
    """The first message that this may be a copy of, whoever says it."""
    for known in among:
        if content.is_copy_of(known.content, in_any_role=True, space=space):
            return known
    return None


def cut_short(content: Content, among: Iterable[K]) -> K | None:
    """The first message that says this, or its beginning."""
    for known in among:
        if content.is_copy_of(known.content) or content.begins_with(known.content):
            return known
    return None


def says(entry: Entry, message_id: str, content: Content) -> bool:
    """Whether a message under one of the ids of `entry` says no more than the consumer has.

    What bears the id of a copy may lack thoughts and have another role, as copies do.
    """
    if entry.content == content:
        return True
    return message_id != entry.id and copied(content, [entry]) is not None


def is_original(entry: Entry, content: Content, task: str, space: Space = "same") -> bool:
    """Whether a message of `task` may repeat this: one of a model, or of a task inside."""
    is_inner = entry.task != task
    return (is_inner or entry.is_model) and content.is_copy_of(
        entry.content, in_any_role=is_inner, space=space
    )


def original_of(
    content: Content,
    originals: Iterable[tuple[T, Content]],
    *,
    space: Space = "same",
    may_lack_thoughts: bool = False,
) -> T | None:
    """The first of some messages that another repeats; None if it repeats none.

    Args:
        content: What the other says.
        originals: The messages, each with what it says.
        space: What white space may differ, where none says just the same.
        may_lack_thoughts: Whether the other may have left out blocks that are no text.
    """
    known = list(originals)
    for allowed in dict.fromkeys(("same", space)):
        for original, said in known:
            is_whole = may_lack_thoughts or content.rest == said.rest
            if is_whole and content.is_copy_of(said, space=allowed):
                return original
    return None


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
    # A hash, not the text: the index of a long thread would hold each text a second time.
    return hash("".join(content.text.split()))
