"""One graph of the zoo, and what is said to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from langgraph.pregel import Pregel

Graph: TypeAlias = Pregel[Any, Any, Any, Any]

TOPICS = ("Oslo", "Lima")
"""What a person asks about, turn by turn: answers name it, so no two turns say the same."""


def asks(topic: str) -> dict[str, Any]:
    """A turn in which a person asks something."""
    return {"input": {"messages": [{"type": "human", "content": f"Tell me about {topic}"}]}}


def resumes(value: Any) -> dict[str, Any]:
    """A turn in which a person answers an interrupt."""
    return {"resume": value}


@dataclass(frozen=True, kw_only=True)
class Animal:
    """A graph, and what a judge has to know of it."""

    name: str
    what: str
    """What happens, in one line."""

    graph: Graph

    unkept: tuple[str, ...] = ()
    """Texts that are streamed and in no state of the graph: plans, dead attempts, inner talk.

    Templates, as nodes have them.
    """

    turns: tuple[dict[str, Any], ...] = tuple(asks(topic) for topic in TOPICS)

    fails: tuple[int, ...] = ()
    """The turns whose run fails by design."""

    def texts_unkept(self) -> tuple[str, ...]:
        """`unkept`, of all topics."""
        return tuple(text.format(topic=topic) for text in self.unkept for topic in TOPICS)
