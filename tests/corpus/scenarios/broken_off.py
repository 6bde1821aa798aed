"""D4: a model is cancelled, or an error handler takes over from its node; no one tells of it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import anyio
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph

from tests.corpus.graphs import Node, chain, says
from tests.corpus.models import WireModel, answers
from tests.corpus.scenario import Graph, Scenario, row
from tests.corpus.scenarios.attempts import RETRY
from tests.corpus.units import Unit, said

HELLO = "Hello after some trouble."
SORRY = "Sorry, try later."


def hanging() -> WireModel:
    return answers(HELLO, hangs={0: 3})


def asks_in_time(*, again: bool) -> Any:
    """A node whose model has too little time; it asks again, or answers in its place."""
    model = hanging()

    async def ask(_: Any) -> Any:
        try:
            answer = await asyncio.wait_for(model.ainvoke("?"), 0.1)
        except TimeoutError:
            answer = await model.ainvoke("?") if again else AIMessage(SORRY)
        return {"messages": [answer]}

    return ask


def moves_on() -> Any:
    """As anyio cancels it, while the chunks are read one by one."""
    model = hanging()

    async def ask(_: Any) -> Any:
        with anyio.move_on_after(0.1):
            async for _chunk in model.astream("?"):
                pass
        return {"messages": [await model.ainvoke("?")]}

    return ask


def fails_late() -> Any:
    model, limits = hanging(), iter((0.1,))

    async def ask(_: Any) -> Any:
        return {"messages": [await asyncio.wait_for(model.ainvoke("?"), next(limits, None))]}

    return ask


def sorry(_: Any) -> Any:
    return {"messages": [AIMessage(SORRY)]}


def handled(handler: Node, **how: Any) -> Graph:
    """A graph whose node breaks off half-way, and has an error handler."""
    builder: Any = StateGraph(MessagesState)
    fails = says(HELLO, breaks={0: 3, 1: 3})
    builder.add_node("n0", fails, error_handler=handler, **how)
    builder.add_edge(START, "n0").add_edge("n0", END)
    graph: Graph = builder.compile()
    return graph


def called(name: str, node: Node) -> Graph:
    builder: Any = StateGraph(MessagesState)
    builder.add_node(name, node).add_edge(START, name).add_edge(name, END)
    graph: Graph = builder.compile()
    return graph


def cancelled(name: str, what: str, make: Any, *units: Unit, **how: Any) -> Scenario:
    return row(
        "D4",
        f"cancelled-{name}",
        what,
        lambda: chain(make(), **how),
        *units,
        only=lambda variant: variant.api == "async",
    )


SCENARIOS = (
    cancelled(
        "model",
        "A model has a limit of time, and is asked again.",
        partial(asks_in_time, again=True),
        said(HELLO),
    ),
    cancelled("scope", "A scope is left in which a model spoke.", moves_on, said(HELLO)),
    cancelled(
        "for-good",
        "The node answers in its place.",
        partial(asks_in_time, again=False),
        said(SORRY),
    ),
    cancelled(
        "node", "A RetryPolicy runs the node again.", fails_late, said(HELLO), retry_policy=RETRY
    ),
    row(
        "D4",
        "handled",
        "An error handler answers for its node.",
        lambda: handled(sorry),
        said(SORRY),
    ),
    row(
        "D4",
        "handled-by-a-model",
        "A model of the error handler answers.",
        lambda: handled(says(SORRY)),
        said(SORRY),
    ),
    row(
        "D4",
        "handled-after-retries",
        "The node is tried twice before.",
        lambda: handled(sorry, retry_policy=RETRY._replace(max_attempts=2)),
        said(SORRY),
    ),
    row(
        "plain",
        "handler-by-name",
        "A node has the name by which LangGraph knows error handlers.",
        lambda: called("node_error_handler", says(HELLO)),
        said(HELLO),
    ),
    row(
        "D4",
        "handled-in-a-graph",
        "In a graph inside.",
        lambda: chain(handled(sorry)),
        said(SORRY),
    ),
)
