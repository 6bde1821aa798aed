"""Aegra, which adds up the chunks of one id: wrapped graphs run, and none is shown worse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langgraph_sdk import get_client, get_sync_client

from langgraph_once import OnceRemoteGraph, stream_run
from tests.agents.fold import folded
from tests.clients.graphs import ZOO
from tests.clients.graphs.zoo import asks
from tests.clients.play import NOT_KEPT, play, python_front_ends, told
from tests.clients.python_clients import PYTHON_CLIENTS
from tests.clients.server import wrapped_name
from tests.integration_tests.aegra import aegra_server
from tests.postgres_server import postgres_server

pytestmark = pytest.mark.product

NAMES = ("chat", "tools", "retry", "edit", "remove", "nested_copy")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with (
        postgres_server() as database,
        aegra_server(tmp_path_factory.mktemp("aegra"), database) as address,
    ):
        yield address


@pytest.mark.parametrize("name", PYTHON_CLIENTS)
async def test_no_wrapped_graph_is_shown_worse(name: str, url: str) -> None:
    async with get_client(url=url, headers=NOT_KEPT) as client:
        found = await play(url, python_front_ends(client, [name]), ZOO, again=3)
    assert told(found) == {}
    assert not any(verdict.faults["run failed"] for verdict in found.values())


@pytest.mark.parametrize("reader", ["OnceRemoteGraph", "stream_run"])
@pytest.mark.parametrize("name", NAMES)
def test_our_readers_fold_a_wrapped_graph_to_its_state(name: str, reader: str, url: str) -> None:
    asked: Any = asks("Oslo")["input"]
    with get_sync_client(url=url, headers=NOT_KEPT) as client:
        thread = client.threads.create()["thread_id"]
        if reader == "stream_run":
            run = stream_run(
                client, thread, wrapped_name(name), input=asked, stream_mode=["messages"]
            )
            said = [part.data for part in run if part.mode == "messages"]
        else:
            graph = OnceRemoteGraph(wrapped_name(name), url=url, sync_client=client)
            config: Any = {"configurable": {"thread_id": thread}}
            said = [m for m, _ in graph.stream(asked, config, stream_mode="messages")]
        values: Any = client.threads.get_state(thread)["values"]
    has = {(known, str(message.text)) for known, message in folded(said).items() if message.text}
    answers = [m for m in values["messages"] if m["type"] != "human" and m["content"]]
    assert has == {(m["id"], m["content"]) for m in answers}
