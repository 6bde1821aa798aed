"""What upstream's tests of its savers ask for beside its conformance suite, on both databases."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypedDict

import psycopg
import pytest
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph

from langgraph_once.checkpoint import OncePostgresSaver, OnceSqliteSaver
from langgraph_once.checkpoint.saver import OnceSaver
from tests.unit_tests.checkpoint import whole_databases as whole

ROOT: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


@pytest.fixture(params=["plain", "encrypted"])
def saver(here: str, request: pytest.FixtureRequest) -> Iterator[OnceSaver]:
    keys = whole.KEYS if request.param == "encrypted" else {}
    with whole.once(here, whole.serde(encryption_keys=keys)) as opened:
        yield opened


async def test_setup_can_be_awaited_or_not(saver: OnceSaver) -> None:
    await saver.setup()
    await asyncio.to_thread(saver.setup)
    assert saver.get_tuple(ROOT) is None


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(OnceSqliteSaver, AsyncSqliteSaver), (OncePostgresSaver, AsyncPostgresSaver)],
)
def test_ours_have_what_upstreams_async_savers_have(ours: Any, theirs: Any) -> None:
    names = [name for name, _ in inspect.getmembers(theirs, callable) if not name.startswith("_")]
    assert "aget_tuple" in names
    assert [name for name in names if not hasattr(ours, name)] == []


def test_a_connection_of_another_kind_is_refused() -> None:
    other: Any = object()
    for kind in (OnceSqliteSaver, OncePostgresSaver):
        with pytest.raises(TypeError, match=r"object: pass a .*onnection"):
            kind(other)


@pytest.mark.parametrize("parts", [{}, {"channel_values": {"key": "value"}}])
def test_a_checkpoint_that_lacks_parts_is_taken_and_found(here: str, parts: Any) -> None:
    """As in the docstring of `SqliteSaver.put`; without `v`, upstream reads none in PostgreSQL."""
    put: Any = {"v": 4, "ts": "2026-11-29T12:00:00+00:00", "id": "1ef", **parts}
    with whole.once(here, whole.serde(encryption_keys={})) as saver:
        config = saver.put(ROOT, put, {}, {})
        saver.put_writes(config, [("key", "value")], "task")
        found, (listed,) = saver.get_tuple(config), saver.list(ROOT)
        assert found is not None
        assert found.pending_writes == listed.pending_writes == [("task", "key", "value")]
        assert {**found.checkpoint, **put} == found.checkpoint
        saver.copy_thread("t", "copy")
        saver.prune(["t"])
        assert len([*saver.list(ROOT)]) == 1


async def test_an_empty_id_is_that_of_the_latest(saver: OnceSaver) -> None:
    empty: Any = {"configurable": {**ROOT["configurable"], "checkpoint_id": ""}}
    first = saver.put(empty, _checkpoint(channel="seed"), {}, {"channel": "1"})
    saver.put_writes(first, [("channel", "write")], "task")
    second = saver.put(first, _checkpoint(), {}, {})
    found = saver.get_delta_channel_history(config=empty, channels=["channel"])
    assert found["channel"] == {"writes": [("task", "channel", "write")], "seed": "seed"}
    assert await saver.aget_delta_channel_history(config=empty, channels=["channel"]) == found
    latest = saver.get_tuple(empty)
    assert latest
    assert latest.config == second
    root = saver.get_tuple(first)
    assert root
    assert root.parent_config is None


def test_pruning_leaves_no_parent_that_is_not_there(saver: OnceSaver) -> None:
    at = ROOT
    for step in range(4):
        at = saver.put(at, _checkpoint(), {"source": "loop", "step": step}, {})
    saver.prune(["t"], keep_last=2)
    newest, oldest = saver.list(ROOT)
    assert newest.parent_config == oldest.config
    assert oldest.parent_config is None


def test_a_connection_may_be_in_pipeline_mode(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as conn:
        saver = OncePostgresSaver(conn)
        saver.setup()
        with conn.pipeline():
            old: Any = {**_checkpoint(), "v": 1}  # it is read by two statements
            parent = saver.put(ROOT, old, {}, {})
            saver.put_writes(parent, [("__pregel_tasks", "send")], "task")
            newer: Any = {**_checkpoint(), "v": 1}
            child = saver.put(parent, newer, {}, {})
            saver.prune(["t"])
            found = saver.get_tuple(child)
        assert found
        assert found.checkpoint["channel_values"] == {"__pregel_tasks": ["send"]}


def test_metadata_that_json_does_not_have_keep_no_filter_from_working(saver: OnceSaver) -> None:
    kept: dict[str, Any] = {"nan": float("nan"), "low": float("-inf"), "high": float("inf")}
    odd_one: Any = {"step": 1, "user": "a", **kept}
    plain_one: Any = {"step": 1, "user": "b"}
    odd = saver.put(ROOT, _checkpoint(), odd_one, {})
    plain = saver.put(odd, _checkpoint(), plain_one, {})
    for wanted, found in (
        ({"step": 1}, [plain, odd]),
        ({"user": "a"}, [odd]),
        ({"user": "b"}, [plain]),
        ({"step": 1, "user": "a"}, [odd]),
        ({"user": "c"}, []),
    ):
        listed = [*saver.list(ROOT, filter=wanted)]
        assert [each.config for each in listed] == found, wanted
    metadata: Any = next(saver.list(ROOT, filter={"user": "a"})).metadata
    assert repr({name: metadata[name] for name in kept}) == repr(kept)


def _extend(state: list[str], writes: Any) -> list[str]:
    return [*state, *(item for write in writes for item in write)]


class State(TypedDict):
    items: Annotated[list[str], DeltaChannel(_extend, snapshot_frequency=3)]


@pytest.mark.parametrize("durability", ["sync", "exit"])
def test_a_delta_channel_is_updated_as_with_upstreams_saver(here: str, durability: Any) -> None:
    told: list[Any] = []
    for opening in (whole.stock(here), whole.once(here, whole.serde())):
        with opening as saver:
            at: Any = {"configurable": {"thread_id": f"thread {len(told)}"}}
            builder = StateGraph(State).add_node("noop", lambda _: {"items": ["noop"]})
            graph = builder.add_edge(START, "noop").compile(checkpointer=saver)
            for number in range(6):
                graph.update_state(at, {"items": [f"updated {number}"]}, as_node="noop")
                graph.invoke({"items": [f"asked {number}"]}, at, durability=durability)
            states = [repr(each.values) for each in graph.get_state_history(at)]
            stored = [
                repr(each.checkpoint["channel_values"].get("items")) for each in saver.list(at)
            ]
            found = saver.get_delta_channel_history(config=at, channels=["items"])
            seed = repr(found["items"].get("seed"))
            told.append((states, stored, seed, [write[1:] for write in found["items"]["writes"]]))
    assert told[0] == told[1]


def _checkpoint(**values: Any) -> Any:
    versions = dict.fromkeys(values, "1")
    return {**empty_checkpoint(), "channel_values": values, "channel_versions": versions}


def test_a_thread_id_that_is_no_unicode_is_the_same_value_error(saver: OnceSaver) -> None:
    odd: Any = {"configurable": {"thread_id": "\ud800", "checkpoint_ns": ""}}
    calls: list[Callable[[Any], Any]] = [
        lambda upon: upon.put(odd, _checkpoint(), {}, {}),
        lambda upon: upon.get_tuple(odd),
        lambda upon: upon.delete_thread("\ud800"),
    ]
    with SqliteSaver.from_conn_string(":memory:") as stock:
        for call in calls:
            for upon in (saver, stock):
                with pytest.raises(ValueError, match="surrogates not allowed") as caught:
                    call(upon)
                assert type(caught.value) is UnicodeEncodeError
