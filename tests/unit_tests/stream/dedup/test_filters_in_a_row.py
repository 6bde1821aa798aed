"""Two deduplicators in a row, as a wrapped graph behind `OnceRemoteGraph` has, lose nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, RemoveMessage

from langgraph_once import Deduplicator
from langgraph_once.stream import Part

PLAIN: Any = {"langgraph_checkpoint_ns": "n:1", "langgraph_node": "n", "langgraph_step": 1}
NOTE: Any = {"v": 1, "source": "model", "attempt": 1, "at": "n:1", "id": "m", "run": "r"}
BY_NODE: Any = {"v": 1, "source": "node", "attempt": 1, "at": "n:1", "id": "m"}


def through_both(parts: list[Part]) -> Iterator[Part]:
    first, second = Deduplicator(), Deduplicator()
    for part in parts:
        for kept in first.feed(part):
            yield from second.feed(kept)


@pytest.mark.parametrize("streamed", [PLAIN, {**PLAIN, "once": NOTE}])
@pytest.mark.parametrize("returned", [PLAIN, {**PLAIN, "once": NOTE}, {**PLAIN, "once": BY_NODE}])
def test_a_repair_after_the_end_goes_on_with_the_message(streamed: Any, returned: Any) -> None:
    text = ""
    parts = [
        Part((), "messages", AIMessageChunk(content="One", id="m"), streamed),
        Part((), "messages", AIMessageChunk(content="", id="m", chunk_position="last"), streamed),
        Part((), "messages", AIMessage("One two", id="m"), returned),
    ]
    for part in through_both(parts):
        text = "" if isinstance(part.data, RemoveMessage) else text + part.data.text
    assert text == "One two"


@pytest.mark.parametrize("streamed", [PLAIN, {**PLAIN, "once": NOTE}])
def test_a_second_filter_knows_what_a_repair_of_the_first_said(streamed: Any) -> None:
    first, second = Deduplicator(), Deduplicator()
    whole = Part((), "messages", AIMessage("One two", id="m"), streamed)
    parts = [
        Part((), "messages", AIMessageChunk(content="One", id="m"), streamed),
        Part((), "messages", AIMessageChunk(content="", id="m", chunk_position="last"), streamed),
        whole,
    ]
    for part in parts:
        for kept in first.feed(part):
            list(second.feed(kept))
    assert list(second.feed(whole)) == []
