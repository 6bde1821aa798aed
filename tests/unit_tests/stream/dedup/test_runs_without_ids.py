"""What a model streams whose provider gives its chunks the id `""`, read without annotations."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk

from langgraph_once import DedupConfig
from langgraph_once.stream import Deduplicator, Part

WHOLE = AIMessage("Yes.", id="lc_run--1")


def part(message: Any, task: str = "n:1") -> Part:
    meta = {"langgraph_node": "n", "langgraph_checkpoint_ns": task, "ls_model_type": "chat"}
    return Part((), "messages", message, meta)


def told(*parts: Part) -> list[Any]:
    dedup = Deduplicator(DedupConfig())
    return [said.data for each in parts for said in dedup.feed(each)]


STREAMED = part(AIMessageChunk(content="Yes.", id="", chunk_position="last"))


def test_the_whole_message_behind_its_chunks_is_no_news() -> None:
    assert told(STREAMED, part(WHOLE)) == [STREAMED.data]


def test_each_copy_without_an_id_stands_for_one_streamed_message() -> None:
    again = WHOLE.model_copy(update={"id": "lc_run--2"})
    assert told(STREAMED, part(WHOLE), part(again)) == [STREAMED.data, again]


@pytest.mark.parametrize(
    ("message", "task"),
    [
        (AIMessage("No.", id="lc_run--1"), "n:1"),
        (WHOLE, "m:2"),
        (AIMessage("Yes.", id="a"), "n:1"),
    ],
    ids=["other-text", "other-task", "own-id"],
)
def test_another_message_is_no_copy_of_one_without_an_id(message: AIMessage, task: str) -> None:
    assert told(STREAMED, part(message, task)) == [STREAMED.data, message]
