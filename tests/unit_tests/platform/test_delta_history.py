"""Behind the server's adapter the history of a delta channel takes one walk."""

from __future__ import annotations

import importlib
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import START, StateGraph

from langgraph_once.checkpoint import open_sqlite_saver
from langgraph_once.platform.startup import hand_on_delta_history

ON: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


def extend(state: list[str], writes: list[list[str]]) -> list[str]:
    return [*state, *(item for write in writes for item in write)]


class State(TypedDict):
    log: Annotated[list[str], DeltaChannel(extend, snapshot_frequency=1000)]


@pytest.fixture
def adapters(monkeypatch: pytest.MonkeyPatch) -> Any:
    for setting in ("REDIS_URI", "DATABASE_URI"):
        monkeypatch.setenv(setting, "fake")
    adapters: Any = importlib.import_module("langgraph_api._checkpointer._adapter")
    hand_on_delta_history()
    return adapters


def graph_of(saver: Any, adapters: Any) -> Any:
    """A graph whose saver stands behind the adapter, as on a server."""
    capabilities = adapters.CheckpointerCapabilities.from_type(type(saver))
    adapter = adapters._CustomCheckpointerAdapter(saver, capabilities)
    builder = StateGraph(State)
    builder.add_node("node", lambda _: {"log": ["said"]})
    builder.add_edge(START, "node")
    return builder.compile(checkpointer=adapter)


async def test_delta_channels_are_read_in_one_walk_through_the_history(adapters: Any) -> None:
    async with open_sqlite_saver(":memory:") as saver:
        graph = graph_of(saver, adapters)
        for number in range(10):
            await graph.ainvoke({"log": [f"asked {number}"]}, ON)
        asked: list[str] = []
        saver.conn.set_trace_callback(asked.append)
        state = await graph.aget_state(ON)
        saver.conn.set_trace_callback(None)
        assert state.values["log"][-2:] == ["asked 9", "said"]
        assert len(state.values["log"]) == 20
        # The history; the checkpoint is read by one statement, without a transaction.
        assert sum(each.startswith("BEGIN") for each in asked) == 1
