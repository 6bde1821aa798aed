"""What users get: the wheel in their own project, and the image of `langgraph dockerfile`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_sync_client

from demo.dev_server import DevServer
from langgraph_once.checkpoint import open_sqlite_saver
from tests.dockerignored import is_ignored
from tests.integration_tests.tally import Tally

ROOT = Path(__file__).parents[2]
SERVED = Path(__file__).with_name("served.py")

APP = """\
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

def answer(state: MessagesState): return {"messages": [AIMessage("Forty-two.", id="answer")]}
graph = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile()
"""
MANIFEST = {
    "dependencies": ["."],
    "graphs": {
        "agent": {
            "path": "langgraph_once.platform.graphs:agent",
            "once": {"target": "agent:graph"},
        }
    },
    "checkpointer": {
        "path": "langgraph_once.platform.checkpointer.saver",
        "once": {"path": ".langgraph_once/checkpoints.sqlite"},
    },
    "http": {"app": "langgraph_once.platform.app:app"},
}


def run(*command: object, cwd: Path, **env: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder]
    run(*build, ROOT, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_our_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    packages = {folder.parent.name for folder in (ROOT / "plugin").glob("*/__init__.py")}
    assert {name.split("/")[0].split("-")[0] for name in names} == packages
    assert "langgraph_once/py.typed" in names
    assert "langgraph_once/platform/graphs.py" in names


@pytest.mark.slow
def test_a_user_with_the_wheel_serves_a_graph_and_reads_its_checkpoint(
    wheel: Path, tmp_path: Path
) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    uv = [sys.executable, "-m", "uv"]
    run(*uv, "venv", "--quiet", "--python", sys.executable, tmp_path / ".venv", cwd=tmp_path)
    install = [*uv, "pip", "install", "--quiet", "--python", python]
    pins = ROOT / "requirements.lock"
    run(*install, "--constraint", pins, f"{wheel}[server,cli]", cwd=tmp_path)
    (tmp_path / "agent.py").write_text(APP)
    command = tmp_path / ".venv" / "bin" / "langgraph-once"
    run(command, "init", "--yes", cwd=tmp_path)
    assert json.loads((tmp_path / "langgraph.json").read_text()) == MANIFEST
    assert "`survey`" in run(command, "check", cwd=tmp_path)  # which the extra `ops` would add

    config: Any = {"configurable": {}}
    served = DevServer(tmp_path / "langgraph.json", cwd=tmp_path, python=str(python))
    with served as server, get_sync_client(url=server.url) as client:
        thread_id = client.threads.create()["thread_id"]
        config["configurable"]["thread_id"] = thread_id
        tally = Tally()
        asked: Any = {"messages": [{"role": "user", "content": "What is the answer?"}]}
        graph = RemoteGraph("agent", sync_client=client)
        for chunk in graph.stream(asked, config, stream_mode="messages", version="v2"):
            tally.add(chunk)
        assert httpx.get(f"{server.url}/once").status_code == 404  # the page needs that extra, too
    assert tally.deliveries() == {"Forty-two.": 1}

    database = tmp_path / ".langgraph_once" / "checkpoints.sqlite"
    with open_sqlite_saver(database) as saver:
        found = saver.get_tuple({"configurable": {"thread_id": thread_id}})
    assert found is not None
    values = found.checkpoint["channel_values"]
    assert [message.text for message in values["messages"]] == [
        "What is the answer?",
        "Forty-two.",
    ]


@pytest.mark.slow
def test_the_image_of_langgraph_dockerfile_can_import_what_it_names(tmp_path: Path) -> None:
    """Docker itself is not here: its two steps, copy and install, are done by hand."""
    checkout = tmp_path / "main"
    tracked = run("git", "ls-files", cwd=ROOT).splitlines()
    for name in (name for name in tracked if not is_ignored(name)):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, checkout / name)
    langgraph = [sys.executable, "-m", "langgraph_cli"]
    run(*langgraph, "dockerfile", "Dockerfile", cwd=checkout, LANGGRAPH_CLI_NO_ANALYTICS="1")
    dockerfile = (checkout / "Dockerfile").read_text()
    assert re.search(r"^ADD \. /deps/main$", dockerfile, re.MULTILINE)
    environ = dict(re.findall(r"^ENV (\w+)='(.*)'$", dockerfile, re.MULTILINE))
    ours = json.loads((ROOT / "langgraph.json").read_text())
    assert json.loads(environ["LANGSERVE_GRAPHS"]) == ours["graphs"]
    assert json.loads(environ["LANGGRAPH_CHECKPOINTER"]) == ours["checkpointer"]
    assert json.loads(environ["LANGGRAPH_HTTP"])["once"] == ours["http"]["once"]

    image = tmp_path / "image"
    run(sys.executable, "-m", "venv", "--without-pip", image, cwd=tmp_path)
    python = image / "bin" / "python"
    installed = next(path for path in sys.path if path.endswith("site-packages"))
    install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python]
    flags = ["--no-deps", "--no-build-isolation", "--editable"]
    run(*install, *flags, checkout, cwd=tmp_path, PYTHONPATH=installed)
    code = (
        "import langgraph_once.platform.graphs as graphs, langgraph_once as package\n"
        "from langgraph_once.platform.checkpointer import saver\n"
        "from langgraph_once.platform.app import app\n"
        "from graphs.research.graph import graph\n"
        "from langgraph_once.stream import OnceStreams\n"
        "print(isinstance(graphs.research, OnceStreams), package.__file__)"
    )
    printed = run(python, "-c", code, cwd=tmp_path, PYTHONPATH=installed, **environ)
    is_wrapped, file = printed.split()
    assert is_wrapped == "True"
    assert Path(file).is_relative_to(checkout)
