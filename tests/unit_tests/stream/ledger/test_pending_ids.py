"""Which message without an id a state or an update shows."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from langgraph_once.stream import Deduplicator, Part
from langgraph_once.stream.content import content_of
from langgraph_once.stream.entries import MAX_PENDING, PendingId, PendingIds
from tests.exact import exactly
from tests.unit_tests.stream.scenes import ASKED, chain, folded

SAID = content_of(AIMessage("Hello."))
WAITS = Part(("inner:1",), "messages", AIMessage("Hello.", id="ours"), {})


def pending(*, in_update: bool = False, part: Part | None = WAITS) -> PendingIds:
    ids = PendingIds()
    ids.append(PendingId(ns=("inner:1",), content=SAID, part=part, in_update=in_update, epoch=1))
    return ids


def test_an_update_of_its_own_graph_carries_it_once() -> None:
    ids = pending()
    assert not ids.comes_in_update((), SAID)
    assert not ids.comes_in_update(("inner:1",), content_of(AIMessage("Other.")))
    assert ids.comes_in_update(("inner:1",), SAID)
    assert not ids.comes_in_update(("inner:1",), SAID)


def test_what_came_in_an_update_alone_is_not_what_another_update_carries() -> None:
    assert not pending(part=None).comes_in_update(("inner:1",), SAID)


@pytest.mark.parametrize(
    ("ns", "in_update", "snapshot", "is_it"),
    [
        (("inner:1",), False, True, True),
        (("inner:1",), True, True, True),
        (("inner:1",), False, False, True),
        (("inner:1",), True, False, False),
        ((), True, False, True),
        ((), False, False, True),
        (("other:1",), False, True, False),
    ],
)
def test_where_it_shows_under_an_id(ns: Any, in_update: bool, snapshot: bool, is_it: bool) -> None:
    """An update of its own graph that brings an id after one that brought it is of another."""
    ids = pending(in_update=in_update)
    assert (ids.take(SAID, ns, snapshot=snapshot) is not None) is is_it
    assert bool(ids) is not is_it


@pytest.mark.parametrize(("part", "is_it"), [(WAITS, True), (None, False)])
def test_only_what_waits_is_taken_where_that_is_asked(part: Part | None, is_it: bool) -> None:
    found = pending(part=part).take(SAID, (), snapshot=True, waits=True)
    assert (found is not None) is is_it


@pytest.mark.parametrize("modes", [["messages"], ["messages", "values"]])
def test_of_more_messages_than_may_wait_none_is_lost(modes: Any) -> None:
    """A node loads a long thread as pairs, and a state names them all at once."""
    texts = [f"Message {at}." for at in range(MAX_PENDING + 3)]
    graph = exactly(chain(lambda _: {"messages": [("ai", text) for text in texts]}))
    said = [data for mode, data in graph.stream(ASKED, stream_mode=modes) if mode == "messages"]
    assert list(folded(said).values()) == texts


def test_a_message_that_a_state_shows_twice_takes_one_of_those_that_wait() -> None:
    """Each is told before the next is looked for: another may say the same."""
    dedup, told = Deduplicator(), list[Part]()
    for ours in ("1", "2"):
        note = {"v": 1, "source": "node", "attempt": 1, "unnamed": True, "at": "n:1"}
        about = {"langgraph_checkpoint_ns": "n:1", "once": note}
        told += dedup.feed(Part((), "messages", AIMessage("ok", id=ours), about))
    one, other = AIMessage("ok", id="one"), AIMessage("ok", id="other")
    told += dedup.feed(Part((), "values", {"messages": [one], "copy": [one], "more": [other]}))
    assert [part.data.id for part in told if part.mode == "messages"] == ["one", "other"]
