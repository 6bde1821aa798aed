"""What of a graph matters to a stored thread, as a value that another process can read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from functools import lru_cache
from typing import Annotated, Any, NotRequired, Required, get_args, get_origin, get_type_hints

from langgraph.channels.base import BaseChannel
from langgraph.graph import END
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel
from pydantic import TypeAdapter
from typing_extensions import ReadOnly

_MODULES = re.compile(r"\b(?:\w+\.)+")
_WRAPPERS = (Annotated, Required, NotRequired, ReadOnly)


@dataclass(slots=True, kw_only=True)
class Shape:
    """A graph, as far as its threads depend on it. It holds names only.

    Attributes:
        nodes: Where each node leads by itself; None where that is not known before it runs.
        joins: Nodes that lead to another once all of them have run.
        channels: The class, and the reducer if there is one.
        types: What each channel is annotated with.
        tools: What the tool nodes have.
        context: What a run must be given.
        subgraphs: By the node that is one.
    """

    nodes: dict[str, list[str] | None] = field(default_factory=dict)
    joins: list[tuple[list[str], str]] = field(default_factory=list)
    channels: dict[str, str] = field(default_factory=dict)
    types: dict[str, list[str]] = field(default_factory=dict)
    tools: list[str] = field(default_factory=list)
    context: list[str] = field(default_factory=list)
    subgraphs: dict[str, Shape] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def of_json(cls, data: bytes) -> Shape:
        """What `as_dict` said.

        Raises:
            ValueError: It is something else.
        """
        return TypeAdapter(Shape).validate_json(data)

    def is_declared(self, node: str) -> bool:
        """Whether all that a node leads to is known."""
        return self.nodes.get(node, ()) is not None

    def ends(self, start: str) -> set[str]:
        """Where a node is known to lead, by itself or with others."""
        return {*(self.nodes.get(start) or ()), *(e for starts, e in self.joins if start in starts)}

    def at(self, names: Iterable[str]) -> Shape | None:
        """The subgraph that the nodes of this path are; itself for an empty path."""
        found: Shape | None = self
        for name in names:
            found = None if found is None else found.subgraphs.get(name)
        return found


def shape_of(graph: Pregel[Any, Any, Any, Any]) -> Shape:
    """What the threads of a graph depend on."""
    return Shape(
        nodes=_leads_to(graph),
        joins=[([*starts], end) for starts, end in _joins(graph) if end != END],
        channels={
            name: _kind(channel)
            for name, channel in graph.channels.items()
            if isinstance(channel, BaseChannel)
        },
        types={name: [_text(hint) for hint in hints] for name, hints in hints_of(graph).items()},
        tools=sorted({name for node in tool_nodes(graph).values() for name in node.tools_by_name}),
        context=sorted(required(getattr(_builder(graph), "context_schema", None))),
        subgraphs={
            name: shape_of(each) for name, each in graph.get_subgraphs() if isinstance(each, Pregel)
        },
    )


def hints_of(graph: Pregel[Any, Any, Any, Any]) -> dict[str, list[Any]]:
    """What the schemas of a graph say of each channel: one or several annotations."""
    found: dict[str, list[Any]] = {}
    for schema in getattr(_builder(graph), "schemas", {}):
        try:
            hints = get_type_hints(schema, include_extras=True)
        except Exception:  # noqa: S112 - a name that is there for type checkers alone
            continue
        for name, hint in hints.items():
            if (bare := _bare(hint)) not in (known := found.setdefault(name, [])):
                known.append(bare)
    return found


def tool_nodes(graph: Pregel[Any, Any, Any, Any]) -> dict[str, ToolNode]:
    """The nodes that run tools."""
    return {
        name: step
        for name, node in graph.nodes.items()
        for step in _steps(node.bound)
        if isinstance(step, ToolNode)
    }


def _steps(runnable: Any) -> Iterator[Any]:
    yield runnable
    for inner in (*(getattr(runnable, "steps", None) or ()), getattr(runnable, "bound", None)):
        if inner is not None:
            yield from _steps(inner)


def _builder(graph: Pregel[Any, Any, Any, Any]) -> Any:
    return getattr(graph, "builder", None)


def _leads_to(graph: Pregel[Any, Any, Any, Any]) -> dict[str, list[str] | None]:
    builder = _builder(graph)
    if builder is None:  # of the functional API: it declares no edges
        return dict.fromkeys(graph.nodes)
    found: dict[str, set[str] | None] = {name: set() for name in graph.nodes}
    for start, end in builder.edges:
        if (ends := found.get(start)) is not None:
            ends.add(end)
    for name, node in builder.nodes.items():
        if (ends := found.get(name)) is not None:
            ends.update(node.ends or ())
    for name, branches in builder.branches.items():
        for branch in branches.values():
            ends = found[name]
            found[name] = (
                ends | {*branch.ends.values()} if ends is not None and branch.ends else None
            )
    return {name: None if ends is None else sorted(ends - {END}) for name, ends in found.items()}


def _joins(graph: Pregel[Any, Any, Any, Any]) -> list[tuple[tuple[str, ...], str]]:
    return sorted(getattr(_builder(graph), "waiting_edges", ()))


def join_channel(starts: Iterable[str], end: str) -> str:
    """Where LangGraph notes which of the nodes before a join have run."""
    return f"join:{'+'.join(starts)}:{end}"


def _kind(channel: BaseChannel[Any, Any, Any]) -> str:
    reducer = getattr(channel, "operator", None) or getattr(channel, "reducer", None)
    name = getattr(reducer, "__qualname__", type(reducer).__name__)
    return type(channel).__name__ + (f"({name})" if reducer is not None else "")


def _text(hint: Any) -> str:
    return _MODULES.sub("", hint.__name__ if isinstance(hint, type) else str(hint))


def _bare(hint: Any) -> Any:
    while get_origin(hint) in _WRAPPERS:
        hint = get_args(hint)[0]
    return hint


@lru_cache
def required(schema: Any) -> frozenset[str]:
    """What must be given to make what a schema describes."""
    if hasattr(schema, "__required_keys__"):
        # With `from __future__ import annotations`, the class itself does not know.
        hints = get_type_hints(schema, include_extras=True)
        optional = {name for name, hint in hints.items() if get_origin(hint) is NotRequired}
        return frozenset(schema.__required_keys__) - optional
    if isinstance(models := getattr(schema, "model_fields", None), Mapping):
        return frozenset(name for name, each in models.items() if each.is_required())
    if not is_dataclass(schema):
        return frozenset()
    return frozenset(
        each.name
        for each in fields(schema)
        if each.init and each.default is MISSING and each.default_factory is MISSING
    )
