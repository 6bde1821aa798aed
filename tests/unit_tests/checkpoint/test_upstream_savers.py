"""The serializer as `serde=` of upstream's own savers, caches and of what wraps old serializers."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.cache.base import BaseCache
from langgraph.cache.memory import InMemoryCache
from langgraph.cache.sqlite import SqliteCache
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.base import SerializerCompat
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from pydantic import SecretStr

from langgraph_once import OnceSerializer, SerdeConfig

KEY = {"k": SecretStr("MDEyMzQ1Njc4OWFiY2RlZg==")}


class Mood(Enum):
    """An enum in a dataclass in a tuple."""

    CALM = "calm"


@dataclass
class Note:
    """What upstream would bring back as a dictionary."""

    text: str
    mood: Mood


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    notes: tuple[Note, ...]


NOTES = (Note("a", Mood.CALM), Note("b", Mood.CALM))


def answered(state: State) -> dict[str, Any]:
    assert state["messages"]
    return {"messages": [AIMessage("hi", id="2")], "notes": NOTES}


BUILDER = StateGraph(State).add_node("answered", answered).add_edge(START, "answered")
ASKED: Any = {"messages": [HumanMessage("hello", id="1")]}
CONFIG: Any = {"configurable": {"thread_id": "t"}}


def serde() -> OnceSerializer:
    types = tuple(f"{cls.__module__}:{cls.__qualname__}" for cls in (Mood, Note))
    return OnceSerializer(SerdeConfig(allowed_types=types, encryption_keys=KEY))


def savers(kind: str, folder: Path, request: pytest.FixtureRequest, stack: ExitStack) -> Any:
    if kind == "memory":
        return InMemorySaver(serde=serde())
    if kind == "sqlite":
        saver = stack.enter_context(SqliteSaver.from_conn_string(str(folder / "a.sqlite")))
        saver.serde = serde()
        return saver
    module = importlib.import_module("langgraph.checkpoint.postgres")
    psycopg = importlib.import_module("psycopg")
    connection = stack.enter_context(
        psycopg.connect(
            request.getfixturevalue("postgres"),
            autocommit=True,
            row_factory=psycopg.rows.dict_row,
        )
    )
    saver = module.PostgresSaver(connection, serde=serde())
    saver.setup()
    return saver


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_a_thread_comes_back_from_every_saver(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with ExitStack() as stack:
        saver: BaseCheckpointSaver[Any] = savers(kind, tmp_path, request, stack)
        BUILDER.compile(checkpointer=saver).invoke(ASKED, CONFIG)
        again = BUILDER.compile(checkpointer=saver).get_state(CONFIG).values
        assert again["notes"] == NOTES
        assert [type(part) for part in (again["notes"], again["notes"][0])] == [tuple, Note]
        assert again["messages"] == [HumanMessage("hello", id="1"), AIMessage("hi", id="2")]
        assert len(list(saver.list(CONFIG))) == 3


@pytest.fixture
async def async_saver(tmp_path: Path) -> AsyncIterator[AsyncSqliteSaver]:
    async with AsyncExitStack() as stack:
        opened = AsyncSqliteSaver.from_conn_string(str(tmp_path / "b.sqlite"))
        saver = await stack.enter_async_context(opened)
        saver.serde = serde()
        yield saver


async def test_a_thread_comes_back_from_the_async_saver(async_saver: AsyncSqliteSaver) -> None:
    graph = BUILDER.compile(checkpointer=async_saver)
    await graph.ainvoke(ASKED, CONFIG)
    assert (await graph.aget_state(CONFIG)).values["notes"] == NOTES


def test_a_cache_keeps_the_types(tmp_path: Path) -> None:
    caches: list[BaseCache[Any]] = [
        InMemoryCache(serde=serde()),
        SqliteCache(path=str(tmp_path / "cache.sqlite"), serde=serde()),
    ]
    for cache in caches:
        place: Any = (("ns",), "key")
        cache.set({place: (NOTES, None)})
        assert cache.get([place]) == {place: NOTES}


def test_an_untyped_serializer_can_be_wrapped_around_ours() -> None:
    class Untyped:
        """What serializers were before they had tags."""

        def dumps(self, obj: Any) -> bytes:
            tag, data = serde().dumps_typed(obj)
            return tag.encode() + b":" + data

        def loads(self, data: bytes) -> Any:
            tag, _, rest = data.partition(b":")
            return serde().loads_typed((tag.decode(), rest))

    wrapped = SerializerCompat(Untyped())
    assert wrapped.loads_typed(wrapped.dumps_typed(NOTES)) == NOTES
