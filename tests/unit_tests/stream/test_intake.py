"""Intake and render: every shape read and written back unchanged; other shapes refused."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk
from langgraph.types import Interrupt

from langgraph_once.errors import StreamError
from langgraph_once.stream.intake import Version, mode_set, reader
from langgraph_once.stream.part import Part
from langgraph_once.stream.render import writer

NS = ("research:1", "tools:2")
TOKEN = (AIMessageChunk(content="Hi", id="m"), {"langgraph_node": "agent"})
STEP = {"agent": {"n": 1}}

SHAPES: list[tuple[str | list[str], bool, Version, Any, Part]] = [
    ("updates", False, "v1", STEP, Part((), "updates", STEP)),
    ("updates", True, "v1", (NS, STEP), Part(NS, "updates", STEP)),
    (["updates"], False, "v1", ("updates", STEP), Part((), "updates", STEP)),
    (["updates"], True, "v1", (NS, "updates", STEP), Part(NS, "updates", STEP)),
    ("messages", False, "v1", TOKEN, Part((), "messages", *TOKEN)),
    ("messages", True, "v1", (NS, TOKEN), Part(NS, "messages", *TOKEN)),
    (["messages"], True, "v1", (NS, "messages", TOKEN), Part(NS, "messages", *TOKEN)),
    (
        "messages",
        False,
        "v2",
        {"type": "messages", "ns": NS, "data": TOKEN},
        Part(NS, "messages", *TOKEN),
    ),
    (
        ["values"],
        True,
        "v2",
        {"type": "values", "ns": (), "data": STEP, "interrupts": (Interrupt(1, id="i"),)},
        Part((), "values", STEP, {"interrupts": (Interrupt(1, id="i"),)}),
    ),
]


@pytest.mark.parametrize(("modes", "subgraphs", "version", "chunk", "part"), SHAPES)
def test_a_chunk_is_read_and_written_back(
    modes: str | list[str], subgraphs: bool, version: Version, chunk: Any, part: Part
) -> None:
    assert reader(modes, subgraphs=subgraphs, version=version)(chunk) == part
    assert writer(modes, subgraphs=subgraphs, version=version)(part) == chunk


@pytest.mark.parametrize(("modes", "subgraphs", "version", "chunk", "part"), SHAPES)
def test_a_chunk_of_any_other_shape_is_refused_or_is_a_payload(
    modes: str | list[str], subgraphs: bool, version: Version, chunk: Any, part: Part
) -> None:
    """Only a bare payload may be anything; whoever asked for more gets an error."""
    read = reader(modes, subgraphs=subgraphs, version=version)
    bare = isinstance(modes, str) and not subgraphs and version == "v1"
    for *_, other, _ in SHAPES:
        if isinstance(other, dict) is (version == "v2") and len(other) == len(chunk):
            continue
        if version == "v2" and isinstance(other, dict) and "type" in other:
            continue
        if bare and modes != "messages":
            assert read(other).data is other
        else:
            with pytest.raises(StreamError, match="expected"):
                read(other)


def test_v2_interrupts_become_the_v1_key_when_written_as_v1() -> None:
    found = (Interrupt("?", id="i"),)
    part = Part((), "values", {"n": 1}, {"interrupts": found})
    assert writer("values")(part) == {"n": 1, "__interrupt__": found}


def test_the_servers_word_for_messages_is_understood() -> None:
    assert mode_set(["messages-tuple", "values"]) == {"messages", "values"}
    assert reader("messages-tuple")(TOKEN).mode == "messages"
