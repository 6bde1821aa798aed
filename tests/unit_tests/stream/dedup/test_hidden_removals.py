"""What was hidden and is removed hides nothing after it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once import DedupConfig
from langgraph_once.stream import Deduplicator, Part


def part(message: Any, task: str) -> Part:
    """A message that a task sends."""
    place, node = task.split("|"), task.split("|")[-1].partition(":")[0]
    meta = {"langgraph_node": node, "langgraph_checkpoint_ns": task, "langgraph_step": 1}
    return Part(tuple(place[:-1]), "messages", message, meta)


def told(*parts: Part) -> list[Any]:
    dedup = Deduplicator(DedupConfig(hide={"nodes": ["quiet"]}))
    return [said.data for each in parts for said in dedup.feed(each)]


SAID = part(AIMessage("Yes.", id="a"), "agent:1|quiet:2")
REMOVED = part(RemoveMessage(id="a"), "agent:1|cleaner:3")
COPY = part(AIMessage("Yes.", id="b"), "agent:1")


def test_a_copy_of_what_is_hidden_is_hidden() -> None:
    assert told(SAID, COPY) == []


def test_what_says_the_same_after_its_removal_is_not() -> None:
    assert told(SAID, REMOVED, COPY) == [COPY.data]


def test_a_hidden_node_may_remove_all_messages_that_are_not_hidden() -> None:
    removed = part(RemoveMessage(id=REMOVE_ALL_MESSAGES), "agent:1|quiet:2")
    assert told(COPY, removed) == [COPY.data, removed.data]


@pytest.mark.parametrize("hidden", [True, False])
def test_what_a_cut_stream_may_have_had_of_who_is_hidden(hidden: bool) -> None:
    removed = part(RemoveMessage(id="a"), f"agent:1|{'quiet' if hidden else 'loud'}:2")
    note = {"v": 1, "source": "resume", "attempt": 1, "at": removed.meta["langgraph_checkpoint_ns"]}
    assert told(removed._replace(meta={**removed.meta, "once": note})) == (
        [] if hidden else [removed.data]
    )


def test_a_message_without_an_id_is_hidden_too() -> None:
    assert told(part(AIMessage("Yes."), "agent:1|quiet:2")) == []
