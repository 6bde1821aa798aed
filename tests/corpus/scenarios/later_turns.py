"""D7: what the consumer had in an earlier stream comes again."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from tests.corpus.graphs import Steps, chain, node, returns, says
from tests.corpus.models import answers
from tests.corpus.scenario import ASKED, Graph, Run, row
from tests.corpus.units import QUESTION, heard, said

HELLO = "Hello once more."


OLD = "An old answer."


NEXT = heard("And what next?")


BY_ID = (Run({"messages": [HumanMessage(QUESTION.piece.says, id="q1")]}),)


TWO_BY_ID = (*BY_ID, Run({"messages": [HumanMessage("And what next?", id="q2")]}))


TWO_RUNS = (Run(ASKED), Run({"messages": [("user", "And what next?")]}))


class Private(TypedDict):
    topic: str


def remembers(schema: Any = Private) -> Graph:
    """On the second run a node that reads no messages returns the answer of the first."""
    model = answers(OLD, HELLO)
    kept: list[Any] = []

    def steps(state: Any) -> Steps:
        kept.append((yield model, "?"))
        return {"messages": list(kept)}

    builder = StateGraph(MessagesState)
    builder.add_node("n0", node(steps), input_schema=schema)
    builder.add_edge(START, "n0")
    return builder.compile(checkpointer=InMemorySaver())


def remembers_in_child() -> Graph:
    """A graph with a memory of its own returns all that it said so far."""
    child = chain(says(OLD, HELLO))
    child.checkpointer = True
    builder = StateGraph(MessagesState)
    builder.add_node("n0", child)
    builder.add_edge(START, "n0")
    builder.add_edge("n0", END)
    return builder.compile(checkpointer=InMemorySaver())


def sends_history() -> Graph:
    """On each run a worker is sent the thread's messages as a list and returns them."""
    model = answers(OLD, HELLO)

    def steps(sent: Any) -> Steps:
        return {"messages": [*sent, (yield model, "?")]}

    builder = StateGraph(MessagesState)
    builder.add_node("worker", node(steps))
    builder.add_conditional_edges(
        START, lambda state: [Send("worker", list(state["messages"]))], ["worker"]
    )
    return builder.compile(checkpointer=InMemorySaver())


def _turns() -> Any:
    model = answers(OLD, HELLO)

    def steps(state: Any) -> Steps:
        return {"messages": [*state["messages"], (yield model, "?")]}

    return node(steps)


SCENARIOS = (
    row(
        "D7",
        "second-turn",
        "Two turns of a thread; each node reads and returns all messages.",
        lambda: chain(_turns(), memory=True),
        said(OLD),
        NEXT,
        said(HELLO),
        runs=TWO_RUNS,
    ),
    row(
        "D7",
        "returned-again",
        "In the second turn a node returns the first answer by its id.",
        remembers,
        said(OLD),
        NEXT,
        said(HELLO),
        runs=TWO_RUNS,
    ),
    row(
        "D7",
        "child-with-memory",
        "A graph with its own memory returns what it said before.",
        remembers_in_child,
        said(OLD),
        NEXT,
        said(HELLO),
        runs=TWO_RUNS,
    ),
    row(
        "D7",
        "history-sent",
        "In each turn a worker is sent the history as a list.",
        sends_history,
        said(OLD),
        NEXT,
        said(HELLO),
        runs=TWO_BY_ID,
    ),
    row(
        "D7",
        "same-id-streamed-again",
        "Both turns stream the same text under the same id.",
        lambda: chain(says(AIMessage(OLD, id="fixed")), memory=True),
        said(OLD),
        NEXT,
        runs=TWO_RUNS,
        only=lambda variant: not variant.is_v3,
    ),
    row(
        "D7",
        "same-id-streamed-again-v3",
        "The same in v3, which makes ids of its own: the state has two messages.",
        lambda: chain(says(AIMessage(OLD, id="fixed")), memory=True),
        said(OLD, 2),
        NEXT,
        runs=TWO_RUNS,
        only=lambda variant: variant.is_v3,
    ),
    row(
        "D7",
        "same-id-returned-again",
        "Both turns return the same text under the same id.",
        lambda: chain(returns(AIMessage(OLD, id="fixed")), memory=True),
        said(OLD),
        NEXT,
        runs=TWO_RUNS,
    ),
)
