"""Graphs on PostgreSQL have what they have in memory, by their sync and their async methods."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langgraph_once import OnceSerializer, SerdeConfig
from langgraph_once.checkpoint import OncePostgresSaver, open_postgres_saver, values
from langgraph_once.checkpoint.database import Program, Statement
from langgraph_once.stream import StreamAddress
from tests.unit_tests.checkpoint.lives import KEYS, TABLES
from tests.unit_tests.checkpoint.whole_graph import START_INPUT, Graph, build, on, told


async def as_sync(graph: Graph) -> tuple[Any, ...]:
    return await asyncio.to_thread(sync_story, graph)


def sync_story(graph: Graph) -> tuple[Any, ...]:
    graph.invoke(START_INPUT, on("t"))
    asked = told(graph.get_state(on("t"), subgraphs=True))
    graph.invoke(Command(resume="yes"), on("t"))
    graph.invoke({"ratio": 0.5, "messages": [HumanMessage("again", id="again")]}, on("t"))
    graph.invoke(Command(resume="no"), on("t"))
    history = list(graph.get_state_history(on("t")))
    (third,) = [each for each in history if told(each)[2] == 3]
    forked = graph.update_state(third.config, {"text": "forked", "log": ["fork"]}, as_node="plan")
    graph.invoke(None, forked)
    return asked, [told(each) for each in history], told(graph.get_state(on("t")))


async def async_story(graph: Graph) -> tuple[Any, ...]:
    await graph.ainvoke(START_INPUT, on("t"))
    asked = told(await graph.aget_state(on("t"), subgraphs=True))
    await graph.ainvoke(Command(resume="yes"), on("t"))
    await graph.ainvoke({"ratio": 0.5, "messages": [HumanMessage("again", id="again")]}, on("t"))
    await graph.ainvoke(Command(resume="no"), on("t"))
    history = [each async for each in graph.aget_state_history(on("t"))]
    (third,) = [each for each in history if told(each)[2] == 3]
    update = {"text": "forked", "log": ["fork"]}
    forked = await graph.aupdate_state(third.config, update, as_node="plan")
    await graph.ainvoke(None, forked)
    return asked, [told(each) for each in history], told(await graph.aget_state(on("t")))


CONFIGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "encrypted": {"encryption_keys": KEYS},
    "msgpack": {"compatible": True},
}


@pytest.fixture(params=CONFIGS)
def saver(
    database: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OncePostgresSaver]:
    monkeypatch.setattr(values, "MIN_CUT_BYTES", 2048)
    serde = OnceSerializer(SerdeConfig(**CONFIGS[request.param]))
    with open_postgres_saver(database, serde=serde) as opened:
        yield opened


@pytest.fixture
def rows(database: str) -> Callable[[str], dict[str, int]]:
    """How many rows a thread has."""

    def rows(thread_id: str) -> dict[str, int]:
        with psycopg.connect(database) as conn:
            found = {}
            for table in TABLES:
                sql = f"SELECT count(*) FROM {table} WHERE thread_id = %s"
                counted = conn.execute(sql, [thread_id]).fetchone()
                assert counted
                found[table] = counted[0]
            return found

    return rows


@pytest.mark.parametrize("story", [as_sync, async_story], ids=["sync", "async"])
async def test_a_graph_has_what_it_has_in_memory(saver: OncePostgresSaver, story: Any) -> None:
    assert await story(build(saver)) == await async_story(build(InMemorySaver()))


def unread(saver: OncePostgresSaver) -> list[Any]:
    """Values that no checkpoint of their thread has."""
    assert not isinstance(saver.conn, psycopg.Connection)
    with saver.conn.connection() as conn:
        found: list[Any] = conn.execute(
            "SELECT channel, version FROM checkpoint_blobs b WHERE NOT EXISTS ("
            "SELECT 1 FROM checkpoints c WHERE c.thread_id = b.thread_id AND c.checkpoint_ns = "
            "b.checkpoint_ns AND checkpoint -> 'channel_versions' ->> channel = version)"
        ).fetchall()
        return found


def unreferred(saver: OncePostgresSaver) -> Program[set[bytes]]:
    """Pieces that no value has, and those that a value has and that are not there."""
    known, tables = saver.threads.values, saver.threads.tables
    cells = yield from tables.manifest_cells("t")
    manifests = [manifest for cell in cells for manifest in known.manifests(*cell)]
    assembly = known.assembly(groups_only=True)
    yield from saver.threads.tables.collect("t", manifests, assembly)
    rows = yield Statement("SELECT digest FROM once_pieces WHERE thread_id = ?", ["t"])
    return {bytes(digest) for (digest,) in rows} ^ assembly.all_of(manifests)


async def test_a_run_of_the_source_is_none_of_the_copy(saver: OncePostgresSaver, rows: Any) -> None:
    graph = build(saver)
    run: Any = {"configurable": {"thread_id": "t", "run_id": "run"}}
    graph.invoke(START_INPUT, run)
    saver.copy_thread("t", "copy")
    before = rows("copy")
    saver.delete_for_runs(["run"])
    assert rows("t") == dict.fromkeys(TABLES, 0)
    assert rows("copy") == before
    assert graph.invoke(Command(resume="yes"), on("copy"))["text"] == "yes"


@pytest.mark.parametrize("method", ["delete", "prune", "rollback"])
def test_what_is_deleted_leaves_nothing(saver: OncePostgresSaver, method: str, rows: Any) -> None:
    sync_story(build(saver))
    saver.copy_thread("t", "copy")
    saver.save_stream_state(StreamAddress("t", ""), b"ledger")
    before = rows("copy")
    if method == "delete":
        saver.delete_thread("t")
    elif method == "prune":
        saver.prune(["t"], strategy="delete_all")
    else:
        latest = build(saver).get_state(on("t")).config
        saver.prune(["t"])
        assert build(saver).get_state(on("t")).config == latest
        assert unread(saver) == []
        assert saver.load_stream_state(StreamAddress("t", "")) == b"ledger"
        assert saver.engine.run(unreferred(saver), writes=False) == set()
        saver.delete_thread("t")
    assert rows("t") == dict.fromkeys(TABLES, 0)
    assert rows("copy") == before
