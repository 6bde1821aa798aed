"""Graphs that remember, and vectors for what they remember."""

from __future__ import annotations

from typing import Any

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

NOTES = ("notes", "ada")


class State(TypedDict, total=False):
    note: str
    found: list[str]


async def remember(state: State, runtime: Runtime[Any]) -> State:
    """Put what was said, as an asynchronous node does."""
    if runtime.store is None:
        raise TypeError("the server gave no store")
    await runtime.store.aput(NOTES, state["note"][:4], {"text": state["note"], "by": "graph"})
    return {}


def recall(state: State, runtime: Runtime[Any]) -> State:
    """Search, as a node does that runs in a thread."""
    if runtime.store is None:
        raise TypeError("the server gave no store")
    found = runtime.store.search(NOTES, filter={"by": "graph"}, limit=50)
    return {"found": sorted(item.value["text"] for item in found)}


remembering = (
    StateGraph(State)
    .add_node("remember", remember)
    .add_node("recall", recall)
    .add_edge(START, "remember")
    .add_edge("remember", "recall")
)


def embed(texts: list[str]) -> list[list[float]]:
    """Count the letters a, b and c."""
    return [[1.0 + text.count(letter) for letter in "abc"] for text in texts]
