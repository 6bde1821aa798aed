"""Which streams go on with the ledger of their thread."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from langgraph_once.stream.graph import thread_of
from langgraph_once.stream.readers import TASK_ID_KEY
from tests.exact import exactly
from tests.unit_tests.stream.scenes import ASKED


def answers(state: MessagesState) -> dict[str, Any]:
    return {"messages": [AIMessage("Yes.")]}


GRAPH: Any = exactly(
    StateGraph(MessagesState)
    .add_node("n", answers)
    .add_edge(START, "n")
    .compile(checkpointer=InMemorySaver())
)


@pytest.mark.parametrize(
    ("asked", "has_one"),
    [({}, False), ({"thread_id": "t"}, True), ({"thread_id": "t", TASK_ID_KEY: "x"}, False)],
    ids=["no-thread", "thread", "in-a-node"],
)
def test_only_those_of_a_thread_that_run_in_no_node(asked: Any, has_one: bool) -> None:
    config: Any = {"configurable": asked, "metadata": {}}
    assert (thread_of(GRAPH, config, ASKED) is not None) is has_one
