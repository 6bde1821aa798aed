"""D10 and D11: several modes and levels carry the same text; resumed updates come again."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict

from tests.corpus.graphs import Steps, chain, copies, nested, node, says
from tests.corpus.models import answers
from tests.corpus.scenario import ASKED, Graph, Run, Scenario, row
from tests.corpus.units import Unit, call, said

HELLO = "Hello from below."
SEARCH: Any = {"name": "search", "args": {"query": "cafes in Graz"}, "id": "call_1"}
TIMEOUT_S = 5.0
SETTLES_S = 0.05
"""How long it takes at most until what a node returned is on its way."""

ANSWERED = (Run(ASKED), Run(Command(resume="Yes, go on.")))


class Report(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    report: AnyMessage


class TwoLists(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    notes: Annotated[list[AnyMessage], add_messages]


def in_two_lists() -> Graph:
    model = answers(HELLO)

    def steps(state: Any) -> Steps:
        answer = yield model, "?"
        return {"messages": [answer], "notes": [answer]}

    return chain(node(steps), state=TwoLists)


def report_alone() -> Graph:
    """A node whose answer is the value of a key; the list does not hold it."""
    model = answers(HELLO)

    def steps(state: Any) -> Steps:
        return {"report": (yield model, "?")}

    return chain(node(steps), state=Report)


def siblings() -> Graph:
    builder = StateGraph(MessagesState)
    for name, text in (("left", "From the left."), ("right", "From the right.")):
        builder.add_node(name, chain(says(text)))
        builder.add_edge(START, name)
        builder.add_edge(name, END)
    return builder.compile()


def tasks_of_a_flow() -> Graph:
    model = answers("One part.", "Other part.")

    @task
    def part(number: int) -> Any:
        return model.invoke(str(number))

    @entrypoint()
    def flow(asked: Any) -> Any:
        return {"messages": [part(number).result() for number in range(2)]}

    return flow


def asks_human() -> Any:
    """A node that asks before it says anything."""
    model = answers("After the answer.")

    def steps(state: Any) -> Steps:
        interrupt("Go on?")
        return {"messages": [(yield model, "?")]}

    return node(steps)


def beside_a_question(*, child: bool = False) -> Graph:
    """One of two parallel nodes asks; the other's update is kept for the resume."""
    builder = StateGraph(MessagesState)
    builder.add_node("done", chain(says(HELLO)) if child else says(HELLO))
    builder.add_node("asks", asks_human())
    builder.add_edge(START, "done")
    builder.add_edge(START, "asks")
    return builder.compile(checkpointer=InMemorySaver())


def beside_a_crash() -> Graph:
    """One of two parallel nodes dies at first, when the other is done."""
    model, runs, is_done = answers("After the crash."), [], threading.Event()

    def is_done_by_then(_: Any) -> None:
        is_done.wait(TIMEOUT_S)
        time.sleep(SETTLES_S)

    async def ais_done_by_then(_: Any) -> None:
        await asyncio.to_thread(is_done_by_then, None)

    def done(state: Any) -> Steps:
        answer = yield answers(HELLO), "?"
        is_done.set()
        return {"messages": [answer]}

    def dies(state: Any) -> Steps:
        runs.append(1)
        yield RunnableLambda(is_done_by_then, ais_done_by_then), None
        answer = yield model, "?"
        if len(runs) == 1:
            raise RuntimeError("the process died")
        return {"messages": [answer]}

    builder = StateGraph(MessagesState)
    builder.add_node("done", node(done))
    builder.add_node("dies", chain(copies("A step before."), node(dies)))
    builder.add_edge(START, "done")
    builder.add_edge(START, "dies")
    return builder.compile(checkpointer=InMemorySaver())


def workers_and_a_question() -> Graph:
    """Three workers, one of which asks."""
    models = [answers("From the first."), answers("From the second.")]  # they speak at a time
    late = asks_human()

    def steps(sent: Any) -> Steps:
        if sent["at"] == len(models):
            return (yield late, sent)
        return {"messages": [(yield models[sent["at"]], "?")]}

    builder = StateGraph(MessagesState)
    builder.add_node("worker", node(steps))
    sends = [Send("worker", {"at": at, "messages": []}) for at in range(3)]
    builder.add_conditional_edges(START, lambda _: sends, ["worker"])
    return builder.compile(checkpointer=InMemorySaver())


def deep(inner: Any, name: str, levels: int, *units: Unit) -> Scenario:
    return row(
        "D10",
        f"{name}-{levels}-deep",
        f"A node {levels} graphs deep streams; every level's modes carry what it returned.",
        lambda: nested(inner(), levels),
        *units,
    )


BOTH = AIMessage(HELLO, tool_calls=[SEARCH])
CALLED = call("search", {"query": "cafes in Graz"})

SCENARIOS = (
    *(deep(lambda: says(HELLO), "said", levels, said(HELLO)) for levels in (1, 2, 3, 4)),
    *(deep(lambda: copies(HELLO), "copied", levels, said(HELLO)) for levels in (2, 3)),
    deep(lambda: says(BOTH), "called", 3, said(HELLO), CALLED),
    row(
        "D10",
        "two-graphs-deep",
        "Two graphs side by side, each with a text of its own.",
        siblings,
        said("From the left."),
        said("From the right."),
        ordered=False,
    ),
    row(
        "D10",
        "in-two-lists",
        "A node returns one message under two keys.",
        in_two_lists,
        said(HELLO),
    ),
    row(
        "D10",
        "alone-under-a-key",
        "An answer is the value of a key, beside the list.",
        report_alone,
        said(HELLO),
    ),
    row(
        "D10",
        "tasks-of-a-flow",
        "An entrypoint returns what its tasks returned.",
        tasks_of_a_flow,
        said("One part."),
        said("Other part."),
        asked=None,
    ),
    row(
        "D11",
        "resumed-beside",
        "A node beside the one that asked; its update comes on resume.",
        beside_a_question,
        said(HELLO),
        said("After the answer."),
        runs=ANSWERED,
        ordered=False,
    ),
    row(
        "D11",
        "resumed-beside-graph",
        "The same, and the node beside is a graph.",
        lambda: beside_a_question(child=True),
        said(HELLO),
        said("After the answer."),
        runs=ANSWERED,
        ordered=False,
    ),
    row(
        "D11",
        "resumed-workers",
        "Three workers, one of which asked.",
        workers_and_a_question,
        said("From the first."),
        said("From the second."),
        said("After the answer."),
        runs=ANSWERED,
        ordered=False,
    ),
    row(
        "D11",
        "continued-beside",
        "A node beside the one that died; its update comes again.",
        beside_a_crash,
        said(HELLO),
        said("A step before."),
        said("After the crash."),
        runs=(Run(ASKED, raises=RuntimeError), Run(None)),
        ordered=False,
    ),
)
