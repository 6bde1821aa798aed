"""A user's own metadata under our key is not taken for ours."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

from graphs.models import ScriptedChatModel
from langgraph_once import dedup, once
from langgraph_once.stream import annotation_of

MODEL = ScriptedChatModel(script=lambda _: AIMessage("one two three"))


def answered(state: MessagesState) -> dict[str, Any]:
    return {"messages": [MODEL.invoke(state["messages"])]}


GRAPH = StateGraph(MessagesState).add_node("n", answered).add_edge(START, "n").compile()


NOTE = {"v": 1, "source": "model", "attempt": 1}
OWN: list[Any] = ["x", 3, None, {}, {"v": 99}, {"attempt": 1}, ["v"], {"v": 1}]
OWN += [{**NOTE, **wrong} for wrong in ({"attempt": "1"}, {"source": None}, {"id": 3}, {"run": 3})]
OWN += [{**NOTE, "steps": wrong} for wrong in (3, "x", ["x"])]


@pytest.mark.parametrize("own", OWN)
def test_it_is_streamed_as_if_it_were_not_there(own: Any) -> None:
    asked: Any = {"stream_mode": ["messages", "updates"]}
    config: Any = {"metadata": {"once": own}}
    question: Any = {"messages": ["hi"]}
    streams: list[Any] = [
        dedup(GRAPH.stream(question, config, **asked), **asked),
        once(GRAPH).stream(question, config, **asked),
    ]
    for chunks in streams:
        text = "".join(chunk[1][0].text for chunk in chunks if chunk[0] == "messages")
        assert text == "one two three"


@pytest.mark.parametrize("own", OWN)
def test_it_is_no_annotation(own: Any) -> None:
    assert annotation_of({"once": own}) is None
    assert annotation_of({"once": NOTE}) == NOTE
