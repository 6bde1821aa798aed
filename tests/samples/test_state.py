"""The sample `state`: what its checkpoint gives back, after a real server has written it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk.client import SyncLangGraphClient

from demo.survival import SAME, is_same, survivals
from graphs.state.attic import things
from graphs.state.graph import graph
from langgraph_once.checkpoint import open_sqlite_saver

ASKED: Any = {"messages": [{"role": "user", "content": "What is up there?"}]}


def test_another_process_reads_what_the_server_wrote(
    client: SyncLangGraphClient, database: Path
) -> None:
    thread_id = client.threads.create()["thread_id"]
    client.runs.wait(thread_id, "state", input=ASKED)
    with open_sqlite_saver(database) as saver:
        found = saver.get_tuple({"configurable": {"thread_id": thread_id}})
    assert found is not None
    values = found.checkpoint["channel_values"]
    assert [name for name, thing in things().items() if not is_same(thing, values[name])] == []
    assert values["guest"]._visits == 1
    assert (values["highest"], values["seen"]) == (3, {"trunk", "lamp"})
    assert values["log"] == ["tidied, after it was filled"]
    assert values.keys().isdisjoint({"scratch", "used", "is_last", "remaining"})


def test_langgraphs_serializer_changes_each_value_of_the_state_sample() -> None:
    assert [found.channel for found in survivals() if found.stock == SAME] == []


def test_our_serializer_gives_back_all_values_of_the_state_sample() -> None:
    assert [found for found in survivals() if found.once != SAME] == []


def test_what_no_checkpoint_keeps_is_there_in_the_run() -> None:
    state = graph.invoke(ASKED, {"recursion_limit": 20})
    assert "this run has a scratch value, and 17 steps are left" in state["messages"][-1].text


@pytest.mark.parametrize(
    ("one", "other"),
    [((1,), [1]), ([(1,)], [[1]]), (ValueError("a"), ValueError("b")), ({"a": 1}, {"a": True})],
)
def test_values_of_other_types_are_not_the_same(one: Any, other: Any) -> None:
    assert not is_same(one, other)
    assert is_same(one, one)
