"""What LangGraph writes has no finding, in whatever way it came about."""

import dataclasses
import functools
import importlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings, strategies as st
from langgraph._internal import _constants
from langgraph.checkpoint.base import (
    LATEST_VERSION,
    BaseCheckpointSaver,
    empty_checkpoint,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END
from langgraph.pregel import _checkpoint
from langgraph.store.base import BaseStore, Item
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from langgraph.types import Command, Overwrite

from langgraph_once import OnceSerializer
from langgraph_once_ops.validate import (
    Finding,
    checkpoint,
    validate_checkpoint,
    validate_item,
)
from tests.corpus.play import play
from tests.corpus.scenario import Graph, Scenario
from tests.corpus.scenarios import SCENARIOS
from tests.corpus.variants import VARIANTS
from tests.ops.validate.lives import (
    DURABILITIES,
    STORIES,
    Durability,
    Saver,
    deltas,
    findings,
    on,
)


class CountingSaver(InMemorySaver):
    """A saver whose versions are those of `BaseCheckpointSaver`: numbers."""

    def get_next_version(self, current: Any, channel: None) -> Any:
        return BaseCheckpointSaver.get_next_version(self, current, channel)


@pytest.fixture(params=["memory", "numbers", "sqlite"])
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Saver]:
    if request.param == "sqlite":
        with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as saver:
            saver.serde = OnceSerializer()
            yield saver
    else:
        yield {"memory": InMemorySaver, "numbers": CountingSaver}[request.param]()


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


@pytest.mark.parametrize("story", STORIES)
def test_checkpoints_of_a_graph_are_valid(saver: Saver, story: str) -> None:
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
def test_checkpoints_of_the_corpus_are_valid(kind: str) -> None:
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


def test_the_newest_format_is_this() -> None:
    assert _checkpoint.LATEST_VERSION == checkpoint.NEWEST_FORMAT
    assert LATEST_VERSION <= checkpoint.NEWEST_FORMAT
    assert _constants.SNAPSHOT_BUMPS == checkpoint._BUMPS


def test_an_empty_checkpoint_is_valid() -> None:
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
