"""Graphs by chance in both lines of `useStream`: nothing that nobody thought of is worse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.dev_server import DevServer
from tests.clients.graphs import served_chance
from tests.clients.graphs.served_chance import BY_CHANCE
from tests.clients.javascript_clients import javascript_front_ends
from tests.clients.play import play, told
from tests.clients.server import zoo_server
from tests.integration_tests.npm import NEEDS_NPM

pytestmark = [NEEDS_NPM, pytest.mark.product]


@pytest.fixture(scope="module")
def chance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    folder = tmp_path_factory.mktemp("chance")
    with zoo_server(folder, BY_CHANCE, served_chance.__name__) as running:
        yield running


@pytest.mark.parametrize("name", ["use-stream-1", "use-stream-2"])
async def test_no_graph_by_chance_is_worse(chance: DevServer, tmp_path: Path, name: str) -> None:
    front_end = javascript_front_ends(tmp_path, [name])[name]
    found = await play(chance.url, {name: front_end}, BY_CHANCE, again=2)
    assert told(found) == {}
    repeated = dict.fromkeys((False, True), 0)
    for cell, verdict in found.items():
        repeated[cell.wrapped] += verdict.faults["text twice"]
    assert repeated[False] > 0
    assert repeated[True] == 0
