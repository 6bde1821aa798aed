"""Every event as JSON and back."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.types import Interrupt

from langgraph_once.events import (
    ArtifactEvent,
    ChannelUpdateEvent,
    ChannelValueEvent,
    CustomEvent,
    Event,
    GapPossibleEvent,
    InterruptEvent,
    MessageCompletedEvent,
    MessageDiscardedEvent,
    MessageRemovedEvent,
    MessageReplacedEvent,
    MessageSupersededEvent,
    SoFar,
    StreamEndedEvent,
    StreamErrorEvent,
    TaskFinishedEvent,
    TaskStartedEvent,
    TokenStreamEvent,
    ToolCallCompletedEvent,
    ToolCallFailedEvent,
    ToolCallProgressEvent,
    ToolCallStartedEvent,
    ToolResultEvent,
    UIEvent,
    UsageEvent,
    Where,
    from_dict,
    to_dict,
)
from langgraph_once.events.vocabulary import EVENT_TYPES

PLACE: dict[str, Any] = {
    "namespace": ["team:t1", "agent:t2"],
    "formatted_namespace": "team:t1:agent:t2",
    "path": ["team", "agent"],
    "node": "model",
    "task_id": "t3",
}
AT: dict[str, Any] = {"seq": 7, "where": Where(("team:t1", "agent:t2"), "model", "t3")}
CALL: Any = {"name": "find", "args": {"a": 1}, "id": "c1", "type": "tool_call"}
SAID = AIMessage("Hi.", id="m", tool_calls=[CALL])
ANSWER = ToolMessage("Yes.", tool_call_id="c1", id="t", artifact={"rows": [1]})
COST: Any = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
OF_CALL: dict[str, Any] = {
    **AT,
    "tool_call_id": "c1",
    "name": "find",
    "index": 0,
    "message_id": "m",
}

EVENTS: list[Event] = [
    TokenStreamEvent(
        **AT,
        message_id="m",
        content_delta="i.",
        so_far=SoFar.of("Hi."),
        block_index="a",
        kind="text",
    ),
    MessageCompletedEvent(**AT, message_id="m", message=SAID, usage=COST, is_partial=True),
    MessageReplacedEvent(**AT, message_id="t", message=ANSWER),
    MessageDiscardedEvent(**AT, message_id="m"),
    MessageRemovedEvent(**AT, message_id="m"),
    MessageSupersededEvent(**AT, old_id="m", new_id="n", reason="retry"),
    ChannelValueEvent(**AT, key="messages", value=[SAID, ANSWER], previous_known=True),
    ChannelUpdateEvent(**AT, key="title", update={"deep": [1.5, None]}),
    ArtifactEvent(
        **AT, artifact_type="Document", artifact_data={"t": 1}, key="notes", artifact_id="n"
    ),
    ToolCallStartedEvent(**OF_CALL),
    ToolCallProgressEvent(**OF_CALL, args_delta="1}", so_far=SoFar.of('{"a": 1}')),
    ToolCallCompletedEvent(**OF_CALL, final_args='{"a": 1}', parsed_args={"a": 1}),
    ToolCallFailedEvent(**OF_CALL, error="cut", accumulated_args='{"a'),
    ToolResultEvent(
        **AT,
        tool_call_id="c1",
        name="find",
        message_id="m",
        status="error",
        content="No.",
        artifact={"rows": [1]},
    ),
    UIEvent(**AT, action="merge", ui_id="u", name="chart", props={"a": 1}, metadata={"m": True}),
    CustomEvent(**AT, data={"n": [True]}),
    InterruptEvent(**AT, interrupt_id="i", value={"question": "?"}),
    TaskStartedEvent(**AT, input={"messages": [SAID]}, triggers=("a", "b")),
    TaskFinishedEvent(**AT, result={"title": "x"}, error="no", interrupts=({"id": "i"},)),
    UsageEvent(**AT, message_id="m", usage=COST, total=COST),
    GapPossibleEvent(**AT, reason="cut"),
    StreamErrorEvent(**AT, error_type="ValueError", message="no"),
    StreamEndedEvent(**AT, status="interrupted"),
]

every_event = pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.type)


def test_every_type_is_here() -> None:
    assert [event.type for event in EVENTS] == list(EVENT_TYPES)


@every_event
def test_an_event_comes_back_from_json_equal(event: Event) -> None:
    text = json.dumps(to_dict(event), allow_nan=False)
    assert from_dict(json.loads(text)) == event


@every_event
def test_an_event_tells_its_version_its_type_its_number_and_its_place(event: Event) -> None:
    plain = to_dict(event)
    assert plain.items() >= {"v": 1, "type": event.type, "seq": 7, **PLACE}.items()
    assert list(event.namespace) == PLACE["namespace"]
    assert event.formatted_namespace == PLACE["formatted_namespace"]
    assert list(event.path) == PLACE["path"]
    assert (event.node, event.task_id) == ("model", "t3")


@every_event
def test_an_event_tells_each_of_its_fields(event: Event) -> None:
    own = {field.name for field in fields(event)} - {"where", "so_far", "error"}
    assert to_dict(event).keys() >= own


@every_event
def test_an_event_has_slots_and_is_frozen_for_type_checkers(event: Event) -> None:
    assert is_dataclass(event)
    assert not hasattr(event, "__dict__")
    # mypy refuses this line. If it did not, it would report that nothing needs to be ignored.
    event.seq = event.seq  # type: ignore[misc]


def test_texts_that_grow_are_written_whole_or_as_deltas() -> None:
    token, progress = EVENTS[0], EVENTS[10]
    assert to_dict(token)["accumulated_content"] == "Hi."
    assert to_dict(progress)["accumulated_args"] == '{"a": 1}'
    again: list[Any] = [from_dict(to_dict(e, accumulated=False)) for e in (token, progress)]
    assert [str(event.so_far) for event in again] == ["i.", "1}"]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_has_not_become_null(number: float) -> None:
    for data in (number, [number], {"n": {"m": number}}):
        plain = to_dict(CustomEvent(seq=0, data=data))
        json.dumps(plain, allow_nan=False)
        assert str(plain["data"]).count("None") == 1


def test_an_interrupt_in_a_task_and_an_error_object_become_json() -> None:
    finished = TaskFinishedEvent(seq=0, result=None, interrupts=(Interrupt("?", id="i"),))
    (waiting,) = to_dict(finished)["interrupts"]
    assert (waiting["value"], waiting["id"]) == ("?", "i")
    error = StreamErrorEvent(seq=0, error_type="E", message="no", error=ValueError("no"))
    assert from_dict(to_dict(error)) == replace(error, error=None)
    assert "error" not in to_dict(error)
