"""A config that names its thread or its namespace by None: never one thread for all who do."""

import operator
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph

from langgraph_once import once
from langgraph_once.checkpoint import open_postgres_saver, open_sqlite_saver
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.errors import StorageError
from tests.unit_tests.checkpoint import whole_databases as whole

LONG = "long " * 10_000
NAMED: Any = {"thread_id": "None", "checkpoint_ns": ""}
NOBODY: list[Any] = [
    {"thread_id": None, "checkpoint_ns": ""},
    {"thread_id": None},
    {"thread_id": "None", "checkpoint_ns": None},
    {"thread_id": None, "checkpoint_ns": None},
]


class State(TypedDict, total=False):
    said: Annotated[list[str], operator.add]


BUILDER = StateGraph(State).add_node("n", lambda _: {}).add_edge(START, "n")


def on(configurable: Any) -> RunnableConfig:
    return {"configurable": configurable}


def put(saver: BaseCheckpointSaver[str], configurable: Any, value: Any) -> RunnableConfig:
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"], checkpoint["channel_versions"] = {"said": value}, {"said": "1"}
    return saver.put(on(configurable), checkpoint, {"source": "input", "step": 0}, {"said": "1"})


@pytest.fixture(params=["plain", "sealed", "compatible"])
def postgres_saver(request: pytest.FixtureRequest, database: str) -> Iterator[OnceSaver]:
    """One of PostgreSQL, which holds a thread that is named "None"."""
    serde = whole.serde(encryption_keys=whole.KEYS) if request.param == "sealed" else None
    store_once = request.param != "compatible"
    with open_postgres_saver(database, serde=serde, store_once=store_once) as saver:
        put(saver, NAMED, ["of whom it is"])
        yield saver


@pytest.fixture
async def async_saver(database: str) -> AsyncIterator[OnceSaver]:
    async with open_postgres_saver(database) as saver:
        put(saver, NAMED, ["of whom it is"])
        yield saver


@pytest.mark.parametrize("value", [["short"], [LONG]], ids=["short", "long"])
@pytest.mark.parametrize("configurable", NOBODY)
def test_nothing_is_stored_and_nothing_found(
    postgres_saver: OnceSaver, configurable: Any, value: Any
) -> None:
    with pytest.raises((StorageError, KeyError)):
        put(postgres_saver, {"checkpoint_ns": "", **configurable}, value)
    at = on({**configurable, "checkpoint_id": empty_checkpoint()["id"]})
    with pytest.raises(StorageError, match="None is the name of nothing"):
        postgres_saver.put_writes(at, [("said", value)], "task")
    assert postgres_saver.get_tuple(on(configurable)) is None
    assert postgres_saver.get_delta_channel_history(config=on(configurable), channels=["said"])
    found = postgres_saver.get_tuple(on(NAMED))
    assert found is not None
    assert found.checkpoint["channel_values"] == {"said": ["of whom it is"]}


def test_the_history_of_no_thread_is_not_that_of_all(postgres_saver: OnceSaver) -> None:
    assert list(postgres_saver.list(on({"thread_id": None}))) == []
    assert list(postgres_saver.list(on({"thread_id": None, "checkpoint_ns": ""}))) == []
    assert len(list(postgres_saver.list(on({"thread_id": "None", "checkpoint_ns": None})))) == 1
    assert len(list(postgres_saver.list(None))) == 1


@pytest.mark.parametrize("is_wrapped", [False, True])
@pytest.mark.parametrize("configurable", NOBODY[:2])
async def test_a_run_of_no_thread_fails(
    async_saver: OnceSaver, configurable: Any, is_wrapped: bool
) -> None:
    graph: Any = BUILDER.compile(checkpointer=async_saver)
    graph = once(graph) if is_wrapped else graph
    with pytest.raises(StorageError, match="None is the name of nothing"):
        await graph.ainvoke({"said": ["secret"]}, on(configurable))
    assert len([each async for each in async_saver.alist(None)]) == 1


@pytest.mark.parametrize("thread_id", [1, True, "", "1"], ids=repr)
def test_other_ids_are_the_text_of_them(postgres_saver: OnceSaver, thread_id: Any) -> None:
    put(postgres_saver, {"thread_id": thread_id, "checkpoint_ns": ""}, ["mine"])
    for same in (thread_id, str(thread_id)):
        found = postgres_saver.get_tuple(on({"thread_id": same}))
        assert found is not None
        assert found.checkpoint["channel_values"] == {"said": ["mine"]}
        assert len(list(postgres_saver.list(on({"thread_id": same})))) == 1


@pytest.mark.parametrize("configurable", [*NOBODY, {"thread_id": 1}, {"thread_id": ""}, {}])
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_run_fails_where_one_on_langgraphs_saver_does(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, configurable: Any
) -> None:
    openings: list[Callable[[], Any]] = [
        lambda: SqliteSaver.from_conn_string(str(tmp_path / "plain.sqlite")),
        lambda: open_sqlite_saver(tmp_path / "ours.sqlite"),
    ]
    if kind == "postgres":
        database = request.getfixturevalue("database")
        openings = [
            lambda: PostgresSaver.from_conn_string(database),
            lambda: open_postgres_saver(database),
        ]
    ends = []
    for opening in openings:
        with ExitStack() as stack:
            saver = stack.enter_context(opening())
            saver.setup()
            graph: Any = BUILDER.compile(checkpointer=saver)
            ends.append([_end(graph, configurable), _end(graph, configurable)])
            saver.delete_thread(configurable.get("thread_id"))
    plain, ours = ends
    worse = [one for one, other in zip(ours, plain, strict=True) if not one and other]
    assert worse == []
    if None in configurable.values() and kind == "postgres":
        assert ours == plain == [None, None]


def _end(graph: Any, configurable: Any) -> Any:
    try:
        return graph.invoke({"said": ["hello"]}, on(configurable))
    except Exception:
        return None
