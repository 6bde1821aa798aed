"""Random plans, and random changes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeAlias

from hypothesis import strategies as st
from langgraph.graph import START
from langgraph.types import RetryPolicy

from tests.ops.rehearse.plans import THINGS, Kind, Lead, Node, Plan

Draw: TypeAlias = Callable[..., Any]

KINDS: st.SearchStrategy[Kind] = st.sampled_from(["work", "work", "ask", "ask", "fail", "quiet"])
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
        node = led(draw, node, nodes) if number else node
        match draw(st.integers(0, 15)):
            case 0 if number and not node.child and depth and node.kind != "quiet":
                node = replace(node, back=draw(st.sampled_from(nodes)).name)
            case 1 if not node.child and depth:
                node = replace(node, is_private=True)
            case 2 | 3 if node.kind == "fail":
                node = replace(node, is_handled=True)
            case 2 | 3 | 4 if node.kind == "child" and node.by != "send":
                node = replace(node, is_lasting=True)
        nodes.append(node)
    return tuple(nodes)


@st.composite
def plans(draw: Draw) -> Plan:
    """A graph of three to seven nodes."""
    nodes = some_nodes(draw, draw(st.integers(3, 7)))
    channels = {
        "trail": draw(st.sampled_from(["add", "delta"])),
        "note": "text",
        "count": "number",
        **draw(st.sampled_from([{}, {}, {}, {"thing": "thing"}])),
    }
    return Plan(nodes, channels, draw(st.sampled_from(["dict", "dict", "model", "dataclass"])))


def swapped(plan: Plan, node: Node, *new: Node) -> Plan:
    """With other nodes in the place of one."""
    at = plan.nodes.index(node)
    return replace(plan, nodes=(*plan.nodes[:at], *new, *plan.nodes[at + 1 :]))


def followed(plan: Plan, name: str, by: tuple[str, ...]) -> Plan:
    """With what came after one node after others."""

    def moved(node: Node) -> Node:
        node = replace(node, back=by[0]) if node.back == name and START not in by else node
        if name not in node.after:
            return node
        after = tuple(dict.fromkeys(e for a in node.after for e in (by if a == name else (a,))))
        return replace(node, after=after)

    return mended(replace(plan, nodes=tuple(map(moved, plan.nodes))))


def mended(plan: Plan) -> Plan:
    """With edges where a plan says what no graph can do."""
    children = {START, *(each.name for each in plan.nodes if each.kind == "child")}

    names = {each.name for each in plan.nodes}

    def possible(node: Node) -> Node:
        is_join = len(node.after) > 1 and START not in node.after
        is_wrong = (node.by == "join" and not is_join) or (
            node.by in ("command", "goto") and not children.isdisjoint(node.after)
        )
        back = node.back if node.back in names and not node.child else ""
        return replace(node, by="edge" if is_wrong else node.by, back=back)

    return replace(plan, nodes=tuple(map(possible, plan.nodes)))


def any_node(draw: Draw, plan: Plan, *, least: int = 0) -> Node:
    found: Node = draw(st.sampled_from(plan.nodes[least:]))
    return found


def plain(node: Node, name: str, label: str) -> Node:
    """A node in the place of another that only works."""
    return replace(node, name=name, label=label, kind="work", child=(), back="", is_handled=False)


def rename(draw: Draw, plan: Plan) -> Plan:
    node = any_node(draw, plan)
    new = f"renamed_{node.name}"
    return followed(swapped(plan, node, replace(node, name=new)), node.name, (new,))


def remove(draw: Draw, plan: Plan) -> Plan:
    node = any_node(draw, plan, least=1)
    return followed(swapped(plan, node), node.name, node.after)


def split(draw: Draw, plan: Plan) -> Plan:
    node = any_node(draw, plan)
    first = plain(node, "first_half", "first half")
    last = replace(node, name="second_half", after=("first_half",), by="edge")
    return followed(swapped(plan, node, first, last), node.name, ("second_half",))


def put_before(draw: Draw, plan: Plan) -> Plan:
    node = any_node(draw, plan)
    new = replace(plain(node, "before", "before"), defer=False)
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
    new = replace(node, kind=kind, child=child, is_handled=False)
    return mended(swapped(plan, node, new))


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


def own_channel(draw: Draw, plan: Plan) -> Plan:
    node = any_node(draw, plan)
    private = not (node.child or node.back or node.is_private)
    return swapped(plan, node, replace(node, is_private=private))


def thing_otherwise(draw: Draw, plan: Plan) -> Plan:
    return channel("thing", *THINGS)(draw, plan) if "thing" in plan.channels else plan


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
    own_channel,
    thing_otherwise,
    schema_kind,
]
