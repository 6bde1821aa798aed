"""What is no message is not taken for one, and messages are found in every sequence."""

from __future__ import annotations

import operator
from collections import UserList, deque
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.language_models import FakeStreamingListLLM
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages

from tests.exact import exactly

ASKED: Any = {"messages": [HumanMessage("Go on.", id="asked")]}


class Plain(TypedDict, total=False):
    messages: Any


class Listed(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    other: Annotated[list[Any], operator.add]


def said(graph: Any, asked: Any = ASKED, **options: Any) -> list[tuple[str, str]]:
    chunks = graph.stream(asked, stream_mode="messages", **options)
    heard = [chunk[-1] if options.get("subgraphs") else chunk for chunk in chunks]
    return [(message.type, message.text) for message, _ in heard]


def graph_of(state: Any, node: Any) -> Any:
    return StateGraph(state).add_node("node", node).add_edge(START, "node").compile()


NOT_MESSAGES: list[Any] = [
    {"op": "delete", "target": "m1"},
    [{"op": "delete", "path": ["a", "b"]}],
    {"role": "system", "extra": ["one", ("a", "b")]},
    [("just", "a pair")],
    "text",
]


@pytest.mark.parametrize("value", NOT_MESSAGES, ids=str)
def test_in_a_graph_that_nobody_can_look_into_nothing_is_made_of_values(value: Any) -> None:
    def calls(_: MessagesState) -> dict[str, Any]:
        graph_of(Plain, lambda _: {"messages": value}).invoke({})
        return {"messages": [AIMessage("done", id="done")]}

    assert said(exactly(graph_of(MessagesState, calls)), subgraphs=True) == [("ai", "done")]


def test_the_words_of_a_model_that_is_no_chat_model_are_no_messages() -> None:
    def asks(_: MessagesState) -> dict[str, Any]:
        words = FakeStreamingListLLM(responses=["some words"]).stream("Go on.")
        return {"messages": [AIMessage("".join(words), id="done")]}

    assert said(exactly(graph_of(MessagesState, asks))) == [("ai", "some words")]


def test_what_is_in_a_value_that_a_reducer_takes_is_no_message() -> None:
    """The reducer makes messages of the items of a list, and of nothing in them."""
    item = {"role": "user", "content": [{"type": "text", "text": "one"}, "two"]}
    graph = graph_of(Listed, lambda _: {"messages": [item]})
    assert said(exactly(graph)) == [("human", "onetwo")]


SEQUENCES: list[Callable[[list[Any]], Sequence[Any]]] = [list, tuple, deque, UserList]


@pytest.mark.parametrize("kind", SEQUENCES)
@pytest.mark.parametrize("key", ["other", "plain"])
def test_messages_are_heard_from_every_sequence(
    kind: Callable[[list[Any]], Sequence[Any]], key: str
) -> None:
    class State(TypedDict, total=False):
        messages: Annotated[list[AnyMessage], add_messages]
        other: Any
        plain: Any

    items = [AIMessage("one", id="1"), AIMessage("two", id="2")]
    graph = graph_of(State, lambda _: {key: kind(items)})
    assert said(exactly(graph)) == said(graph) == [("ai", "one"), ("ai", "two")]


def test_a_long_range_is_not_walked() -> None:
    class State(TypedDict, total=False):
        messages: Annotated[list[AnyMessage], add_messages]
        numbers: Any

    graph = graph_of(State, lambda _: {"numbers": range(10**12), "messages": AIMessage("one")})
    assert said(exactly(graph)) == [("ai", "one")]
