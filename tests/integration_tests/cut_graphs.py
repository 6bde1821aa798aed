"""The graph whose streams are cut: all that makes going on hard, in some thirty events."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send, interrupt

from graphs.models import ScriptedChatModel

ASKED: Any = {"messages": [{"role": "user", "content": "Well?"}]}
PLAN = "Ha ha ha: cut ✂ here ✂ and ✂ höre."
MORE = "There is more to say than that."
OK = "ok ok ok ✂"
TEXT = "All of it was said."


def _model(text: str, delay_s: float = 0.0) -> ScriptedChatModel:
    return ScriptedChatModel(script=lambda _: AIMessage(text), delay_s=delay_s)


def plan(pause_s: float) -> Any:
    """A node that streams a text, and returns a copy of it under another id."""

    async def plan(state: MessagesState) -> dict[str, Any]:
        streamed = await _model(PLAN, pause_s).ainvoke(state["messages"])
        return {"messages": [AIMessage(str(streamed.text))]}

    return plan


def fan_out(_: MessagesState) -> list[Send]:
    """Two workers at once, which say the same."""
    return [Send("worker", {"messages": []}) for _ in range(2)]


async def say(state: MessagesState) -> dict[str, Any]:
    """Stream equal tokens, many in a millisecond."""
    return {"messages": [await _model(OK).ainvoke([AIMessage("Go.")])]}


async def close(_: MessagesState) -> dict[str, Any]:
    """Return a message that was not streamed."""
    return {"messages": [AIMessage(TEXT)]}


def rest(pause_s: float) -> Any:
    """A node that takes so long that the server can be killed meanwhile."""

    async def rest(_: MessagesState) -> dict[str, Any]:
        await asyncio.sleep(pause_s)
        return {}

    return rest


def _drawn() -> Any:
    builder: Any = StateGraph(MessagesState)
    worker = StateGraph(MessagesState).add_node("say", say).add_edge(START, "say").compile()
    builder.add_node("plan", plan(0.003)).add_node("worker", worker).add_node("close", close)
    builder.add_edge(START, "plan").add_conditional_edges("plan", fan_out, ["worker"])
    return builder.add_edge("worker", "close")


def _resting(pause_s: float) -> Any:
    builder: Any = StateGraph(MessagesState)
    builder.add_node("plan", plan(0.05)).add_node("rest", rest(pause_s)).add_node("close", close)
    builder.add_edge(START, "plan").add_edge("plan", "rest")
    return builder.add_edge("rest", "close")


async def ask(_: MessagesState) -> dict[str, Any]:
    """Wait for an answer and stream two texts; later return a copy of one, and the other itself."""
    answer = interrupt("Go on?")
    streamed = await _model(f"Well, you have said {answer} to this.", 0.05).ainvoke(PLAN)
    more = await _model(MORE, 0.05).ainvoke(PLAN)
    await asyncio.sleep(0.2)
    return {"messages": [AIMessage(str(streamed.text)), more]}


def _asking() -> Any:
    """A run that waits for an answer, and says more then."""
    builder: Any = StateGraph(MessagesState)
    builder.add_node("plan", plan(0.05)).add_node("ask", ask).add_node("more", plan(0.05))
    builder.add_node("rest", rest(0.3)).add_node("close", close)
    builder.add_edge(START, "plan").add_edge("plan", "ask").add_edge("ask", "more")
    return builder.add_edge("more", "rest").add_edge("rest", "close")


def _beside() -> Any:
    """Two nodes are done while one beside them keeps their step open."""
    builder: Any = StateGraph(MessagesState)
    builder.add_node("say", say).add_edge(START, "say")
    for name, node in (("plan", plan(0.02)), ("close", close), ("rest", rest(2))):
        builder.add_node(name, node).add_edge("say", name)
    return builder


drawn_graph = _drawn()
slow_graph = _resting(1.5)
beside_graph = _beside()
asking_graph = _asking()
late_graph = _resting(14)
"""Longer than a server takes to note that it runs."""
