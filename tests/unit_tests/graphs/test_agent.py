"""The travel agent asks again when its model breaks off, redacts, and answers with a trip."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from graphs.agent.graph import graph
from graphs.agent.state import Trip


def travel(question: str) -> dict[str, Any]:
    asked: Any = {"messages": [("user", question)]}
    return graph.invoke(asked)


def test_a_run_ends_with_a_trip_and_a_redacted_address() -> None:
    state = travel("I want to see the sea.")
    asks, trains, weather, advice, _ = state["messages"][1:]
    assert asks.text == "I look for trains from Paris to Rome and ask for the weather there."
    assert [call["name"] for call in asks.tool_calls] == ["find_trains", "forecast"]
    assert isinstance(trains, ToolMessage)
    assert weather.text == "Tomorrow Rome has sun and 24 degrees."
    assert isinstance(advice, AIMessage)
    assert "[REDACTED_EMAIL]" in advice.text
    assert "@" not in advice.text
    assert state["structured_response"] == Trip(
        origin="Paris", destination="Rome", departs="07:46", changes=("Milan",)
    )


@pytest.mark.parametrize(
    ("question", "origin", "destination"),
    [
        ("To Prague, please.", "Paris", "Prague"),
        ("From Vienna to Paris?", "Vienna", "Paris"),
    ],
)
def test_the_cities_are_those_of_the_question(question: str, origin: str, destination: str) -> None:
    trip = travel(question)["structured_response"]
    assert (trip.origin, trip.destination) == (origin, destination)


def test_plain_langgraph_streams_the_broken_answer_and_the_address() -> None:
    asked: Any = {"messages": [("user", "To Rome.")]}
    texts: dict[str, str] = {}
    for message, _ in graph.stream(asked, stream_mode="messages"):
        if isinstance(message, AIMessage):
            texts[str(message.id)] = texts.get(str(message.id), "") + message.text
    broken, whole, advice = texts.values()
    assert whole.startswith(broken)
    assert "seats@rail.example" in advice
