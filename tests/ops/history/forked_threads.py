"""A thread with forks, a subgraph that asks, tasks that were sent, and models that tell usage."""

from __future__ import annotations

import itertools
import operator
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import START, StateGraph
from langgraph.graph.message import _messages_delta_reducer, add_messages
from langgraph.types import Command, Send, interrupt

FIRST = "a word that nobody may see"
TOKENS, PART_TOKENS = 101, 11


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    parts: Annotated[list[int], operator.add]


class DeltaState(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer)]
    parts: Annotated[list[int], operator.add]


def config(thread_id: str = "forked") -> Any:
    return {"configurable": {"thread_id": thread_id}}


def graph(saver: Any, schema: Any = State) -> Any:
    """A model that sends three parts, and a subgraph that asks."""
    numbers = itertools.count()

    def said(name: str, tokens: int) -> Any:
        usage: Any = {"input_tokens": tokens - 1, "output_tokens": 1, "total_tokens": tokens}
        return [AIMessage("said", id=f"{name}-{next(numbers)}", usage_metadata=usage)]

    def model(state: Any) -> Any:
        return {"messages": said("model", TOKENS)}

    def part(state: Any) -> Any:
        return {"parts": state["parts"], "messages": said("part", PART_TOKENS)}

    def ask(state: Any) -> Any:
        return {"messages": [HumanMessage(interrupt("go on?"))]}

    def sent(state: Any) -> Any:
        return [Send("part", {"parts": [number]}) for number in range(3)]

    inner: Any = StateGraph(schema).add_node("think", model).add_node("ask", ask)
    inner = inner.add_edge(START, "think").add_edge("think", "ask").compile()
    outer: Any = StateGraph(schema).add_node("model", model).add_node("part", part)
    outer = outer.add_node("inner", inner).add_edge(START, "model").add_edge("part", "inner")
    return outer.add_conditional_edges("model", sent, ["part"]).compile(saver)


def play(saver: Any, state: Any = State) -> None:
    """Ask, answer, go on from the past, edit the past, and leave a question open."""
    made = graph(saver, state)
    made.invoke({"messages": [HumanMessage(FIRST, id="first")]}, config())
    made.invoke(Command(resume="yes"), config())
    history = [*made.get_state_history(config())]
    after_model = next(each for each in history if each.next == ("part",) * 3)
    made.invoke(None, after_model.config)
    edited = {"messages": [HumanMessage("edited", id="first")]}
    made.update_state(after_model.config, edited, as_node="inner")
