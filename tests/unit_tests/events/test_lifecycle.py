"""The life of a tool call, told by messages, updates and states."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, RemoveMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk

from langgraph_once.events import (
    ChannelConfig,
    ChannelMode,
    ChannelStreamingProcessor,
    Event,
    TokenStreamingConfig,
    ToolResultEvent,
    Transcript,
)
from langgraph_once.stream import Part
from tests.corpus.graphs import chain
from tests.corpus.scenario import ASKED
from tests.unit_tests.events.team import QUESTION, agent
from tests.unit_tests.events.test_tool_calls import ELSEWHERE, HERE, chunk, ends, made

MODES = ("messages", "updates", "values")
STAGES = {"tool_call_started": 1, "tool_call_completed": 1, "tool_result": 1}
CALL: Any = {"name": "find", "args": {"a": 1}, "id": "c1"}


def stages(events: list[Event]) -> dict[str, int]:
    told = Counter(event.type for event in events if event.type.startswith("tool"))
    return {name: count for name, count in told.items() if name != "tool_call_progress"}


@pytest.fixture(scope="module")
def chunks() -> list[Any]:
    """All that an agent with one tool call streams, in the three modes that tell of it."""
    graph: Any = agent("a", "Paris")
    asked: Any = {"stream_mode": list(MODES), "subgraphs": True, "version": "v2"}
    return list(graph.stream(QUESTION, **asked))


@pytest.mark.parametrize("modes", [{*some} for n in (1, 2, 3) for some in combinations(MODES, n)])
def test_each_stage_is_told_once_by_whichever_modes(chunks: list[Any], modes: set[str]) -> None:
    order = [chunk for chunk in chunks if chunk["type"] in modes]
    tokens = TokenStreamingConfig() if "messages" in modes else None
    watching = ChannelStreamingProcessor((), tokens, None, include=["tool_calls"])
    events = [event for one in order for event in watching.feed(one)]
    events += watching.close()
    assert stages(events) == STAGES
    (call,) = Transcript(events).tool_calls()
    assert (call.name, call.parsed_args) == ("search", {"city": "Paris"})
    assert [told.content for told in call.results] == ["It is mild in Paris."]
    if tokens is not None:
        asking, *_ = Transcript(events).messages()
        assert isinstance(asking, AIMessage)
        assert [made["args"] for made in asking.tool_calls] == [call.parsed_args]


def test_a_call_of_a_message_without_id_is_that_of_the_first_message_with_it_alone() -> None:
    tracker = made()
    list(tracker.whole(AIMessage("", tool_calls=[CALL]), HERE))
    assert list(tracker.whole(AIMessage("", tool_calls=[CALL], id="m1"), HERE)) == []
    assert len(list(tracker.whole(AIMessage("", tool_calls=[CALL], id="m2"), HERE))) == 2


def test_an_attempt_that_failed_does_not_silence_the_next_under_its_id() -> None:
    tracker = made()
    piece: Any = {"id": "c1", "name": "find", "args": '{"a": 1}', "index": 0}
    list(tracker.chunk("m1", chunk(piece), HERE))
    list(tracker.finish("m1", HERE))
    told = [*tracker.chunk("m1", chunk(piece), HERE), *tracker.finish("m1", HERE)]
    assert ends(told) == [("c1", "find", {"a": 1})]


def test_a_call_of_an_old_state_does_not_silence_one_that_streams() -> None:
    tracker = made()
    old = AIMessage("", tool_calls=[CALL], id="m1")
    tracker.note([old], HERE)
    piece: Any = {"id": "c1", "name": "find", "args": '{"a": 2}', "index": 0}
    told = [*tracker.chunk("m1", chunk(piece), HERE), *tracker.finish("m1", HERE)]
    assert ends(told) == [("c1", "find", {"a": 2})]


def test_a_result_that_comes_before_the_end_of_its_call_is_told_once() -> None:
    tracker = made()
    list(tracker.chunk("m1", chunk({"id": "c1", "name": "find", "args": "{", "index": 0}), HERE))
    answer = ToolMessage("Found.", tool_call_id="c1")
    (told,) = tracker.result(answer, HERE)
    assert isinstance(told, ToolResultEvent)
    assert told.message_id == "m1"
    assert list(tracker.result(answer, HERE)) == []


def test_messages_that_stream_at_a_time_keep_their_calls_apart() -> None:
    tracker = made()
    told: list[Event] = []
    for args in ('{"a"', ": 1}"):
        for message_id in ("m1", "m2"):
            opening = {"id": f"c-{message_id}", "name": "find"} if args[0] == "{" else {}
            piece = chunk({**opening, "args": args, "index": 0})
            told += tracker.chunk(message_id, piece, HERE)
    told += [*tracker.finish("m1", HERE), *tracker.finish("m2", HERE)]
    assert ends(told) == [("c-m1", "find", {"a": 1}), ("c-m2", "find", {"a": 1})]


def test_a_message_that_gets_its_id_from_the_state_makes_its_calls_once() -> None:
    graph = chain(lambda _: {"messages": [AIMessage("", tool_calls=[CALL])]})
    channel = ChannelConfig(key="messages", stream_mode=ChannelMode.BOTH)
    watching = ChannelStreamingProcessor([channel], include=["tool_calls"])
    events = watching.stream_sync(graph, ASKED).collect()
    assert stages(events) == {"tool_call_started": 1, "tool_call_completed": 1}


META: Any = {"langgraph_checkpoint_ns": "model:1", "langgraph_node": "model"}
REMOVAL = Part((), "messages", RemoveMessage(id="m1"), META)
TOKENS = TokenStreamingConfig()


def told_of(*parts: Part) -> list[Event]:
    watching = ChannelStreamingProcessor((), TOKENS, None)
    return [*(e for part in parts for e in watching.feed(part)), *watching.close()]


@pytest.mark.parametrize("streams", [False, True])
def test_a_message_that_was_removed_and_is_said_again_makes_its_calls_again(streams: bool) -> None:
    whole = Part((), "messages", AIMessage("", tool_calls=[CALL], id="m1"), META)
    piece = tool_call_chunk(name="find", args='{"a": 1}', id="c1", index=0)
    last = AIMessageChunk(content="", id="m1", tool_call_chunks=[piece], chunk_position="last")
    again = Part((), "messages", last, META) if streams else whole
    events = told_of(whole, REMOVAL, Part((), "values", {}), again)
    assert stages(events) == {"tool_call_started": 2, "tool_call_completed": 2}
    (call,) = Transcript(events).tool_calls()
    assert call.parsed_args == {"a": 1}


def test_the_calls_of_messages_elsewhere_are_not_forgotten_with_one_that_is_removed() -> None:
    tracker = made()
    message = AIMessage("", tool_calls=[CALL], id="m1")
    for where in (HERE, ELSEWHERE):
        list(tracker.whole(message, where))
    tracker.forget("m1", HERE)
    assert list(tracker.whole(message, ELSEWHERE)) == []
    assert len(list(tracker.whole(message, HERE))) == 2


def test_a_message_that_is_removed_while_it_streams_closes_its_calls() -> None:
    piece = tool_call_chunk(name="find", args='{"a', id="c1", index=0)
    asking = AIMessageChunk(content="", id="m1", tool_call_chunks=[piece])
    events = told_of(Part((), "messages", asking, META), REMOVAL, Part((), "values", {}))
    assert [event.type for event in events] == [
        "tool_call_started",
        "tool_call_progress",
        "tool_call_failed",
        "message_removed",
        "stream_ended",
    ]
