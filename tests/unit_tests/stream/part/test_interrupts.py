"""What tasks wait for, in each shape that tells it."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from langgraph_once.stream import Part
from langgraph_once.stream.shapes import reader


def parts(mode: Any, version: Any, *breakpoints: str) -> list[Part]:
    """What a graph streams that asks, or stops before it does."""
    builder: Any = StateGraph(MessagesState)
    builder.add_node("says", lambda _: {"messages": [("ai", "Well.")]})
    builder.add_node("asks", lambda _: {"messages": [("ai", interrupt("Go on?"))]})
    builder.add_edge(START, "says").add_edge("says", "asks")
    graph = builder.compile(InMemorySaver(), interrupt_before=[*breakpoints])
    thread: Any = {"configurable": {"thread_id": "1"}}
    read = reader([mode], subgraphs=False, version=version)
    asked: Any = {"messages": [("user", "Hi.")]}
    return [read(c) for c in graph.stream(asked, thread, stream_mode=[mode], version=version)]


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("mode", ["values", "updates"])
def test_of_a_run_that_asks_the_last_part_tells_what(version: Any, mode: Any) -> None:
    *before, last = parts(mode, version)
    assert [each.value for each in last.interrupts or ()] == ["Go on?"]
    assert all(part.interrupts is None for part in before)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_at_a_breakpoint_there_are_none_and_the_run_stops(version: Any) -> None:
    *before, last = parts("updates", version, "asks")
    assert last.interrupts == ()
    assert all(part.interrupts is None for part in before)
