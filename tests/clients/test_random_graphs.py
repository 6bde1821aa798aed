"""Graphs made by chance: none is worse wrapped than plain. What fails is told with its seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from langgraph_sdk import get_client

from demo.dev_server import DevServer
from tests.clients.javascript_clients import javascript_front_ends
from tests.clients.play import NOT_KEPT, FrontEnd, play, python_front_ends, told
from tests.clients.random_graphs import SEED_KEY, animal, assistant_id, make_assistants
from tests.clients.server import RANDOM, wrapped_name
from tests.integration_tests.npm import NEEDS_NPM

FEW = range(12)
MANY = range(200)


async def worse_of(
    url: str, front_ends: Mapping[str, FrontEnd], seeds: Iterable[int]
) -> dict[str, list[str]]:
    async with get_client(url=url, headers=NOT_KEPT) as client:
        await make_assistants(client, seeds)
    found = await play(url, front_ends, map(animal, seeds), again=3, served=assistant_id)
    assert any(verdict.faults["text twice"] for c, verdict in found.items() if not c.wrapped)
    return told(found)


async def test_an_assistant_of_a_seed_runs_its_graph(zoo: DevServer) -> None:
    async with get_client(url=zoo.url, headers=NOT_KEPT) as client:
        await make_assistants(client, [3])
        for wrapped in (False, True):
            made = await client.assistants.get(assistant_id(animal(3), wrapped))
            assert made["graph_id"] == (wrapped_name(RANDOM) if wrapped else RANDOM)
            assert made["config"]["configurable"][SEED_KEY] == 3
            drawn = await client.assistants.get_graph(made["assistant_id"])
            assert {node["id"] for node in drawn["nodes"]} == set(animal(3).graph.get_graph().nodes)


@pytest.mark.slow
async def test_few_random_graphs_are_no_worse(zoo: DevServer) -> None:
    async with get_client(url=zoo.url, headers=NOT_KEPT) as client:
        assert await worse_of(zoo.url, python_front_ends(client, ["messages"]), FEW) == {}


@pytest.mark.product
async def test_no_random_graph_is_worse(zoo: DevServer) -> None:
    async with get_client(url=zoo.url, headers=NOT_KEPT) as client:
        assert await worse_of(zoo.url, python_front_ends(client, ["messages", "all"]), MANY) == {}


@NEEDS_NPM
@pytest.mark.product
async def test_no_random_graph_is_worse_in_use_stream(zoo: DevServer, tmp_path: Path) -> None:
    front_ends = javascript_front_ends(tmp_path, ["use-stream-1", "use-stream-2"])
    both = {name: front_end for name, front_end in front_ends.items() if "sub" not in name}
    assert await worse_of(zoo.url, both, MANY) == {}
