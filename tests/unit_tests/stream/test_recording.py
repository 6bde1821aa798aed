"""One run recorded for two consumers: nothing in the graph acts twice."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import push_message
from langgraph.prebuilt import ToolNode

from langgraph_once import DedupConfig, HideConfig, once
from langgraph_once.config import READER_KEY
from langgraph_once.stream.annotation import ANNOTATION_KEY, SIDE_KEY
from langgraph_once.stream.readers import RECORDING_READER
from langgraph_once.stream.shapes import Part, reader
from tests.unit_tests.stream.scenes import ASKED, chain, says, says_copy

RECORDED: Any = {"configurable": {READER_KEY: RECORDING_READER, "thread_id": "1"}}
MODES: Any = ["messages", "updates", "values", "custom"]


def recorded(graph: Any, **asked: Any) -> list[Part]:
    asked = {"stream_mode": MODES, "subgraphs": True, **asked}
    return [*map(reader(**asked), graph.stream(ASKED, RECORDED, **asked))]


def said(parts: list[Part], side: str) -> str:
    """What the messages of a side say, one after the other."""
    messages = [part for part in parts if part.mode == "messages"]
    return "".join(str(part.data.text) for part in messages if part.meta[SIDE_KEY] == side)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_each_side_has_its_messages_and_states_come_once(version: Any) -> None:
    graph = chain(says("One two."), says_copy("Three four."))
    parts = recorded(once(graph), version=version)
    read = reader(MODES, subgraphs=True)
    plain = [*map(read, graph.stream(ASKED, stream_mode=MODES, subgraphs=True))]
    alone = "".join(str(part.data.text) for part in plain if part.mode == "messages")
    assert said(parts, "stock") == alone == "One two.Three four.Three four."
    assert said(parts, "once") == "One two.Three four."
    states = [part for part in parts if part.mode != "messages"]
    assert [part.mode for part in states] == [p.mode for p in plain if p.mode != "messages"]
    assert len(states[-1].data["messages"]) == 3  # whole: the question, and both answers


def test_only_what_ours_sends_is_annotated() -> None:
    parts = recorded(once(chain(says("One two."))))
    messages = [part.meta for part in parts if part.mode == "messages"]
    assert {(meta[SIDE_KEY], ANNOTATION_KEY in meta) for meta in messages} == {
        ("stock", False),
        ("once", True),
    }


def test_a_tool_acts_once_and_what_is_pushed_is_shown_to_both() -> None:
    acts: list[str] = []

    @tool
    def act(what: str) -> str:
        """Do it."""
        acts.append(what)
        push_message(AIMessage("Pushed.", id="pushed"))
        return "done"

    def ask(_: MessagesState) -> dict[str, list[AnyMessage]]:
        call: Any = {"name": "act", "args": {"what": "it"}, "id": "1", "type": "tool_call"}
        return {"messages": [AIMessage("", tool_calls=[call])]}

    builder: Any = StateGraph(MessagesState)
    builder.add_node(ask).add_node("tools", ToolNode([act]))
    graph = builder.add_edge(START, "ask").add_edge("ask", "tools").compile()
    parts = recorded(once(graph))
    assert acts == ["it"]
    assert said(parts, "stock") == said(parts, "once") == "Pushed.done"


def test_what_a_graph_hides_is_sent_to_neither_side() -> None:
    hiding = DedupConfig(hide=HideConfig(nodes=("n0",)))
    parts = recorded(once(chain(says("Secret."), says("Shown.")), hiding))
    messages = [part for part in parts if part.mode == "messages"]
    assert not any(SIDE_KEY in part.meta for part in messages)
    assert "".join(str(part.data.text) for part in messages) == "Shown."


def test_who_leaves_early_is_owed_nothing_of_the_stock_side() -> None:
    graph = chain(says("One two."), says("Three four."))
    graph.checkpointer = InMemorySaver()
    wrapped = once(graph)
    stream: Any = wrapped.stream(ASKED, RECORDED, stream_mode=MODES, subgraphs=True)
    next(stream)
    next(stream)
    stream.close()
    asked: Any = {"stream_mode": MODES, "subgraphs": True}
    rest = [*map(reader(**asked), wrapped.stream(None, RECORDED, **asked))]
    sides = [part.meta[SIDE_KEY] for part in rest if part.mode == "messages"]
    assert sides.count("once") >= sides.count("stock") > 0
