"""What shows is loaded for who asks for it: no server and no program pays for it before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import asyncio, sys

def shows():
    shown = ("langgraph_once.compare", "langgraph_once_ops.page.watched")
    return sorted(name for name in sys.modules if name.startswith(shown))

import langgraph_once
assert not shows(), shows()

import langgraph_once.__main__
assert not shows(), shows()

from langgraph_once.platform.graphs import agent
from langgraph_once.platform.checkpointer import saver

async def run():
    async with saver() as opened:
        assert await opened.aget_tuple({"configurable": {"thread_id": "t"}}) is None
    await agent.ainvoke({"value": 1})

asyncio.run(run())
assert not shows(), shows()

from starlette.testclient import TestClient
from langgraph_once.platform.app import app
far = TestClient(app, client=("192.0.2.7", 5000), base_url="http://example.com")
assert far.get("/once/health").status_code == 200
assert far.get("/once").status_code == 404
assert not shows(), shows()

here = TestClient(app, client=("127.0.0.1", 5000), base_url="http://127.0.0.1:2024")
assert here.get("/once").status_code == 200
assert "langgraph_once_ops.page.watched" in shows()
"""


@pytest.mark.slow
def test_a_server_loads_the_page_for_the_first_who_may_see_it(tmp_path: Path) -> None:
    Path(tmp_path, "counting.py").write_text(
        "from typing import TypedDict\n"
        "from langgraph.graph import START, StateGraph\n"
        "class State(TypedDict):\n    value: int\n"
        "builder = StateGraph(State).add_node('add', lambda state: {'value': state['value'] + 1})\n"
        "graph = builder.add_edge(START, 'add').compile()\n"
    )
    path = "langgraph_once.platform.graphs:agent"
    graphs = {"agent": {"path": path, "once": {"target": "counting:graph"}}}
    env = {
        **os.environ,
        "LANGSERVE_GRAPHS": json.dumps(graphs),
        "LANGSMITH_LANGGRAPH_API_VARIANT": "local_dev",
        "ONCE_CHECKPOINT__PATH": str(tmp_path / "threads.sqlite"),
        "PYTHONPATH": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
