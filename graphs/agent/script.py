"""The answers of the scripted model, and when its connection breaks."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call

from graphs.agent.state import Trip
from graphs.agent.tools import CITIES, find_trains, forecast

__all__ = ["breaks_off", "travel"]

_broken: set[str] = set()


def travel(messages: Sequence[BaseMessage]) -> AIMessage:
    """Two tool calls at once; with their results, the advice and the trip."""
    origin, destination = _cities(messages)
    if not isinstance(messages[-1], ToolMessage):
        asked = {"origin": origin, "destination": destination}
        return AIMessage(
            f"I look for trains from {origin} to {destination} and ask for the weather there.",
            tool_calls=[
                tool_call(name=find_trains.name, args=asked, id=None),
                tool_call(name=forecast.name, args={"city": destination}, id=None),
            ],
        )
    trip = Trip(origin=origin, destination=destination, departs="07:46", changes=("Milan",))
    return AIMessage(
        f"Take the 07:46 to {destination} and change in Milan. For a seat write to "
        "seats@rail.example before tonight.",
        tool_calls=[tool_call(name=Trip.__name__, args=trip.model_dump(mode="json"), id=None)],
    )


def breaks_off(messages: Sequence[BaseMessage]) -> bool:
    """Whether the connection breaks: in the first answer to a question, not when asked again."""
    asked = messages[-1]
    if not isinstance(asked, HumanMessage) or asked.id is None:
        return False
    if asked.id in _broken:
        _broken.discard(asked.id)
        return False
    _broken.add(asked.id)
    return True


def _cities(messages: Sequence[BaseMessage]) -> tuple[str, str]:
    """From where to where; who names one city goes there, and who names none from Paris to Rome."""
    question = next(str(m.text) for m in reversed(messages) if isinstance(m, HumanMessage))
    words = question.casefold()
    named = sorted((city for city in CITIES if city in words), key=words.index)
    others = [city for city in CITIES if city not in named]
    origin, destination = [*others[: 2 - len(named)], *named][:2]
    return CITIES[origin][0], CITIES[destination][0]
