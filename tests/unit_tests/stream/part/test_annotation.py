"""A user's own metadata under our key is not taken for ours."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

from graphs.models import ScriptedChatModel
from langgraph_once import DedupConfig, dedup, once
from langgraph_once.stream import annotation_of

MODEL = ScriptedChatModel(script=lambda _: AIMessage("one two three"))


def answered(state: MessagesState) -> dict[str, Any]:
    return {"messages": [MODEL.invoke(state["messages"])]}


GRAPH = StateGraph(MessagesState).add_node("n", answered).add_edge(START, "n").compile()


NOTE = {"v": 1, "source": "model", "attempt": 1}
OWN: list[Any] = ["x", 3, None, {}, {"v": 99}, {"attempt": 1}, ["v"], {"v": 1}]
OWN += [{**NOTE, **wrong} for wrong in ({"attempt": "1"}, {"source": None}, {"id": 3}, {"run": 3})]
OWN += [{**NOTE, "steps": wrong} for wrong in (3, "x", ["x"])]
OWN += [{**NOTE, **wrong} for wrong in ({"name": 3}, {"tags": "x"}, {"tags": [3]})]
OWN += [{"v": 1, "attempt": 1}, {"v": 1, "source": "model"}]


@pytest.mark.parametrize("own", OWN)
def test_metadata_that_a_user_puts_under_our_key_change_no_stream(own: Any) -> None:
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
def test_metadata_that_a_user_puts_under_our_key_are_no_annotation(own: Any) -> None:
    assert annotation_of({"once": own}) is None
    assert annotation_of({"once": NOTE}) == NOTE


@pytest.mark.parametrize("own", [3, [3], [[3]], {"x": 3}], ids=str)
@pytest.mark.parametrize("name", ["tags", "ls_model_name"])
def test_hidden_names_are_looked_for_in_no_metadata_of_a_user(name: str, own: Any) -> None:
    hide = {"tags": ["x"], "models": ["x"], "nodes": ["x"], "namespaces": ["x"]}
    dedup_config = DedupConfig(hide=hide)
    config: Any = {"metadata": {name: own}}
    question: Any = {"messages": ["hi"]}
    streams: list[Any] = [
        dedup(
            GRAPH.stream(question, config, stream_mode="messages"),
            stream_mode="messages",
            config=dedup_config,
        ),
        once(GRAPH, dedup_config).stream(question, config, stream_mode="messages"),
    ]
    for chunks in streams:
        assert "".join(message.text for message, _ in chunks) == "one two three"
