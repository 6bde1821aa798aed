"""UI messages, one by one."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from langgraph_once.events.namespace import NOWHERE
from langgraph_once.events.ui import UIMessages, is_ui_message


def told(*messages: dict[str, Any], max_messages: int = 9) -> list[tuple[Any, ...]]:
    shown = UIMessages(itertools.count().__next__, max_messages=max_messages)
    events = [shown.event(message, NOWHERE) for message in messages]
    assert [event.seq for event in events] == list(range(len(messages)))
    return [(event.action, event.ui_id, event.props) for event in events]


def ui(name: str, *, merge: bool = False, **props: Any) -> dict[str, Any]:
    return {"type": "ui", "id": name, "name": "chart", "props": props, "metadata": {"merge": merge}}


GONE = {"type": "remove-ui", "id": "a"}


def test_a_merge_into_one_that_is_gone_shows_it_anew() -> None:
    assert told(ui("a", x=1), GONE, ui("a", merge=True, y=2))[-1] == ("push", "a", {"y": 2})
    assert told(GONE) == [("remove", "a", {})]


def test_what_was_shown_longest_ago_is_forgotten() -> None:
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


@pytest.mark.parametrize("data", [None, {}, {"type": "ui"}, {"type": "ui", "id": 1}, {"id": "a"}])
def test_other_things_are_no_ui_messages(data: Any) -> None:
    assert not is_ui_message(data)
    assert is_ui_message(GONE)
