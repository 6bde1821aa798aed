"""Random graphs as values: a plan is built into a graph, and a change makes another plan of it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, make_dataclass, replace
from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypeVar

from hypothesis import strategies as st
from langgraph.channels import DeltaChannel
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, RetryPolicy, Send, interrupt
from pydantic import create_model
from typing_extensions import TypedDict

__all__ = ["CHANGES", "HARMLESS", "DownError", "Node", "Plan", "World", "build", "plans"]

Lead: TypeAlias = Literal["edge", "join", "branch", "never", "send", "command", "hidden", "goto"]
Kind: TypeAlias = Literal["work", "ask", "fail", "child", "inline"]
Draw: TypeAlias = Callable[..., Any]
T = TypeVar("T")


@dataclass(frozen=True)
class Node:
    """A node.

    Attributes:
        name: Under which it stands in the graph.
        label: What it does; a node that is renamed keeps it.
        kind: Whether it works, asks, fails as long as the world is broken, or runs another graph.
        after: The nodes that lead to it.
        by: How they do.
        child: The other graph.
        more: What `add_node` is given that changes nothing.
    """

    name: str
    label: str
    kind: Kind = "work"
    after: tuple[str, ...] = (START,)
    by: Lead = "edge"
    defer: bool = False
    child: tuple[Node, ...] = ()
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


HINTS: dict[str, Any] = {
    "text": str,
    "number": int,
    "add": Annotated[list[str], operator.add],
    "prepend": Annotated[list[str], prepended],
    "delta": Annotated[list[str], DeltaChannel(all_of)],
}


def schema(plan: Plan) -> Any:
    hints = {name: HINTS[kind] for name, kind in plan.channels.items()}
    if plan.state == "dict":
        typed_dict: Any = TypedDict
        return typed_dict("State", {name: NotRequired[hint] for name, hint in hints.items()})
    values = {name: None if hint in (str, int) else list for name, hint in hints.items()}
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
        more = {"destinations": ends} if ends else {}
        writes = {
            name: {"text": node.label, "number": 1}.get(kind, [node.label])
            for name, kind in plan.channels.items()
            if kind not in ("text", "number") or node.label == "0"
        }
        action = run(node, writes, goto, worlds)
        graph.add_node(node.name, action, defer=node.defer, **more, **dict(node.more))
    for node in plan.nodes:
        lead(graph, node)
    return graph


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
    inner = build(Plan(node.child, {"trail": "add"}), worlds).compile() if node.child else None
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


# Drawing.

KINDS: st.SearchStrategy[Kind] = st.sampled_from(["work", "ask", "ask", "work", "fail"])
LEADS: st.SearchStrategy[Lead] = st.sampled_from(
    [
        "edge",
        "edge",
        "edge",
        "join",
        "join",
        "branch",
        "branch",
        "never",
        "send",
        "command",
        "hidden",
    ]
)

COMMANDS: list[Lead] = ["command", "command", "command", "command", "goto"]


def led(draw: Draw, node: Node, before: Iterable[Node]) -> Node:
    """The node, after some of those before it."""
    starts, able = [each.name for each in before], [each for each in before if not each.child]
    by: Lead = draw(LEADS)
    if by == "join" and len(starts) > 1:
        after = draw(st.lists(st.sampled_from(starts), min_size=2, max_size=3, unique=True))
        return replace(node, by=by, after=tuple(after))
    if by == "command" and able:
        by = draw(st.sampled_from(COMMANDS))
        return replace(node, by=by, after=(draw(st.sampled_from(able)).name,))
    by = "edge" if by in ("join", "command") else by
    return replace(node, by=by, after=(draw(st.sampled_from([START, *starts][-3:])),))


def some_nodes(draw: Draw, size: int, prefix: str = "", depth: int = 1) -> tuple[Node, ...]:
    nodes: list[Node] = []
    for number in range(size):
        label = f"{prefix}{number}"
        node = Node(f"n{label}", label, draw(KINDS), defer=draw(st.integers(0, 9)) == 9)
        if depth and number and draw(st.integers(0, 3)) == 3:
            child = some_nodes(draw, draw(st.integers(1, 2)), f"{label}c", depth - 1)
            node = replace(node, kind=draw(st.sampled_from(["child", "inline"])), child=child)
        nodes.append(led(draw, node, nodes) if number else node)
    return tuple(nodes)


@st.composite
def plans(draw: Draw) -> Plan:
    """A graph of three to seven nodes."""
    nodes = some_nodes(draw, draw(st.integers(3, 7)))
    channels = {
        "trail": draw(st.sampled_from(["add", "delta"])),
        "note": "text",
        "count": "number",
    }
    return Plan(nodes, channels, draw(st.sampled_from(["dict", "dict", "model", "dataclass"])))


# Changing.


def swapped(plan: Plan, node: Node, *new: Node) -> Plan:
    """With other nodes in the place of one."""
    at = plan.nodes.index(node)
    return replace(plan, nodes=(*plan.nodes[:at], *new, *plan.nodes[at + 1 :]))


def followed(plan: Plan, name: str, by: tuple[str, ...]) -> Plan:
    """With what came after one node after others."""

    def moved(node: Node) -> Node:
        if name not in node.after:
            return node
        after = tuple(dict.fromkeys(e for a in node.after for e in (by if a == name else (a,))))
        return replace(node, after=after)

    return mended(replace(plan, nodes=tuple(map(moved, plan.nodes))))


def mended(plan: Plan) -> Plan:
    """With edges where a plan says what no graph can do."""
    children = {START, *(each.name for each in plan.nodes if each.kind == "child")}

    def possible(node: Node) -> Node:
        is_join = len(node.after) > 1 and START not in node.after
        is_wrong = (node.by == "join" and not is_join) or (
            node.by in ("command", "goto") and not children.isdisjoint(node.after)
        )
        return replace(node, by="edge") if is_wrong else node

    return replace(plan, nodes=tuple(map(possible, plan.nodes)))


def any_node(draw: Draw, plan: Plan, *, least: int = 0) -> Node:
    found: Node = draw(st.sampled_from(plan.nodes[least:]))
    return found


def rename(draw: Draw, plan: Plan) -> Plan:
    node = any_node(draw, plan)
    new = f"renamed_{node.name}"
    return followed(swapped(plan, node, replace(node, name=new)), node.name, (new,))


def remove(draw: Draw, plan: Plan) -> Plan:
    node = any_node(draw, plan, least=1)
    return followed(swapped(plan, node), node.name, node.after)


def split(draw: Draw, plan: Plan) -> Plan:
    node = any_node(draw, plan)
    first = replace(node, name="first_half", label="first half", kind="work", child=())
    last = replace(node, name="second_half", after=("first_half",), by="edge")
    return followed(swapped(plan, node, first, last), node.name, ("second_half",))


def put_before(draw: Draw, plan: Plan) -> Plan:
    node = any_node(draw, plan)
    new = replace(node, name="before", label="before", kind="work", child=(), defer=False)
    return swapped(plan, node, new, replace(node, after=("before",), by="edge"))


def put_after(draw: Draw, plan: Plan) -> Plan:
    new = led(draw, Node("after", "after"), plan.nodes)
    return replace(plan, nodes=(*plan.nodes, new))


def lead_otherwise(draw: Draw, plan: Plan) -> Plan:
    node = any_node(draw, plan, least=1)
    return mended(swapped(plan, node, led(draw, node, plan.nodes[: plan.nodes.index(node)])))


def add_edge(draw: Draw, plan: Plan) -> Plan:
    node = any_node(draw, plan, least=1)
    other = draw(st.sampled_from(plan.nodes[: plan.nodes.index(node)])).name
    return mended(swapped(plan, node, replace(node, after=tuple({*node.after, other}))))


def add_join(draw: Draw, plan: Plan) -> Plan:
    node = any_node(draw, plan, least=2)
    names = [each.name for each in plan.nodes[: plan.nodes.index(node)]]
    after = draw(st.lists(st.sampled_from(names), min_size=2, max_size=3, unique=True))
    return swapped(plan, node, replace(node, after=tuple(after), by="join"))


def do_otherwise(draw: Draw, plan: Plan) -> Plan:
    node = any_node(draw, plan, least=1)
    kind = draw(st.sampled_from(["work", "ask", "child", "inline"]))
    child = node.child or (Node("only", f"{node.label}c0", "ask"),)
    child = child if kind in ("child", "inline") else ()
    return mended(swapped(plan, node, replace(node, kind=kind, child=child)))


def change_inside(draw: Draw, plan: Plan) -> Plan:
    outer = [each for each in plan.nodes if each.child]
    if not outer:
        return plan
    node = draw(st.sampled_from(outer))
    change = draw(st.sampled_from([rename, split, put_before, put_after]))
    return swapped(plan, node, replace(node, child=change(draw, Plan(node.child)).nodes))


def defer(draw: Draw, plan: Plan) -> Plan:
    node = any_node(draw, plan)
    return swapped(plan, node, replace(node, defer=not node.defer))


def channel(name: str, *kinds: str) -> Callable[[Draw, Plan], Plan]:
    def change(draw: Draw, plan: Plan) -> Plan:
        kind = draw(st.sampled_from(kinds))
        others = {key: each for key, each in plan.channels.items() if key != name}
        return replace(plan, channels={**others, **({name: kind} if kind else {})})

    return change


def schema_kind(draw: Draw, plan: Plan) -> Plan:
    return replace(plan, state=draw(st.sampled_from(["dict", "model", "dataclass"])))


def nothing(draw: Draw, plan: Plan) -> Plan:
    return plan


def reorder(draw: Draw, plan: Plan) -> Plan:
    return replace(plan, turned=True)


def retry(draw: Draw, plan: Plan) -> Plan:
    node = any_node(draw, plan)
    policy = RetryPolicy(max_attempts=2, initial_interval=0, jitter=False)
    more = draw(st.sampled_from([("retry_policy", policy), ("metadata", {"doc": "It works."})]))
    return swapped(plan, node, replace(node, more=(more,)))


HARMLESS = [nothing, reorder, retry, channel("new", "text", "add", "delta")]
CHANGES = [
    *HARMLESS,
    rename,
    rename,
    remove,
    split,
    put_before,
    put_after,
    lead_otherwise,
    lead_otherwise,
    add_edge,
    add_join,
    do_otherwise,
    change_inside,
    defer,
    channel("trail", "add", "delta", "prepend"),
    channel("note", "", "number", "add"),
    schema_kind,
]
