"""Two real servers on one PostgreSQL, one with LangGraph's saver: neither breaks the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from demo.dev_server import DevServer
from tests.integration_tests.test_way_out import APP, OURS
from tests.postgres_server import postgres_server

pytestmark = pytest.mark.product

STOCK = """
import os
from contextlib import asynccontextmanager

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver


@asynccontextmanager
async def saver():
    async with AsyncPostgresSaver.from_conn_string(os.environ["ONCE_DATABASE_URL"]) as opened:
        await opened.setup()
        yield opened
"""
ASKED: Any = {"messages": [{"role": "user", "content": "Hello", "id": "hello"}]}


@contextmanager
def server(folder: Path, saver: str, **env: str) -> Iterator[tuple[DevServer, Any]]:
    folder.mkdir()
    (folder / "app.py").write_text(APP)
    (folder / "stock.py").write_text(STOCK)
    config = folder / "langgraph.json"
    graphs = {"graph": "./app.py:graph"}
    manifest = {"dependencies": ["."], "graphs": graphs, "checkpointer": {"path": saver}}
    config.write_text(json.dumps(manifest))
    running = DevServer(config, cwd=folder, env=env)
    with running, get_sync_client(url=running.url) as client:
        yield running, client


def looked_at(client: SyncLangGraphClient, thread_id: str) -> dict[str, Any]:
    """All that a server says of a thread; it is told of it first: its list is in memory."""
    client.threads.create(thread_id=thread_id, if_exists="do_nothing", graph_id="graph")
    parts = ("values", "next", "interrupts", "checkpoint", "parent_checkpoint", "metadata")
    state: Any = client.threads.get_state(thread_id, subgraphs=True)
    history: list[Any] = client.threads.get_history(thread_id, limit=20)
    return {
        "state": {part: state[part] for part in parts},
        "history": [{part: each[part] for part in parts} for each in history],
    }


def test_replicas_of_both_serve_one_thread_in_turns(tmp_path: Path) -> None:
    with ExitStack() as stack:
        env = {"ONCE_DATABASE_URL": stack.enter_context(postgres_server())}
        _, stock = stack.enter_context(server(tmp_path / "stock", "./stock.py:saver", **env))
        compatible = {**env, "ONCE_SERDE__COMPATIBLE": "true"}
        first = stack.enter_context(server(tmp_path / "first", OURS, **compatible))
        both = [stock, first[1]]
        threads = []
        for begins, resumes in ((0, 1), (1, 0), (0, 0), (1, 1)):
            thread_id = both[begins].threads.create()["thread_id"]
            both[begins].runs.wait(thread_id, "graph", input=ASKED)
            seen = [looked_at(client, thread_id) for client in both]
            assert seen[0] == seen[1]
            end = both[resumes].runs.wait(thread_id, "graph", command={"resume": "Yes"})
            assert end["messages"][-1]["content"] == "Yes"
            seen = [looked_at(client, thread_id) for client in both]
            assert seen[0] == seen[1]
            assert seen[0]["state"]["values"]["done"] == [0, 1, 2]
            both[1 - resumes].runs.wait(thread_id, "graph", input=ASKED)  # another turn
            threads.append(thread_id)
        # The second deploy: `compatible` is off. It is told while a stock row is young.
        second, alone = stack.enter_context(server(tmp_path / "second", OURS, **env))
        for thread_id in threads:
            assert looked_at(alone, thread_id)["state"]["interrupts"]
            alone.runs.wait(thread_id, "graph", command={"resume": "Again"})
            # A replica of the first deploy reads what the second writes.
            assert looked_at(both[1], thread_id) == looked_at(alone, thread_id)
        assert "LangGraph's saver, or ours" in second.log
