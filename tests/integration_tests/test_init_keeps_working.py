"""What worked before `langgraph-once init` works after it: every form of a graph, on a server."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_sync_client

from demo.dev_server import DevServer

PACKAGE = """\
from dataclasses import dataclass
from typing import Annotated
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

@dataclass
class Point:
    x: int

class State(MessagesState):
    point: Point

def answer(state): return {"messages": [AIMessage("Forty-two.", id="a")], "point": Point(1)}
builder = StateGraph(State).add_node(answer).add_edge(START, "answer")
graph = builder.compile(name="New Graph")
"""
FORMS = """\
from contextlib import asynccontextmanager, contextmanager
from langchain_core.runnables import RunnableConfig
from langgraph.func import entrypoint
from langgraph_sdk.runtime import ServerRuntime
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from agent.graph import builder, graph

def by_config(config: RunnableConfig): return builder
async def by_runtime(runtime: ServerRuntime): return graph
@contextmanager
def entered(): yield graph
@asynccontextmanager
async def entered_async(config: RunnableConfig): yield graph
async def remember(state: MessagesState, runtime: Runtime):
    notes = len(await runtime.store.asearch(("notes",)))
    await runtime.store.aput(("notes",), str(notes), {"said": state["messages"][-1].text})
    return {"messages": [AIMessage(f"{notes} notes before.", id="a")]}
memory = StateGraph(MessagesState).add_node(remember).add_edge(START, "remember").compile()
@entrypoint()
def flow(question: dict) -> dict: return {"answer": 42, "asked": question["messages"][0]["content"]}
"""
WEB = """\
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
async def mine(request): return PlainTextResponse("mine")
app = Starlette(routes=[Route("/mine", mine)])
"""
GRAPHS = {
    "agent": "./src/agent/graph.py:graph",
    "dotted": "agent.graph:graph",
    "with words": {"path": "agent.graph:builder", "description": "A builder."},
    **{name: f"./forms.py:{name}" for name in ("by_config", "by_runtime")},
    **{name: f"./forms.py:{name}" for name in ("entered", "entered_async", "flow", "memory")},
}
ASKED: Any = {"messages": [{"role": "user", "content": "What?", "id": "q"}]}


def answers(folder: Path, env: dict[str, str]) -> dict[str, Any]:
    """What each graph answers in a thread, the state of the thread, and what their own app does."""
    found: dict[str, Any] = {}
    served = DevServer(folder / "langgraph.json", cwd=folder, env=env)
    with served as server, get_sync_client(url=server.url) as client:
        for name in GRAPHS:
            thread_id = client.threads.create()["thread_id"]
            result = client.runs.wait(thread_id, name, input=ASKED)
            found[name] = (result, client.threads.get_state(thread_id)["values"])
        found["assistants"] = sorted(
            (each["graph_id"], each["name"], each["description"])
            for each in client.assistants.search(limit=100)
        )
        for name in GRAPHS:
            (assistant,) = client.assistants.search(graph_id=name)
            found[f"schemas of {name}"] = client.assistants.get_schemas(assistant["assistant_id"])
        found["app"] = httpx.get(f"{server.url}/mine").text
    return found


@pytest.mark.slow
def test_every_graph_answers_as_before(tmp_path: Path) -> None:
    package = tmp_path / "src" / "agent"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "graph.py").write_text(PACKAGE)
    (tmp_path / "forms.py").write_text(FORMS)
    (tmp_path / "web.py").write_text(WEB)
    manifest = {"dependencies": ["."], "graphs": GRAPHS, "http": {"app": "./web.py:app"}}
    manifest["store"] = {"ttl": {"default_ttl": 5}}
    (tmp_path / "langgraph.json").write_text(json.dumps(manifest, indent=2))
    env = {"PYTHONPATH": str(tmp_path / "src")}  # as if it were installed
    before = answers(tmp_path, env)
    assert before["flow"][0] == {"answer": 42, "asked": "What?"}

    wiring = [sys.executable, "-m", "langgraph_once", "init", "--store", "--yes"]
    told = subprocess.check_output(wiring, cwd=tmp_path, env={**os.environ, **env}, text=True)
    for name in GRAPHS:
        assert f"graphs.{name}: left" not in told
        assert f"graphs.{name}: " in told
    assert "http: left as it is; it is './web.py:app' already" in told
    assert answers(tmp_path, env) == before
    with sqlite3.connect(tmp_path / ".langgraph_once" / "store.sqlite") as conn:
        rows = conn.execute("SELECT value FROM store WHERE expires_at IS NOT NULL").fetchall()
    conn.close()
    assert [json.loads(row) for (row,) in rows] == [{"said": "What?"}]
