"""The swarm graph: agents that hand over by `Command(graph=Command.PARENT)`.

Each desk is an agent, and a node of the graph. A hand-over is a tool that ends the desk's graph
and goes on at another desk. Its message is in the state, and in no stream of LangGraph's.
"""

from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import BaseTool
from langgraph.graph import START, StateGraph

from graphs.models import Script, chat_model, model_name
from graphs.swarm import script
from graphs.swarm.state import SwarmState
from graphs.swarm.tools import book_flight, book_room, to_flights, to_hotels

__all__ = ["graph"]

PROMPT = (
    "You are the {desk} desk of a travel office. Say in one sentence what you do with each tool "
    "call, and make one call at a time. {task}"
)


def active_desk(state: SwarmState) -> str:
    """The desk that the customer talks to."""
    return state.get("active", "flights")


def _desk(name: str, answers: Script, tools: list[BaseTool], task: str) -> Any:
    return create_agent(
        chat_model(model_name(), answers),
        tools,
        system_prompt=PROMPT.format(desk=name, task=task),
        name=name,
    )


flights = _desk(
    "flights",
    script.flights,
    [book_flight, to_hotels],
    "Book the flight, hand over to the hotel desk, and say goodbye when the customer is back.",
)
hotels = _desk(
    "hotels",
    script.hotels,
    [book_room, to_flights],
    "Book the room, then hand the customer back to the flight desk.",
)

graph = (
    StateGraph(SwarmState)
    .add_node("flights", flights)
    .add_node("hotels", hotels)
    .add_conditional_edges(START, active_desk, ["flights", "hotels"])
    .compile()
)
