"""Which types are of a graph's state: those in its schemas, and no others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langgraph.channels import LastValue
from langgraph.graph import START, StateGraph
from langgraph.pregel import NodeBuilder, Pregel
from typing_extensions import TypedDict

from langgraph_once.platform.targets import graph_types


@dataclass
class Asked:
    text: str


@dataclass
class Context:
    asked: Asked


@dataclass
class Table:
    schema: Any


class State(TypedDict):
    done: bool


def names(graph: Any) -> set[str]:
    return {name for _, name in graph_types(graph)}


def test_the_types_of_the_context_are_of_the_graph() -> None:
    builder = StateGraph(State, context_schema=Context).add_node("n", lambda _: {"done": True})
    assert names(builder.add_edge(START, "n")) == {"Context", "Asked"}


def test_the_types_of_a_graph_that_no_builder_made_are_those_of_its_channels() -> None:
    channels: dict[str, Any] = {"asked": LastValue(Asked)}
    nodes: dict[str, Any] = {"n": NodeBuilder().subscribe_only("asked")}
    graph: Any = Pregel(
        nodes=nodes, channels=channels, input_channels="asked", output_channels="asked"
    )
    assert names(graph) == {"Asked"}


def test_the_schema_of_what_a_node_uses_is_not_of_the_graph() -> None:
    """Only of an agent's answers: what else has a `schema` may be stored nowhere."""
    table = Table(schema=Asked)
    builder = StateGraph(State).add_node("n", lambda _: {"done": table is not None})
    assert names(builder.add_edge(START, "n")) == set()
