"""The values that the serializer is measured on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import BaseModel

from bench.prose import passages

__all__ = [
    "TYPES",
    "checkpoint",
    "dataclasses",
    "enums",
    "models",
    "shared_dataclasses",
    "thread",
]

LONGEST = 1000
"""Messages in the longest thread: no passage is used twice."""


def thread(size: int) -> list[BaseMessage]:
    """A conversation of `size` messages of about 1 KB: questions, calls, results, answers."""
    return [_message(i, prose) for i, prose in enumerate(passages(LONGEST, 800)[:size])]


def checkpoint(size: int) -> dict[str, Any]:
    """A checkpoint whose state holds a thread, as savers that keep it whole write it."""
    versions = {"__start__": "00000000000000000000000000000002.0.8471"}
    versions |= {"messages": "00000000000000000000000000000005.0.1274"}
    return {
        "v": 4,
        "ts": "2026-05-01T09:30:00.000000+00:00",
        "id": "1f0a7c52-9d1e-6b4c-8003-5a1f0d2c7e11",
        "channel_values": {
            "messages": thread(size),
            "topic": "cafes",
            "todo": ["search", "sum up"],
        },
        "channel_versions": versions,
        "versions_seen": {"__input__": {}, "agent": {"branch:to:agent": versions["__start__"]}},
        "updated_channels": ["messages"],
    }


def _message(i: int, prose: str) -> BaseMessage:
    call: Any = {"name": "search_sources", "args": {"topic": prose[:40], "turn": i}}
    call["id"] = f"call_{i}"
    usage: Any = {"input_tokens": 900 + i, "output_tokens": 120, "total_tokens": 1020 + i}
    match i % 4:
        case 0:
            return HumanMessage(prose, id=f"h{i}")
        case 1:
            return AIMessage(prose, id=f"a{i}", tool_calls=[call], usage_metadata=usage)
        case 2:
            return ToolMessage(prose, tool_call_id=f"call_{i - 1}", id=f"t{i}")
        case _:
            return AIMessage(prose, id=f"a{i}", usage_metadata=usage)


class Priority(Enum):
    """How urgent a task is."""

    LOW = "low"
    HIGH = "high"


@dataclass
class Task:
    """A node of a plan."""

    title: str
    done: bool
    cost: float
    parts: list[Task]


class Line(BaseModel):
    """An item of an order."""

    sku: str
    count: int
    price: float


class Order(BaseModel):
    """A model with models in it."""

    id: int
    lines: list[Line]
    by_sku: dict[str, Line]


TYPES = (Priority, Task, Line, Order)


def dataclasses() -> list[Task]:
    """A plan of 400 tasks."""
    return [
        Task(
            f"task {i}",
            done=False,
            cost=1.0,
            parts=[Task(f"part {k}", done=k == 1, cost=k / 3, parts=[]) for k in range(3)],
        )
        for i in range(100)
    ]


def shared_dataclasses() -> list[Task]:
    """A plan of 100 tasks that have the same 3 parts: upstream writes them 100 times."""
    plan = dataclasses()
    for task in plan:
        task.parts = plan[0].parts
    return plan


def enums() -> list[Priority]:
    """400 priorities."""
    return [Priority.LOW, Priority.HIGH] * 200


def models() -> list[Order]:
    """50 orders of 5 lines, each line twice."""
    return [
        Order(id=i, lines=_lines(), by_sku={line.sku: line for line in _lines()}) for i in range(50)
    ]


def _lines() -> list[Line]:
    return [Line(sku=f"s{i}", count=i, price=i / 4) for i in range(5)]
