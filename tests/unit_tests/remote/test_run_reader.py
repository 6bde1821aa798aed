"""Reader: frames into parts, the quick way for tokens and the long way for all else."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
)
from langgraph_api.serde import json_dumpb

from langgraph_once.config import RemoteConfig
from langgraph_once.remote.alignment import AmbiguousError
from langgraph_once.remote.connection import FrameReader
from langgraph_once.remote.retries import UnknownRunError
from langgraph_once.remote.run_reader import RunReader
from langgraph_once.remote.shapes import local_parts
from langgraph_once.stream import Part

META = {"langgraph_checkpoint_ns": "node:1", "langgraph_step": 1}
USAGE: Any = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
CUT = ConnectionError()
CALL: Any = {"name": "f", "args": '{"n"', "id": "c", "index": 0, "type": "tool_call_chunk"}


def reader(**facts: Any) -> RunReader:
    return RunReader(RemoteConfig(), **{"thread_id": "t", "modes": ["messages-tuple"], **facts})


def feed(reader: RunReader, *events: tuple[str, Any]) -> list[Part]:
    body = b"".join(
        f"event: {event}\r\ndata: ".encode() + json_dumpb(data) + f"\r\nid: {i}-0\r\n\r\n".encode()
        for i, (event, data) in enumerate(events)
    )
    return [part for frame in FrameReader().feed(body) for part in reader.feed(frame)]


@pytest.mark.parametrize("event", ["messages", "messages|team:1|agent:2"])
@pytest.mark.parametrize(
    "message",
    [
        AIMessageChunk(content="Ha", id="a"),
        AIMessageChunk(content="", id="a", chunk_position="last", usage_metadata=USAGE),
        AIMessageChunk(content="", id="a", tool_call_chunks=[CALL]),
        AIMessageChunk(content=[{"type": "text", "text": "Ha", "index": 0}], id="a", name="Ada"),
        AIMessage("Ha", id="a"),
        HumanMessage("Ha", id="a"),
    ],
    ids=str,
)
def test_a_message_is_the_same_whichever_way_it_is_read(event: str, message: BaseMessage) -> None:
    (quick,) = feed(reader(), (event, [message, META]))
    (long,) = local_parts((event, [message.model_dump(mode="json"), META], "0-0"))
    assert quick == long
    assert type(quick.data) is type(message)
    assert quick.data == message
    assert quick.data.model_fields_set == long.data.model_fields_set


def test_a_second_attempt_is_told_before_its_first_part() -> None:
    told: list[str] = []
    reading = reader(ran_again=lambda: told.append("again"))
    feed(reading, ("metadata", {"run_id": "r", "attempt": 1}))
    assert told == []
    assert reading.run_id == "r"
    body = b'event: metadata\r\ndata: {"run_id": "r", "attempt": 2}\r\nid: 9-0\r\n\r\n'
    for frame in FrameReader().feed(body):
        list(reading.feed(frame))
    assert told == ["again"]


@pytest.mark.parametrize(
    ("facts", "is_told"),
    [
        ({"modes": ["values"]}, False),
        ({"modes": ["values", "updates"]}, False),
        ({"modes": ["values"], "subgraphs": True}, True),
        ({"modes": ["values"], "thread_id": None}, True),
        ({"modes": ["values", "messages-tuple"]}, True),
        ({"modes": ["custom"]}, True),
        ({"modes": None}, True),
    ],
)
def test_a_gap_is_told_where_no_state_can_fill_it(facts: dict[str, Any], is_told: bool) -> None:
    reading = reader(**facts)
    assert [part.mode for part in reading.suspect_loss("why")] == ["gap"] * is_told
    assert reading.suspected_loss == "why"
    assert list(reading.suspect_loss("another")) == []


@pytest.mark.parametrize(
    ("ends", "is_told"), [([None], False), ([CUT], True), ([None, CUT], True)], ids=str
)
def test_a_run_without_a_thread_may_be_forgotten_once_it_was_read_to_its_end(
    ends: list[Exception | None], is_told: bool
) -> None:
    reading = reader(thread_id=None, run_id="r")
    feed(reading, ("messages", [AIMessageChunk(content="Ha", id="a"), META]))
    for end in ends:
        assert list(reading.ended(end)) == []
        reading.rejoin()
        reading.alignment.has_overlap = True
    told = [part.mode for part in reading.ended(UnknownRunError())]
    assert told == ["gap"] * is_told


def test_what_a_run_begins_with_is_in_its_log_whatever_its_modes() -> None:
    reading = reader()
    feed(reading, ("metadata", {"run_id": "r", "attempt": 1}))
    assert reading.position.endswith(":1")


def test_a_run_that_is_known_is_not_taken_for_another() -> None:
    location = {"content-location": "/threads/other/runs/another"}
    reading, begun = reader(run_id="r", thread_id=None), reader(thread_id=None)
    for each in (reading, begun):
        each.opened(location, "HTTP/1.1")
    assert (reading.thread_id, reading.run_id) == (None, "r")
    assert (begun.thread_id, begun.run_id) == ("other", "another")


def test_a_token_of_another_log_comes_behind_a_gap() -> None:
    reading = reader()
    feed(reading, ("messages", [AIMessageChunk(content="Ha", id="a"), META]))
    reading.rejoin()
    told = feed(
        reading, *[("messages", [AIMessageChunk(content=text, id="a"), META]) for text in "bc"]
    )
    assert [part.mode for part in told] == ["gap", "messages", "messages"]


def test_updates_of_the_root_graph_alone_are_remembered() -> None:
    reading = reader(modes=["updates"])
    feed(reading, ("updates", {"a": {}}), ("updates|team:1", {"a": {}}), ("values", {}))
    assert len(reading._received.updates) == 1


def test_lines_of_a_stream_that_say_nothing_are_no_frame() -> None:
    assert list(FrameReader().feed(b"retry: 10\r\n\r\n: beat\r\n\r\n\r\n")) == []


@pytest.mark.parametrize("beat", [b"", b": heartbeat\r\n"])
def test_an_id_alone_is_the_position(beat: bytes) -> None:
    """So `http.app` says it of events that it left out, with the next heartbeat."""
    frames = FrameReader()
    body = b"id: 5-0\r\n" + beat + b"\r\n"
    (frame,) = frames.feed(body)
    assert (frame.event, frame.data, frame.id) == ("", None, "5-0")
    assert list(frames.feed(body)) == []  # nothing new
    reading = reader()
    feed(reading, ("messages", [AIMessageChunk(content="Ha", id="a"), META]))
    known = reading.position
    assert list(reading.feed(frame)) == []
    assert reading.interrupted("why").last_event_id == "5-0"
    assert reading.position == known  # which says what the reader has, and proves it
    body = b"event: values\r\ndata: {}\r\nid: 6-0\r\n\r\n"
    assert [part.mode for new in frames.feed(body) for part in reading.feed(new)] == ["values"]
    assert reading.interrupted("why").last_event_id == "6-0"


def test_a_run_is_resumable_as_long_as_what_a_server_keeps_has_ids() -> None:
    reading = reader()
    for event, is_resumable in (("feedback", True), ("values", False)):
        for frame in FrameReader().feed(f"event: {event}\r\ndata: {{}}\r\n\r\n".encode()):
            list(reading.feed(frame))
        assert reading.is_resumable is is_resumable


def test_what_a_task_said_that_was_done_again_by_another_is_taken_back() -> None:
    reading = reader(modes=["messages-tuple"])
    void = {"langgraph_checkpoint_ns": "node:0|inner:5"}
    feed(reading, ("messages", [AIMessageChunk(content="Ha", id="a"), void]))
    list(reading.suspect_loss("why"))
    steps = [("loop", 1, []), ("loop", 0, [{"name": "node", "id": "1"}]), ("input", -1, [])]
    states = [
        {"values": {}, "next": [], "tasks": tasks, "metadata": {"source": source, "step": step}}
        for source, step, tasks in steps
    ]
    (removal,) = reading.settled("success", states)
    assert removal.data == RemoveMessage(id="a")
    assert removal.meta == {"langgraph_checkpoint_ns": "node:0"}


@pytest.mark.parametrize("end", [{"chunk_position": "last"}, {}], ids=["whole", "half"])
def test_only_half_a_message_gives_way_to_a_copy_of_its_task(end: Any) -> None:
    reading = reader(modes=["messages-tuple"])
    said = {"langgraph_checkpoint_ns": "node:1"}
    feed(
        reading,
        ("messages", [AIMessageChunk(content="Ha", id="a"), said]),
        ("messages", [AIMessageChunk(content="", id="a", **end), said]),
    )
    list(reading.suspect_loss("why"))
    copy = {"messages": [AIMessage("Ha", id="copy").model_dump()]}
    states: list[dict[str, Any]] = [
        {"values": copy, "next": [], "tasks": []},
        {"values": {}, "next": [], "tasks": [{"name": "node", "id": "1", "result": copy}]},
    ]
    told = [part.data.id for part in reading.settled("success", states)]
    assert told == (["copy"] if end else ["a", "copy"])


def test_a_run_that_began_before_the_position_runs_again() -> None:
    told: list[str] = []
    reading = reader(run_id="r", begins_at="-1", ran_again=lambda: told.append("again"))
    feed(reading, ("metadata", {"run_id": "r", "attempt": 2}))
    assert told == ["again"]


def test_a_removal_is_nothing_that_a_task_said() -> None:
    reading = reader(modes=["messages-tuple"])
    feed(reading, ("messages", [RemoveMessage(id="b"), {"langgraph_checkpoint_ns": "gone:2"}]))
    list(reading.suspect_loss("why"))
    states = [
        {"values": {}, "next": [], "tasks": [], "metadata": {"source": "loop", "step": 0}},
        {"values": {}, "next": [], "tasks": [], "metadata": {"source": "input", "step": -1}},
    ]
    assert list(reading.settled("success", states)) == []


def test_a_connection_that_is_made_to_verify_is_no_retry_and_no_gap() -> None:
    reading = RunReader(RemoteConfig(max_retries=0), thread_id="t", run_id="r", is_resumable=False)
    assert list(reading.ended(AmbiguousError())) == []
    assert reading.suspected_loss is None
    assert reading.rejoin() < 1


def test_each_connection_that_verifies_waits_twice_as_long_as_the_one_before() -> None:
    reading = RunReader(RemoteConfig(), thread_id="t", run_id="r")
    waits = []
    for _ in range(4):
        list(reading.ended(AmbiguousError()))
        waits.append(reading.rejoin())
    assert waits == [waits[0] * factor for factor in (1, 2, 4, 8)]
