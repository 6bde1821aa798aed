"""The state graph: many types and kinds of channels in one state.

`fill` puts one value of each type into the state, `tidy` writes to the channels that do something
with what they are given, and `tell` says what the channels have that no checkpoint keeps.
"""

from typing import Any

from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.graph import END, START, StateGraph
from langgraph.types import Overwrite

from graphs.models import chat_model, model_name
from graphs.state import script
from graphs.state.attic import things
from graphs.state.state import AtticState

__all__ = ["graph"]

TELL = "You look after an attic. Say in one sentence what you are told."


def fill(state: AtticState) -> dict[str, Any]:
    """One value of each type."""
    noted = {"highest": 3, "seen": {"trunk"}, "scratch": object()}
    return {**things(), **noted, "log": ["filled again" if state.get("guest") else "filled"]}


def tidy(state: AtticState) -> dict[str, Any]:
    """A lower number, a union, and a list that is begun anew."""
    log = [f"tidied, after it was {state['log'][-1]}"]
    return {"highest": state["highest"] - 1, "seen": {"lamp"}, "log": Overwrite(log)}


def tell(state: AtticState) -> dict[str, Any]:
    """What is true in this step of this run alone."""
    left = "the last step" if state["is_last"] else f"{state['remaining']} steps are left"
    note = "has a scratch value" if "scratch" in state else "has no scratch value"
    fact = f"There are {len(state['seen'])} things, this run {note}, and {left}."
    model = chat_model(model_name(), script.tell)
    return {"messages": [model.invoke([SystemMessage(TELL), HumanMessage(fact)])]}


graph = (
    StateGraph(AtticState)
    .add_node("fill", fill)
    .add_node("tidy", tidy)
    .add_node("tell", tell)
    .add_edge(START, "fill")
    .add_edge("fill", "tidy")
    .add_edge("tidy", "tell")
    .add_edge("tell", END)
    .compile()
)
