"""Targets of the tests: graphs, builders and factories, and things that are none."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph_sdk.runtime import ServerRuntime
from pydantic import BaseModel
from typing_extensions import TypedDict


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    colour: Colour


class Settled(BaseModel):
    note: str


class Innermost(TypedDict):
    settled: Settled


class Inner(TypedDict):
    done: bool


class State(TypedDict):
    points: list[Point]


def _graph(schema: Any, node: Any) -> StateGraph[Any, Any, Any, Any]:
    return StateGraph(schema).add_node("n", node).add_edge(START, "n").add_edge("n", END)


innermost = _graph(Innermost, lambda _: {"settled": Settled(note="yes")}).compile()
inner = _graph(Inner, innermost).compile()
builder = _graph(State, inner)
graph = builder.compile()
nothing = 5


def by_nothing() -> Any:
    return graph


def by_config(config: RunnableConfig) -> Any:
    return builder


async def by_runtime(runtime: ServerRuntime[Any]) -> Any:
    return graph


@asynccontextmanager
async def by_async_manager(
    config: RunnableConfig, runtime: ServerRuntime[Any]
) -> AsyncIterator[Any]:
    closed.clear()
    yield graph
    closed.append(True)


@contextmanager
def by_manager() -> Iterator[Any]:
    yield graph


def by_mistake() -> Any:
    return "no graph"


closed: list[bool] = []
