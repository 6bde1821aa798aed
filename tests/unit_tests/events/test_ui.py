"""UI messages, one by one."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, strategies as st
from langgraph.graph.ui import ui_message_reducer

from langgraph_once.events import Transcript
from langgraph_once.events.part_reader import UIMessages, is_ui_message
from langgraph_once.events.thread_memory import ThreadMemory
from langgraph_once.stream.places import Where


def told(*messages: dict[str, Any], max_messages: int = 9) -> list[tuple[Any, ...]]:
    shown = UIMessages(itertools.count().__next__, ThreadMemory(max_messages))
    events = [shown.event(message, Where()) for message in messages]
    assert [event.seq for event in events] == list(range(len(messages)))
    return [(event.action, event.ui_id, event.props) for event in events]


def ui(name: str, *, merge: bool = False, **props: Any) -> dict[str, Any]:
    return {"type": "ui", "id": name, "name": "chart", "props": props, "metadata": {"merge": merge}}


GONE = {"type": "remove-ui", "id": "a"}


def test_a_merge_into_one_that_is_gone_shows_it_anew() -> None:
    assert told(ui("a", x=1), GONE, ui("a", merge=True, y=2))[-1] == ("push", "a", {"y": 2})
    assert told(GONE) == [("remove", "a", {})]


def test_the_ui_message_that_was_shown_longest_ago_is_forgotten() -> None:
    shown = [ui("a", x=1), ui("b", x=1), ui("c", x=1)]
    later = [ui("b", merge=True, y=2), ui("a", merge=True, y=2)]
    assert told(*shown, *later, max_messages=2)[3:] == [
        ("merge", "b", {"x": 1, "y": 2}),
        ("push", "a", {"y": 2}),
    ]


def test_what_is_merged_is_not_changed() -> None:
    first = ui("a", x=1)
    told(first, ui("a", merge=True, x=2))
    assert first["props"] == {"x": 1}


MESSAGES = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from(["push", "merge", "remove"]),
        st.dictionaries(st.sampled_from("xyz"), st.integers(), max_size=2),
    )
)


@given(MESSAGES)
def test_any_messages_fold_as_their_reducer_folds_them(
    drawn: list[tuple[str, str, dict[str, int]]],
) -> None:
    shown, transcript = UIMessages(itertools.count().__next__, ThreadMemory(9)), Transcript()
    state: list[Any] = []
    for name, action, props in drawn:
        if action == "remove" and name not in {message["id"] for message in state}:
            continue  # the reducer refuses it
        message: Any = ui(name, merge=action == "merge", **props)
        message = {"type": "remove-ui", "id": name} if action == "remove" else message
        state = ui_message_reducer(state, message)
        transcript.apply(shown.event(message, Where()))
    assert {key: event.props for key, event in transcript.ui.items()} == {
        message["id"]: message["props"] for message in state
    }


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"type": "ui"},
        {"type": "ui", "id": 1},
        {"id": "a"},
        {"type": "ui", "id": "a", "props": "big"},
        {"type": "ui", "id": "a", "metadata": ["merge"]},
    ],
)
def test_other_things_are_no_ui_messages(data: Any) -> None:
    assert not is_ui_message(data)
    assert is_ui_message(GONE)
    assert is_ui_message({"type": "ui", "id": "a", "props": None, "metadata": None})


def test_what_a_ui_message_carries_is_told() -> None:
    shown = UIMessages(itertools.count().__next__, ThreadMemory(9))
    event = shown.event(ui("a", merge=True, x=1), Where())
    assert (event.name, event.metadata) == ("chart", {"merge": True})
    assert shown.event({"type": "ui", "id": "b", "props": None}, Where()).props == {}
