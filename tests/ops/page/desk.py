"""A graph in which everything happens that the page shows."""

from __future__ import annotations

import operator
from typing import Annotated, Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, RetryPolicy, interrupt

from graphs.models import ScriptedChatModel

TRIED: set[str] = set()
"""Threads in which the first attempt has failed."""

PLAN = "I look it up, then I ask you."
HANDED = "The desk hands over."
LAST = "All is done, as you said:"


class Desk(MessagesState):
    notes: Annotated[list[dict[str, str]], operator.add]
    answer: str


@tool
def look_up(topic: str) -> str:
    """Look a topic up."""
    return f"There is much on {topic}."


def say(text: str, delay_s: float = 0, **fields: Any) -> AIMessage:
    model = ScriptedChatModel(script=lambda _: AIMessage(text, **fields), delay_s=delay_s)
    answer = model.invoke([("user", "Go on.")])
    assert isinstance(answer, AIMessage)
    return answer


def plan(state: Desk, config: RunnableConfig) -> dict[str, Any]:
    """Fail once, after all was said."""
    call: Any = {"name": "look_up", "args": {"topic": "streams"}, "id": None, "type": "tool_call"}
    answer = say(PLAN, tool_calls=[call])
    thread = str(config["configurable"]["thread_id"])
    if thread not in TRIED:
        TRIED.add(thread)
        raise ConnectionError("the first attempt fails")
    return {"messages": [answer]}


def hand_over(state: MessagesState) -> Command[Any]:
    """Say something that LangGraph does not stream."""
    told = {"messages": [AIMessage(HANDED, id="handed")], "notes": [{"id": "n", "title": "A note"}]}
    return Command(graph=Command.PARENT, goto="ask", update=told)


def ask(state: Desk) -> dict[str, Any]:
    get_stream_writer()({"progress": "asking"})
    return {"answer": str(interrupt({"question": "May it be done?"}))}


def finish(state: Desk) -> dict[str, Any]:
    return {"messages": [say(f"{LAST} {state['answer']}")]}


def long(state: MessagesState) -> dict[str, Any]:
    """Speak for two seconds."""
    return {"messages": [say(" ".join(f"word{n}" for n in range(80)), 0.025)]}


handing = (
    StateGraph(MessagesState)
    .add_node(hand_over)
    .add_edge(START, "hand_over")
    .compile(name="handing")
)

desk = (
    StateGraph(Desk)
    .add_node(plan, retry_policy=RetryPolicy(initial_interval=0.01, retry_on=ConnectionError))
    .add_node("tools", ToolNode([look_up]))
    .add_node("handing", handing, destinations=("ask",))
    .add_node(ask)
    .add_node(finish)
    .add_edge(START, "plan")
    .add_edge("plan", "tools")
    .add_edge("tools", "handing")
    .add_edge("ask", "finish")
    .add_edge("finish", END)
    .compile()
)


async def endless(state: MessagesState) -> dict[str, Any]:
    """Speak for longer than anybody waits."""
    text = " ".join(f"word{n}" for n in range(4000))
    model = ScriptedChatModel(script=lambda _: AIMessage(text), delay_s=0.025)
    return {"messages": [await model.ainvoke([("user", "Go on.")])]}


slow = StateGraph(MessagesState).add_node(long).add_edge(START, "long").compile()
endlessly = StateGraph(MessagesState).add_node(endless).add_edge(START, "endless").compile()
