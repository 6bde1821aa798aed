"""What an AG-UI front end learns of calls, in the order that its protocol demands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, RemoveMessage
from langchain_core.tools import tool
from langgraph.prebuilt import ToolNode

from langgraph_once.events import ChannelStreamingProcessor, TokenStreamingConfig
from langgraph_once.events.render import to_ag_ui
from langgraph_once.stream import Part
from tests.unit_tests.events.threads import ASKED, answers, call, chained, play, said

OSLO, BERGEN = call("look", "c1", q="oslo"), call("look", "c2", q="bergen")


@tool
def look(q: str = "") -> str:
    """Look."""
    return f"found {q}"


def told(*calls: Any, text: str = "", **how: Any) -> list[Any]:
    """The AG-UI events of a model that makes calls, and of their tools."""
    model = answers(AIMessage(text, tool_calls=[*calls]), **how)
    events = play(chained(said(model), ToolNode([look])), ASKED)
    return list(to_ag_ui(events, thread_id="t", run_id="r"))


def arguments(events: list[Any], call_id: str) -> Any:
    pieces = [
        event.delta
        for event in events
        if event.type.value == "TOOL_CALL_ARGS" and event.tool_call_id == call_id
    ]
    return json.loads("".join(pieces) or "null")


def names(events: list[Any]) -> list[str]:
    """The types of events, each once where it comes many times in a row."""
    types = [event.type.value for event in events]
    return [name for at, name in enumerate(types) if types[at - 1] != name or at == 0]


streams = pytest.mark.parametrize("is_whole", [False, True], ids=["streams", "whole"])


@streams
def test_a_call_brings_its_arguments_once(is_whole: bool) -> None:
    events = told(OSLO, disable_streaming=is_whole)
    assert arguments(events, "c1") == {"q": "oslo"}


@streams
def test_each_of_two_calls_brings_its_own_arguments(is_whole: bool) -> None:
    events = told(OSLO, BERGEN, disable_streaming=is_whole)
    assert [arguments(events, each) for each in ("c1", "c2")] == [{"q": "oslo"}, {"q": "bergen"}]


@streams
def test_a_call_without_arguments_brings_an_empty_object(is_whole: bool) -> None:
    assert arguments(told(call("look"), disable_streaming=is_whole), "c1") in ({}, None)


@streams
def test_a_call_comes_between_the_text_and_its_result(is_whole: bool) -> None:
    assert names(told(OSLO, text="Let me look.", disable_streaming=is_whole)) == [
        "RUN_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
        "CUSTOM",
        "TOOL_CALL_RESULT",
        "RUN_FINISHED",
    ]


def test_a_message_that_is_removed_while_it_streams_is_closed() -> None:
    processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
    meta = {"langgraph_checkpoint_ns": "model:1", "langgraph_node": "model"}
    other = {"langgraph_checkpoint_ns": "guard:2", "langgraph_node": "guard"}
    parts = [
        Part((), "messages", AIMessageChunk(content="Secr", id="m1"), meta),
        Part((), "messages", RemoveMessage(id="m1"), other),
    ]
    events = [event for part in parts for event in processor.feed(part)]
    events += processor.close()
    types = [event.type.value for event in to_ag_ui(events, thread_id="t", run_id="r")]
    assert types.index("TEXT_MESSAGE_END") < types.index("CUSTOM")
