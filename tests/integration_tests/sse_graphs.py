"""Graphs for the tests of event streams, and the `langgraph.json` that serves them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.config import get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph

from graphs.models import ScriptedChatModel
from langgraph_once.platform.sse import ENCODERS

STEPS = 8
TEXT = "Ha ha ha: a text of words that is streamed slowly, so that a cut falls between ✂ and ✂."


class Lockstep(MessagesState):
    """Where the reader says what it has read."""

    folder: str


def lockstep(state: Lockstep) -> dict[str, Any]:
    """Write an event, and the next when the reader has read it: a delayed one is never read."""
    write = get_stream_writer()
    for i in range(STEPS):
        write({"step": i})
        deadline = time.monotonic() + 20
        while not Path(state["folder"], str(i)).exists():
            if time.monotonic() > deadline:
                raise TimeoutError(f"nobody has read event {i}")
            time.sleep(0.002)
    return {"messages": [AIMessage("All were read.")]}


async def slow(state: MessagesState) -> dict[str, Any]:
    """Stream a text, and return a copy of it under another id (class D1)."""
    model = ScriptedChatModel(script=lambda _: AIMessage(TEXT), delay_s=0.02)
    streamed = await model.ainvoke(state["messages"])
    return {"messages": [AIMessage(str(streamed.text))]}


lockstep_graph = StateGraph(Lockstep).add_node("node", lockstep).add_edge(START, "node")
slow_graph = StateGraph(MessagesState).add_node("node", slow).add_edge(START, "node")


GRAPHS = "tests.integration_tests.sse_graphs"
WRAPPED = "langgraph_once.platform.graphs"
ASKED: Any = {"messages": [{"role": "user", "content": "Well?"}]}
ENCODINGS = sorted(ENCODERS)

MANIFEST: dict[str, Any] = {
    "dependencies": ["."],
    "graphs": {
        "lockstep": f"{GRAPHS}:lockstep_graph",
        "slow_plain": f"{GRAPHS}:slow_graph",
        "slow": {"path": f"{WRAPPED}:slow", "once": {"target": f"{GRAPHS}:slow_graph"}},
    },
    "checkpointer": {"path": "langgraph_once.platform.checkpointer.saver"},
    "http": {"app": "langgraph_once.platform.app:app"},
}


def lockstep_input(folder: Path) -> dict[str, Any]:
    """What the graph `lockstep` is asked."""
    return {**ASKED, "folder": str(folder)}
