"""`create_agent` as its documentation shows it, with a response of one's own type."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NotRequired

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from langchain_core.tools import tool
from langgraph.types import interrupt
from pydantic import BaseModel

from graphs.models import ScriptedChatModel


class Wind(BaseModel):
    speed: float


class Weather(BaseModel):
    """How it is."""

    sky: str
    wind: Wind


@dataclass
class Forecast:
    """How it will be."""

    sky: str
    days: list[int]


@dataclass
class Reading:
    station: str
    degrees: Decimal


READING = Reading("north", Decimal("21.5"))
WEATHER = Weather(sky="clear", wind=Wind(speed=3.5))
FORECAST = Forecast("clear", [1, 2])


@tool(response_format="content_and_artifact")
def measure(city: str) -> tuple[str, Reading]:
    """Measure the temperature of a city."""
    return f"It is warm in {city}.", READING


class Judged(AgentState[Any]):
    verdicts: NotRequired[dict[str, Any]]


class Judge(AgentMiddleware[Judged, Any]):
    """Asks before the end, and says then what it found in the state."""

    state_schema = Judged

    def __init__(self, wanted: Any) -> None:
        super().__init__()
        self.wanted = wanted

    def after_agent(self, state: Judged, runtime: Any) -> dict[str, Any]:
        interrupt({"response": self.wanted, "reading": READING})
        artifacts = [m.artifact for m in state["messages"] if isinstance(m, ToolMessage)]
        found = {"response": state.get("structured_response"), "artifact": artifacts[0]}
        wanted = {"response": self.wanted, "artifact": READING}
        return {
            "verdicts": {
                name: "same"
                if type(value) is type(wanted[name]) and value == wanted[name]
                else f"{type(value)}: {value!r}"
                for name, value in found.items()
            }
        }


def _agent(response: type, answer: dict[str, Any], wanted: Any) -> Any:
    def script(messages: Sequence[BaseMessage]) -> AIMessage:
        measured = isinstance(messages[-1], ToolMessage)
        name, args = (response.__name__, answer) if measured else ("measure", {"city": "Bath"})
        return AIMessage("", tool_calls=[tool_call(name=name, args=args, id=f"call_{name}")])

    return create_agent(
        ScriptedChatModel(script=script),
        tools=[measure],
        response_format=response,
        middleware=[Judge(wanted)],
    )


pydantic_agent = _agent(Weather, json.loads(WEATHER.model_dump_json()), WEATHER)
dataclass_agent = _agent(Forecast, {"sky": "clear", "days": [1, 2]}, FORECAST)
