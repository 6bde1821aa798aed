"""`print_mode` prints each message once, as LangGraph alone does."""

from __future__ import annotations

import re
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

from graphs.models import ScriptedChatModel
from langgraph_once import DedupConfig, once

ASKED: Any = {"messages": [("user", "Go on.")]}
SUBGRAPH: Any = {
    "stream_mode": "messages",
    "print_mode": ["messages", "updates"],
    "subgraphs": True,
}
CALLS: list[dict[str, Any]] = [
    {"stream_mode": "values", "print_mode": "messages"},
    {"stream_mode": "messages", "print_mode": "messages"},
    {"stream_mode": "messages", "print_mode": "messages", "version": "v2"},
    {"stream_mode": ["messages", "values"], "print_mode": ["messages"]},
    {"stream_mode": ["messages", "values"], "print_mode": ("values", "messages")},
    {"stream_mode": ["messages", "values"], "print_mode": "values"},
    SUBGRAPH,
    {**SUBGRAPH, "version": "v2"},
    {"stream_mode": ["values", "updates"], "debug": True},
]


def says(state: MessagesState) -> Any:
    model = ScriptedChatModel(script=lambda _: AIMessage("one two"))
    return {"messages": [model.invoke(state["messages"])]}


def graph() -> Any:
    inner = StateGraph(MessagesState).add_node(says).add_edge(START, "says").compile()
    builder = StateGraph(MessagesState).add_node("inner", inner).add_node(says)
    return builder.add_edge(START, "inner").add_edge("inner", "says").compile()


def comparable(printed: str) -> list[list[str]]:
    """The mode, the graph and the texts of each line; ids and metadata differ."""
    of_line = re.compile(r"\[(?:messages|updates|values)\]|graph=\('\w+|content='[^']*'")
    return [of_line.findall(line) for line in printed.splitlines()]


@pytest.mark.parametrize("form", ["stock", "exact"])
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_each_message_is_printed_once(form: Any, call: Any, capsys: Any) -> None:
    list(graph().stream(ASKED, **call))
    plain = comparable(capsys.readouterr().out)
    list(once(graph(), DedupConfig(form=form)).stream(ASKED, **call))
    assert comparable(capsys.readouterr().out) == plain


async def test_each_message_is_printed_once_async(capsys: Any) -> None:
    call: Any = {"stream_mode": "messages", "print_mode": "messages"}
    [_ async for _ in graph().astream(ASKED, **call)]
    plain = comparable(capsys.readouterr().out)
    [_ async for _ in once(graph()).astream(ASKED, **call)]
    assert comparable(capsys.readouterr().out) == plain


def test_what_is_hidden_is_not_printed_beside_messages(capsys: Any) -> None:
    config = DedupConfig(hide={"nodes": ["says"]})
    list(once(graph(), config).stream(ASKED, stream_mode="messages", print_mode="messages"))
    assert "one" not in capsys.readouterr().out
