"""What old versions of LangGraph wrote has no finding, nor what becomes of it today."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from langgraph.checkpoint.base import (
    CheckpointTuple,
)
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from langgraph_once import OnceSerializer
from langgraph_once_ops.validate import (
    checkpoint,
    validate_tuple,
    validate_write,
)
from tests.data.checkpoints import files
from tests.data.checkpoints.write_upstream import build
from tests.ops.validate.lives import State, findings, on

JOIN = "join:worker+left:inner"


@pytest.fixture
def old(request: pytest.FixtureRequest) -> Iterator[SqliteSaver]:
    """A database that an old version wrote."""
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as conn:
        saver = SqliteSaver(conn, serde=OnceSerializer())
        saver.setup()
        files.load(request.param, conn)
        yield saver


@pytest.mark.parametrize("old", files.names(), indirect=True)
def test_validate_accepts_what_old_versions_wrote(old: SqliteSaver) -> None:
    assert findings(old) == []
    rows = old.conn.execute("SELECT channel, idx FROM writes").fetchall()
    assert [found for row in rows for found in validate_write(*row)] == []


@pytest.mark.filterwarnings("ignore:Deserializing unregistered type")
@pytest.mark.parametrize("old", files.names(), indirect=True)
def test_a_graph_goes_on_from_a_checkpoint_of_an_old_version(old: SqliteSaver) -> None:
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


@pytest.mark.parametrize("old", ["langgraph-0.2.16", "langgraph-0.2.60"], indirect=True)
def test_a_checkpoint_of_an_old_version_in_a_graph_that_lost_an_edge(old: SqliteSaver) -> None:
    outer = StateGraph(State)
    for node in ("plan", "inner", "join"):
        outer.add_node(node, lambda state: {"log": ["ran"]})
    outer.add_edge(START, "plan")
    outer.add_edge("plan", "join")
    graph = outer.compile(checkpointer=old)
    before = [each.checkpoint["id"] for each in old.list(None)]
    graph.update_state(on(), {"topic": "x"}, as_node="plan")
    graph.invoke(None, on())
    assert findings(old, but=before) == []


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
