"""Random graphs as values: a plan is built into a graph, and a change makes another plan of it."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, make_dataclass
from types import ModuleType
from typing import Annotated, Any, Literal, NotRequired, TypeAlias

from langgraph.channels import DeltaChannel
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt
from pydantic import create_model
from typing_extensions import TypedDict

Lead: TypeAlias = Literal["edge", "join", "branch", "never", "send", "command", "hidden", "goto"]
Kind: TypeAlias = Literal["work", "quiet", "ask", "fail", "child", "inline"]


@dataclass(frozen=True)
class Node:
    """A node.

    Attributes:
        name: Under which it stands in the graph.
        label: What it does; a node that is renamed keeps it.
        kind: Whether it works, gives nothing, asks, fails as long as the world is broken, or runs
            another graph.
        after: The nodes that lead to it.
        by: How they do.
        child: The other graph.
        back: The node that it leads back to, once.
        is_handled: Whether another function asks what to do where it fails.
        is_private: Whether it has a channel of its own.
        is_lasting: Whether its subgraph goes on with its thread the next time.
        more: What `add_node` is given that changes nothing.
    """

    name: str
    label: str
    kind: Kind = "work"
    after: tuple[str, ...] = (START,)
    by: Lead = "edge"
    defer: bool = False
    child: tuple[Node, ...] = ()
    back: str = ""
    is_handled: bool = False
    is_private: bool = False
    is_lasting: bool = False
    more: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Plan:
    """A graph: its nodes, each after those that lead to it, and its state.

    Attributes:
        nodes: The nodes.
        channels: What each channel is; a node writes its label to lists, the first one to texts.
        state: What the schema is.
        turned: Whether nodes are added in the opposite order.
    """

    nodes: tuple[Node, ...]
    channels: Mapping[str, str] = field(default_factory=lambda: {"trail": "add", "note": "text"})
    state: Literal["dict", "model", "dataclass"] = "dict"
    turned: bool = False


@dataclass
class World:
    """What nodes did outside of the state."""

    broken: bool = False
    started: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    answered: list[tuple[str, Any]] = field(default_factory=list)
    now: World | None = None

    def begin(self, *, broken: bool) -> World:
        """Nodes act upon another world from now on."""
        self.now = World(broken)
        return self.now


class DownError(Exception):
    """The world is broken."""


def prepended(old: list[str], new: list[str]) -> list[str]:
    return new + old


def all_of(old: list[str], writes: Any) -> list[str]:
    return old + [each for some in writes for each in some]


def thing(module: str, *fields: Any, name: str = "Thing") -> tuple[str, Any]:
    """A class of a module of that name, which is there only while `modules` says so."""
    made = make_dataclass(name, [("label", str), *fields])
    made.__module__ = module
    return module, made


THINGS = {
    "thing": thing("here"),
    "thing that moved": thing("there"),
    "thing by another name": thing("here", name="Object"),
    "thing with more": thing("here", ("more", str, field(default=""))),
    "thing that wants more": thing("here", ("more", str)),
}


@contextmanager
def modules(plan: Plan) -> Iterator[None]:
    """With the modules of a plan's classes, and no others."""
    for kind in plan.channels.values():
        if kind in THINGS:
            name, made = THINGS[kind]
            module = ModuleType(name)
            setattr(module, made.__name__, made)
            sys.modules[name] = module
    try:
        yield
    finally:
        for name in ("here", "there"):
            sys.modules.pop(name, None)


HINTS: dict[str, Any] = {
    "text": str,
    "number": int,
    "add": Annotated[list[str], operator.add],
    "prepend": Annotated[list[str], prepended],
    "delta": Annotated[list[str], DeltaChannel(all_of)],
    **{name: thing for name, (_, thing) in THINGS.items()},
}


class Private(TypedDict, total=False):
    secret: Annotated[list[str], operator.add]


def schema(plan: Plan) -> Any:
    hints = {name: HINTS[kind] for name, kind in plan.channels.items()}
    if plan.state == "dict":
        typed_dict: Any = TypedDict
        return typed_dict("State", {name: NotRequired[hint] for name, hint in hints.items()})
    values = {name: None if isinstance(hint, type) else list for name, hint in hints.items()}
    if plan.state == "model":
        given: Any = {
            name: (hints[name] | None, None) if made is None else (hints[name], [])
            for name, made in values.items()
        }
        return create_model("State", **given)
    return make_dataclass(
        "State",
        [
            (name, hints[name] | None, field(default=None))
            if made is None
            else (name, hints[name], field(default_factory=list))
            for name, made in values.items()
        ],
    )


def build(plan: Plan, worlds: World) -> Any:
    """Make the graph of a plan."""
    graph: Any = StateGraph(schema(plan))
    for node in reversed(plan.nodes) if plan.turned else plan.nodes:
        led = [each for each in plan.nodes if node.name in each.after]
        goto = [each.name for each in led if each.by in ("command", "goto")]
        ends = tuple(each.name for each in led if each.by == "command")
        more: dict[str, Any] = {"destinations": ends} if ends else {}
        writes = {
            name: value(kind, node.label)
            for name, kind in plan.channels.items()
            if kind in ("add", "prepend", "delta") or node.label == "0"
        }
        if node.is_private:
            more["input_schema"] = Private
            writes["secret"] = [node.label]
        if node.is_handled:
            more["error_handler"] = run(Node("", f"{node.label}h", "ask"), writes, goto, worlds)
        action = run(node, {} if node.kind == "quiet" else writes, goto, worlds)
        graph.add_node(node.name, action, defer=node.defer, **more, **dict(node.more))
    for node in plan.nodes:
        lead(graph, node)
        if node.back:
            graph.add_conditional_edges(node.name, back(node), [node.back, END])
    return graph


def back(node: Node) -> Any:
    def route(state: Any) -> Any:
        trail = state["trail"] if isinstance(state, dict) else state.trail
        return node.back if trail.count(node.label) < 2 else END

    route.__name__ = f"back_to_{node.back}"
    return route


def value(kind: str, label: str) -> Any:
    match kind:
        case "text":
            return label
        case "number":
            return 1
        case "add" | "prepend" | "delta":
            return [label]
    made = THINGS[kind][1]
    return made(**{each.name: label for each in fields(made)})


def lead(graph: Any, node: Node) -> None:
    name = node.name
    match node.by:
        case "edge":
            for start in node.after:
                graph.add_edge(start, name)
        case "join":
            graph.add_edge([*node.after], name)
        case "branch" | "never" | "hidden" | "send":
            found = END if node.by == "never" else name
            chosen: Any = [Send(name, {"trail": []})] * 2 if node.by == "send" else found
            ends = None if node.by == "hidden" else [name, END]

            def route(_: Any) -> Any:
                return chosen

            route.__name__ = f"to_{name}"
            for start in node.after:
                graph.add_conditional_edges(start, route, ends)


def run(node: Node, writes: dict[str, Any], goto: list[str], worlds: World) -> Any:
    inner = None
    if node.child:
        inner = build(Plan(node.child, {"trail": "add"}), worlds).compile(
            checkpointer=True if node.is_lasting else None
        )
    if node.kind == "child":
        return inner

    def action(state: Any) -> Any:
        world = worlds.now
        assert world
        world.started.append(node.label)
        if node.kind == "ask":
            world.answered.append((node.label, interrupt(node.label)))
        if node.kind == "fail" and world.broken:
            raise DownError
        if node.kind == "inline" and inner is not None:
            inner.invoke({"trail": []})
        world.done.append(node.label)
        return Command(update=writes, goto=goto) if goto else writes

    return action
