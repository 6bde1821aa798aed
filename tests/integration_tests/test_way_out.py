"""Where this package is not installed, threads go on that it began.

`bare` is a Python that has every package of this one but ours: ours is the only one that is found
by a `.pth` file, and `bare` reads none of them. It is asked to import ours, and cannot.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client

from demo.dev_server import DevServer
from tests.docs.snippets import ROOT
from tests.forked import run_python

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
OURS = "langgraph_once.platform.checkpointer.saver"


BEGIN = """
from app import graph
from langgraph_once.checkpoint import open_sqlite_saver

with open_sqlite_saver("data/threads.sqlite") as saver:
    asked = {"messages": [("user", "Hello")]}
    graph.compile(saver).invoke(asked, {"configurable": {"thread_id": "1"}})
"""
RESUME = """
from app import graph
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

with SqliteSaver.from_conn_string("data/threads.sqlite") as saver:
    config = {"configurable": {"thread_id": "1"}}
    waiting = graph.compile(saver)
    (asked,) = waiting.get_state(config).interrupts
    end = waiting.invoke(Command(resume="Yes"), config)
    print(asked.value, end["messages"][-1].content, end["done"])
"""


@pytest.fixture(name="bare", scope="module")
def _bare(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(subprocess.check_output([python, "-c", where], text=True).strip())
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    tried = subprocess.run(
        [python, "-c", "import langgraph, langgraph_once"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "No module named 'langgraph_once'" in tried.stderr
    return str(python)


def test_without_the_package_an_open_interrupt_is_resumed(bare: str, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "data").mkdir()
    env = {**os.environ, **settings()}
    began = run_python("-c", BEGIN, cwd=tmp_path)
    assert began.returncode == 0, began.stderr
    (tmp_path / "resume.py").write_text(RESUME)
    resume = [bare, "resume.py"]
    too_soon = subprocess.run(resume, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "Unknown serialization type" in too_soon.stderr
    left = run_python("-m", "langgraph_once", "migrate", "--to", "msgpack", cwd=tmp_path, env=env)
    assert left.returncode == 0, left.stderr
    resumed = subprocess.run(resume, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert resumed.stdout == "May I? Yes [0, 1, 2]\n", resumed.stderr


def saver_of_the_page() -> str:
    """What docs/checkpoints.md shows as `saver.py`."""
    page = (ROOT / "docs" / "checkpoints.md").read_text()
    block = page.partition("   ```python\n")[2].partition("   ```\n")[0]
    return textwrap.dedent(block)


def server(folder: Path, saver: str, python: str = sys.executable) -> DevServer:
    config = folder / "langgraph.json"
    graphs = {"graph": "./app.py:graph"}
    checkpointer = {"path": saver}
    manifest = {"dependencies": ["."], "graphs": graphs, "checkpointer": checkpointer}
    config.write_text(json.dumps(manifest))
    return DevServer(config, cwd=folder, env=settings(), python=python)


def settings() -> dict[str, str]:
    return {"ONCE_CHECKPOINT__PATH": "data/threads.sqlite"}


@pytest.mark.slow
def test_a_plain_server_resumes_what_ours_began(bare: str, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "saver.py").write_text(saver_of_the_page())
    began: dict[str, Any] = {}
    with server(tmp_path, OURS) as running, get_sync_client(url=running.url) as client:
        for _ in range(3):
            thread_id = client.threads.create()["thread_id"]
            asked: Any = {"messages": [{"role": "user", "content": "Hello", "id": "hello"}]}
            client.runs.wait(thread_id, "graph", input=asked)
            began[thread_id] = client.threads.get_state(thread_id)
    command = [sys.executable, "-m", "langgraph_once", "migrate", "--to", "msgpack"]
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
    with server(tmp_path, "./saver.py:saver", bare) as running:
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
