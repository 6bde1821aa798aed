"""Two real servers on one PostgreSQL, which serve one thread in turns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph.types import Command
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from demo.dev_server import DevServer
from langgraph_once import DedupConfig, Ledger, OnceRemoteGraph
from tests.integration_tests.tally import Tally, message_texts
from tests.integration_tests.test_server import ASKED, OPTIONS
from tests.postgres_server import postgres_server

AUTO = DedupConfig(state="auto")

Replicas = tuple[SyncLangGraphClient, SyncLangGraphClient]


@pytest.fixture(scope="module")
def replicas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replicas]:
    config = Path(__file__).with_name("langgraph.json")
    with ExitStack() as stack:
        env = {"ONCE_DATABASE_URL": stack.enter_context(postgres_server())}
        folders = [tmp_path_factory.mktemp(name) for name in ("one", "two")]
        servers = [DevServer(config, cwd=folder, env=env) for folder in folders]
        running = [stack.enter_context(server) for server in servers]
        one, two = (stack.enter_context(get_sync_client(url=each.url)) for each in running)
        for each in running:
            assert httpx.get(f"{each.url}/once/health").status_code == 200
        yield one, two


def known_to(client: SyncLangGraphClient, thread_id: str, graph_id: str = "research") -> None:
    """Tell a server of a thread: the list of threads is its runtime's, and in memory."""
    client.threads.create(thread_id=thread_id, if_exists="do_nothing", graph_id=graph_id)


@pytest.mark.slow
def test_one_replica_asks_and_the_other_goes_on_and_repeats_nothing(replicas: Replicas) -> None:
    one, two = replicas
    thread_id = one.threads.create()["thread_id"]
    config: Any = {"configurable": {"thread_id": thread_id}}
    tally, ledger = Tally(), Ledger()
    turns: list[tuple[SyncLangGraphClient, Any]] = [(one, ASKED), (two, Command(resume="approve"))]
    for client, asked in turns:
        known_to(client, thread_id)
        graph = OnceRemoteGraph("research", sync_client=client, dedup=AUTO)
        for chunk in graph.stream(asked, config, **OPTIONS, ledger=ledger):
            tally.add(chunk)
    final = OnceRemoteGraph("research", sync_client=one).get_state(config)
    assert final.next == ()
    texts = message_texts(final.values)
    assert len(texts) == 7
    assert tally.duplicates == 0
    assert tally.lost(texts) == []


@pytest.mark.slow
def test_what_one_replica_does_to_a_thread_the_other_sees(replicas: Replicas) -> None:
    one, two = replicas
    thread_id = one.threads.create()["thread_id"]
    known_to(two, thread_id, "copying")
    for client in (one, two, one):
        client.runs.wait(thread_id, "copying", input=ASKED)
    histories: list[Any] = [each.threads.get_history(thread_id, limit=100) for each in replicas]
    assert len(histories[0]) == 9
    assert histories[0] == histories[1]

    past = histories[0][3]["checkpoint"]  # the end of the second turn
    two.runs.wait(thread_id, "copying", input=ASKED, checkpoint=past)  # a fork
    forked: Any = one.threads.get_state(thread_id)
    assert len(forked["values"]["messages"]) == 6
    copied: Any = two.threads.copy(thread_id)  # type: ignore[func-returns-value]  # the SDK says it returns nothing
    known_to(one, copied["thread_id"], "copying")
    one.threads.update_state(copied["thread_id"], {"messages": []}, as_node="node")
    changed: Any = two.threads.get_state(copied["thread_id"])
    assert changed["metadata"]["source"] == "update"
    one.threads.prune([thread_id], strategy="delete")
    assert two.threads.get_history(thread_id, limit=100) == []
