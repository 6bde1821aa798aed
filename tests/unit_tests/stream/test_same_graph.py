"""A wrapped graph is like its original in all but its streams."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import START, StateGraph
from langgraph.pregel import Pregel
from pydantic import BaseModel

from langgraph_once import once

OURS = {"dedup_config", "stream_state", "own_stream_state", "stream_transformers"}


class Model(BaseModel):
    count: int = 0
    parts: list[str] = []


@dataclass
class Record:
    count: int = 0
    parts: list[str] = field(default_factory=list)


def graph_of(state: Any) -> Any:
    def node(given: Any) -> dict[str, Any]:
        return {"count": given.count + 1, "parts": [*given.parts, "new"]}

    builder: Any = StateGraph(state)
    builder.add_node("node", node).add_edge(START, "node")
    return builder.compile(checkpointer=InMemorySaver(), name="mine", debug=False)


def around(graph: Any) -> Any:
    builder: Any = StateGraph(Model)
    return builder.add_node("inner", graph).add_edge(START, "inner").compile()


@entrypoint()
def functional(given: int) -> int:
    return given + 1


def same(graph: Any) -> Any:
    return graph


def copied(graph: Any) -> Any:
    return graph.copy({"name": "other"})


def configured(graph: Any) -> Any:
    return graph.with_config({"tags": ["one"]})


STEPS: list[Callable[[Any], Any]] = [same, copied, configured, once]


@pytest.mark.parametrize(
    "graph", [graph_of(Model), graph_of(Record), functional], ids=["model", "record", "functional"]
)
def test_every_attribute_is_the_same(graph: Pregel[Any, Any, Any, Any]) -> None:
    wrapped = once(graph)
    theirs, ours = vars(graph), vars(wrapped)
    assert ours.keys() - theirs.keys() <= OURS
    assert [name for name in theirs.keys() - OURS if ours.get(name) is not theirs[name]] == []


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
@pytest.mark.parametrize("state", [Model, Record])
def test_values_have_the_type_of_the_state(state: type, step: Callable[[Any], Any]) -> None:
    graph, wrapped = graph_of(state), step(once(graph_of(state)))
    config: RunnableConfig = {"configurable": {"thread_id": "1"}}
    asked: Any = {"version": "v2", "stream_mode": ["values", "updates", "checkpoints", "debug"]}

    def types(parts: Any) -> list[Any]:
        inner = [(part["type"], part["data"]) for part in parts]
        return [
            (mode, type(data), type(data.get("values")) if isinstance(data, dict) else None)
            for mode, data in inner
        ]

    given = {"count": 1, "parts": []}
    theirs = types(graph.stream(given, config, **asked))
    assert types(wrapped.stream(given, config, **asked)) == theirs
    assert ("values", state, None) in theirs
    assert type(wrapped.invoke(given, config, version="v2").value) is state
    result = asyncio.run(wrapped.ainvoke(given, config, version="v2"))
    assert type(result.value) is state


def test_pictures_and_dumps_show_the_class_of_the_user() -> None:
    graph = graph_of(Model)
    wrapped = once(graph)
    assert wrapped.get_graph().to_json() == graph.get_graph().to_json()
    assert around(wrapped).get_graph().to_json() == around(graph).get_graph().to_json()
    assert type(wrapped).__name__ == type(graph).__name__
