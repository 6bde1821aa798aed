"""Threads as LangGraph's own savers store them: real runs of graphs of many sorts.

    python -m tests.stock_threads threads.sqlite --threads 10000

plays a few hundred threads, and has the database copy their rows under other ids.
"""

from __future__ import annotations

import argparse
import base64
import functools
import importlib
import itertools
import operator
import random
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import id as ids
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import _messages_delta_reducer, add_messages
from langgraph.types import Command, interrupt

from bench.prose import passages
from tests.databases import is_postgres
from tests.unit_tests.checkpoint.whole_databases import stock

__all__ = ["GRAPHS", "State", "agent", "copy", "fill", "play", "stock", "text"]

_DAY_NS = 86_400 * 10**9
_random = random.Random(32)


@functools.cache
def _texts() -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the modules whose docstrings these are
        return itertools.cycle(passages(900, 700))


def text() -> str:
    """Some prose, each time another."""
    return next(_texts())


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    left: int
    files: Annotated[dict[str, str], operator.or_]


class DeltaState(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer)]
    left: int


def _model(state: Any) -> Any:
    left = state.get("left", 0)
    calls = [{"name": "search", "args": {"query": text()[:60]}, "id": f"call-{left}"}]
    answer = AIMessage(text(), tool_calls=calls if left > 0 else [])
    return {"messages": [answer], "left": left - 1}


def _tools(state: Any) -> Any:
    call = state["messages"][-1].tool_calls[0]
    found = "\n".join(text() for _ in range(_random.choice((1, 1, 2, 6))))
    return {"messages": [ToolMessage(found, tool_call_id=call["id"])]}


def _more(state: Any) -> str:
    return "tools" if state["messages"][-1].tool_calls else END


def agent(state: type[Any] = State) -> Any:
    """A model that calls tools until it has an answer."""
    graph = StateGraph(state).add_node("model", _model).add_node("tools", _tools)
    graph = graph.add_edge(START, "model").add_conditional_edges("model", _more, ["tools", END])
    return graph.add_edge("tools", "model")


def team() -> Any:
    """A supervisor that gives its work to a subgraph, and one file a step."""

    def supervisor(state: Any) -> Any:
        return {"messages": [AIMessage(text())], "left": 2}

    def write(state: Any) -> Any:
        return {"files": {f"report-{_random.randrange(20)}": text() * 2}}

    graph = StateGraph(State).add_node("supervisor", supervisor).add_node("write", write)
    graph = graph.add_node("worker", agent().compile()).add_edge(START, "supervisor")
    return graph.add_edge("supervisor", "worker").add_edge("worker", "write")


def asking() -> Any:
    """It asks a human in a subgraph, and may wait for ever."""

    def ask(state: Any) -> Any:
        return {"messages": [HumanMessage(interrupt("go on?"))]}

    inner = StateGraph(State).add_node("model", _model).add_node("ask", ask)
    inner = inner.add_edge(START, "model").add_edge("model", "ask")
    return StateGraph(State).add_node("inner", inner.compile()).add_edge(START, "inner")


def image() -> Any:
    """A content block with an image of some kilobytes."""
    data = base64.b64encode(_random.randbytes(_random.choice((8_000, 30_000)))).decode()
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def _said(with_image: bool) -> Any:
    said = {"type": "text", "text": text()}
    return {
        "messages": [HumanMessage([said, image()] if with_image else said["text"])],
        "left": _random.choice((0, 1, 1, 2, 3)),
    }


GRAPHS: dict[str, tuple[Callable[[], Any], bool]] = {
    "agent": (agent, False),
    "images": (agent, True),
    "team": (team, False),
    "asking": (asking, False),
    "delta": (lambda: agent(DeltaState), False),
}
"""Each sort of graph, and whether its user sends images."""


@contextmanager
def _days_ago(days: float) -> Iterator[None]:
    """Ids of checkpoints are of a time before."""
    clock = itertools.count(time.time_ns() - int(days * _DAY_NS), 10**6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ids, "time", SimpleNamespace(time_ns=lambda: next(clock)))
        patch.setattr(ids, "_last_v6_timestamp", None)
        yield


def play(graph: Any, thread_id: str, *, longest: int, has_images: bool, waits: bool) -> None:
    """Play a thread of some turns: most are short, a few are long.

    Args:
        graph: With a saver.
        thread_id: The thread.
        longest: The most turns.
        has_images: Whether the user sends images.
        waits: Whether the last question of the graph, if it asks, gets no answer.
    """
    config: Any = {"configurable": {"thread_id": thread_id}}
    turns = min(longest, 1 + int(_random.lognormvariate(1.2, 1.0)))
    with _days_ago(_random.uniform(0, 500)):
        for turn in range(turns):
            state = graph.invoke(_said(has_images and turn % 4 == 0), config)
            if "__interrupt__" in state and not (waits and turn == turns - 1):
                graph.invoke(Command(resume=text()), config)


def fill(saver: Any, count: int, *, longest: int = 40) -> None:
    """Play threads of all sorts."""
    for number in range(count):
        name = [*GRAPHS][number % len(GRAPHS)]
        make, has_images = GRAPHS[name]
        graph = make().compile(checkpointer=saver)
        thread_id = f"{name}-{number:05}"
        play(graph, thread_id, longest=longest, has_images=has_images, waits=True)


def copy(database: str, times: int) -> None:
    """Have the database copy all threads under other ids."""
    if is_postgres(database):
        conn = importlib.import_module("psycopg").connect(database, autocommit=True)
        tables = ["checkpoints", "checkpoint_blobs", "checkpoint_writes"]
        names = (
            "SELECT column_name FROM information_schema.columns "
            "WHERE table_schema = current_schema() AND table_name = '{}'"
        )
    else:
        conn = importlib.import_module("sqlite3").connect(database, isolation_level=None)
        conn.execute("PRAGMA journal_mode = OFF")  # or all would be written twice
        tables = ["checkpoints", "writes"]
        names = "SELECT name FROM pragma_table_info('{}')"
    found = conn.execute("SELECT DISTINCT thread_id FROM checkpoints").fetchall()
    conn.execute("BEGIN")
    for table in tables:
        columns = {row[0]: None for row in conn.execute(names.format(table)).fetchall()}
        rest = ", ".join(name for name in columns if name != "thread_id")
        for (thread_id,), copy_number in itertools.product(found, range(1, times)):
            conn.execute(
                f"INSERT INTO {table} (thread_id, {rest}) SELECT thread_id || '-{copy_number}', "
                f"{rest} FROM {table} WHERE thread_id = '{thread_id}'"
            )
    conn.execute("COMMIT")
    conn.close()


def main() -> None:
    """Make a database."""
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    parser.add_argument("--threads", type=int, default=10_000)
    parser.add_argument("--played", type=int, default=250)
    parser.add_argument("--longest", type=int, default=60)
    asked = parser.parse_args()
    with stock(asked.database) as saver:
        fill(saver, asked.played, longest=asked.longest)
    copy(asked.database, asked.threads // asked.played)


if __name__ == "__main__":
    main()
