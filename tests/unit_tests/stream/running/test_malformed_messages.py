"""A message whose fields cannot be read: it is passed on, and costs no other message anything."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from typing_extensions import TypedDict

from langgraph_once import dedup, once

BAD = "I look it up."
GOOD = {"First.", "Last."}
MODES = ["messages", "updates", "values"]


class Silent:
    def __repr__(self) -> str:
        raise RuntimeError


FIELDS: dict[str, dict[str, Any]] = {
    "a call without id": {"tool_calls": [{"name": "search", "args": {}}]},
    "a call without args": {"tool_calls": [{"name": "search", "id": "1"}]},
    "a call without name": {"tool_calls": [{"id": "1"}]},
    "a call that is text": {"tool_calls": ["search"]},
    "no list of calls": {"tool_calls": None},
    "no list of invalid calls": {"invalid_tool_calls": None},
    "no content": {"content": None},
    "a number as content": {"content": 5},
    "a block of none": {"content": [None]},
    "a block that has no repr": {"content": [{"type": "x", "object": Silent()}]},
    "no other arguments": {"additional_kwargs": None},
    "a number as id": {"id": 7},
    "a list as id": {"id": ["a"]},
    "no type": {"type": None},
}


class State(TypedDict, total=False):
    messages: list[Any]
    deep: Any


def malformed(fields: dict[str, Any]) -> AIMessage:
    message = AIMessage(BAD, id="bad")
    message.__dict__.update(fields)  # as assigned fields are not validated
    return message


def in_a_list(messages: list[Any]) -> Any:
    return {"messages": messages}


def in_a_nested_state(messages: list[Any]) -> Any:
    return {"deep": {"a": messages}}


def in_a_command(messages: list[Any]) -> Any:
    return Command(update={"messages": messages})


def graph_of(schema: Any, update: Any) -> Any:
    builder = StateGraph(schema)
    builder.add_node("answer", lambda _: update)
    builder.add_node("again", lambda state: state)
    builder.add_edge(START, "answer").add_edge("answer", "again")
    return builder.compile()


def told(chunks: Any) -> tuple[list[Any], list[Any]]:
    """The contents of messages, and the modes of all else."""
    found = [*chunks]
    said = [chunk[0].content for mode, chunk in found if mode == "messages"]
    return said, [mode for mode, _ in found if mode != "messages"]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("shape", [in_a_list, in_a_nested_state, in_a_command])
@pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS)
def test_the_others_are_told_and_so_is_it(
    fields: dict[str, Any], shape: Callable[[list[Any]], Any], place: int
) -> None:
    def stream(wrap: Callable[[Any], Any]) -> tuple[list[Any], list[Any]]:
        messages: list[Any] = [AIMessage("First.", id="f"), AIMessage("Last.")]
        messages.insert(place, malformed(fields))
        # `add_messages` itself refuses an id that is a list.
        graph = graph_of(State if "id" in fields else shape_of(shape), shape(messages))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pydantic tells of it when it writes the message
            return told(
                wrap(graph).stream(
                    {"messages": [HumanMessage("q", id="q")]}, None, stream_mode=MODES
                )
            )

    plain = stream(lambda graph: graph)
    ours = stream(once)
    assert set(map(repr_of, ours[0])) >= {*map(repr, GOOD), repr_of(malformed(fields).content)}
    assert ours[1] == plain[1]


def repr_of(content: Any) -> str:
    return repr(content) if not isinstance(content, list) else f"a list of {len(content)}"


def shape_of(shape: Callable[[list[Any]], Any]) -> Any:
    return State if shape is in_a_nested_state else MessagesState


@pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS)
def test_a_reader_of_a_plain_stream_is_told_all_that_it_shows(fields: dict[str, Any]) -> None:
    messages = [AIMessage("First.", id="f"), malformed(fields), AIMessage("Last.", id="l")]
    given = {"messages": [HumanMessage("q", id="q")]}
    plain = told(graph_of(State, in_a_list(messages)).stream(given, stream_mode=MODES))
    chunks = graph_of(State, in_a_list(messages)).stream(given, stream_mode=MODES)
    ours = told(dedup(chunks, stream_mode=MODES))
    assert {*map(repr_of, ours[0])} == {*map(repr_of, plain[0])}


def test_one_line_of_the_log_names_its_node_and_says_nothing_of_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    messages = [malformed({"content": [{"type": "x", "object": Silent()}]}), AIMessage("Last.")]
    graph = once(graph_of(State, in_a_list(messages)))
    with caplog.at_level(logging.WARNING, "langgraph_once.stream"):
        [*graph.stream({"messages": []}, stream_mode="updates")]
        assert not caplog.messages
        found = [m.content for m, _ in graph.stream({"messages": []}, stream_mode="messages")]
    assert "Last." in found
    assert any("'answer'" in line and "RuntimeError" in line for line in caplog.messages)
    assert BAD not in caplog.text
