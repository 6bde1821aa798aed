"""Store what a graph of the langgraph in this interpreter's environment leaves in a database.

Run once for each version, from the root of the repository, in a throw-away environment that holds
`langgraph` and a `langgraph-checkpoint-sqlite` of its time:

    PYTHONPATH=. <environment>/bin/python -m tests.data.checkpoints.write_upstream

What is stored is never written again: these rows stand for databases out there.
"""

from __future__ import annotations

import operator
import sqlite3
import tempfile
from contextlib import closing, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from tests.data.checkpoints import files

try:
    from langgraph.types import Send
except ImportError:
    from langgraph.constants import Send  # type: ignore[no-redef]  # where older versions have it


class State(TypedDict):
    log: Annotated[list[str], operator.add]
    topic: str


def fan_out(state: State) -> list[Any]:
    return [Send("worker", {"topic": f"{state['topic']} {n}"}) for n in range(2)]


def worker(state: State) -> dict[str, Any]:
    if state["topic"].startswith("broken"):
        raise ValueError("broken")
    return {"log": [f"worked on {state['topic']}"]}


def ask(state: State) -> dict[str, Any]:
    try:
        from langgraph.types import interrupt
    except ImportError:
        from langgraph.errors import NodeInterrupt

        if "answer" not in state["topic"]:
            raise NodeInterrupt("May I?") from None
        return {"log": ["asked"]}
    return {"log": [f"asked: {interrupt('May I?')}"]}


def note(name: str) -> Any:
    return lambda state: {"log": [name]}


def build(saver: Any) -> Any:
    inner = StateGraph(State)
    inner.add_node("ask", ask)
    inner.add_edge(START, "ask")
    inner.add_edge("ask", END)
    outer = StateGraph(State)
    outer.add_node("plan", note("planned"))
    outer.add_node("worker", worker)
    outer.add_node("left", note("left"))
    outer.add_node("inner", inner.compile())
    outer.add_node("join", note("joined"))
    outer.add_edge(START, "plan")
    outer.add_conditional_edges("plan", fan_out, ["worker"])
    outer.add_edge("plan", "left")
    outer.add_edge(["worker", "left"], "inner")
    outer.add_edge("inner", "join")
    outer.add_edge("join", END)
    return outer.compile(checkpointer=saver)


def live(graph: Any) -> None:
    """A run that is interrupted, resumed, edited and forked; and one that fails."""
    thread: Any = {"configurable": {"thread_id": "thread"}, "metadata": {"who": "me"}}
    graph.invoke({"topic": "a", "log": []}, thread)
    try:
        from langgraph.types import Command, interrupt as _
    except ImportError:
        graph.update_state(thread, {"topic": "answer"}, as_node="left")
        graph.invoke(None, thread)
    else:
        graph.invoke(Command(resume="yes"), thread)
    *_, first = graph.get_state_history(thread)
    fork = graph.update_state(first.config, {"topic": "b"}, as_node=START)
    graph.invoke(None, fork)
    with suppress(ValueError):
        broken: Any = {"configurable": {"thread_id": "broken"}}
        graph.invoke({"topic": "broken", "log": []}, broken)


def main() -> None:
    """Write `langgraph-<version>.json`, which must not exist."""
    name = f"langgraph-{version('langgraph')}"
    if name in files.names():
        raise SystemExit(f"{name} is there already, and rows are never written again")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "threads.sqlite"
        with SqliteSaver.from_conn_string(str(path)) as saver:
            live(build(saver))
        with closing(sqlite3.connect(path)) as conn:
            files.save(name, conn)


if __name__ == "__main__":
    main()
