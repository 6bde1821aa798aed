"""The types in the states of the graphs that `langgraph.json` names.

The server copies a graph before each run, and the copy forgets the types of its state
(`Pregel.copy`, langgraph 1.2.24). So the serializer learns them from here. Commands ask all graphs,
loaded as a server loads them.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from langgraph._internal._serde import collect_allowlist_from_schemas
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel

from langgraph_once.errors import ConfigError
from langgraph_once.manifest import Manifest
from langgraph_once.platform.targets import load_file, load_name, load_object
from langgraph_once.settings import load_graph_paths

# Private upstream, langgraph 1.2.24: how `compile` finds the types under
# LANGGRAPH_STRICT_MSGPACK. It can go when `Pregel.copy` keeps them.


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


Types = set[tuple[str, ...]]


@dataclass(slots=True)
class CodeTypes:
    """What the graphs' states name, as `(module, name)`."""

    listed: Types = field(default_factory=set)
    """Of graphs that a server lists by itself: those that are named by their module."""
    by_file: Types = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    """Why graphs could not be asked."""


def types_of_code(manifest: Manifest) -> CodeTypes:
    """Return the types in the states of all graphs. Their modules are imported.

    Raises:
        ConfigError: The manifest is wrong. That a graph cannot be loaded is no error here.
    """
    found = CodeTypes()
    for where, load, kept in _graphs(manifest, found):
        try:
            with contextlib.redirect_stdout(sys.stderr):  # ours is for machines, too
                value = load()
                kept |= graph_types(value)
        except (Exception, SystemExit) as error:  # whatever the user's code raises
            problem = error.problem if isinstance(error, ConfigError) else type(error).__name__
            found.problems.append(f"{where}: cannot be loaded: {problem}")
        else:
            if callable(value) and not hasattr(value, "invoke"):
                found.problems.append(f"{where}: a factory, whose graph is not known before a run")
    return found


def _graphs(manifest: Manifest, found: CodeTypes) -> Iterator[tuple[str, Callable[[], Any], Types]]:
    for where, path in manifest.importable_graphs():
        yield where, partial(load_object, path, where), found.listed
    for where, file, name in manifest.file_graphs():
        yield where, partial(_load_file, file, name, where), found.by_file


def _load_file(file: str, name: str, where: str) -> Any:
    return load_name(load_file(file, where), name, where)
