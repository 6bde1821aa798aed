"""A graph of nodes that may be hidden, each in a way of its own."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import RetryPolicy

from tests.unit_tests.stream.scenes import model, says

RETRY = RetryPolicy(initial_interval=0.0001, jitter=False, retry_on=ValueError)

PLAN, DRAFT, JOINED, VERDICT, CHEAP = "A plan.", "A draft.", "Joined.", "A verdict.", "Cheap."
FOUND, NOTE, BYE = "Found it.", "A note.", "Bye."
ALL = {PLAN, DRAFT, JOINED, VERDICT, CHEAP, FOUND, NOTE, BYE}


def tagged(text: str, *tags: str) -> Any:
    return model(text).with_config(tags=list(tags))


def joins(state: Any) -> Any:
    chunks = tagged(JOINED, "draft").stream(state["messages"])
    return {"messages": [AIMessage("".join(str(chunk.text) for chunk in chunks))]}


def copies(state: Any) -> Any:
    answer = tagged(DRAFT, "draft").invoke(state["messages"])
    return {"messages": [AIMessage(str(answer.text))]}


def asks(made: Any) -> Any:
    return lambda state: {"messages": [made.invoke(state["messages"])]}


def writes(text: str) -> Any:
    return lambda _: {"messages": [AIMessage(text)]}


def graph_of(**nodes: Any) -> StateGraph[Any]:
    """Nodes one after the other, under their names."""
    builder: Any = StateGraph(MessagesState)
    before: str = START
    for name, node in nodes.items():
        builder.add_node(name, node, retry_policy=RETRY)
        builder.add_edge(before, name)
        before = name
    made: StateGraph[Any] = builder
    return made


def team() -> Any:
    research = graph_of(search=says(FOUND), note=writes(NOTE))
    return graph_of(
        plan=asks(tagged(PLAN, "nostream")),
        draft=copies,
        joined=joins,
        judge=asks(model(VERDICT).with_config(run_name="judge")),
        cheap=asks(model(CHEAP).with_config(metadata={"ls_model_name": "tiny-1"})),
        research=research.compile(),
        talk=says(BYE),
    ).compile()
