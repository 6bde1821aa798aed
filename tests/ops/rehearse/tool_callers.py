"""Agents that wait with a tool called."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, NotRequired

from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode


class Asked(MessagesState):
    trail: NotRequired[Annotated[list[str], operator.add]]


@tool
def weather(city: str) -> str:
    """The weather."""
    return "sun"


@tool
def forecast(city: str) -> str:
    """The weather."""
    return "sun"


def agent(*tools: Any, prompt: str = "Be kind.", wrap: Any = None) -> Callable[[], Any]:
    """A model that calls a tool."""

    def model(state: Any) -> Any:
        if len(state["messages"]) > 1:
            return {"messages": [AIMessage(prompt, id="2")]}
        call = {"name": "weather", "args": {"city": "Rome"}, "id": "call", "type": "tool_call"}
        return {"messages": [AIMessage("", id="1", tool_calls=[call])], "trail": ["draft"]}

    def send(state: Any) -> Any:
        results = [each.content for each in state["messages"] if each.type == "tool"]
        return {"trail": ["send" if "sun" in results else "no result"]}

    def build() -> StateGraph[Any, Any, Any, Any]:
        graph = (
            StateGraph(Asked)
            .add_node("model", model)
            .add_node("tools", ToolNode([*tools], wrap_tool_call=wrap))
        )
        graph.add_node("send", send).add_edge(START, "model")
        graph.add_edge("model", "tools").add_edge("tools", "send")
        return graph

    return build
