"""Two messages that one task streams under two ids, with no annotation to tell why.

A retry looks like that: a model broke off, and the same task speaks again (D4). Two models at
once look like that, too, where one says the same as the other, a little behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from langchain_core.messages import AIMessageChunk

from langgraph_once.stream.ledger.entry import Entry, State

__all__ = ["ConcurrentMessages"]

MAX_WITHDRAWN = 1024
MAX_CONCURRENT = 32
"""The last ones. Where no chunk is the last of its message, all messages of a task stay open."""

Key = tuple[str, str]
"""The task and the id of a message."""


class ConcurrentMessages:
    """The messages that may be attempts at the same answer.

    Attributes:
        open: For a message what its task is streaming besides.
        withdrawn: What was taken back, and may go on all the same.
    """

    def __init__(self) -> None:
        self.open: dict[Key, list[Entry]] = {}
        self.withdrawn: dict[Key, Entry] = {}

    def note(self, entry: Entry, streamed: Iterable[Entry]) -> None:
        """Note what a task is streaming, the last first, besides a message that begins."""
        others = [other for other in islice(streamed, MAX_CONCURRENT + 1) if other is not entry]
        if others:
            self.open[entry.task, entry.id] = others[::-1]

    def end(self, entry: Entry) -> None:
        """Note that a message is complete."""
        self.open.pop((entry.task, entry.id), None)

    def abandoned(self, new: Entry) -> Iterator[Entry]:
        """What a model began to say and broke off, as another now says all of it too.

        Should it go on after all, `revived` has what was taken back.
        """
        others = self.open.pop((new.task, new.id), [])
        others = [old for old in others if old.state is State.OPEN]
        later = [old for old in others if old.size > new.size]
        if later:
            self.open[new.task, new.id] = later
        for old in others:
            if old not in later and new.content.begins_with(old.content):
                self.withdrawn[old.task, old.id] = old
                if len(self.withdrawn) > MAX_WITHDRAWN:
                    del self.withdrawn[next(iter(self.withdrawn))]
                yield old

    def revived(self, task: str, message_id: str) -> AIMessageChunk:
        """What was taken back of a message that goes on all the same."""
        old = self.withdrawn.pop((task, message_id))
        return AIMessageChunk(content=old.content.text, id=message_id)
