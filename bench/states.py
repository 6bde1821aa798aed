"""The values that the serializer is measured on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Final, NamedTuple

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import BaseModel, PrivateAttr, TypeAdapter

from bench.prose import passages

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


class Session(BaseModel):
    """A model that keeps something for itself."""

    user: str
    _seen: dict[str, int] = PrivateAttr(default_factory=dict)


class Score(NamedTuple):
    """A named tuple."""

    name: str
    points: int


TYPES = (Priority, Task, Line, Order, Session, Score)


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


def enums() -> list[Priority]:
    """400 priorities."""
    return [Priority.LOW, Priority.HIGH] * 200


def sessions() -> list[Session]:
    """400 models with a private attribute."""
    return [Session(user=f"user {i}") for i in range(400)]


def scores() -> list[Score]:
    """400 named tuples."""
    return [Score(f"user {i}", i) for i in range(400)]


def numbered() -> list[dict[int, int]]:
    """400 dictionaries whose keys are no text."""
    return [{i: i} for i in range(400)]


def models() -> list[Order]:
    """50 orders of 5 lines, each line twice."""
    return [
        Order(id=i, lines=_lines(), by_sku={line.sku: line for line in _lines()}) for i in range(50)
    ]


def _lines() -> list[Line]:
    return [Line(sku=f"s{i}", count=i, price=i / 4) for i in range(5)]


def _records() -> list[dict[str, Any]]:
    return [
        {"id": i, "name": f"item {i}", "price": i / 7, "sold": i % 3 == 0, "note": None}
        for i in range(1000)
    ]


def _nested() -> dict[str, Any]:
    def level(depth: int) -> Any:
        if not depth:
            return {"value": depth, "tags": ["a", "b"], "score": 0.5}
        return {f"part {n}": level(depth - 1) for n in range(4)}

    return level(4)  # type: ignore[no-any-return]  # a dictionary at each level


def _search_results() -> dict[str, Any]:
    results = [
        {
            "url": f"https://example.org/{n}",
            "title": text[:60],
            "content": text,
            "score": 1 / (n + 1),
            "raw_content": None,
        }
        for n, text in enumerate(passages(LONGEST, 800)[:20])
    ]
    return {"query": "cafes", "results": results, "images": [], "response_time": 0.8}


PLAIN: Final[dict[str, Callable[[], Any]]] = {
    "1,000 records": _records,
    "nested dictionaries": _nested,
    "search results": _search_results,
    "the metadata of a checkpoint": lambda: {"source": "loop", "step": 3, "parents": {}},
    "one text": lambda: " ".join(passages(LONGEST, 800)[:20]),
}
"""What is not an object, nor has one in it."""


def _with_one(make: Callable[[], Any]) -> Callable[[], list[BaseMessage]]:
    def messages() -> list[BaseMessage]:
        found = thread(100)
        found[50].additional_kwargs["odd"] = make()
        return found

    return messages


def _with_documents() -> list[BaseMessage]:
    """As a retriever's tool leaves them: in each fourth message, three."""
    messages = thread(100)
    for at in range(2, 100, 4):
        found = [
            Document(passage, id=f"{at}-{n}", metadata={"source": f"{n}.md", "page": n})
            for n, passage in enumerate(passages(3, 100))
        ]
        messages[at] = ToolMessage("Found.", tool_call_id=f"call_{at}", artifact=found)
    return messages


_MOMENTS: Final = TypeAdapter(datetime)

ODD: Final[dict[str, Callable[[], list[BaseMessage]]]] = {
    "a dataclass in one": _with_one(lambda: dataclasses()[0]),
    "a tuple in one": _with_one(lambda: (1, "two")),
    "an enum in one": _with_one(lambda: Priority.HIGH),
    "a date in UTC in one": _with_one(lambda: datetime(2026, 5, 1, tzinfo=UTC)),
    "a date with a zone of pydantic in one": _with_one(
        lambda: _MOMENTS.validate_json('"2026-05-01T09:30:00+02:00"')
    ),
    "three documents in each tool message": _with_documents,
}
"""Threads in which something is no message."""
