"""What LangGraph writes has no finding, of whatever version and in whatever way it came about."""

import dataclasses
import functools
import importlib
import itertools
import operator
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langgraph._internal import _constants
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import (
    LATEST_VERSION,
    BaseCheckpointSaver,
    CheckpointTuple,
    empty_checkpoint,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.pregel import _checkpoint
from langgraph.store.base import BaseStore, Item
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from langgraph.types import Command, Overwrite, RetryPolicy, StateUpdate, interrupt

from graphs.research.graph import graph as research
from langgraph_once import OnceSerializer
from langgraph_once.checkpoint.validate import (
    Finding,
    checkpoint,
    validate_checkpoint,
    validate_item,
    validate_tuple,
    validate_write,
)
from tests.corpus.play import play
from tests.corpus.scenario import Graph, Scenario
from tests.corpus.scenarios import SCENARIOS
from tests.corpus.variants import VARIANTS
from tests.data.checkpoints import files
from tests.data.checkpoints.write_upstream import build, live

Saver = BaseCheckpointSaver[Any]
Durability = Literal["sync", "async", "exit"]
DURABILITIES: tuple[Durability, ...] = ("sync", "async", "exit")


class CountingSaver(InMemorySaver):
    """A saver whose versions are those of `BaseCheckpointSaver`: numbers."""

    def get_next_version(self, current: Any, channel: None) -> Any:
        return BaseCheckpointSaver.get_next_version(self, current, channel)


def findings(saver: Saver, but: Sequence[str] = ()) -> list[str]:
    """Return what is found in all that a saver has, but in the checkpoints of these ids."""
    kept = [each for each in saver.list(None) if each.checkpoint["id"] not in but]
    assert kept
    return [str(found) for each in kept for found in validate_tuple(each)]


@pytest.fixture(params=["memory", "numbers", "sqlite"])
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Saver]:
    if request.param == "sqlite":
        with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as saver:
            saver.serde = OnceSerializer()
            yield saver
    else:
        yield {"memory": InMemorySaver, "numbers": CountingSaver}[request.param]()


def on(thread_id: Any = "thread", **more: Any) -> Any:
    return {"configurable": {"thread_id": thread_id}, **more}


def extend(state: list[str], writes: Sequence[list[str]]) -> list[str]:
    return [*state, *(item for write in writes for item in write)]


class State(TypedDict):
    log: Annotated[list[str], operator.add]
    slow: Annotated[list[str], DeltaChannel(extend, snapshot_frequency=2)]
    rare: Annotated[list[str], DeltaChannel(extend, snapshot_frequency=1000)]
    topic: str


def note(state: State) -> dict[str, Any]:
    if state.get("topic") == "afresh":
        return {"slow": Overwrite(["afresh"]), "log": ["afresh"]}
    return {"log": ["noted"], "slow": ["noted"]}


def ask(state: State) -> dict[str, Any]:
    if state.get("topic") == "broken":
        raise ValueError("broken")
    return {"rare": [str(interrupt("May I?"))]}


def deltas(saver: Saver, **options: Any) -> Any:
    inner = StateGraph(State).add_node("ask", ask).add_edge(START, "ask")
    outer = StateGraph(State)
    outer.add_node("note", note)
    outer.add_node("inner", inner.compile())
    outer.add_node("beside", note)
    outer.add_node("idle", lambda state: None)
    outer.add_edge(START, "note")
    outer.add_edge("note", "inner")
    outer.add_edge("note", "beside")
    outer.add_edge(["inner", "beside"], "idle")
    return outer.compile(checkpointer=saver, **options)


def edits(saver: Saver) -> None:
    graph = deltas(saver)
    graph.update_state(on("edited first"), {"slow": ["a"], "topic": "a"}, as_node="note")
    graph.invoke(None, on("edited first"))
    graph.invoke({"topic": "a", "log": []}, on())
    for state in list(graph.get_state_history(on())):
        graph.update_state(state.config, {"topic": "b", "slow": ["b"]}, as_node="note")
        graph.update_state(state.config, {"slow": Overwrite(["c"])}, as_node="note")
        graph.update_state(state.config, None, as_node="__copy__")
        graph.update_state(state.config, None, as_node=END)
        graph.update_state(state.config, {"topic": "c"}, as_node="__input__")
        graph.update_state(state.config, None)
    latest = graph.get_state(on())
    updates = [[StateUpdate({"topic": "d"}, "note")], [StateUpdate({"log": ["d"]}, "beside")]]
    graph.bulk_update_state(latest.config, updates)
    graph.invoke(Command(resume="yes", update={"topic": "e"}), on())


def exits(saver: Saver) -> None:
    for durability in DURABILITIES:
        graph = deltas(saver)
        thread = on(durability, metadata={"who": "me", "score": float("nan")}, run_id=None)
        for turn in range(4):
            graph.invoke({"topic": str(turn)}, thread, durability=durability)
            graph.invoke(Command(resume="yes"), thread, durability=durability)
        with suppress(ValueError):
            graph.invoke({"topic": "broken"}, thread, durability=durability)
        graph.invoke({"topic": "afresh"}, thread, durability=durability)


def stops(saver: Saver) -> None:
    graph = deltas(saver, interrupt_before=["idle"], interrupt_after=["note"])
    graph.invoke({"topic": "a"}, on(7))
    answers: list[Any] = [None, Command(resume="yes"), None]
    for asked in answers:
        graph.invoke(asked, on(7))
    *_, first = graph.get_state_history(on(7))
    for checkpoint_ns in ({}, {"checkpoint_ns": ""}):
        named = {**first.config["configurable"], **checkpoint_ns}
        read = saver.get_tuple({"configurable": {"thread_id": 7, **named}})
        assert read is not None
        assert validate_tuple(read) == []


def tries(saver: Saver) -> None:
    attempts = itertools.count()

    def flaky(state: State) -> Any:
        if next(attempts) % 2 == 0:
            raise OSError("try again")
        return Command(graph=Command.PARENT, goto="other", update={"log": ["handed over"]})

    def broken(state: State) -> Any:
        raise ValueError("broken")

    def handled(state: State) -> Any:
        return {"log": ["handled"]}

    policy = RetryPolicy(initial_interval=0, jitter=False, retry_on=OSError)
    inner = StateGraph(State).add_node("flaky", flaky, retry_policy=policy)
    inner.add_edge(START, "flaky")
    outer = StateGraph(State)
    outer.add_node("inner", inner.compile(checkpointer=True))
    outer.add_node("other", broken, error_handler=handled)
    outer.add_edge(START, "inner")
    graph: Any = outer.compile(checkpointer=saver)
    for turn in range(2):
        graph.invoke({"topic": str(turn), "log": []}, on())


def functions(saver: Saver) -> None:
    @task
    def double(number: int) -> int:
        return 2 * number

    @entrypoint(checkpointer=saver)
    def program(number: int, *, previous: int | None = None) -> int:
        doubled = [double(number), double(number + 1)]
        asked = int(interrupt("How many?"))
        return asked + sum(each.result() for each in doubled) + (previous or 0)

    for number in range(2):
        program.invoke(number, on())
        program.invoke(Command(resume=5), on())


def samples(saver: Saver) -> None:
    graph: Any = research.copy({"checkpointer": saver})
    graph.invoke({"messages": [HumanMessage("What is a checkpoint?")]}, on())
    for state in list(graph.get_state_history(on(), limit=3)):
        graph.invoke(None, state.config)


@pytest.fixture
def postgres_saver(postgres: str) -> Iterator[Saver]:
    module = importlib.import_module("langgraph.checkpoint.postgres")
    psycopg = importlib.import_module("psycopg")
    name = f"validate_{uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    place = psycopg.conninfo.make_conninfo(postgres, dbname=name)
    with module.PostgresSaver.from_conn_string(place) as saver:
        saver.serde = OnceSerializer()
        saver.setup()
        yield saver


STORIES: dict[str, Callable[[Saver], None]] = {
    "every kind of step": lambda saver: live(build(saver)),
    "edits": edits,
    "durability": exits,
    "static interrupts": stops,
    "errors": tries,
    "functions": functions,
    "samples": samples,
}


@pytest.mark.parametrize("story", STORIES)
def test_a_graph(saver: Saver, story: str) -> None:
    STORIES[story](saver)
    assert findings(saver) == []


def with_saver(scenario: Scenario) -> Graph | None:
    graph = scenario.graph()
    return graph if isinstance(graph.checkpointer, BaseCheckpointSaver) else None


@pytest.mark.parametrize("story", ["every kind of step", "edits", "errors"])
def test_a_graph_on_postgres(postgres_saver: Saver, story: str) -> None:
    STORIES[story](postgres_saver)
    assert findings(postgres_saver) == []


def _same(graph: Graph) -> Graph:
    return graph


@pytest.mark.parametrize("kind", sorted({scenario.kind for scenario in SCENARIOS}))
def test_the_corpus(kind: str) -> None:
    (variant,) = (each for each in VARIANTS if each.name == "sync-v1-updates")
    for scenario in SCENARIOS:
        graph = with_saver(scenario) if scenario.kind == kind else None
        if graph is None or not (scenario.only is None or scenario.only(variant)):
            continue
        played = dataclasses.replace(scenario, graph=functools.partial(_same, graph))
        play(played, variant, "plain", lambda event: None)
        assert isinstance(graph.checkpointer, BaseCheckpointSaver)
        assert findings(graph.checkpointer) == [], scenario.name


OPERATIONS = st.tuples(
    st.sampled_from(["ask", "answer", "go on", "edit", "overwrite", "copy", "end"]),
    st.integers(0, 30),
    st.sampled_from(DURABILITIES),
)


@settings(max_examples=25)
@given(st.lists(OPERATIONS, min_size=1, max_size=8))
def test_any_life_of_a_thread(life: list[tuple[str, int, Durability]]) -> None:
    saver = InMemorySaver()
    graph = deltas(saver)
    for operation, at, durability in [("ask", 0, "async"), *life]:
        states = list(graph.get_state_history(on()))
        config = states[at % len(states)].config if states else on()
        if operation in ("edit", "overwrite"):
            value: Any = ["edited"] if operation == "edit" else Overwrite(["edited"])
            graph.update_state(config, {"slow": value, "rare": value}, as_node="note")
        elif operation in ("copy", "end"):
            graph.update_state(config, None, as_node="__copy__" if operation == "copy" else END)
        else:
            asked: dict[str, Any] = {
                "ask": {"topic": "a"},
                "answer": Command(resume="yes"),
                "go on": None,
            }
            with suppress(RuntimeError):  # nothing to answer
                graph.invoke(asked[operation], config, durability=durability)
    assert findings(saver) == []


@pytest.fixture
def old(request: pytest.FixtureRequest) -> Iterator[SqliteSaver]:
    """A database that an old version wrote."""
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as conn:
        saver = SqliteSaver(conn, serde=OnceSerializer())
        saver.setup()
        files.load(request.param, conn)
        yield saver


@pytest.mark.parametrize("old", files.names(), indirect=True)
def test_what_old_versions_wrote(old: SqliteSaver) -> None:
    assert findings(old) == []
    rows = old.conn.execute("SELECT channel, idx FROM writes").fetchall()
    assert [found for row in rows for found in validate_write(*row)] == []


@pytest.mark.filterwarnings("ignore:Deserializing unregistered type")
@pytest.mark.parametrize("old", files.names(), indirect=True)
def test_what_becomes_of_it(old: SqliteSaver) -> None:
    before: list[CheckpointTuple] = list(old.list(None))
    graph = build(old)
    history = list(graph.get_state_history(on()))
    for state in history:
        graph.update_state(state.config, None)
        graph.update_state(state.config, {"topic": "x"}, as_node="plan")
        graph.update_state(state.config, None, as_node=END)
    for state in history[::4]:
        graph.invoke(None, state.config)
    graph.invoke({"topic": "new", "log": ["again"]}, on())
    assert findings(old, but=[each.checkpoint["id"] for each in before]) == []


def values_without_versions(old: SqliteSaver) -> list[Any]:
    return [
        each.checkpoint["channel_values"][channel]
        for each in old.list(on())
        for channel in each.checkpoint["channel_values"]
        if channel not in each.checkpoint["channel_versions"]
    ]


@pytest.mark.parametrize("old", ["langgraph-0.2.16"], indirect=True)
def test_a_fork_of_format_1_takes_its_empty_values_over(old: SqliteSaver) -> None:
    graph = build(old)
    for state in list(graph.get_state_history(on())):
        before = len(values_without_versions(old))
        copied = old.get_tuple(graph.update_state(state.config, None, as_node="__copy__"))
        assert copied is not None
        assert copied.checkpoint["v"] == checkpoint.NEWEST_FORMAT
        taken = values_without_versions(old)[: len(values_without_versions(old)) - before]
        # A race of 0.2.16, which stored a channel while it changed it: one value is ahead.
        ahead = [f'.checkpoint["channel_values"]["{JOIN}"]'] * any(taken)
        assert [found.path for found in validate_tuple(copied)] == ahead


JOIN = "join:worker+left:inner"


def test_the_newest_format_is_this() -> None:
    assert _checkpoint.LATEST_VERSION == checkpoint.NEWEST_FORMAT
    assert LATEST_VERSION <= checkpoint.NEWEST_FORMAT
    assert _constants.SNAPSHOT_BUMPS == checkpoint._BUMPS


def test_an_empty_checkpoint() -> None:
    empty: list[Finding] = validate_checkpoint(empty_checkpoint())
    assert empty == validate_checkpoint(_checkpoint.empty_checkpoint()) == []


def kept(store: BaseStore) -> list[Item]:
    store.put(("users", "7"), "k", {"text": "hidden", "parts": [1, 2.5, None, {"a": True}]})
    store.put(("users", "7"), "k", {"text": "hidden", "again": []})
    got = store.get(("users", "7"), "k")
    assert got is not None
    return [got, *store.search(("users",))]


def test_an_item_of_the_store_in_memory() -> None:
    assert [validate_item(item) for item in kept(InMemoryStore())] == [[], []]


def test_the_sqlite_store_leaves_the_time_zone_out() -> None:
    with SqliteStore.from_conn_string(":memory:") as store:
        store.setup()
        for item in kept(store):
            found = [(each.path, each.problem) for each in validate_item(item)]
            problem = "has no time zone, must be in UTC"
            assert found == [(".created_at", problem), (".updated_at", problem)]
