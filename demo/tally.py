"""Counts what a consumer received: chunks, text, bytes, and texts that came more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
from langchain_core.messages import BaseMessage, BaseMessageChunk, RemoveMessage

from langgraph_once.stream.part.from_json import revive

__all__ = ["Tally", "message_texts"]


@dataclass
class Tally:
    """What one consumer received, over one stream or several."""

    chunks: int = 0
    """Chunks that the stream yielded."""
    characters: int = 0
    """Characters of message text in them, repeated ones included."""
    size_bytes: int = 0
    """Size of all chunks as JSON."""
    interrupts: list[Any] = field(default_factory=list)
    """Interrupts, as they came in `values`."""
    last_state: Any = None
    """The last state of the root graph, as it came in `values`."""
    _streamed: dict[str, list[str]] = field(default_factory=dict)
    _whole: Counter[str] = field(default_factory=Counter)
    _whole_in_messages: Counter[str] = field(default_factory=Counter)

    def add(self, chunk: Any) -> None:
        """Count one v2 chunk."""
        self.chunks += 1
        self.size_bytes += len(orjson.dumps(chunk, default=_to_json))
        self.interrupts += chunk.get("interrupts", ())
        is_message = chunk["type"] == "messages"
        payload = revive(list(chunk["data"]) if is_message else chunk["data"])
        if chunk["type"] == "values" and not chunk["ns"]:
            self.last_state = payload
        for message in _messages(payload):
            text = message.text
            self.characters += len(text)
            if isinstance(message, RemoveMessage):
                self._streamed.pop(str(message.id), None)
            elif isinstance(message, BaseMessageChunk):
                self._streamed.setdefault(str(message.id), []).append(text)
            elif text:
                self._whole[text] += 1
                self._whole_in_messages[text] += is_message

    def deliveries(self) -> Counter[str]:
        """How often each text was delivered, as tokens or whole, and not taken back."""
        return self._whole + self._tokens()

    @property
    def duplicates(self) -> int:
        """Deliveries of a text beyond the first."""
        return _beyond_the_first(self.deliveries())

    @property
    def duplicates_in_messages(self) -> int:
        """Those among the messages alone, without what states and updates say."""
        return _beyond_the_first(self._whole_in_messages + self._tokens())

    def _tokens(self) -> Counter[str]:
        streamed = ("".join(pieces) for pieces in self._streamed.values())
        return Counter(text for text in streamed if text)

    def lost(self, expected: Iterable[str]) -> list[str]:
        """The expected texts that never came."""
        received = self.deliveries()
        return [text for text in expected if text not in received]


def _beyond_the_first(counts: Counter[str]) -> int:
    return sum(count - 1 for count in counts.values())


def message_texts(state: Any) -> list[str]:
    """The text of every message in a state, once each, in order."""
    texts = (message.text for message in _messages(revive(state)))
    return list(dict.fromkeys(text for text in texts if text))


def _messages(value: Any) -> Iterator[BaseMessage]:
    if isinstance(value, BaseMessage):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _messages(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _messages(item)


def _to_json(value: Any) -> Any:
    if isinstance(value, BaseMessage):
        return value.model_dump()
    return getattr(value, "__dict__", None) or repr(value)
