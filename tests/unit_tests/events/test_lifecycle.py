"""The life of a tool call, told by messages, updates, states and news of its tool, in any order."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
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


def mixed(chunks: list[Any], data: st.DataObject) -> list[Any]:
    """The chunks of some of the modes; each mode in its order, all of them in any."""
    modes = data.draw(st.sets(st.sampled_from(MODES), min_size=1))
    queues = [[c for c in chunks if c["type"] == mode] for mode in sorted(modes)]
    order = data.draw(st.permutations([at for at, queue in enumerate(queues) for _ in queue]))
    feeds = [iter(queue) for queue in queues]
    return [next(feeds[at]) for at in order]


@given(st.data())
def test_each_stage_is_told_once_whichever_source_comes_first(
    chunks: list[Any], data: st.DataObject
) -> None:
    order = mixed(chunks, data)
    tokens = TokenStreamingConfig() if "messages" in {c["type"] for c in order} else None
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


def test_fragments_of_a_call_that_was_told_whole_tell_nothing_and_are_kept() -> None:
    tracker = made()
    whole = AIMessage("", tool_calls=[CALL], id="m1")
    assert len(list(tracker.whole(whole, HERE))) == 2
    pieces: Any = [
        {"args": '{"a"', "index": 0},
        {"id": "c1", "name": "find", "args": ": ", "index": 0},
        {"args": "1}", "index": 0},
    ]
    assert [e for piece in pieces for e in tracker.chunk("m1", chunk(piece), HERE)] == []
    (so_far,) = tracker.of("m1", HERE).so_far()
    assert (so_far["id"], so_far["args"]) == ("c1", '{"a": 1}')
    assert list(tracker.finish("m1", HERE)) == []
    assert len(tracker.states) == 1
    bad: Any = {"id": "c1", "name": "find", "args": "[", "index": 0}
    assert list(tracker.chunk("m1", chunk(bad), HERE)) == []
    assert list(tracker.finish("m1", HERE, "cut")) == []


def test_a_call_that_its_tool_told_of_is_that_of_the_first_message_with_it_alone() -> None:
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
    assert list(tracker.whole(old, HERE, is_old=True)) == []
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
    piece: Any = {"id": "c1", "name": "find", "args": "{", "index": 0}
    assert list(tracker.chunk("m1", chunk(piece), ELSEWHERE)) == []


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
