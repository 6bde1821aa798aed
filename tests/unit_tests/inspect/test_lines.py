"""What a pipe is told: all that was said, on lines, without control codes."""

from __future__ import annotations

from typing import Any

from langgraph_once.inspect import (
    Began,
    Counts,
    CountsChanged,
    Ended,
    ItemChanged,
    ItemOpened,
    LaneOpened,
    TextAppended,
    ViewEvent,
)
from langgraph_once.inspect.terminal.lines import Lines

ONCE: Any = {"side": "once"}


def told(*events: ViewEvent, names_sides: bool = False) -> list[str]:
    lines = Lines(names_sides=names_sides)
    return [line for event in events for line in lines.feed(event)]


def message(item: int, *texts: str, lane: int = 0) -> list[ViewEvent]:
    opened = ItemOpened(item=item, kind="message", lane=lane, node="write", name="ai", **ONCE)
    return [opened, *(TextAppended(item=item, text=text, **ONCE) for text in texts)]


LANES: list[ViewEvent] = [
    LaneOpened(lane=0, path=(), number=1, **ONCE),
    LaneOpened(lane=1, path=("a",), number=2, **ONCE),
]
ENDED: list[ViewEvent] = [
    CountsChanged(counts=Counts(texts=2, repeated=1, bytes=1234), **ONCE),
    Ended(status="finished", **ONCE),
]


def test_an_item_is_told_when_the_next_of_its_lane_begins() -> None:
    events = [
        *LANES,
        *message(0, "one ", "two"),
        *message(1, "aside", lane=1),
        *message(2, "three"),
    ]
    assert told(*events) == ["main write: ai one two"]
    assert told(*events, *ENDED) == [
        "main write: ai one two",
        "a 2 write: ai aside",
        "main write: ai three",
        "finished: 2 texts, 1 repeated, 0 missing, 1,234 bytes",
    ]


def test_text_of_a_message_that_goes_on_after_another_began_is_printed_too() -> None:
    late = TextAppended(item=0, text=" late", **ONCE)
    lines = told(*LANES, *message(0, "one"), *message(1, "two"), late, *ENDED)
    assert lines[:3] == ["main write: ai one", "main write: ai two", "main write: ai  late"]


def test_marks_values_and_results_are_told() -> None:
    call = ItemOpened(item=0, kind="tool_call", lane=0, name="look", **ONCE)
    done = ItemChanged(
        item=0, status="success", value={"args": {"a": 1}, "result": "found"}, **ONCE
    )
    repeated: list[ViewEvent] = [
        ItemOpened(item=1, kind="message", lane=0, name="ai", **ONCE),
        TextAppended(item=1, text="said", mark="repeated", **ONCE),
        ItemOpened(item=2, kind="state", lane=0, value={"topics": ["a"]}, **ONCE),
    ]
    said = TextAppended(item=0, text='{"a": 1}', **ONCE)
    assert told(*LANES, call, said, done, *repeated, *ENDED)[:3] == [
        'main: tool_call look {"a": 1} = found -> success',
        "main: ai (repeated) said",
        'main: state {"topics": ["a"]}',
    ]


def test_what_is_decided_of_a_line_that_was_told_is_told() -> None:
    call = ItemOpened(item=1, kind="tool_call", lane=0, name="look", **ONCE)
    marked = [
        ItemChanged(item=0, mark="retracted", **ONCE),
        ItemChanged(item=1, mark="kept", **ONCE),
        ItemChanged(item=2, repeats=3, **ONCE),
        ItemChanged(item=2, status="success", **ONCE),
    ]
    said = TextAppended(item=1, text="{}", **ONCE)
    events = [*LANES, *message(0, "call 555-1234"), call, said, *message(2, "onetwo")]
    assert told(*events, *message(3, "end"), *marked)[-3:] == [
        "main write: retracted: call 555-1234",
        "main: kept: tool_call look {}",
        "main write: repeated: one",
    ]


def test_nothing_moves_the_cursor_of_a_terminal() -> None:
    (line, _) = told(*LANES, *message(0, "a\x1b[2Jb\nc\u202e"), *ENDED)
    assert line == "main write: ai a [2Jb c "


def test_sides_are_named_where_there_are_two() -> None:
    begun = Began(thread_id="t", run_id="r", **ONCE)
    failed = Ended(status="failed", error="ValueError: no", **ONCE)
    lines = told(begun, failed, names_sides=True)
    assert lines[0] == "[once] run r of thread t"
    assert lines[-1] == "[once] ValueError: no"
