"""Revive: JSON as the server writes it becomes messages again, and nothing else does."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.types import Interrupt
from langgraph_api.serde import json_dumpb

from langgraph_once.stream.shapes import revive

CALL = {"name": "f", "args": {"n": 1}, "id": "c"}


@pytest.mark.parametrize(
    "message",
    [
        HumanMessage("Hi", id="h", name="Ada"),
        SystemMessage([{"type": "text", "text": "Be kind."}], id="s"),
        AIMessage(
            "Hello",
            id="a",
            tool_calls=[CALL],
            usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
            response_metadata={"finish_reason": "stop"},
        ),
        AIMessageChunk(content="Hel", id="a", chunk_position="last"),
        ToolMessage("5", tool_call_id="c", id="t", artifact={"n": [1]}, status="error"),
        RemoveMessage(id="a"),
    ],
    ids=lambda message: type(message).__name__,
)
def test_a_message_written_by_the_server_is_the_same_message(message: BaseMessage) -> None:
    (revived,) = revive(orjson.loads(json_dumpb([message])))
    assert type(revived) is type(message)
    assert revived == message


def test_messages_are_found_anywhere_and_interrupts_too() -> None:
    sent: Any = {
        "agent": {"messages": [HumanMessage("Hi", id="h")]},
        "__interrupt__": [Interrupt({"ask": 1}, id="i")],
    }
    assert revive(orjson.loads(json_dumpb(sent))) == {
        "agent": {"messages": [HumanMessage("Hi", id="h")]},
        "__interrupt__": (Interrupt({"ask": 1}, id="i"),),
    }


@pytest.mark.parametrize(
    "value",
    [
        {"type": "ai", "content": "mine"},
        {"type": "ai", "content": "mine", "id": "1"},
        {"type": ["ai"], "content": "", "id": "", "additional_kwargs": 0, "response_metadata": 0},
        {"type": "user", "content": "x", "id": 1, "additional_kwargs": {}, "response_metadata": {}},
        None,
        5,
        "text",
        [[]],
    ],
)
def test_a_users_own_value_stays_as_it_is(value: Any) -> None:
    assert revive(value) == value
