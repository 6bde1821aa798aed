"""Of which channels a row consists, and what kinds of values these are."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot

from langgraph_once_ops.survey.thread import HEAD, channel_name, channels_in, kind_of, media_bytes


def test_the_channels_of_a_stock_row_are_all_of_it() -> None:
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"text": "x" * 1000, "messages": [HumanMessage("hello")]}
    _, data = JsonPlusSerializer().dumps_typed(checkpoint)
    found = channels_in(data)
    assert found.keys() == {HEAD, "text", "messages"}
    assert found["text"] == 1003
    keys = sum(len(name) + 1 for name in checkpoint["channel_values"]) + 1
    assert sum(found.values()) == len(data) - keys


@pytest.mark.parametrize(
    "data", [b"", b"\xc1", b"\x82\xa1a", b"\x81\x01\x01", b"\xdf\xff\xff\xff\xff"]
)
def test_what_is_no_checkpoint_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        channels_in(data)


class Other:
    pass


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ([HumanMessage("a")], "messages"),
        (AIMessage("a"), "messages"),
        (_DeltaSnapshot([HumanMessage("a")]), "messages"),
        ("a", "text"),
        (b"a", "bytes"),
        (True, "numbers and flags"),
        (None, "numbers and flags"),
        ([], "dicts and lists"),
        (["a"], "dicts and lists"),
        ({"a": 1}, "dicts and lists"),
        (Other(), "objects of other classes"),
    ],
)
def test_each_kind_of_value_is_named(value: Any, kind: str) -> None:
    assert kind_of(value) == kind


def test_media_in_messages_of_all_providers() -> None:
    blocks: list[Any] = [
        {"type": "text", "text": "t" * 500},
        {"type": "image_url", "image_url": {"url": "u" * 1000}},
        {"type": "image", "source": {"type": "base64", "data": "d" * 2000}},
        {"type": "audio", "base64": "b" * 4000},
        "a text",
    ]
    found = media_bytes([HumanMessage(blocks), AIMessage("no media")])
    assert 7000 <= found < 7100
    assert media_bytes(_DeltaSnapshot([HumanMessage(blocks)])) == found
    assert media_bytes({"messages": 1}) == media_bytes(None) == 0


def test_triggers_of_nodes_are_one_channel() -> None:
    assert (
        channel_name("branch:to:model")
        == channel_name("branch:to:tools")
        != channel_name("messages")
        == "messages"
    )
