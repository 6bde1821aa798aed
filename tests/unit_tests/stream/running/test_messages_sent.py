"""A message that only a `Send` holds is new when a worker returns it; an echo is not."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import push_message
from langgraph.types import Command, RetryPolicy, Send

from tests.exact import exactly
from tests.unit_tests.stream.scenes import chain, folded

RETRY = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=ValueError)
THREAD: Any = {"configurable": {"thread_id": "1"}}
ASKED: Any = {"messages": [("user", "Please begin.")]}


def texts(graph: Any, asked: Any = ASKED, **options: Any) -> list[str]:
    chunks = exactly(graph).stream(asked, stream_mode="messages", **options)
    return list(folded(c[-1] if options.get("subgraphs") else c for c in chunks).values())


def workers(route: Any, node: Any = lambda sent: {"messages": sent["kept"]}) -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("worker", node, retry_policy=RETRY)
    builder.add_conditional_edges(START, route, ["worker"])
    return builder.compile()


@pytest.mark.parametrize(
    "asked",
    [
        {"messages": [HumanMessage("Hi.", id="h")]},
        {"messages": [HumanMessage("Hi.")]},
        {"messages": [("user", "Hi.")]},
        Command(update={"messages": [HumanMessage("Hi.", id="h")]}, goto="worker"),
    ],
)
def test_what_the_user_said_is_an_echo(asked: Any) -> None:
    def keeps(state: Any) -> Any:
        return {"messages": state.get("kept") or state["messages"]}

    graph = workers(lambda s: [Send("worker", {"kept": s["messages"]})], keeps)
    assert texts(graph.copy({"checkpointer": InMemorySaver()}), asked, config=THREAD) == []


def test_what_the_thread_held_is_an_echo() -> None:
    graph = workers(lambda s: [Send("worker", {"kept": s["messages"][:1]})])
    kept = exactly(graph.copy({"checkpointer": InMemorySaver()}))
    for text in ("Hi.", "And you?"):
        asked = {"messages": [HumanMessage(text)]}
        assert list(kept.stream(asked, THREAD, stream_mode="messages")) == []


def test_what_a_graph_inside_is_given_is_an_echo() -> None:
    child = workers(lambda s: [Send("worker", {"kept": s["messages"][:1]})])

    def parent(_: Any) -> Any:
        child.invoke({"messages": [("user", "A question of the node's own.")]})
        return {"messages": [AIMessage("Done.")]}

    assert texts(chain(parent), subgraphs=True) == ["Done."]


def test_a_word_of_the_input_that_is_no_message_is_none() -> None:
    class Topic(MessagesState):
        topic: str

    builder = StateGraph(Topic)
    builder.add_node("worker", lambda sent: {"messages": sent["kept"]})
    kept = HumanMessage("Paris", id="new")
    builder.add_conditional_edges(START, lambda _: [Send("worker", {"kept": [kept]})])
    assert texts(builder.compile(), {"messages": [], "topic": "Paris"}) == ["Paris"]


def test_after_a_retry_it_is_there_again() -> None:
    dies = iter([True, False])

    def node(sent: Any) -> Any:
        if next(dies):
            push_message(sent["kept"][0], state_key=None)
            raise ValueError
        return {"messages": sent["kept"]}

    kept = AIMessage("Kept.", id="k")
    graph = workers(lambda _: [Send("worker", {"kept": [kept]})], node)
    assert texts(graph) == ["Kept."]


def test_what_was_removed_and_is_sent_is_said_again() -> None:
    kept = AIMessage("Kept.", id="k")
    builder = StateGraph(MessagesState)
    builder.add_node("says", lambda _: {"messages": [kept]})
    builder.add_node("removes", lambda _: {"messages": [RemoveMessage(id="k")]})
    builder.add_node("worker", lambda sent: {"messages": sent["kept"]})
    builder.add_edge(START, "says").add_edge("says", "removes")
    builder.add_conditional_edges("removes", lambda _: [Send("worker", {"kept": [kept]})])
    assert texts(builder.compile()) == ["Kept."]


def test_a_called_task_that_returns_its_argument_says_nothing_new() -> None:
    @task
    def same(message: Any) -> Any:
        return message

    @entrypoint()
    def flow(_: Any) -> Any:
        return str(same(AIMessage("Inner.", id="i")).result().text)

    assert texts(flow, "?") == []
