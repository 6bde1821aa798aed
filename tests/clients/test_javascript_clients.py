"""Front ends of npm: a wrapped graph is nowhere worse than a plain one."""

from __future__ import annotations

import json

import pytest

from demo.dev_server import DevServer
from tests.clients.graphs import ZOO
from tests.clients.javascript_clients import SOURCES, VARIANTS, javascript_front_ends
from tests.clients.play import Cell, FrontEnd, play
from tests.clients.test_python_clients import text_twice, told
from tests.integration_tests.npm import NEEDS_NPM, check_lock

pytestmark = NEEDS_NPM

NAMES = [f"{project} {name}".strip() for project, found in VARIANTS.items() for name in found]
TELLS_STATES = [name for name in NAMES if name.startswith("use-stream")]
REPEATED_BY_PLAIN = ("copy", "retry", "retry_whole", "parallel_retry")


@pytest.fixture(scope="module")
def front_ends(tmp_path_factory: pytest.TempPathFactory) -> dict[str, FrontEnd]:
    return javascript_front_ends(tmp_path_factory.mktemp("npm"))


@pytest.mark.parametrize("project", VARIANTS)
def test_the_lock_pins_what_is_asked_for_and_names_no_registry(project: str) -> None:
    for package in json.loads((SOURCES / project / "package.json").read_text())["dependencies"]:
        check_lock(SOURCES / project, package)


@pytest.mark.product
@pytest.mark.parametrize("name", NAMES)
async def test_no_graph_of_the_zoo_is_worse(
    zoo: DevServer, front_ends: dict[str, FrontEnd], name: str
) -> None:
    found = await play(zoo.url, {name: front_ends[name]}, ZOO, again=2)
    assert told(found) == {}
    if name in TELLS_STATES:
        for animal in REPEATED_BY_PLAIN:
            assert text_twice(found, animal, name, wrapped=False) > 0
            assert text_twice(found, animal, name, wrapped=True) == 0
    assert not any(found[Cell("chat", name, wrapped)].faults for wrapped in (False, True))
