"""A plain server, without anything of ours, goes on with threads that ours began."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client

from demo.dev_server import DevServer

APP = """
import operator
from typing import Annotated

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send, interrupt


class State(MessagesState, total=False):
    done: Annotated[list[int], operator.add]
    number: int


def plan(state):
    return {"messages": [AIMessage("planned " * 5000, id="plan")]}


def spread(state):
    return [Send("work", {"number": number}) for number in range(3)]


def work(state):
    return {"done": [state["number"]]}


def ask(state):
    return {"messages": [AIMessage(interrupt("May I?"), id="answer")]}


inner = StateGraph(MessagesState).add_node("ask", ask).add_edge(START, "ask").compile()
graph = (
    StateGraph(State)
    .add_node("plan", plan)
    .add_node("work", work)
    .add_node("inner", inner)
    .add_edge(START, "plan")
    .add_conditional_edges("plan", spread, ["work"])
    .add_edge("work", "inner")
)
"""
STOCK = """
from contextlib import asynccontextmanager

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver


@asynccontextmanager
async def saver():
    async with AsyncSqliteSaver.from_conn_string("threads.sqlite") as opened:
        yield opened
"""
OURS = "langgraph_once.platform.checkpointer.saver"


def server(folder: Path, saver: str) -> DevServer:
    config = folder / "langgraph.json"
    graphs = {"graph": "./app.py:graph"}
    checkpointer = {"path": saver}
    manifest = {"dependencies": ["."], "graphs": graphs, "checkpointer": checkpointer}
    config.write_text(json.dumps(manifest))
    return DevServer(config, cwd=folder, env=settings())


def settings() -> dict[str, str]:
    return {"ONCE_CHECKPOINT__PATH": "threads.sqlite"}


@pytest.mark.slow
def test_a_plain_server_resumes_what_ours_began(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "stock.py").write_text(STOCK)
    began: dict[str, Any] = {}
    with server(tmp_path, OURS) as running, get_sync_client(url=running.url) as client:
        for _ in range(3):
            thread_id = client.threads.create()["thread_id"]
            asked: Any = {"messages": [{"role": "user", "content": "Hello", "id": "hello"}]}
            client.runs.wait(thread_id, "graph", input=asked)
            began[thread_id] = client.threads.get_state(thread_id)
    command = [sys.executable, "-m", "langgraph_once.cli", "migrate", "--to", "msgpack"]
    run = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, **settings()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "dropped" in run.stdout
    with server(tmp_path, "./stock.py:saver") as running:
        with get_sync_client(url=running.url) as client:
            for thread_id, before in began.items():
                state: Any = client.threads.get_state(thread_id)
                for part in ("values", "next", "interrupts", "checkpoint", "parent_checkpoint"):
                    assert state[part] == before[part]
                assert [each["value"] for each in state["interrupts"]] == ["May I?"]
                end: Any = client.runs.wait(thread_id, "graph", command={"resume": "Yes"})
                assert end["messages"][-1]["content"] == "Yes"
                assert end["done"] == [0, 1, 2]
                assert len(client.threads.get_history(thread_id)) == 5
        assert "langgraph_once" not in running.log
