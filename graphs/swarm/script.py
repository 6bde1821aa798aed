"""The answers of the scripted model: one script for each desk."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from langchain_core.tools import BaseTool

from graphs.swarm.tools import book_flight, book_room, to_flights, to_hotels

__all__ = ["flights", "hotels"]

CITIES = ("Rome", "Vienna", "Prague")


def flights(messages: Sequence[BaseMessage]) -> AIMessage:
    """Book a flight, hand over to the hotels, and say goodbye when the customer is back."""
    city = _city(messages)
    match _last_tool(messages):
        case None:
            return _calls(f"I book a flight to {city} first.", book_flight, city=city)
        case book_flight.name:
            return _calls("You fly. Now a colleague finds a room for you.", to_hotels)
        case _:
            return AIMessage(f"Flight and room are yours. Enjoy {city}!")


def hotels(messages: Sequence[BaseMessage]) -> AIMessage:
    """Book a room, and hand the customer back."""
    if _last_tool(messages) == book_room.name:
        return _calls("The room is yours; I hand you back.", to_flights)
    city = _city(messages)
    return _calls(f"Good evening, I look for a room in {city}.", book_room, city=city)


def _calls(text: str, tool: BaseTool, **args: str) -> AIMessage:
    return AIMessage(text, tool_calls=[tool_call(name=tool.name, args=args, id=None)])


def _last_tool(messages: Sequence[BaseMessage]) -> str | None:
    """The tool whose result came last, if nobody has spoken since."""
    last = messages[-1]
    return last.name if isinstance(last, ToolMessage) else None


def _city(messages: Sequence[BaseMessage]) -> str:
    question = next(str(m.text) for m in reversed(messages) if isinstance(m, HumanMessage))
    return next((city for city in CITIES if city.casefold() in question.casefold()), CITIES[0])
