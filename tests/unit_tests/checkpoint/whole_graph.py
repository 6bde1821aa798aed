"""A graph with every kind of step and of channel, and what of its states is the same each time."""

import operator
from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send, interrupt

Graph = CompiledStateGraph[Any, Any, Any, Any]


def extend(state: list[str], writes: Sequence[list[str]]) -> list[str]:
    return [*state, *(item for write in writes for item in write)]


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    log: Annotated[list[str], DeltaChannel(extend, snapshot_frequency=3)]
    done: Annotated[list[int], operator.add]
    ratio: float
    count: int
    text: str
    flag: bool
    nothing: None
    files: dict[str, Any]


def plan(state: State) -> dict[str, Any]:
    count = state.get("count", 0) + 1
    return {
        "messages": [AIMessage("planned " * 300, id=f"plan {count}")],
        "log": [f"plan {count}"],
        "count": count,
        "files": {f"file {n}": "x" * 200 for n in range(count * 20)},
    }


def spread(state: State) -> list[Send]:
    return [Send("work", {"count": number}) for number in range(3)]


def work(state: State) -> dict[str, Any]:
    return {"done": [state["count"]], "log": [f"worked {state['count']}"]}


def ask(state: State) -> dict[str, Any]:
    answer = interrupt({"question": "May I?", "count": state["count"]})
    return {"messages": [HumanMessage(answer, id=f"answer {answer}")], "text": answer}


def build(saver: Any) -> Graph:
    inner = StateGraph(State)
    inner.add_node("ask", ask)
    inner.add_edge(START, "ask")
    outer = StateGraph(State)
    outer.add_node("plan", plan)
    outer.add_node("work", work)
    outer.add_node("inner", inner.compile())
    outer.add_edge(START, "plan")
    outer.add_conditional_edges("plan", spread, ["work"])
    outer.add_edge("work", "inner")
    return outer.compile(checkpointer=saver)


START_INPUT: Any = {
    "messages": [HumanMessage("hello", id="hello")],
    "ratio": 1e300,
    "flag": True,
    "text": "a\0b",
    "nothing": None,
}


def on(thread_id: str, **more: Any) -> Any:
    return {"configurable": {"thread_id": thread_id, **more}}


def told(state: Any) -> Any:
    """What of a state does not differ from run to run."""
    interrupts = [(raised.value) for raised in state.interrupts]
    return state.values, state.next, state.metadata["step"], state.metadata["source"], interrupts
