"""Counts the texts that a consumer of all modes received, and those that came more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessageChunk, RemoveMessage

from demo.reader import messages_in
from langgraph_once.stream.shapes import revive


@dataclass
class Tally:
    """What one consumer received, over one stream or several."""

    interrupts: list[Any] = field(default_factory=list)
    """Interrupts, as they came in `values`."""
    _streamed: dict[str, list[str]] = field(default_factory=dict)
    _whole: Counter[str] = field(default_factory=Counter)

    def add(self, chunk: Any) -> None:
        """Count one v2 chunk."""
        self.interrupts += chunk.get("interrupts", ())
        data = list(chunk["data"]) if chunk["type"] == "messages" else chunk["data"]
        for message in messages_in(revive(data)):
            text = message.text
            if isinstance(message, RemoveMessage):
                self._streamed.pop(str(message.id), None)
            elif isinstance(message, BaseMessageChunk):
                self._streamed.setdefault(str(message.id), []).append(text)
            elif text:
                self._whole[text] += 1

    def deliveries(self) -> Counter[str]:
        """How often each text was delivered, as tokens or whole, and not taken back."""
        return self._whole + self._tokens()

    @property
    def duplicates(self) -> int:
        """Deliveries of a text beyond the first."""
        return sum(count - 1 for count in self.deliveries().values())

    def _tokens(self) -> Counter[str]:
        streamed = ("".join(pieces) for pieces in self._streamed.values())
        return Counter(text for text in streamed if text)

    def lost(self, expected: Iterable[str]) -> list[str]:
        """The expected texts that never came."""
        received = self.deliveries()
        return [text for text in expected if text not in received]


def message_texts(state: Any) -> list[str]:
    """The text of every message in a state, once each, in order."""
    texts = (message.text for message in messages_in(revive(state)))
    return list(dict.fromkeys(text for text in texts if text))
