"""Front ends of npm: a wrapped graph is nowhere worse than a plain one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from demo.dev_server import DevServer
from tests.clients.graphs import ZOO, Animal
from tests.clients.javascript_clients import SOURCES, VARIANTS, javascript_front_ends
from tests.clients.play import Cell, FrontEnd, play, told
from tests.clients.test_python_clients import text_twice
from tests.integration_tests.npm import NEEDS_NPM, check_lock

pytestmark = NEEDS_NPM

PROJECTS = list(VARIANTS)
TELLS_STATES = ("use-stream-1", "use-stream-2")
REPEATED_BY_PLAIN = ("copy", "retry_whole")
QUICK = {"chat", "edit_beside", "remove_later", "draft", *REPEATED_BY_PLAIN}


@pytest.mark.parametrize("project", PROJECTS)
def test_the_lock_pins_what_is_asked_for_and_names_no_registry(project: str) -> None:
    for package in json.loads((SOURCES / project / "package.json").read_text())["dependencies"]:
        check_lock(SOURCES / project, package)


@pytest.mark.slow
async def test_the_newest_use_stream_shows_no_graph_worse(zoo: DevServer, tmp_path: Path) -> None:
    front_ends = javascript_front_ends(tmp_path, ["use-stream-2"])
    animals = [animal for animal in ZOO if animal.name in QUICK]
    await check(zoo, "use-stream-2", front_ends["use-stream-2"], animals)


@pytest.mark.product
@pytest.mark.parametrize("project", PROJECTS)
async def test_no_graph_of_the_zoo_is_worse(zoo: DevServer, tmp_path: Path, project: str) -> None:
    for name, front_end in javascript_front_ends(tmp_path, [project]).items():
        await check(zoo, name, front_end, ZOO)


async def check(zoo: DevServer, name: str, front_end: FrontEnd, animals: Sequence[Animal]) -> None:
    """Nothing is worse wrapped, nothing is wrong with a chat, and repetitions are gone."""
    found = await play(zoo.url, {name: front_end}, animals, again=5)
    assert told(found) == {}
    assert not any(found[Cell("chat", name, wrapped)].faults for wrapped in (False, True))
    for animal in REPEATED_BY_PLAIN if name.startswith(TELLS_STATES) else ():
        assert text_twice(found, animal, name, wrapped=False) > 0
        assert text_twice(found, animal, name, wrapped=True) == 0
