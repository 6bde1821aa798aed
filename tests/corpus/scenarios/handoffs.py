"""L1: a node of a graph hands off to a node beside that graph."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from tests.corpus.graphs import Steps, chain, node, says, without_id
from tests.corpus.models import WireModel, answers
from tests.corpus.scenario import Graph, row
from tests.corpus.units import call, said

HELLO = "Let me hand over."
NEXT = "The next one speaks."
DONE = "Successfully transferred."
TRANSFER: Any = {"name": "transfer", "args": {"to": "the next"}, "id": "call_1"}
TRANSFERRED = call("transfer", {"to": "the next"})


def between(first: Any) -> Graph:
    """`first`, which hands off to `second`; nothing else leads there."""
    builder = StateGraph(MessagesState)
    builder.add_node("first", first)
    builder.add_node("second", says(NEXT))
    builder.add_edge(START, "first")
    return builder.compile()


def agent(update: Any) -> Graph:
    """A graph of one node that asks no model and hands off with `update`."""
    return chain(lambda _: Command(graph=Command.PARENT, goto="second", update=update))


def speaking(model: WireModel, *, copied: bool = False, pairs: bool = False) -> Graph:
    """A graph of one node that streams and hands off with its answer and a tool result."""

    def steps(state: Any) -> Steps:
        answer = yield model, "?"
        said_here = without_id(answer) if copied else answer
        found = [said_here, ToolMessage(DONE, tool_call_id="call_1")]
        update: Any = [("messages", found)] if pairs else {"messages": found}
        return Command(graph=Command.PARENT, goto="second", update=update)

    return chain(node(steps))


def after_a_step() -> Graph:
    """The graph said something in its own list before it handed off."""
    update = {"messages": [AIMessage(HELLO, id="h")]}
    command: Any = Command(graph=Command.PARENT, goto="second", update=update)
    return between(chain(says("Kept inside."), lambda _: command))


def model(*, called: bool = True) -> WireModel:
    return answers(AIMessage(HELLO, tool_calls=[TRANSFER] if called else []))


RESULT = said(DONE, chat=False)

SCENARIOS = (
    row(
        "L1",
        "handed-message",
        "A graph hands off with a message that nothing streamed.",
        lambda: between(agent({"messages": [AIMessage(HELLO)]})),
        said(HELLO),
        said(NEXT),
    ),
    row(
        "L1",
        "handed-pair",
        "The message is a pair (role, text).",
        lambda: between(agent({"messages": [("ai", HELLO)]})),
        said(HELLO),
        said(NEXT),
    ),
    row(
        "L1",
        "handed-result",
        "A graph streams a call and hands off with the call and its result.",
        lambda: between(speaking(model())),
        said(HELLO),
        TRANSFERRED,
        RESULT,
        said(NEXT),
    ),
    row(
        "L1",
        "handed-copy",
        "The same with a copy of the call.",
        lambda: between(speaking(model(), copied=True)),
        said(HELLO),
        TRANSFERRED,
        RESULT,
        said(NEXT),
    ),
    row(
        "L1",
        "handed-list-of-pairs",
        "The update is a list of (key, value).",
        lambda: between(speaking(model(), pairs=True)),
        said(HELLO),
        TRANSFERRED,
        RESULT,
        said(NEXT),
    ),
    row(
        "L1",
        "handed-after-a-step",
        "What the graph said to itself stays inside.",
        after_a_step,
        said("Kept inside.", inner=True),
        said(HELLO),
        said(NEXT),
    ),
    row(
        "L1",
        "handed-in-subgraph",
        "The hand-off happens one level down.",
        lambda: chain(between(speaking(model()))),
        said(HELLO),
        TRANSFERRED,
        RESULT,
        said(NEXT),
    ),
)
