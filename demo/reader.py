"""What someone who reads `messages` is left with, against what the states of the run say."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, Literal, NamedTuple

from langchain_core.messages import BaseMessage, BaseMessageChunk, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.stream.annotation import annotation_of
from langgraph_once.stream.shapes import revive

__all__ = ["MODES", "Piece", "Reader", "Verdict", "messages_in"]

MODES = ["messages-tuple", "tasks", "values"]
"""What a run is to be streamed in, from subgraphs too: states and tasks tell what holds."""

Namespace = tuple[str, ...]


class Piece(NamedTuple):
    """The text of a message, or one of its tool calls."""

    kind: Literal["text", "call"]
    role: str
    says: str


class Verdict(NamedTuple):
    """What is wrong with what the reader has."""

    repeated: list[Piece]
    """Said more often than in the states, or the beginning of what is said besides."""
    missing: list[Piece]
    """In a state, and not with the reader."""
    not_kept: list[Piece]
    """With the reader, who is not told that it is in no state."""

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many texts there are of each; tool calls share the fate of their message."""
        repeated, missing, not_kept = (sum(p.kind == "text" for p in ps) for ps in self)
        return repeated, missing, not_kept


@dataclass
class Reader:
    """Adds up chunks by the id of their message, and drops what a `RemoveMessage` names."""

    chunks: int = 0
    interrupts: list[Any] = field(default_factory=list)
    _live: dict[Any, list[BaseMessage]] = field(default_factory=dict)
    _drafts: set[Any] = field(default_factory=set)
    _states: dict[Namespace, dict[Any, BaseMessage]] = field(default_factory=dict)
    _failed: set[Namespace] = field(default_factory=set)

    def add(self, chunk: Any) -> None:
        """Read one chunk of v2."""
        self.chunks += 1
        self.interrupts += chunk.get("interrupts", ())
        ns: Namespace = tuple(chunk["ns"])
        match chunk["type"]:
            case "messages":
                message, meta = revive(list(chunk["data"]))
                self._hear(message, meta)
            case "values":
                self._failed.discard(ns)
                found = messages_in(revive(chunk["data"]))
                self._states[ns] = {m.id or object(): m for m in found}
            case "tasks" if chunk["data"].get("error") and ns:
                self._failed.add(ns)

    def verdict(self) -> Verdict:
        """Judge what was read so far."""
        has: Counter[Piece] = Counter()
        drafts: Counter[Piece] = Counter()
        for key, parts in self._live.items():
            counted = drafts if key in self._drafts else has
            counted.update(_pieces(reduce(add, parts)))
        said = Counter(p for message in self._said(()).values() for p in _pieces(message))
        asked = Counter({piece: n for piece, n in said.items() if piece.role == "human"})
        said -= asked
        verdict = Verdict([], [*(said - has - drafts).elements()], [])
        known = {*said, *asked}
        for piece in (has - said).elements():
            (verdict.repeated if _repeats(piece, known) else verdict.not_kept).append(piece)
            known.add(piece)
        return verdict

    def texts(self, role: str) -> list[str]:
        """What the messages of a role say that the reader has, in the order in which they began."""
        whole = (reduce(add, parts) for parts in self._live.values())
        found = (str(m.text) for m in whole if _role(m) == role)
        return [text for text in found if text]

    def _hear(self, message: BaseMessage, meta: Any) -> None:
        key = message.id or object()
        if isinstance(message, RemoveMessage):
            if message.id == REMOVE_ALL_MESSAGES:
                self._live.clear()
            self._live.pop(message.id, None)
        elif isinstance(message, BaseMessageChunk):
            self._live.setdefault(key, []).append(message)
        else:
            self._live[key] = [message]
        if (note := annotation_of(meta)) is not None and note.get("draft"):
            self._drafts.add(key)

    def _said(self, ns: Namespace) -> dict[Any, BaseMessage]:
        """What the graph at `ns` and those inside it say.

        A message is the same in each, by its id; so is one that a graph puts under an id of its
        own in place of one of a graph inside it.
        """
        own = self._states.get(ns, {})
        said: dict[Any, BaseMessage] = {}
        for inner in self._inside()[ns] - self._failed:
            said |= self._said(inner)
        copied = Counter(tuple(_pieces(said[key])) for key in said.keys() - own.keys())
        for key in own.keys() - said.keys():
            pieces = tuple(_pieces(own[key]))
            if copied[pieces]:
                copied[pieces] -= 1
            else:
                said[key] = own[key]
        return said | {key: own[key] for key in own.keys() & said.keys()}

    def _inside(self) -> dict[Namespace, set[Namespace]]:
        found = defaultdict(set)
        for ns in self._states:
            while ns:
                inner, ns = ns, _around(ns)
                found[ns].add(inner)
        return found


def _around(ns: Namespace) -> Namespace:
    """The graph that runs the one at `ns`; numbers count the graphs that one task runs."""
    while ns[-1].isdecimal():
        ns = ns[:-1]
    return ns[:-1]


def _pieces(message: BaseMessage) -> Iterator[Piece]:
    role = _role(message)
    if text := " ".join(str(message.text).split()):
        yield Piece("text", role, text)
    for call in getattr(message, "tool_calls", ()):
        yield Piece("call", role, f"{call['name']}({json.dumps(call['args'], sort_keys=True)})")


def _role(message: BaseMessage) -> str:
    return message.type.removesuffix("MessageChunk").lower()


def _repeats(piece: Piece, known: Iterable[Piece]) -> bool:
    return any(o.role == piece.role and o.says.startswith(piece.says) for o in known)


def messages_in(value: Any) -> Iterator[BaseMessage]:
    """The messages in a value, at any depth of dictionaries, lists and tuples."""
    if isinstance(value, BaseMessage):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from messages_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from messages_in(item)
