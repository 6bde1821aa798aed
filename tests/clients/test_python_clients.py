"""Clients of Python: a wrapped graph is nowhere worse than a plain one, and often better."""

from __future__ import annotations

import pytest
from langgraph_sdk import get_client

from demo.dev_server import DevServer
from tests.clients.graphs import ZOO
from tests.clients.judge import Verdict
from tests.clients.play import NOT_KEPT, Cell, play, python_front_ends, told
from tests.clients.python_clients import PYTHON_CLIENTS
from tests.clients.traffic import MODES, bytes_per_token

QUICK = {
    "chat",
    "handoff",
    "error",
    "copy",
    "nested_copy",
    "retry",
    "three_ok",
    "edit_beside",
    "remove_later",
    "draft",
}
QUICK_CLIENTS = ("messages", "messages-tuple sub", "all", "RemoteGraph sub", "wait")

REPEATED_BY_PLAIN = ("copy", "nested_copy", "retry")
READS_TOKENS_ALONE = "messages-tuple sub"


def text_twice(found: dict[Cell, Verdict], animal: str, front_end: str, *, wrapped: bool) -> int:
    return found[Cell(animal, front_end, wrapped)].faults["text twice"]


@pytest.mark.slow
async def test_no_graph_is_worse_wrapped_than_plain(zoo: DevServer) -> None:
    animals = [animal for animal in ZOO if animal.name in QUICK]
    async with get_client(url=zoo.url, headers=NOT_KEPT) as client:
        found = await play(zoo.url, python_front_ends(client, QUICK_CLIENTS), animals)
    assert told(found) == {}
    for name in REPEATED_BY_PLAIN:
        assert text_twice(found, name, READS_TOKENS_ALONE, wrapped=False) > 0
        assert text_twice(found, name, READS_TOKENS_ALONE, wrapped=True) == 0


@pytest.mark.product
async def test_no_graph_of_the_zoo_is_worse_in_any_client(zoo: DevServer) -> None:
    async with get_client(url=zoo.url, headers=NOT_KEPT) as client:
        found = await play(zoo.url, python_front_ends(client), ZOO)
    assert len(found) == 2 * len(ZOO) * len(PYTHON_CLIENTS)
    assert told(found) == {}


@pytest.mark.parametrize("modes", MODES)
async def test_a_token_costs_no_more_than_a_hundredth_more(zoo: DevServer, modes: str) -> None:
    plain = await bytes_per_token(zoo.url, modes, wrapped=False)
    once = await bytes_per_token(zoo.url, modes, wrapped=True)
    assert once <= 1.01 * plain
