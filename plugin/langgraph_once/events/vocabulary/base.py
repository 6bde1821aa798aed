"""What events have in common: their place, texts that grow, and callbacks of the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from langgraph_once.errors import CallbackError
from langgraph_once.stream.part.places import NOWHERE, Where

__all__ = ["BaseEvent", "Growing", "SoFar", "ToolCallEvent", "called", "checked", "related"]


class Growing:
    """The pieces of a text, in order."""

    __slots__ = ("_joined", "_joined_count", "_pieces")

    def __init__(self, text: str = "") -> None:
        self._pieces: list[str] = [text] if text else []
        self._joined = ""
        self._joined_count = 0

    def add(self, piece: str) -> SoFar:
        """Add a piece, and view the text as it is now."""
        self._pieces.append(piece)
        return SoFar(self, len(self._pieces))

    def so_far(self) -> SoFar:
        """View the text as it is now."""
        return SoFar(self, len(self._pieces))

    def __len__(self) -> int:
        """How many pieces there are."""
        return len(self._pieces)

    def upto(self, count: int) -> str:
        """The first `count` pieces, joined."""
        if count < self._joined_count:
            return "".join(self._pieces[:count])
        if count > self._joined_count:
            # To read the text after each piece costs one copy of it, not a join of all pieces.
            self._joined = "".join((self._joined, *self._pieces[self._joined_count : count]))
            self._joined_count = count
        return self._joined

    def __str__(self) -> str:
        """All of it."""
        return self.upto(len(self._pieces))


class SoFar:
    """A growing text as it was at one moment; `str` gives it."""

    __slots__ = ("_count", "_growing")

    def __init__(self, growing: Growing, count: int) -> None:
        self._growing = growing
        self._count = count

    @classmethod
    def of(cls, text: str = "") -> SoFar:
        """A text that grows no more."""
        return Growing(text).so_far()

    def __str__(self) -> str:
        """The text."""
        return self._growing.upto(self._count)

    def __eq__(self, other: object) -> bool:
        """Whether the other is the same text."""
        return str(self) == str(other) if isinstance(other, SoFar) else NotImplemented

    def __hash__(self) -> int:
        """By the text."""
        return hash(str(self))


SHOWN = frozenset({"seq", "key", "node", "index", "status", "tool_call_id", "message_id", "kind"})
"""The fields that `repr` shows: they name things and quote nothing."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BaseEvent:
    """What every event has."""

    type: ClassVar[str]

    seq: int
    """Its number, which rises through the stream; where a filter drops events there are gaps."""

    where: Where = NOWHERE
    """Where in the graph it happened."""

    @property
    def namespace(self) -> tuple[str, ...]:
        """The graph it happened in: one `node:task_id` for each level."""
        return self.where.namespace

    @property
    def formatted_namespace(self) -> str:
        """The namespace in one line."""
        return self.where.formatted

    @property
    def path(self) -> tuple[str, ...]:
        """The names of the nodes that lead to that graph."""
        return self.where.path

    @property
    def node(self) -> str | None:
        """The node it happened in."""
        return self.where.node

    @property
    def task_id(self) -> str | None:
        """The task that ran the node."""
        return self.where.task_id

    def __repr__(self) -> str:
        """What it is and what it is about, without what was said."""
        shown = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.name in SHOWN]
        return f"{type(self).__name__}({', '.join(shown)}, in {self.formatted_namespace!r})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ToolCallEvent(BaseEvent):
    """What every event of a tool call has."""

    tool_call_id: str | None
    """None where the provider gives none."""

    name: str
    index: int
    """Its place among the calls of its message."""

    message_id: str | None


def related(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two graphs are the same, or one is inside the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def called(callback: Callable[[Any], Any], event: BaseEvent) -> Any:
    """What `callback` gives for an event.

    Raises:
        CallbackError: It raised.
    """
    try:
        return callback(event)
    except Exception as error:
        raise CallbackError(event, callback) from error


def checked(filter_fn: Callable[[Any], bool] | None, event: BaseEvent) -> bool:
    """Whether a filter lets an event pass; without one it does.

    Raises:
        CallbackError: It raised.
    """
    return filter_fn is None or bool(called(filter_fn, event))
