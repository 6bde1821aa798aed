"""No setting at all: what agents hold comes back exactly after SIGKILL, on a real server.

The project in `survive_project` runs to its interrupts and is killed. It goes on from the same
database in the same folder, and from a copy of both in another.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph_sdk import get_sync_client

from demo.dev_server import DevServer
from tests.integration_tests.survive_project.shop import kinds

pytestmark = pytest.mark.slow  # servers start three times

PROJECT = Path(__file__).with_name("survive_project")
GRAPHS = tuple(json.loads((PROJECT / "langgraph.json").read_text())["graphs"])
FOLDERS = ("same folder", "moved folder")
NAMED_ELSEWHERE = {(name, FOLDERS[1]) for name in GRAPHS if name.endswith("by_absolute_path")}
"""The server names the module of a file after its absolute path (langgraph-api 0.16.7,
`_graph_from_spec`), so after a move their classes have other names, which `aliases` may tell."""

STAND_IN = "<class 'langgraph_once.serde.opaque.Opaque"

INPUT: Any = {"messages": [{"role": "user", "content": "How is it?"}]}


@dataclass
class Story:
    """What became of the threads, by graph and the folder in which they go on."""

    log: str = ""
    asked: dict[tuple[str, str], Any] = field(default_factory=dict)
    finished: dict[tuple[str, str], Any] = field(default_factory=dict)


@pytest.fixture(scope="module")
def no_settings() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("ONCE_")]:
            patch.delenv(name)
        yield


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, no_settings: None) -> Story:
    told = Story()
    folders = {name: tmp_path_factory.mktemp("at") / "project" for name in FOLDERS}
    first, moved = folders.values()
    shutil.copytree(PROJECT, first, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("kinds", "agents"):
        # A file that two graphs name is loaded twice, and only the later classes are found.
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
    config = (PROJECT / "langgraph.json").read_text().replace("{here}", str(folder))
    (folder / "langgraph.json").write_text(config)
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
    def test_the_agent_runs_to_its_interrupt(self, story: Story, graph: str, folder: str) -> None:
        asked = story.asked[graph, folder]
        assert "raised" not in asked, asked
        assert asked["next"], asked
        assert asked["interrupts"]

    def test_the_state_of_the_agent_is_read_as_before(
        self, story: Story, graph: str, folder: str
    ) -> None:
        finished = story.finished[graph, folder]
        assert "raised" not in finished, finished
        before, asked = finished["before"], story.asked[graph, folder]
        keys = ("next",) if (graph, folder) in NAMED_ELSEWHERE else ("values", "next", "interrupts")
        for key in keys:
            assert before[key] == asked[key], key

    def test_what_it_holds_comes_back_exactly(self, story: Story, graph: str, folder: str) -> None:
        finished = story.finished[graph, folder]
        assert "raised" not in finished, finished
        after = finished["after"]
        assert after["next"] == []
        found = dict(flat(after["values"]["verdicts"]))
        if (graph, folder) in NAMED_ELSEWHERE:  # a stand-in holds what the instance held
            found = {name: "same" if STAND_IN in said else said for name, said in found.items()}
        assert found == dict.fromkeys(found, "same")
        assert len(found) >= (60 if "typed" in found else 2)


def test_stock_does_not_do_better() -> None:
    """Upstream's serializer ends the run that holds them all; of the rest it changes most."""
    config: Any = {"configurable": {"thread_id": "1"}}
    with pytest.raises(TypeError, match="not msgpack serializable"):
        kinds.builder.compile(InMemorySaver()).invoke(INPUT, config)
    stock = JsonPlusSerializer(allowed_msgpack_modules=True)
    changed = set()
    for name, make in kinds.MAKERS.items():
        try:
            back = stock.loads_typed(stock.dumps_typed(make()))
        except Exception:
            changed.add(name)
            continue
        if kinds.compared(back, make()) != "same":
            changed.add(name)
    assert changed >= {"plain class", "attrs", "pydantic", "exception"}


def flat(verdicts: dict[str, Any], at: str = "") -> Iterator[tuple[str, str]]:
    for name, word in verdicts.items():
        if isinstance(word, dict):
            yield from flat(word, f"{at}{name}.")
        else:
            yield at + name, word
