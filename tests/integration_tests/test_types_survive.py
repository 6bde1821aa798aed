"""No setting at all: what agents hold comes back exactly after SIGKILL, on a real server.

The project in `survive_project` runs to its interrupts and is killed. It goes on from the same
database in the same folder, and from a copy of both in another.
"""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client

from demo.dev_server import DevServer

PROJECT = Path(__file__).with_name("survive_project")
GRAPHS = tuple(json.loads((PROJECT / "langgraph.json").read_text())["graphs"])
FOLDERS = ("same folder", "moved folder")
INPUT: Any = {"messages": [{"role": "user", "content": "How is it?"}]}


@dataclass
class Story:
    """What became of the threads, by graph and the folder in which they go on."""

    log: str = ""
    asked: dict[tuple[str, str], Any] = field(default_factory=dict)
    finished: dict[tuple[str, str], Any] = field(default_factory=dict)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    told = Story()
    folders = {name: tmp_path_factory.mktemp("at") / "project" for name in FOLDERS}
    first, moved = folders.values()
    shutil.copytree(PROJECT, first, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("kinds", "agents"):
        # A file that two graphs name is loaded twice, and the classes of the first are out of reach.
        shutil.copy(first / "shop" / f"{name}.py", first / "shop" / f"{name}_copy.py")
    server = serving(first)
    with server:
        told.asked = each(server, FOLDERS, run)
        server.kill()
        # Not what the server itself remembers of threads: that is not ours.
        shutil.copytree(first, moved, ignore=shutil.ignore_patterns(".langgraph_api"))
        server.start()
        told.finished = each(server, FOLDERS[:1], resume)
    told.log = server.log
    with serving(moved) as server:
        told.finished |= each(server, FOLDERS[1:], resume)
        told.log += server.log
    return told


def serving(folder: Path) -> DevServer:
    return DevServer(folder / "langgraph.json", cwd=folder)


def each(server: DevServer, folders: tuple[str, ...], act: Any) -> dict[tuple[str, str], Any]:
    """Do it with each graph; what fails is a result, too."""
    pairs = [(graph, folder) for graph in GRAPHS for folder in folders]

    def acted(pair: tuple[str, str]) -> Any:
        with get_sync_client(url=server.url) as client:
            try:
                return act(client, *pair)
            except Exception as error:
                return {"raised": repr(error)}

    with ThreadPoolExecutor(4) as pool:
        return dict(zip(pairs, pool.map(acted, pairs), strict=True))


def thread_id(graph: str, folder: str) -> str:
    return f"00000000-0000-4000-8000-{GRAPHS.index(graph):06}{FOLDERS.index(folder):06}"


def run(client: Any, graph: str, folder: str) -> Any:
    thread = thread_id(graph, folder)
    client.threads.create(thread_id=thread, graph_id=graph)
    client.runs.wait(thread, graph, input=INPUT, raise_error=True)
    return client.threads.get_state(thread)


def resume(client: Any, graph: str, folder: str) -> Any:
    thread = thread_id(graph, folder)
    client.threads.create(thread_id=thread, if_exists="do_nothing", graph_id=graph)
    before = client.threads.get_state(thread)
    client.runs.wait(thread, graph, command={"resume": "go on"}, raise_error=True)
    return {"before": before, "after": client.threads.get_state(thread)}


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("graph", GRAPHS)
class TestSurvival:
    def test_it_runs_to_its_interrupt(self, story: Story, graph: str, folder: str) -> None:
        asked = story.asked[graph, folder]
        assert "raised" not in asked, asked
        assert asked["next"], asked
        assert asked["interrupts"]

    def test_its_state_is_read_as_before(self, story: Story, graph: str, folder: str) -> None:
        finished = story.finished[graph, folder]
        assert "raised" not in finished, finished
        before, asked = finished["before"], story.asked[graph, folder]
        for key in ("values", "next", "interrupts"):
            assert before[key] == asked[key], key

    def test_what_it_holds_comes_back_exactly(self, story: Story, graph: str, folder: str) -> None:
        finished = story.finished[graph, folder]
        assert "raised" not in finished, finished
        after = finished["after"]
        assert after["next"] == []
        found = dict(flat(after["values"]["verdicts"]))
        # A class made in a function is gone: what it held is kept.
        local = {name: word for name, word in found.items() if name.startswith("local.")}
        assert {name: word for name, word in found.items() if name not in local} == dict.fromkeys(
            found.keys() - local.keys(), "same"
        )
        assert set(local.values()) <= {"Opaque"}
        assert len(found) >= (60 if "local.0" in found else 2)


def flat(verdicts: dict[str, Any], at: str = "") -> Any:
    for name, word in verdicts.items():
        yield from flat(word, f"{at}{name}.") if isinstance(word, dict) else [(at + name, word)]
