"""What events have in common."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

from langgraph_once.stream.part.places import NOWHERE, Where

__all__ = ["BaseEvent", "ToolCallEvent", "related"]

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
