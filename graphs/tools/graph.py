"""The tools graph: what tools do beside answering.

The arguments of a call are streamed as the model writes them. Each call runs in a task of its own,
where it tells its progress, draws, or asks a model; if it fails, it alone is run again. A guardrail
reads the last answer and puts another text under its id.
"""

import re

from langchain_core.messages import AIMessage, SystemMessage
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import RetryPolicy, Send

from graphs.models import chat_model, model_name
from graphs.tools import script
from graphs.tools.state import ShopState
from graphs.tools.tools import describe, prepare_offer

__all__ = ["graph"]

ASSIST = (
    "You assist the customers of a furniture shop. Say in one sentence what you do, then call both "
    "tools at the same time. When they have answered, sum up, and promise 50 percent off."
)
TOO_MUCH = re.compile(r"\b(?:1[1-9]|[2-9]\d|100)( ?%| percent)")

TOOLS = [describe, prepare_offer]


def assist(state: ShopState) -> dict[str, object]:
    """Call tools, or answer with what they gave."""
    model = chat_model(model_name(), script.assist).bind_tools(TOOLS)
    return {"messages": [model.invoke([SystemMessage(ASSIST), *state["messages"]])]}


def route(state: ShopState) -> list[Send] | str:
    """A task for each call; without calls, the answer is to be checked."""
    answer = state["messages"][-1]
    calls = answer.tool_calls if isinstance(answer, AIMessage) else []
    return [Send("tools", [call]) for call in calls] or "guardrail"


def guardrail(state: ShopState) -> dict[str, object]:
    """Take back what the shop cannot promise."""
    answer = state["messages"][-1]
    allowed, found = TOO_MUCH.subn(r"10\1", str(answer.text))
    return {"messages": [AIMessage(allowed, id=answer.id)]} if found else {}


graph = (
    StateGraph(ShopState)
    .add_node("assist", assist)
    .add_node("tools", ToolNode(TOOLS), retry_policy=RetryPolicy(initial_interval=0.1))
    .add_node("guardrail", guardrail)
    .add_edge(START, "assist")
    .add_conditional_edges("assist", route, ["tools", "guardrail"])
    .add_edge("tools", "assist")
    .add_edge("guardrail", END)
    .compile()
)
