"""Changes of a graph, with threads that the graph before left in the middle."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, NotRequired

from langgraph.channels import DeltaChannel
from langgraph.graph import START, StateGraph
from langgraph.types import Command, RetryPolicy, Send, interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict

from tests.ops.rehearse.tool_callers import agent, forecast, weather

Build = Callable[[], Any]


@dataclass(frozen=True)
class Change:
    """A graph, and what it became.

    Attributes:
        old: What ran until it waited or failed.
        new: What is deployed then.
        found: The kinds that are found, with the graph before at hand.
        truth: What resuming does: "goes on" to the node `send`; "ends" without it; "fails".
        before: Where the old graph waits, as `interrupt_before`.
        blind: The kinds that are found without the graph before.
    """

    old: Build
    new: Build
    found: set[str] = field(default_factory=set)
    truth: str = "goes on"
    before: tuple[str, ...] = ()
    blind: set[str] | None = None


class Plain(TypedDict, total=False):
    trail: Annotated[list[str], operator.add]
    note: str
    count: int


def ran(name: str) -> Any:
    def node(state: Any) -> Any:
        return {"trail": [name]}

    return node


def draft(state: Any) -> Any:
    return {"trail": ["draft"], "note": "text", "count": 3}


def ask(state: Any) -> Any:
    return {"trail": [f"asked: {interrupt('may I?')}"]}


def line(schema: Any = Plain, *names: str, **given: Any) -> Build:
    """A graph of nodes one after the other."""

    def build() -> StateGraph[Any, Any, Any, Any]:
        nodes = {"draft": draft, "ask": ask, **given}
        graph = StateGraph(schema)
        for before, name in zip((START, *names), names, strict=False):
            graph.add_node(name, nodes.get(name) or ran(name))
            graph.add_edge(before, name)
        return graph

    return build


USUAL = line(Plain, "draft", "ask", "send")


class NoNote(TypedDict, total=False):
    trail: Annotated[list[str], operator.add]
    count: int


class NoTrail(TypedDict, total=False):
    note: str
    count: int


class Retyped(TypedDict, total=False):
    trail: Annotated[list[str], operator.add]
    note: str
    count: list[str]


class Strict(BaseModel):
    trail: Annotated[list[str], operator.add] = []
    note: str = ""
    count: int = 0


@dataclass
class Held:
    """A class whose subclasses are held."""


class Holds(BaseModel):
    trail: list[str] = []
    held: Held | None = None


class StrictRetyped(BaseModel):
    trail: Annotated[list[str], operator.add] = []
    note: str = ""
    count: list[str] = []


def prepend(old: list[str], new: list[str]) -> list[str]:
    return new + old


class Prepended(TypedDict, total=False):
    trail: Annotated[list[str], prepend]
    note: str
    count: int


def joined(old: list[str], writes: Any) -> list[str]:
    return old + [each for some in writes for each in some]


class Delta(TypedDict, total=False):
    trail: Annotated[list[str], DeltaChannel(joined)]
    note: str
    count: int


def inner(name: str = "ask", *, more: bool = False) -> Any:
    return line(Plain, name, *(["more"] if more else []), **{name: ask})().compile()


def outer(name: str, child: Any) -> Build:
    return lambda: line(Plain, "draft", name, "send", **{name: child()})()


def side_by_side(*names: str, after: str = "send", schema: Any = Plain, **given: Any) -> Build:
    """Nodes that run in one step; `ask` waits, and the others are done."""

    def build() -> StateGraph[Any, Any, Any, Any]:
        graph = StateGraph(schema).add_node("draft", ran("draft")).add_edge(START, "draft")
        graph.add_node(after, ran(after))
        for name in names:
            node = ask if name.startswith("ask") else given.get(name) or ran(name)
            graph.add_node(name, node)
            graph.add_edge("draft", name)
        graph.add_edge(list(names), after)
        return graph

    return build


def fan_out(target: str, *, fails: bool = False) -> Build:
    """A router that sends; what it sends to fails, or does not."""

    def build() -> StateGraph[Any, Any, Any, Any]:
        def work(state: Any) -> Any:
            if fails:
                raise ValueError("down")
            return {"trail": ["send"]}

        def route(state: Any) -> list[Send]:
            return [Send(target, {"note": "a"}), Send(target, {"note": "b"})]

        graph = StateGraph(Plain).add_node("draft", draft).add_node(target, work)
        graph.add_edge(START, "draft").add_conditional_edges("draft", route, [target])
        return graph

    return build


def with_context(schema: Any) -> Build:
    def build() -> StateGraph[Any, Any, Any, Any]:
        graph = StateGraph(Plain, context_schema=schema)
        graph.add_node("draft", draft).add_node("ask", ask).add_node("send", ran("send"))
        return graph.add_edge(START, "draft").add_edge("draft", "ask").add_edge("ask", "send")

    return build


def split_after(*joins: list[str], also: str | None = None) -> Build:
    """After `draft`, a question and two more nodes; `send` follows what `joins` says."""

    def build() -> StateGraph[Any, Any, Any, Any]:
        graph = StateGraph(Plain).add_node("draft", draft).add_edge(START, "draft")
        graph.add_node("ask", ask).add_node("check", ran("check")).add_node("send", ran("send"))
        graph.add_edge("draft", "ask").add_edge("ask", "check")
        if also is not None:
            graph.add_node("never", ran("never")).add_node(also, ran(also))
            graph.add_edge(["draft", "never"], also)
        for starts in joins:
            graph.add_edge(starts if len(starts) > 1 else starts[0], "send")
        return graph

    return build


def asks_after(*starts: str) -> Build:
    """`ask` waits for all of some nodes."""

    def build() -> Any:
        graph = line(Plain, "draft")().add_node("ask", ask).add_node("send", ran("send"))
        for name in starts:
            graph.add_node(name, ran(name)).add_edge(START, name)
        return graph.add_edge(["draft", *starts], "ask").add_edge("ask", "send")

    return build


class User(TypedDict):
    user: str


class UserAndTeam(User):
    team: str


class UserAndPerhaps(User):
    team: NotRequired[str]


def with_edge() -> Any:
    return USUAL().add_node("log", ran("log")).add_edge("ask", "log")


def with_retries() -> StateGraph[Any, Any, Any, Any]:
    graph = StateGraph(Plain).add_node("draft", draft).add_node("send", ran("send"))
    graph.add_node("ask", ask, retry_policy=RetryPolicy(max_attempts=3))
    return graph.add_edge(START, "draft").add_edge("draft", "ask").add_edge("ask", "send")


def ask_kindly(state: Any) -> Any:
    """Another function, for the same node."""
    return Command(update={"trail": [f"kindly: {interrupt('may I, please?')}"]})


class MorePlain(Plain, total=False):
    tags: Annotated[list[str], operator.add]


ENDED = {"node-gone", "ends", "interrupt-gone"}

BREAKING: dict[str, Change] = {
    "a node is renamed": Change(
        USUAL, line(Plain, "draft", "question", "send", question=ask), ENDED, "ends"
    ),
    "a node is removed": Change(USUAL, line(Plain, "draft", "send"), ENDED, "ends"),
    "a node is split": Change(
        USUAL, line(Plain, "draft", "prepare", "answer", "send", answer=ask), ENDED, "ends"
    ),
    "an edge is removed": Change(
        USUAL,
        lambda: line(Plain, "draft", "ask")().add_node("send", ran("send")).add_edge(START, "send"),
        {"edge-gone"},
        "ends",
        blind=set(),
    ),
    "a channel is removed": Change(
        USUAL, line(NoNote, "draft", "ask", "send"), {"channel-gone"}, "goes on"
    ),
    "a channel is retyped": Change(
        USUAL, line(Retyped, "draft", "ask", "send"), {"value"}, "goes on"
    ),
    "a channel of a model is retyped": Change(
        line(Strict, "draft", "ask", "send"),
        line(StrictRetyped, "draft", "ask", "send"),
        {"value", "fails"},
        "fails",
    ),
    "a reducer is changed": Change(
        USUAL, line(Prepended, "draft", "ask", "send"), {"reducer"}, "goes on", blind=set()
    ),
    "a delta channel becomes a plain one": Change(
        line(Delta, "draft", "ask", "send"), USUAL, {"delta-rebuilt"}, "goes on"
    ),
    "a delta channel is removed": Change(
        line(Delta, "draft", "ask", "send"),
        line(NoTrail, "draft", "ask", "send", draft=draft),
        {"channel-gone"},
        "ends",  # as nobody writes down that it came to `send`
    ),
    "a subgraph is renamed": Change(
        outer("child", inner), outer("kid", inner), {*ENDED, "subgraph-gone"}, "ends"
    ),
    "a node in a subgraph is renamed": Change(
        outer("child", inner),
        outer("child", lambda: inner("question")),
        ENDED,
        "goes on",  # without the answer
    ),
    "an interrupt's node is gone, and another is not": Change(
        side_by_side("ask", "ask_too", "look"),
        side_by_side("ask_too", "look"),
        {"node-gone", "interrupt-gone", "join-changed"},
        "ends",
    ),
    "the node after a step half done is renamed": Change(
        side_by_side("ask", "look"),
        side_by_side("ask", "look", after="send_it"),
        {"later-gone", "join-changed"},
        "ends",
    ),
    "the node of a Send is renamed": Change(
        fan_out("work", fails=True), fan_out("do"), {"send-gone", "ends"}, "ends"
    ),
    "a tool is renamed whose call is due": Change(
        agent(weather), agent(forecast), {"tool-gone"}, "ends", before=("tools",)
    ),
    "a tool is renamed that middleware may know": Change(
        agent(weather),
        agent(forecast, wrap=lambda request, run: run(request)),
        {"tool-later"},
        "ends",
        before=("tools",),
    ),
    "an edge further on is removed": Change(
        split_after(["check"]), split_after(["draft"]), {"edge-gone"}, "ends", blind=set()
    ),
    "a node waits for another that was passed": Change(
        split_after(["check"]), split_after(["draft", "check"]), {"join-changed"}, "ends"
    ),
    "a node that asks waits for one more": Change(
        asks_after("look"),
        asks_after("look", "weigh"),
        {"ends", "interrupt-gone", "not-due", "passed-by"},
        "ends",
        blind={"ends", "interrupt-gone", "not-due"},
    ),
    "a node that asks is a subgraph now": Change(
        USUAL,
        lambda: line(Plain, "draft", "ask", "send", ask=inner("question"))(),
        {"subgraph-new"},
        "ends",  # at a question of another name
        blind=set(),
    ),
    "a result of another node has no channel": Change(
        side_by_side("ask", "look", look=draft),
        side_by_side("ask", "look", schema=NoNote),
        {"channel-gone"},
        "goes on",
    ),
    "a context key is now required": Change(
        with_context(User),
        with_context(UserAndTeam),
        {"context"},
        "goes on",  # as this node does not read it
        blind={"context-asked"},
    ),
}

HARMLESS: dict[str, Change] = {
    "nothing": Change(USUAL, USUAL),
    "a node is added": Change(USUAL, line(Plain, "draft", "ask", "send", "log")),
    "a prompt is changed": Change(agent(weather), agent(weather, prompt="Hi."), before=("tools",)),
    "a channel is added": Change(USUAL, line(MorePlain, "draft", "ask", "send")),
    "a tool is added": Change(agent(weather), agent(weather, forecast), before=("tools",)),
    "an edge is added": Change(USUAL, with_edge),
    "a node further on is renamed": Change(
        line(Plain, "draft", "ask", "mail", mail=ran("send")),
        line(Plain, "draft", "ask", "letter", letter=ran("send")),
    ),
    "a node goes that waits for one that never runs": Change(
        split_after(["check"], also="archive"), split_after(["check"]), {"join-gone"}
    ),
    "a retry policy is added": Change(USUAL, with_retries),
    "a node's function is replaced": Change(
        USUAL, line(Plain, "draft", "ask", "send", ask=ask_kindly)
    ),
    "a subgraph goes on further": Change(
        outer("child", inner), outer("child", lambda: inner(more=True))
    ),
    "a context key may be given": Change(
        with_context(User), with_context(UserAndPerhaps), blind={"context-asked"}
    ),
    "a plain channel becomes a delta channel": Change(USUAL, line(Delta, "draft", "ask", "send")),
    "parallel nodes stay": Change(side_by_side("ask", "look"), side_by_side("ask", "look")),
    "a Send's node is mended": Change(fan_out("work", fails=True), fan_out("work")),
    "a TypedDict becomes a model": Change(USUAL, line(Strict, "draft", "ask", "send")),
    "a node is put before the one that waits": Change(
        USUAL, line(Plain, "draft", "check", "ask", "send"), {"passed-by"}, blind=set()
    ),
}
