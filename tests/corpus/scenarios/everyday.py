"""Nothing special: what is right today must stay so, one mode at a time."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage
from langgraph.config import get_stream_writer
from langgraph.constants import TAG_NOSTREAM
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import push_message
from langgraph.types import Command, interrupt

from tests.corpus.graphs import Steps, chain, node, returns, says
from tests.corpus.models import BrokenConnectionError, answers
from tests.corpus.scenario import ASKED, Graph, Run, row
from tests.corpus.units import draft, heard, said, usage

HELLO = "Hello on an ordinary day."


NEXT = heard("And what next?")


TWO_RUNS = (Run(ASKED), Run({"messages": [("user", "And what next?")]}))


def tagged(*tags: str) -> Graph:
    """A node whose model has tags."""
    model = answers(HELLO).with_config(tags=list(tags))

    def steps(state: Any) -> Steps:
        return {"messages": [(yield model, "?")]}

    return chain(node(steps))


def unseen_draft() -> Graph:
    """A node that asks a model in private, and another one aloud."""
    private = answers("Between us only.").with_config(tags=[TAG_NOSTREAM])
    aloud = answers(HELLO)

    def steps(state: Any) -> Steps:
        yield private, "?"
        return {"messages": [(yield aloud, "?")]}

    return chain(node(steps))


def pushes(*, keeps: bool) -> Graph:
    """A node that pushes a message to the stream, and to the state or not."""

    def steps(state: Any) -> Steps:
        yield from ()
        push_message(AIMessage(HELLO, id="pushed"), state_key="messages" if keeps else None)
        return {"messages": []}

    return chain(node(steps))


def writes() -> Graph:
    model = answers(HELLO)

    def steps(state: Any) -> Steps:
        get_stream_writer()({"progress": 1})
        return {"messages": [(yield model, "?")]}

    return chain(node(steps))


def flow_of_tasks() -> Graph:
    model = answers("A first part.", "A second part.")

    @task
    def part(number: int) -> Any:
        return model.invoke(str(number))

    @entrypoint()
    def flow(asked: Any) -> Any:
        parts = [part(number).result() for number in range(2)]
        return parts[-1]

    return flow


def asks_first(_: Any) -> Any:
    return {"messages": [AIMessage(interrupt("Which one?"))]}


def branches() -> Graph:
    builder = StateGraph(MessagesState)
    for name, text in (("left", "From the left."), ("right", "From the right.")):
        builder.add_node(name, says(text))
        builder.add_edge(START, name)
        builder.add_edge(name, "join")
    builder.add_node("join", says("And together."))
    builder.add_edge("join", END)
    return builder.compile()


def child_for_itself() -> Graph:
    """A node that runs a graph and tells nobody what it said."""
    child = chain(says("Kept to itself."))

    def steps(state: Any) -> Steps:
        yield child, {"messages": state["messages"]}
        return {"messages": [AIMessage(HELLO)]}

    return chain(node(steps))


SCENARIOS = (
    row(
        "plain",
        "chat",
        "One node, one answer, and its usage.",
        lambda: chain(says(HELLO)),
        said(HELLO),
        usage(),
    ),
    row(
        "plain",
        "steps",
        "Three nodes, three answers.",
        lambda: chain(says("One thing."), says("Two things."), says("Three things.")),
        said("One thing."),
        said("Two things."),
        said("Three things."),
    ),
    row(
        "plain",
        "turns",
        "Two turns of a thread.",
        lambda: chain(says("A first reply.", "A second reply."), memory=True),
        said("A first reply."),
        NEXT,
        said("A second reply."),
        runs=TWO_RUNS,
    ),
    row(
        "plain",
        "branches",
        "Two nodes in parallel and one after them.",
        branches,
        said("From the left."),
        said("From the right."),
        said("And together."),
        ordered=False,
    ),
    row(
        "plain",
        "whole",
        "A model that cannot stream.",
        lambda: chain(says(HELLO, disable_streaming=True)),
        said(HELLO),
    ),
    row(
        "plain",
        "unstreamed",
        "A node returns a message that no model said.",
        lambda: chain(returns(AIMessage(HELLO))),
        said(HELLO),
    ),
    row("plain", "tagged", "The model has a tag.", lambda: tagged("mine"), said(HELLO)),
    row(
        "plain",
        "nostream",
        "The model may not stream; its answer comes when the node is done.",
        lambda: tagged(TAG_NOSTREAM),
        said(HELLO),
    ),
    row(
        "plain",
        "nostream-draft",
        "What a model says in private is never seen.",
        unseen_draft,
        said(HELLO),
    ),
    row(
        "plain",
        "pushed",
        "A node pushes a message to the stream and to the state.",
        lambda: pushes(keeps=True),
        said(HELLO),
    ),
    row(
        "plain",
        "pushed-only",
        "A node pushes a message to the stream only.",
        lambda: pushes(keeps=False),
        draft(HELLO, open=True),
    ),
    row("plain", "custom", "A node writes to the stream beside its answer.", writes, said(HELLO)),
    row(
        "plain",
        "flow",
        "An entrypoint returns the last of what its tasks streamed.",
        flow_of_tasks,
        said("A first part.", stated=0),
        said("A second part."),
        asked=None,
    ),
    row(
        "plain",
        "asked-first",
        "A node asks before it says anything.",
        lambda: chain(says(HELLO), asks_first, memory=True),
        said(HELLO),
        said("The left one."),
        runs=(Run(ASKED), Run(Command(resume="The left one."))),
    ),
    row(
        "plain",
        "child-for-itself",
        "A node runs a graph and keeps its words to itself.",
        child_for_itself,
        said("Kept to itself.", inner=True),
        said(HELLO),
    ),
    row(
        "plain",
        "broken-off",
        "The connection breaks; what had come stays.",
        lambda: chain(says(HELLO, breaks={0: 3})),
        draft("Hello on", chat=False, open=True),
        runs=(Run(ASKED, raises=BrokenConnectionError),),
    ),
)
