"""Our saver for PostgreSQL on the rows of upstream's, and upstream's on ours."""

import enum
import operator
import random
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Annotated, Any, TypedDict

import psycopg
import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt
from pydantic import SecretStr

from langgraph_once import OnceSerializer, SerdeConfig
from langgraph_once.checkpoint import OncePostgresSaver, open_postgres_saver
from langgraph_once.checkpoint.postgres.tables import PostgresTables
from langgraph_once.errors import EncryptionError, StorageError, UnknownTagError

KEYS = {"k": SecretStr("MDEyMzQ1Njc4OWFiY2RlZg==")}
LONG = "long " * 10_000
ON: RunnableConfig = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


def extend(state: list[str], writes: Any) -> list[str]:
    return [*state, *(item for write in writes for item in write)]


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    deltas: Annotated[list[str], DeltaChannel(extend, snapshot_frequency=2)]
    ratio: float
    count: int
    text: str


def note(state: State) -> dict[str, Any]:
    answer = interrupt("May I?")
    return {"log": [answer], "deltas": [answer], "count": state["count"] + 1}


def spread(state: State) -> list[Send]:
    return [Send("work", {"text": str(number)}) for number in range(3)]


def work(state: State) -> dict[str, Any]:
    return {"log": [f"work {state['text']}"], "deltas": [f"work {state['text']}"]}


BUILDER = StateGraph(State).add_node("note", note).add_node("work", work)
BUILDER.add_edge(START, "note")
BUILDER.add_conditional_edges("note", spread, ["work"])
INPUT: Any = {"log": ["asked"], "deltas": ["asked"], "ratio": 1.5, "count": 1, "text": LONG}
END: Any = {
    "log": ["asked", "yes", "work 0", "work 1", "work 2"],
    "deltas": ["asked", "yes", "work 0", "work 1", "work 2"],
    "ratio": 1.5,
    "count": 2,
    "text": LONG,
}


@pytest.fixture
def stock(database: str) -> Iterator[PostgresSaver]:
    with PostgresSaver.from_conn_string(database) as saver:
        saver.setup()
        yield saver


SERIALIZERS: dict[str, Callable[[], OnceSerializer]] = {
    "plain": OnceSerializer,
    "encrypted": lambda: OnceSerializer(SerdeConfig(encryption_keys=KEYS)),
}


@pytest.fixture(params=SERIALIZERS)
def ours(
    database: str, stock: PostgresSaver, request: pytest.FixtureRequest
) -> Iterator[OncePostgresSaver]:
    with open_postgres_saver(database, serde=SERIALIZERS[request.param]()) as saver:
        yield saver


@pytest.fixture
def readable(database: str, stock: PostgresSaver) -> Iterator[OncePostgresSaver]:
    serde = OnceSerializer(SerdeConfig(compatible=True))
    with open_postgres_saver(database, serde=serde, store_once=False) as saver:
        yield saver


def rows(database: str, sql: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(database) as conn:
        return conn.execute(sql).fetchall()


def test_a_thread_of_upstreams_goes_on_here(stock: PostgresSaver, ours: OncePostgresSaver) -> None:
    BUILDER.compile(checkpointer=stock).invoke(INPUT, ON)
    theirs = [each.checkpoint for each in stock.list(ON)]
    assert [each.checkpoint for each in ours.list(ON)] == theirs
    graph = BUILDER.compile(checkpointer=ours)
    assert graph.invoke(Command(resume="yes"), ON) == END
    assert graph.get_state(ON).values == END
    ours.prune(["t"])
    assert graph.get_state(ON).values == END


def test_upstreams_saver_goes_on_where_it_can_read(
    stock: PostgresSaver, readable: OncePostgresSaver
) -> None:
    BUILDER.compile(checkpointer=readable).invoke(INPUT, ON)
    graph = BUILDER.compile(checkpointer=stock)
    assert graph.invoke(Command(resume="yes"), ON) == END
    assert [told.checkpoint for told in readable.list(ON)] == [
        told.checkpoint for told in stock.list(ON)
    ]
    assert BUILDER.compile(checkpointer=readable).get_state(ON).values == END


def test_upstreams_saver_says_that_it_cannot_read_ours(
    database: str, stock: PostgresSaver, ours: OncePostgresSaver
) -> None:
    BUILDER.compile(checkpointer=ours).invoke(INPUT, ON)
    before = rows(database, "SELECT * FROM checkpoint_blobs ORDER BY channel, version")
    with pytest.raises(NotImplementedError, match=r"Unknown serialization type: (once2|pieces)"):
        stock.get_tuple(ON)
    stock.serde = ours.serde
    with pytest.raises((UnknownTagError, EncryptionError), match="migrate"):
        stock.get_tuple(ON)
    assert rows(database, "SELECT * FROM checkpoint_blobs ORDER BY channel, version") == before


class Text(str):
    """Text that is more than text."""

    __slots__ = ()


class Level(enum.IntEnum):
    HIGH = 1


VALUES: dict[str, Any] = {
    "none": None,
    "true": True,
    "int": 2**63 - 1,
    "large": 2**80,
    "float": 1e300,
    "whole": 1.0,
    "nan": float("inf"),
    "text": "é ? % {} '\"\\",
    "nul": "a\0b",
    "surrogate": "\ud800",
    "long text": LONG,
    "int enum": Level.HIGH,
    "list": [1, (2,), {"a": True}],
    "snapshot": _DeltaSnapshot(["a"]),
}


def store(saver: Any, values: dict[str, Any], **more: Any) -> RunnableConfig:
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = dict(values)
    versions: dict[str, Any] = {name: f"{number:032}.0" for number, name in enumerate(values)}
    checkpoint["channel_versions"] = versions
    config: RunnableConfig = saver.put(ON, {**checkpoint, **more}, {"step": 1}, versions)
    return config


def test_a_value_comes_back_as_it_was(ours: OncePostgresSaver, subtests: pytest.Subtests) -> None:
    for channel in VALUES:
        with subtests.test(channel):
            config = store(ours, {channel: VALUES[channel]})
            found = ours.get_tuple(config)
            assert found
            value = found.checkpoint["channel_values"][channel]
            assert (value, type(value)) == (VALUES[channel], type(VALUES[channel]))


def test_a_value_stays_when_nobody_changes_it(
    stock: PostgresSaver, ours: OncePostgresSaver
) -> None:
    """Upstream's saver keeps some in the checkpoint itself, where ours keeps them apart."""
    kept = {name: VALUES[name] for name in ("none", "true", "int", "whole", "text", "long text")}
    config = store(stock, kept)
    for _ in range(2):
        before = ours.get_tuple(config)
        assert before
        next_one: Any = {**before.checkpoint, "id": empty_checkpoint()["id"]}
        config = ours.put(config, next_one, {"step": 2}, {})
        ours.prune(["t"])
    after = ours.get_tuple(config)
    assert after
    assert after.checkpoint["channel_values"] == kept


def test_with_keys_no_value_stands_in_the_clear(database: str, stock: PostgresSaver) -> None:
    with open_postgres_saver(database, serde=SERIALIZERS["encrypted"]()) as saver:
        store(saver, {"text": "secret", "count": 4711, "flag": True})
        saver.put_writes(store(saver, {}), [("text", "secret")], "task")
    (first, _) = rows(database, "SELECT checkpoint -> 'channel_values' FROM checkpoints")
    assert first == ({},)
    tags = {tag for (tag,) in rows(database, "SELECT type FROM checkpoint_blobs")}
    assert tags
    assert all("aesgcm" in tag for tag in tags)


def test_values_that_json_holds_stand_in_the_checkpoint(database: str) -> None:
    with open_postgres_saver(database) as saver:
        store(saver, VALUES)
    ((inline,),) = rows(database, "SELECT checkpoint -> 'channel_values' FROM checkpoints")
    names = ("none", "true", "int", "text")
    assert inline == {**{name: VALUES[name] for name in names}, "snapshot": True}


def test_what_old_versions_sent_is_found_on_the_parent(
    stock: PostgresSaver, ours: OncePostgresSaver
) -> None:
    parent = store(stock, {"a": [1]}, v=3)
    stock.put_writes(parent, [("__pregel_tasks", Send("work", {"n": 2}))], "task 2", "path 2")
    stock.put_writes(parent, [("__pregel_tasks", Send("work", {"n": 1}))], "task 1", "path 1")
    child = stock.put(parent, {**empty_checkpoint(), "v": 3}, {"step": 2}, {})
    theirs, found = stock.get_tuple(child), ours.get_tuple(child)
    assert theirs
    assert found
    sent = [Send("work", {"n": 1}), Send("work", {"n": 2})]
    assert found.checkpoint["channel_values"] == {"__pregel_tasks": sent}
    assert theirs.checkpoint["channel_values"] == {"__pregel_tasks": sent}
    assert found.checkpoint["channel_versions"].keys() == {"__pregel_tasks"}


def test_a_row_that_says_empty_is_no_value(
    database: str, stock: PostgresSaver, ours: OncePostgresSaver
) -> None:
    config = store(stock, {"a": [1], "b": [2]})
    with psycopg.connect(database) as conn:
        sql = "UPDATE checkpoint_blobs SET type = 'empty', blob = NULL WHERE channel = 'a'"
        conn.execute(sql)
    found = ours.get_tuple(config)
    assert found
    assert found.checkpoint["channel_values"] == {"b": [2]}


METADATA: dict[str, Any] = {
    "nan": {"score": float("inf")},
    "large float": {"score": 1e300},
    "nul": {"nested": ["a\0b"]},
    "surrogate": {"text": "\ud800", "a\udfffb": 1},
    "plain": {"score": 0.5, "nested": [{"é": None}, 1, True]},
}


def test_metadata_come_back_as_they_were(
    ours: OncePostgresSaver, subtests: pytest.Subtests
) -> None:
    """Upstream's saver raises on what JSONB does not take."""
    for kind in METADATA:
        with subtests.test(kind):
            more: Any = {"step": 7, **METADATA[kind]}
            on_run: Any = {**ON, "metadata": {"run_id": "run"}}
            config = ours.put(on_run, empty_checkpoint(), more, {})
            (found,) = ours.list(ON, filter={"step": 7})
            assert found.metadata == {**more, "run_id": "run"}
            ours.delete_for_runs(["run"])
            assert ours.get_tuple(config) is None


@pytest.mark.parametrize("number", [2**63, 2**63 + 5, -(2**63) - 1, 1e16, 1e300, 1e-7, -0.0])
@pytest.mark.parametrize("encrypted", [False, True])
def test_a_number_that_jsonb_changes_is_found_and_comes_back(
    database: str, number: float, encrypted: bool
) -> None:
    serde = SERIALIZERS["encrypted"]() if encrypted else None
    with open_postgres_saver(database, serde=serde) as saver:
        more: Any = {"step": 7, "customer": number, "deep": {"n": [number]}}
        saver.put(ON, empty_checkpoint(), more, {})
        saver.put(ON, empty_checkpoint(), {"step": 8}, {})
        for wanted in ({"customer": number}, {"deep": {"n": [number]}}):
            (found,) = saver.list(ON, filter=wanted)
            assert found.metadata == more
            assert repr(found.metadata) == repr(more)


def test_what_fails_is_not_told_to_be_the_password(
    database: str, subtests: pytest.Subtests
) -> None:
    with open_postgres_saver(database) as saver:
        name = "".join(sha256(str(n).encode()).hexdigest() for n in range(200))
        long: Any = {"configurable": {"thread_id": name, "checkpoint_ns": ""}}
        with subtests.test("index"), pytest.raises(StorageError, match="too long") as caught:
            saver.put(long, empty_checkpoint(), {"step": 1}, {})
        assert "password" not in str(caught.value)
    with subtests.test("closed"), pytest.raises(StorageError, match="was closed") as caught:
        saver.get_tuple(ON)
    assert "password" not in str(caught.value)
    lost = "with a new connection"
    with psycopg.connect(database, autocommit=True) as conn:
        mine = OncePostgresSaver(conn)
        mine.setup()
        rows(database, f"SELECT pg_terminate_backend({conn.info.backend_pid})")
        with subtests.test("ended"), pytest.raises(StorageError, match=lost) as caught:
            mine.get_tuple(ON)
        assert "password" not in str(caught.value)
    with subtests.test("gone"), pytest.raises(StorageError, match=lost) as caught:
        mine.get_tuple(ON)
    assert "password" not in str(caught.value)
    with open_postgres_saver(database, max_size=1, timeout_s=1) as saver:
        pool: Any = saver.conn
        with (
            pool.connection(),
            subtests.test("none is free"),
            pytest.raises(StorageError, match="allow more") as caught,
        ):
            saver.get_tuple(ON)
        assert "does the server run?" in str(caught.value)


def test_a_text_that_no_json_of_postgres_has_is_refused_by_a_filter(database: str) -> None:
    with open_postgres_saver(database) as saver:
        for text in ("\ud800", "\0"):
            with pytest.raises(StorageError, match="no form for this value"):
                [*saver.list(ON, filter={"customer": text})]


@pytest.mark.parametrize("length", [0, 1, 126, 127, 1900, 2100, 100_000])
def test_what_a_value_would_take_is_known_before_it_is_stored(database: str, length: int) -> None:
    with open_postgres_saver(database), psycopg.connect(database) as conn:
        data = random.Random(length).randbytes(length)
        conn.execute("INSERT INTO once_pieces VALUES ('t', '', 'bytes', %s)", [data])
        sql = f"SELECT {PostgresTables.bytes_of}(data) FROM once_pieces"
        assert conn.execute(sql).fetchall() == [(PostgresTables.stored_bytes(length),)]
