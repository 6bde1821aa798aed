"""The types in the states of the graphs that `langgraph.json` names.

The server copies a graph before each run, and the copy forgets the types of its state
(`Pregel.copy`, langgraph 1.2.24). So the serializer learns them from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

# Private upstream, langgraph 1.2.24: how `compile` finds the types under
# LANGGRAPH_STRICT_MSGPACK. It can go when `Pregel.copy` keeps them.
from langgraph._internal._serde import collect_allowlist_from_schemas
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel

from langgraph_once.platform.targets import load_object
from langgraph_once.settings import load_graph_paths

_RESPONSES = "langchain.agents.structured_output"


def types_in_graphs() -> set[tuple[str, ...]]:
    """`(module, name)` of every dataclass, model and enum in the schemas of the graphs.

    A factory's graph is not known before a run, and a graph named by file path would be
    imported a second time under another name: types of those go into `allowed_types`.

    Raises:
        ConfigError: A graph cannot be imported.
    """
    found: set[tuple[str, ...]] = set()
    for where, path in load_graph_paths():
        found |= graph_types(load_object(path, where))
    return found


def graph_types(value: Any) -> set[tuple[str, ...]]:
    """`(module, name)` of every type in the schemas of a graph or builder; none of another thing.

    The type of an agent's answer (`create_agent(response_format=…)`) is among them, though the
    agent's state does not name it (langchain 1.x).
    """
    found: set[tuple[str, ...]] = set()
    for graph in _with_subgraphs(value):
        found |= _types_in(graph)
    return found


def _with_subgraphs(value: Any) -> Iterator[Pregel[Any, Any, Any, Any]]:
    if isinstance(value, StateGraph):
        value = value.compile()
    if isinstance(value, Pregel):
        yield value
        yield from (
            graph for _, graph in value.get_subgraphs(recurse=True) if isinstance(graph, Pregel)
        )


def _types_in(graph: Pregel[Any, Any, Any, Any]) -> set[tuple[str, ...]]:
    schemas: list[Any] = []  # that are None are passed over
    if (builder := getattr(graph, "builder", None)) is not None:
        schemas = [*builder.schemas, builder.context_schema, *_responses(builder)]
    return collect_allowlist_from_schemas(schemas=schemas, channels=graph.channels)


def _responses(builder: Any) -> Iterator[Any]:
    """Yield the schemas that functions of the nodes were made to answer with."""
    for node in builder.nodes.values():
        function = getattr(node.runnable, "func", None) or getattr(node.runnable, "afunc", None)
        for cell in getattr(function, "__closure__", None) or ():
            with suppress(ValueError):  # the cell is empty
                held = cell.cell_contents
                if type(held).__module__ == _RESPONSES:
                    yield getattr(held, "schema", None)
