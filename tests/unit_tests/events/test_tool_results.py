"""Results of tool calls, and what is remembered of calls that have ended."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, ToolMessage

from langgraph_once.events import (
    ChannelStreamingProcessor,
    ToolResultEvent,
    Where,
)
from langgraph_once.events.tool_calls import ToolCalls
from langgraph_once.stream import Part
from tests.unit_tests.events.test_tool_calls import ELSEWHERE, HERE, chunk, made


def test_places_of_one_message_id_are_bounded() -> None:
    tracker = made(max_calls=2)
    message = AIMessage("", tool_calls=[{"id": "c", "name": "find", "args": {}}], id="fixed")
    places = [Where((f"agent:{at}",), "model", str(at)) for at in range(4)]
    assert all(list(tracker.whole(message, place)) for place in places)
    assert not list(tracker.whole(message, places[-1]))
    assert list(tracker.whole(message, places[0])), "it was forgotten, and is told again"


def whole(message_id: str, call_id: str = "c1") -> AIMessage:
    call: Any = {"id": call_id, "name": "find", "args": {"a": 1}}
    return AIMessage("", tool_calls=[call], id=message_id)


def test_calls_that_streamed_are_not_told_again_with_the_whole_message() -> None:
    tracker = made()
    piece = {"id": "c1", "name": "find", "args": '{"a": 1}', "index": 0}
    assert list(tracker.chunk("m1", chunk(piece), HERE))
    assert list(tracker.finish("m1", HERE))
    assert not list(tracker.whole(whole("m1"), HERE))
    assert list(tracker.whole(whole("m1"), ELSEWHERE))


def test_as_many_messages_and_calls_are_remembered_as_configured() -> None:
    tracker = made(max_calls=2)
    for at in range(3):
        assert list(tracker.whole(whole(f"m{at}", f"c{at}"), HERE))
    assert [state.tool_call_id for state in tracker.states] == ["c1", "c2"]
    assert [bool(tracker.call_of(f"c{at}", HERE)) for at in range(3)] == [False, True, True]
    assert not list(tracker.whole(whole("m1"), HERE))
    assert list(tracker.whole(whole("m0"), HERE)), "it was forgotten, and is told again"


def test_the_last_call_of_an_id_is_found_when_others_are_forgotten() -> None:
    tracker = made(max_calls=2)
    for at in range(3):
        list(tracker.whole(whole(f"m{at}"), HERE))
    list(tracker.whole(whole("m3", "c9"), HERE))
    state = tracker.call_of("c1", HERE)
    assert state is not None
    assert state.message_id == "m2"


def test_an_id_that_comes_again_is_no_older_than_the_one_before() -> None:
    tracker = made(max_calls=2)
    for message_id, call_id in [("m1", "c1"), ("m2", "c2"), ("m3", "c1"), ("m4", "c3")]:
        list(tracker.whole(whole(message_id, call_id), HERE))
    found = [tracker.call_of(call_id, HERE) for call_id in ("c1", "c2", "c3")]
    assert [state and state.message_id for state in found] == ["m3", None, "m4"]


def answered(tracker: ToolCalls, *results: str) -> list[bool]:
    """For each result, by its content, whether it is told."""
    messages = [ToolMessage(content, tool_call_id="c1") for content in results]
    return [bool(list(tracker.result(message, HERE))) for message in messages]


def test_a_result_is_told_again_if_it_changes() -> None:
    tracker = made()
    list(tracker.whole(whole("m1"), HERE))
    assert answered(tracker, "A", "A", "B", "B") == [True, False, True, False]


def test_a_result_without_a_known_call_is_told_each_time() -> None:
    assert answered(made(), "A", "A") == [True, True]


def test_a_result_bears_its_own_name_or_that_of_its_call() -> None:
    tracker = made()
    list(tracker.whole(whole("m1"), HERE))
    names = []
    for call_id, name in [("c1", "own"), ("c1", None), ("c9", None)]:
        message = ToolMessage(f"by {name}", tool_call_id=call_id, name=name)
        (told,) = tracker.result(message, HERE)
        names.append((getattr(told, "name", ""), getattr(told, "message_id", "")))
    assert names == [("own", "m1"), ("find", "m1"), (None, None)]


def test_a_result_goes_to_the_call_of_its_graph_before_those_around_it() -> None:
    tracker = made()
    inner, outer = Where(("agent:1",), "model", "2"), Where((), "agent", "1")
    list(tracker.whole(whole("inner"), inner))
    list(tracker.whole(whole("outer"), outer))
    state = tracker.call_of("c1", Where(("agent:1",), "tools", "9"))
    assert state is not None
    assert state.message_id == "inner"


def test_a_result_tells_its_status_its_content_and_its_artifact() -> None:
    rows = {"rows": [1]}
    message = ToolMessage(["No."], tool_call_id="c1", status="error", artifact=rows)
    (told,) = made().result(message, HERE)
    assert isinstance(told, ToolResultEvent)
    assert (told.tool_call_id, told.status, told.content) == ("c1", "error", ["No."])
    assert told.artifact is rows
    assert told.where == HERE


def test_of_calls_with_one_id_the_last_without_a_result_is_answered() -> None:
    tracker = made()
    for message_id in ("m1", "m2"):
        list(tracker.whole(whole(message_id), HERE))
    answered_of = []
    for content in ("A", "B"):
        (told,) = tracker.result(ToolMessage(content, tool_call_id="c1"), HERE)
        answered_of.append(getattr(told, "message_id", ""))
    assert answered_of == ["m2", "m1"]


def test_calls_and_results_in_the_first_state_are_old() -> None:
    processor = ChannelStreamingProcessor(include=["tool_calls"])
    old: list[Any] = [whole("m1"), ToolMessage("A", tool_call_id="c1", id="t1")]
    new = [*old, whole("m2", "c2"), ToolMessage("B", tool_call_id="c2", id="t2")]
    told = [
        [event.type for event in processor.feed(Part((), "values", {"messages": messages}))]
        for messages in (old, new)
    ]
    assert told == [[], ["tool_call_started", "tool_call_completed", "tool_result"]]
