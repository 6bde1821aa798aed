"""Events as JSON, SSE, AG-UI and text."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from ag_ui.core import EventType
from langchain_core.messages import AIMessage

from langgraph_once.errors import StreamError
from langgraph_once.events import (
    ChannelConfig,
    ChannelStreamingProcessor,
    CustomEvent,
    SoFar,
    StreamEndedEvent,
    StreamErrorEvent,
    TaskFinishedEvent,
    TaskStartedEvent,
    TokenStreamEvent,
    TokenStreamingConfig,
    Where,
    from_dict,
    to_dict,
)
from langgraph_once.events.render import TEXTS, to_ag_ui, to_console, to_sse
from langgraph_once.events.vocabulary import EVENT_TYPES
from tests.corpus.graphs import chain, says
from tests.corpus.scenario import ASKED
from tests.corpus.wires import anthropic
from tests.unit_tests.events.team import QUESTION, processor, team


def thoughtful() -> list[Any]:
    call: Any = {"name": "find", "args": {"a": 1}, "id": "c1"}
    answer = AIMessage(
        "Two words.",
        tool_calls=[call],
        additional_kwargs={"reasoning_content": "Well now."},
        id="m1",
    )
    watching = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
    return watching.stream_sync(chain(says(answer, wire=anthropic)), ASKED).collect()


def ag_ui(events: Any) -> list[Any]:
    return list(to_ag_ui(events, thread_id="t", run_id="r"))


def test_ag_ui_opens_and_closes_what_it_tells() -> None:
    assert [event.type.value for event in ag_ui(thoughtful())] == [
        "RUN_STARTED",
        "REASONING_START",
        "REASONING_MESSAGE_START",
        "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_END",
        "REASONING_END",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
        "CUSTOM",
        "RUN_FINISHED",
    ]


def test_ag_ui_tells_the_state_and_what_waits() -> None:
    told = ag_ui(processor().stream_sync(team(), QUESTION))
    paths = {event.delta[0].path for event in told if event.type is EventType.STATE_DELTA}
    assert paths == {"/messages"}


def test_errors_are_hidden_from_browsers_unless_asked_for() -> None:
    error = StreamErrorEvent(seq=1, error_type="ValueError", message="password=x")
    for shown in (False, True):
        assert ("password" in str(to_sse(error, expose_errors=shown).data)) is shown
        (_, failed) = to_ag_ui([error], thread_id="t", run_id="r", expose_errors=shown)
        assert ("password" in failed.model_dump_json()) is shown


@pytest.mark.parametrize("error", [None, "password=x"])
def test_errors_of_finished_tasks_are_shown_only_where_exposed(error: str | None) -> None:
    task = TaskFinishedEvent(seq=1, result=None, error=error)
    shown = json.loads(str(to_sse(task, expose_errors=True).data))
    hidden = json.loads(str(to_sse(task).data))
    assert shown["error"] == error
    assert hidden["error"] == (None if error is None else "the run failed")


def test_ag_ui_ends_with_the_error() -> None:
    error = StreamErrorEvent(seq=1, error_type="ValueError", message="no")
    ended = StreamEndedEvent(seq=2, status="failed")
    assert [event.type.value for event in ag_ui([error, ended])] == ["RUN_STARTED", "RUN_ERROR"]


def test_sse_has_the_type_the_number_and_the_delta_alone() -> None:
    token = next(event for event in thoughtful() if event.type == "token")
    frame = to_sse(token)
    assert (frame.event, frame.id) == ("token", "0")
    plain = json.loads(str(frame.data))
    assert plain["content_delta"] == "Well"
    assert "accumulated_content" not in plain
    assert from_dict(plain).type == "token"
    assert frame.encode().startswith(b"id: 0\r\nevent: token\r\ndata: {")


def test_the_console_shows_words_and_no_control_codes() -> None:
    text = "".join(map(to_console, processor().stream_sync(team(), QUESTION)))
    assert "I compare both.\n" in text
    assert "[call] think({" in text
    assert "[success] think: Go on.\n" in text
    assert to_console(CustomEvent(seq=0, data="\x1b[2Jgone\x07")) == "[custom] [2Jgone\n"


def test_the_console_knows_each_type_of_event() -> None:
    assert TEXTS.keys() == EVENT_TYPES.keys()


def test_a_value_that_json_does_not_know_becomes_text() -> None:
    plain = to_dict(CustomEvent(seq=0, data={"at": 1j, "raw": b"\xff", "set": {1}}))
    json.dumps(plain)
    assert plain["data"]["set"] == [1]


@pytest.mark.parametrize("plain", [{}, {"v": 1, "type": "tokem"}, {"v": 2, "type": "token"}])
def test_what_is_no_event_of_this_version_is_refused(plain: Any) -> None:
    with pytest.raises(StreamError, match="no event of version 1"):
        from_dict(plain)


def test_channels_of_messages_are_messages_again() -> None:
    watching = ChannelStreamingProcessor([ChannelConfig(key="messages")])
    (*_, last, _) = watching.stream_sync(chain(says("One two.")), ASKED)
    again: Any = from_dict(json.loads(json.dumps(to_dict(last))))
    assert [type(m).__name__ for m in again.value] == ["HumanMessage", "AIMessage"]


def task(node: str, *, ends: bool = False) -> Any:
    place: Any = {"seq": 0, "where": Where((), node, "1")}
    return (
        TaskFinishedEvent(**place, result=None) if ends else TaskStartedEvent(**place, input=None)
    )


def test_ag_ui_ends_the_steps_that_are_open_and_no_others() -> None:
    told = [task("a"), task("a"), task("b"), task("b", ends=True), task("c", ends=True)]
    steps = [
        (event.type.value, event.step_name)
        for event in ag_ui([*told, StreamEndedEvent(seq=1, status="finished")])
        if event.type.value.startswith("STEP")
    ]
    assert steps == [
        ("STEP_STARTED", "a:1"),
        ("STEP_STARTED", "b:1"),
        ("STEP_FINISHED", "b:1"),
        ("STEP_FINISHED", "a:1"),
    ]


def test_half_a_character_is_sent_as_json_can_say_it() -> None:
    token = TokenStreamEvent(
        seq=0, message_id="m", content_delta="\ud83d", so_far=SoFar.of("\ud83d")
    )
    frame = to_sse(token).encode().decode()
    plain = json.loads(frame.partition("data: ")[2])
    assert plain["content_delta"] == "\ud83d"
    assert "ö" in str(to_sse(CustomEvent(seq=0, data="ö")).data)


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("sse_starlette", "ag_ui"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install .*sse-starlette"):
        to_sse(StreamEndedEvent(seq=0, status="finished"))
    with pytest.raises(ImportError, match=r"pip install .*ag-ui-protocol"):
        ag_ui([StreamEndedEvent(seq=0, status="finished")])
