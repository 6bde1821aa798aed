"""A node that streams a wrapped graph gets what it asks for, whatever streams the node."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph

from graphs.models import ScriptedChatModel
from langgraph_once import once

ASKED: Any = {"messages": [("user", "Go on.")]}
TEXT = "Said inside."

pytestmark = pytest.mark.filterwarnings("ignore:The v3 streaming protocol")


def says(state: MessagesState) -> dict[str, Any]:
    model = ScriptedChatModel(script=lambda _: AIMessage(TEXT))
    return {"messages": [model.invoke(state["messages"])]}


def graph_of(node: Any) -> Any:
    return StateGraph(MessagesState).add_node("node", node).add_edge(START, "node").compile()


@pytest.mark.parametrize("is_told", [True, False], ids=["config given", "config inherited"])
@pytest.mark.parametrize("outermost", ["v1", "v2", "v3"])
def test_a_v1_stream_inside_is_one_of_chunks(outermost: str, is_told: bool) -> None:
    heard: list[str] = []
    inner = once(graph_of(says))

    def reads(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        given = config if is_told else None
        chunks = inner.stream({"messages": state["messages"]}, given, stream_mode="messages")
        heard.extend(str(message.content) for message, _ in chunks)
        return {"messages": [AIMessage("read")]}

    outer = once(graph_of(reads))
    if outermost == "v3":
        assert [message.text for message in outer.stream_events(ASKED, version="v3").messages]
    else:
        list(outer.stream(ASKED, stream_mode="messages", version=outermost))
    assert "".join(heard) == TEXT


@pytest.mark.parametrize(("is_told", "expected"), [(True, "messages"), (False, "node")])
def test_the_mode_of_a_stream_inside_is_upstream_s(is_told: bool, expected: str) -> None:
    """It is `values` where a node passes its config, else what the graph streams by default."""
    inner = graph_of(says)
    inner.stream_mode = "updates"
    kinds: list[list[str]] = []

    def reads(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        given = config if is_told else None
        kinds.extend(list(next(g.stream(dict(state), given))) for g in (inner, once(inner)))
        return {"messages": []}

    graph_of(reads).invoke(ASKED)
    assert kinds == [[expected], [expected]]


class Models(BaseCallbackHandler):
    """Counts the model runs that it hears."""

    def __init__(self) -> None:
        self.started = 0

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        self.started += 1


@pytest.mark.parametrize("mode", ["updates", "values", "messages"])
def test_callbacks_of_the_graph_around_hear_a_stream_that_its_node_reads(mode: Any) -> None:
    def heard(inner: Any) -> int:
        def reads(state: MessagesState) -> dict[str, Any]:
            list(inner.stream({"messages": state["messages"]}, stream_mode=mode))
            return {"messages": [AIMessage("read")]}

        models = Models()
        list(graph_of(reads).stream(ASKED, {"callbacks": [models]}, stream_mode="values"))
        return models.started

    assert heard(graph_of(says)) == heard(once(graph_of(says))) == 1
