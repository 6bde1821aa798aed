"""Threads that were written a moment ago: one that goes on is not looked through again.

A step writes all messages of a thread, and one of them is new. The bytes of the others tell whether
they are unchanged: equal bytes mean equal parts of equal types, at any depth. Two things are not in
the bytes, and are compared apart: the class of each message, and which fields were set. To look
whether each part is the same object as before would take as long as to write it (0.9 and 1.0 µs for
a message that is not in the cache of the processor).
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from operator import attrgetter
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from langgraph_once.serde.codecs.once1.format.scan import lead_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langgraph_once.serde.codecs.once1.write.simple_objects import Kind

__all__ = ["LEAST", "WrittenThread", "WrittenThreads"]

LEAST: Final = 64
"""Messages: shorter threads are looked through in a few µs."""
_MOST_BYTES: Final = 16 * 1024 * 1024
"""Of all that are remembered. A saver remembers the same bytes."""

_FIELDS_SET: Final = attrgetter("__pydantic_fields_set__")
_EXTRA: Final = attrgetter("__pydantic_extra__")


@dataclass(slots=True)
class WrittenThread:
    """A thread of plain messages, none of which occurs twice, and how it was written."""

    ids: list[int]
    """Of the messages. Others may have them by now: only bytes tell that a message is the same."""
    classes: list[type]
    fields_set: list[frozenset[str]]
    numbers: bytes
    """Of the kinds."""
    data: bytes

    def may_begin(self, items: list[Any]) -> bool:
        """Whether a thread may go on from this one: as far as bytes do not tell."""
        count = len(self.ids)
        first, ids = items[:count], [*map(id, items)]
        return (
            ids[:count] == self.ids
            and len({*ids}) == len(ids)
            and [*map(type, first)] == self.classes
            and [*map(_FIELDS_SET, first)] == self.fields_set
            and [*map(_EXTRA, first)].count({}) == count
        )

    def begins(self, data: bytes) -> bool:
        """Whether the messages of a thread that was written as `data` begin with these."""
        messages = memoryview(self.data)[lead_bytes(self.data) :]
        return data.startswith(messages, lead_bytes(data))


class WrittenThreads:
    """The threads of plain messages that were written last. Thread-safe."""

    def __init__(self, kinds: Mapping[int, Kind]) -> None:
        """Take the kinds of messages, by number."""
        self._kinds = kinds
        self._threads: OrderedDict[int, WrittenThread] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def take(self, items: list[Any]) -> WrittenThread | None:
        """Return what a thread may go on from. It is the caller's, who may `keep` it again."""
        if len(items) < LEAST:
            return None
        with self._lock:
            found = self._threads.pop(_key(items), None)
            if found is None:
                return None
            self._bytes -= len(found.data)
        return found if found.may_begin(items) else None

    def keep(
        self, before: WrittenThread | None, items: list[Any], numbers: list[int], data: bytes
    ) -> None:
        """Remember how a thread was written.

        Args:
            before: The thread that was written a step before; None if there is none.
            items: The messages, all plain.
            numbers: Of the kinds of those that `before` has not.
            data: What was written.
        """
        if len(items) < LEAST or len(data) > _MOST_BYTES // 2:
            return
        thread = before or WrittenThread([], [], [], b"", b"")
        new = items[len(thread.ids) :]
        thread.ids += map(id, new)
        thread.classes += map(type, new)
        thread.fields_set += [self._kinds[number].fields_set for number in numbers]
        thread.numbers += bytes(numbers)
        thread.data = data
        with self._lock:
            replaced = self._threads.pop(_key(items), None)
            self._bytes += len(data) - (0 if replaced is None else len(replaced.data))
            self._threads[_key(items)] = thread
            while self._bytes > _MOST_BYTES:
                self._bytes -= len(self._threads.popitem(last=False)[1].data)


def _key(items: list[Any]) -> int:
    """What stays while a thread grows, and others have not, which may begin with equal messages."""
    return id(items[LEAST - 1])
