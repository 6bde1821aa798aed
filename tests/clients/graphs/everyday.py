"""What agents do every day: chat, tools, interrupts, graphs in graphs, hand-offs, errors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import push_message
from langgraph.types import Command, interrupt

from graphs.models import ScriptedChatModel
from tests.clients.graphs.pieces import DELAY_S, about, says, streamed
from tests.clients.graphs.zoo import TOPICS, Animal, Graph, asks, resumes
from tests.corpus.graphs import chain

EXPERT = "{topic} is what experts call a port."


@tool
async def weather(city: str) -> str:
    """The weather of a city."""
    await asyncio.sleep(DELAY_S)
    return f"{city} has rain."


@tool
async def prices(city: str) -> str:
    """The prices of a city."""
    await asyncio.sleep(5 * DELAY_S)
    return f"{city} is dear."


def agent(tools: Sequence[Any], first: str, last: str) -> Graph:
    """An agent that calls each of its tools at once, and then answers."""

    def script(messages: Sequence[BaseMessage]) -> AIMessage:
        topic = about(messages)
        if isinstance(messages[-1], ToolMessage):
            return AIMessage(last.format(topic=topic))
        calls: Any = [{"name": t.name, "args": {"city": topic}, "id": None} for t in tools]
        return AIMessage(first.format(topic=topic), tool_calls=calls)

    made: Graph = create_agent(ScriptedChatModel(script=script, delay_s=DELAY_S), list(tools))
    return made


@tool
async def expert(city: str) -> str:
    """Ask an expert, who is an agent."""
    asked = {"messages": [HumanMessage(f"What about {city}")]}
    said = await chain(says(EXPERT)).ainvoke(asked)
    return str(said["messages"][-1].text)


async def confirm(state: Any) -> dict[str, Any]:
    answer = interrupt("May I go on?")
    return {"messages": [AIMessage(f"{about(state['messages'])} it is: {answer}.")]}


async def asks_in_the_middle(state: Any) -> dict[str, Any]:
    """Streams, asks and goes on in one node: on the resume it streams again."""
    plan = await streamed(state, "{topic} needs a plan of three days.")
    answer = interrupt("May I go on?")
    return {"messages": [plan, AIMessage(f"{about(state['messages'])} it is: {answer}.")]}


async def hands_over(state: Any) -> Command[Any]:
    called: Any = [{"name": "transfer", "args": {}}]
    answer = await streamed(state, "{topic} is for my colleague.", calls=called)
    result = ToolMessage("Transferred.", tool_call_id=answer.tool_calls[0]["id"])
    update = {"messages": [answer, result]}
    return Command(graph=Command.PARENT, goto="colleague", update=update)


def team() -> Graph:
    builder = StateGraph(MessagesState)
    builder.add_node("first", chain(hands_over))
    builder.add_node("colleague", says("{topic} is mine now, says the colleague."))
    builder.add_edge(START, "first")
    return builder.compile()


async def pushes(state: Any) -> dict[str, Any]:
    topic = about(state["messages"])
    push_message(AIMessage(f"{topic} is looked up.", id=f"pushed-{topic}"))
    return {"messages": [await streamed(state, "{topic} was found on the map.")]}


async def breaks(state: Any) -> dict[str, Any]:
    await streamed(state, "{topic} is too hard for me.")
    if about(state["messages"]) == TOPICS[0]:
        raise ValueError("That was too much.")
    return {"messages": [AIMessage("That went well.")]}


def animal(name: str, what: str, graph: Callable[[], Graph], **how: Any) -> Animal:
    return Animal(name=name, what=what, graph=graph(), **how)


RESUMED = (asks(TOPICS[0]), resumes("yes"), asks(TOPICS[1]), resumes("no"))

ANIMALS = (
    animal(
        "chat",
        "A model answers.",
        lambda: chain(says("{topic} is a fine place to be.")),
    ),
    animal(
        "tools",
        "An agent calls a tool.",
        lambda: agent([weather], "{topic}? I look it up.", "{topic} is wet today."),
    ),
    animal(
        "parallel_tools",
        "An agent calls two tools at once.",
        lambda: agent([weather, prices], "{topic}? I look both up.", "{topic} is wet and dear."),
    ),
    animal(
        "interrupt",
        "A node asks the person, after one that has spoken.",
        lambda: chain(says("{topic} needs a plan of three days."), confirm),
        turns=RESUMED,
    ),
    animal(
        "interrupt_midway",
        "A node streams, asks the person, and streams again on the resume.",
        lambda: chain(asks_in_the_middle),
        turns=RESUMED,
    ),
    animal(
        "subgraph",
        "A graph as a node, between two nodes.",
        lambda: chain(
            says("{topic} is looked into."),
            chain(says("{topic} has a harbour."), says("{topic} has a hill.")),
            says("{topic} is worth it, then."),
        ),
    ),
    animal("handoff", "A graph hands off to its neighbour, with messages.", team),
    animal(
        "subagent",
        "An agent's tool asks another agent.",
        lambda: agent([expert], "{topic}? I ask an expert.", "{topic} is a port, I hear."),
        unkept=(EXPERT,),
    ),
    animal("pushed", "A node pushes a message before it answers.", lambda: chain(pushes)),
    animal(
        "error",
        "The first run fails after some text.",
        lambda: chain(says("{topic} is where I begin."), breaks),
        unkept=("{topic} is too hard for me.",),
        fails=(0,),
    ),
)
