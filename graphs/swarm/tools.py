"""What the desks can do: book, and hand over."""

from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command

__all__ = ["book_flight", "book_room", "to_flights", "to_hotels"]


@tool
def book_flight(city: str) -> str:
    """Book a flight to a city."""
    return f"Flight ON 7 to {city} is booked, seat 12A."


@tool
def book_room(city: str) -> str:
    """Book a room in a city."""
    return f"A room near the station of {city} is booked."


@tool
def to_hotels(runtime: ToolRuntime) -> Command[str]:
    """Hand the customer over to the hotel desk."""
    return _hand_over("hotels", runtime)


@tool
def to_flights(runtime: ToolRuntime) -> Command[str]:
    """Hand the customer over to the flight desk."""
    return _hand_over("flights", runtime)


def _hand_over(desk: str, runtime: ToolRuntime) -> Command[str]:
    """Go on at another desk with what was said here, as this desk's graph ends without a state."""
    told = ToolMessage(
        f"The {desk} desk has the customer now.",
        name=f"to_{desk}",
        tool_call_id=runtime.tool_call_id,
    )
    return Command(
        graph=Command.PARENT,
        goto=desk,
        update={"messages": [*runtime.state["messages"], told], "active": desk},
    )
