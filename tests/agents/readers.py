"""Readers that know nothing of this package: what each has on its screen after a stream."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    BaseMessageChunk,
    RemoveMessage,
    message_chunk_to_message,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from tests.corpus.play import Event
from tests.corpus.state import listed

__all__ = ["READERS", "Reader", "letters", "told"]


class Reader(ABC):
    """Takes the events of a stream as they come."""

    @abstractmethod
    def feed(self, event: Event) -> None:
        """Take one event."""

    @property
    @abstractmethod
    def screen(self) -> Iterable[str]:
        """The texts that a person sees now."""


class Appends(Reader):
    """Appends the text of what comes in `messages`, as most tutorials do.

    Args:
        takes: Which messages it takes.
        by_node: Whether each node has a place of its own on the screen.
    """

    def __init__(self, takes: Callable[[BaseMessage], Any], *, by_node: bool = False) -> None:
        self._takes = takes
        self._by_node = by_node
        self._texts: dict[str, str] = {}

    def feed(self, event: Event) -> None:
        if event.mode == "messages":
            message, metadata = event.data
            if message.content and self._takes(message):
                place = metadata["langgraph_node"] if self._by_node else ""
                self._texts[place] = self._texts.get(place, "") + str(message.text)

    @property
    def screen(self) -> Iterable[str]:
        return self._texts.values()


class Adds(Reader):
    """Adds with `+` what comes under one id, as servers do for `stream_mode="messages"`."""

    def __init__(self) -> None:
        self._sums: dict[str | None, Any] = {}

    def feed(self, event: Event) -> None:
        if event.mode != "messages":
            return
        message = event.data[0]
        known = self._sums.get(message.id)
        self._sums[message.id] = so_far = message if known is None else known + message
        assert isinstance(so_far, BaseMessage), f"{type(so_far).__name__} is no message"
        if isinstance(so_far, BaseMessageChunk):
            message_chunk_to_message(so_far)

    @property
    def screen(self) -> Iterable[str]:
        return [str(message.text) for message in self._sums.values()]


class Merges(Reader):
    """Keeps messages by id: chunks are joined, whole messages take the place of what was there.

    Args:
        replaces: Whether a state takes the place of everything.
    """

    def __init__(self, *, replaces: bool = False) -> None:
        self._replaces = replaces
        self._by_id: dict[str, Any] = {}

    def feed(self, event: Event) -> None:
        if event.mode == "messages":
            self._take(event.data[0])
        elif event.mode == "updates":
            for found in listed(event.data):
                self._take(found.message)
        elif event.mode == "values" and (event.ns == () or not self._replaces):
            if self._replaces:
                self._by_id = {}
            for message in event.data.get("messages") or ():
                self._take(message)

    def _take(self, message: BaseMessage) -> None:
        known = str(message.id)
        if isinstance(message, RemoveMessage):
            self._by_id.pop(known, None)
            self._by_id = {} if known == REMOVE_ALL_MESSAGES else self._by_id
        elif isinstance(message, AIMessageChunk) and known in self._by_id:
            self._by_id[known] += message
        elif message.id is not None:
            self._by_id[known] = message

    @property
    def screen(self) -> Iterable[str]:
        return [str(message.text) for message in self._by_id.values()]


class Prints(Reader):
    """Prints tokens, and of `updates` and `values` the messages whose ids it has not printed."""

    def __init__(self) -> None:
        self._printed: set[Any] = set()
        self._text = ""

    def feed(self, event: Event) -> None:
        if event.mode == "messages":
            message, _ = event.data
            self._printed.add(message.id)
            self._text += str(message.text)
            return
        for found in listed(event.data):
            if found.message.id is not None and found.message.id not in self._printed:
                self._printed.add(found.message.id)
                self._text += str(found.message.text)

    @property
    def screen(self) -> Iterable[str]:
        return [self._text]


READERS: Final[Mapping[str, Callable[[], Reader]]] = {
    "appends all": lambda: Appends(lambda message: True),
    "appends chunks": lambda: Appends(lambda message: isinstance(message, AIMessageChunk)),
    "appends answers": lambda: Appends(lambda message: isinstance(message, AIMessage)),
    "appends text alone": lambda: Appends(lambda m: not getattr(m, "tool_call_chunks", None)),
    "appends by node": lambda: Appends(lambda message: True, by_node=True),
    "adds": Adds,
    "merges by id": Merges,
    "replaces by values": lambda: Merges(replaces=True),
    "prints": Prints,
}
"""Readers by what they do."""


def letters(text: str) -> Counter[str]:
    """What a text is made of: all that one can say of texts that were mixed token by token."""
    return Counter("".join(text.split()))


def told(screen: Iterable[str], known: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    """How often a screen shows each known text, and the words besides."""
    counts: Counter[str] = Counter()
    rest: Counter[str] = Counter()
    for text in screen:
        for each in sorted(known, key=len, reverse=True):
            counts[each] += text.count(each)
            text = text.replace(each, "\n")
        rest.update(re.findall(r"\S+", text))
    return counts, rest
