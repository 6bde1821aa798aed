"""What a message is found by: what stood in the thread before, and what was said since.

How two texts compare is `Content`'s. A copy is looked for among all that its task has said. A list
of that made the time for each message grow with their number: 1,000 cost 0.6 s at first, and 11.7 s
after 7,000. So `Texts` is an index of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from langchain_core.messages import BaseMessage

from langgraph_once.stream.ledger.entry import Entry
from langgraph_once.stream.part.content import (
    NO_DETAILS,
    SPEAKERS,
    Content,
    Details,
    Space,
    content_of,
    details_of,
    mere_text,
)


class Seeds(dict[str, BaseMessage]):
    """Messages that stood in a thread before its stream, as they were then.

    Read at once: a run has these very objects, and may change them in place. They stand in columns:
    an object for each message of a long thread is work for the garbage collector, which takes
    longer than all the rest.
    """

    def __init__(self, messages: Iterable[BaseMessage] = ()) -> None:
        super().__init__({own: message for message in messages if (own := message.id)})
        self._said: dict[str, str | Content] = {}
        self._details: dict[str, Details] = {}
        for message_id, message in self.items():
            text = mere_text(message)
            self._said[message_id] = content_of(message) if text is None else text
            if (details := details_of(message)) is not NO_DETAILS:
                self._details[message_id] = details

    def _content(self, message_id: str, message: BaseMessage) -> Content:
        said = self._said[message_id]
        return Content(SPEAKERS[type(message)], said) if isinstance(said, str) else said

    def has(self, message: BaseMessage) -> bool:
        """Whether a message is one of them, and says and carries what it did then."""
        message_id = str(message.id)
        known = self.get(message_id)  # a node asks, in another thread perhaps
        if known is None or self._content(message_id, known) != content_of(message):
            return False
        before = self._details.get(message_id, NO_DETAILS)
        return before.gained_by(details_of(message)) == NO_DETAILS

    def take(self, message_id: str) -> tuple[Content, Details]:
        """What the message of an id said, and carried besides; it is no seed any more."""
        said = self._content(message_id, self.pop(message_id))
        return said, self._details.get(message_id, NO_DETAILS)


class Texts:
    """What one task has said, or one node in this stream: its messages, found by their texts.

    What still streams may say anything in the end, and its text is not looked at before.

    Attributes:
        entries: All of them, in order; also those that stand for a copy already.
    """

    __slots__ = ("_by_text", "_complete", "_keys", "_open", "entries")

    def __init__(self) -> None:
        self.entries: dict[Entry, None] = {}
        self._open: dict[Entry, None] = {}
        self._complete: dict[Entry, None] = {}
        self._by_text: dict[int, list[Entry]] = {}
        self._keys: dict[Entry, int] = {}

    def add(self, entry: Entry) -> None:
        """Note a message."""
        self.entries[entry] = None
        (self._open if entry.is_open else self._complete)[entry] = None

    def settle(self, entry: Entry) -> None:
        """Note that a message is complete now."""
        if self._open.pop(entry, self) is None:
            self._complete[entry] = None

    def discard(self, entry: Entry) -> bool:
        """Find a message by its text no longer; whether it was found by it."""
        for unread in (self._open, self._complete):
            if entry in unread:
                del unread[entry]
                return True
        key = self._keys.pop(entry, None)
        if key is None:
            return False
        self._by_text[key].remove(entry)
        if not self._by_text[key]:
            del self._by_text[key]
        return True

    def like(self, content: Content) -> list[Entry]:
        """The messages that may say this, with any white space, in the order in which they came."""
        # Not before somebody asks: most messages are found by their ids, and texts may be long.
        for entry in self._complete:
            self._keys[entry] = key = _key(entry.content)
            self._by_text.setdefault(key, []).append(entry)
        self._complete.clear()
        return [*self._by_text.get(_key(content), ()), *self._open]

    def open_last_first(self) -> Iterator[Entry]:
        """What still streams."""
        return reversed(self._open)


def _key(content: Content) -> int:
    """What all messages have in common of which one may be a copy of the other."""
    # A hash, not the text: the index of a long thread would hold each text a second time.
    return hash("".join(content.text.split()))


T = TypeVar("T")


class _Known(Protocol):
    @property
    def content(self) -> Content: ...


K = TypeVar("K", bound=_Known)


def saying(content: Content, among: Iterable[K]) -> K | None:
    """The first message that says just this."""
    return next((known for known in among if known.content == content), None)


def says(entry: Entry, message_id: str, content: Content) -> bool:
    """Whether a message under one of the ids of `entry` says no more than the consumer has.

    What bears the id of a copy may lack thoughts and have another role, as copies do.
    """
    if entry.content == content:
        return True
    return message_id != entry.id and content.is_copy_of(entry.content, in_any_role=True)


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
    """The first message that a copy repeats; None if it repeats none.

    Args:
        content: What the copy says.
        originals: The messages, each with what it says.
        space: What white space may differ, where none says just the same.
        may_lack_thoughts: Whether the copy may have left out blocks that are no text.
    """
    known = list(originals)
    for allowed in dict.fromkeys(("same", space)):
        for original, said in known:
            is_whole = may_lack_thoughts or content.rest == said.rest
            if is_whole and content.is_copy_of(said, space=allowed):
                return original
    return None
