"""Tool calls, in every shape in which fragments of them arrive."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given, strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage

from langgraph_once.events import Event, Where
from langgraph_once.events.thread_memory import ThreadMemory, ToolCallState
from langgraph_once.events.tool_calls import MessageCalls, ToolCalls

HERE = Where(("agent:1",), "model", "2")
ELSEWHERE = Where(("agent:9",), "model", "3")

ARGS = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=5,
    ),
    max_size=3,
)


@st.composite
def fragments(draw: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Up to five calls, and their fragments, cut and mixed in any way that keeps each in order."""
    calls = [
        {"id": f"c{at}", "name": f"tool{at}", "args": args}
        for at, args in enumerate(draw(st.lists(ARGS, min_size=1, max_size=5)))
    ]
    queues = []
    for index, call in enumerate(calls):
        text = json.dumps(call["args"], ensure_ascii=draw(st.booleans()))
        places = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)) | {0, len(text)})
        cuts = [text[a:b] for a, b in itertools.pairwise(places)]
        head = draw(st.sampled_from(["with the first", "before it"]))
        first = cuts.pop(0) if head == "with the first" else ""
        opening = {"id": call["id"], "name": call["name"], "args": first, "index": index}
        queues.append([opening, *({"args": cut, "index": index} for cut in cuts)])
    mixed = []
    while queues := [queue for queue in queues if queue]:
        mixed.append(queues[draw(st.integers(0, len(queues) - 1))].pop(0))
    return calls, mixed


@given(fragments())
def test_any_cuts_and_any_mix_give_the_same_calls(
    drawn: tuple[list[dict[str, Any]], list[dict[str, Any]]],
) -> None:
    calls, mixed = drawn
    told = told_of(mixed)
    completed = [e for e in told if e.type == "tool_call_completed"]
    found = {e.tool_call_id: (e.name, e.parsed_args) for e in completed}
    assert found == {call["id"]: (call["name"], call["args"]) for call in calls}
    assert len(completed) == len(calls)
    for call in calls:
        mine = [e for e in told if getattr(e, "tool_call_id", None) == call["id"]]
        stages = [e.type for e in mine]
        assert stages[0] == "tool_call_started"
        assert stages[-1] == "tool_call_completed"
        deltas = [e.args_delta for e in mine if e.type == "tool_call_progress"]
        assert "".join(deltas) == mine[-1].final_args  # type: ignore[union-attr]  # only the last kind of event has it


def chunk(*pieces: dict[str, Any], **how: Any) -> AIMessageChunk:
    whole: Any = [{"id": None, "name": None, "index": None, **piece} for piece in pieces]
    return AIMessageChunk(content="", tool_call_chunks=whole, id="m1", **how)


def told_of(pieces: Iterable[dict[str, Any]]) -> list[Event]:
    """The events of fragments that come one in a chunk, and of the end of their message."""
    tracker = made()
    events = [e for piece in pieces for e in tracker.chunk("m1", chunk(piece), HERE)]
    return [*events, *tracker.finish("m1", HERE)]


class Tracker(ToolCalls):
    """Keeps the calls of open messages, too, as the open messages do."""

    def __init__(self, max_calls: int = 1_000) -> None:
        super().__init__(itertools.count().__next__, ThreadMemory(max_calls))
        self._open: dict[tuple[str, Where], MessageCalls] = {}

    @property
    def states(self) -> tuple[ToolCallState, ...]:
        """The calls that are remembered, oldest first."""
        return tuple(state for known in self._calls.values() for state in known)

    def chunk(self, message_id: str, chunk: AIMessageChunk, where: Where) -> Iterator[Event]:
        return self.of(message_id, where).feed(chunk)

    def of(self, message_id: str, where: Where) -> MessageCalls:
        return self._open.setdefault((message_id, where), MessageCalls(message_id, where, self))

    def finish(self, message_id: str, where: Where, failed: str | None = None) -> list[Event]:
        calls = self._open.pop((message_id, where), None)
        return list(calls.end(failed)) if calls else []


def made(**how: Any) -> Tracker:
    return Tracker(**how)


def ends(events: Iterable[Event]) -> list[tuple[Any, ...]]:
    return [
        (e.tool_call_id, e.name, getattr(e, "parsed_args", None))
        for e in events
        if e.type in ("tool_call_completed", "tool_call_failed")
    ]


def test_an_id_and_a_name_that_come_late_hold_the_start_back_and_lose_nothing() -> None:
    told = told_of(
        [
            {"args": '{"a"', "index": 0},
            {"id": "c1", "args": ":", "index": 0},
            {"name": "find", "args": " 1", "index": 0},
            {"args": "}", "index": 0},
        ]
    )
    assert [e.type.removeprefix("tool_call_") for e in told] == [
        "started",
        "progress",
        "progress",
        "completed",
    ]
    assert [e.args_delta for e in told if e.type == "tool_call_progress"] == ['{"a": 1', "}"]
    assert ends(told) == [("c1", "find", {"a": 1})]


def test_fragments_without_an_index_go_on_with_the_last_call() -> None:
    told = told_of(
        [
            {"id": "c1", "name": "find", "args": '{"a"'},
            {"args": ": 1}"},
            {"id": "c2", "name": "find", "args": ""},
            {"args": '{"a": 2}'},
        ]
    )
    assert ends(told) == [("c1", "find", {"a": 1}), ("c2", "find", {"a": 2})]


def test_fragments_with_an_id_and_no_index_go_on_with_the_call_of_that_id() -> None:
    told = told_of(
        [
            {"id": "c1", "name": "find", "args": '{"a"'},
            {"id": "c2", "name": "find", "args": '{"a"'},
            {"id": "c1", "args": ": 1}"},
            {"id": "c2", "args": ": 2}"},
        ]
    )
    assert ends(told) == [("c1", "find", {"a": 1}), ("c2", "find", {"a": 2})]


def test_a_call_that_never_gets_an_id_begins_before_it_ends() -> None:
    told = told_of([{"name": "find", "args": '{"a": 1}', "index": 0}])
    assert [e.type.removeprefix("tool_call_") for e in told] == [
        "started",
        "progress",
        "completed",
    ]


def test_the_states_of_calls_say_how_far_they_are() -> None:
    tracker = made()

    def states(args: str, index: int) -> list[str]:
        piece = {"id": f"c{index}", "name": "find", "args": args, "index": index}
        list(tracker.chunk("m1", chunk(piece), HERE))
        return [state.status for state in tracker.states]

    assert states('{"a"', 0) == ["streaming"]
    assert states("{}", 1) == ["streaming", "streaming"]
    assert states("[", 2) == ["streaming", "completed", "streaming"]
    list(tracker.finish("m1", HERE))
    assert [state.status for state in tracker.states] == ["failed", "completed", "failed"]
    assert not any(state.is_open for state in tracker.states)


def test_a_call_without_its_id_does_not_end_where_the_next_begins() -> None:
    told = told_of(
        [
            {"args": "{}", "index": 0},
            {"id": "c2", "name": "find", "args": "{}", "index": 1},
            {"id": "c1", "name": "find", "index": 0},
        ]
    )
    assert ends(told) == [("c1", "find", {}), ("c2", "find", {})]


def test_line_breaks_in_strings_are_read_as_upstream_reads_them() -> None:
    told = told_of([{"id": "c1", "name": "write", "args": '{"text": "a\nb"}', "index": 0}])
    assert ends(told) == [("c1", "write", {"text": "a\nb"})]


def test_the_repr_of_a_state_quotes_nothing() -> None:
    tracker = made()
    message = AIMessage("", tool_calls=[{"id": "c1", "name": "find", "args": {"a": "secret"}}])
    list(tracker.whole(message, HERE))
    list(tracker.result(ToolMessage("secret", tool_call_id="c1"), HERE))
    (state,) = tracker.states
    assert state.accumulated_args == '{"a": "secret"}'
    assert state.status == "completed"
    assert "find" in repr(state)
    assert "secret" not in repr(state)


def test_a_bad_call_of_a_whole_message_has_failed() -> None:
    bad: Any = {"id": "c", "name": "find", "args": "{", "error": None, "type": "invalid_tool_call"}
    tracker = made()
    list(tracker.whole(AIMessage("", invalid_tool_calls=[bad]), HERE))
    assert [state.status for state in tracker.states] == ["failed"]


def test_whole_calls_without_index_or_id_are_two() -> None:
    told = told_of([{"name": "find", "args": "{}"}, {"name": "find", "args": "{}"}])
    assert ends(told) == [(None, "find", {}), (None, "find", {})]


def test_calls_that_all_bear_index_0_are_told_apart_by_their_ids() -> None:
    told = told_of(
        [
            {"id": "c1", "name": "find", "args": "{}", "index": 0},
            {"id": "c2", "name": "find", "args": '{"a": 1}', "index": 0},
        ]
    )
    assert ends(told) == [("c1", "find", {}), ("c2", "find", {"a": 1})]


def test_a_call_that_comes_again_whole_is_no_other_call() -> None:
    whole = {"id": "c1", "name": "find", "args": '{"a": 1}', "index": 0}
    assert ends(told_of([whole, whole])) == [("c1", "find", {"a": 1})]


@pytest.mark.parametrize("early", ["1", "[]", '"a"'])
def test_arguments_that_can_be_read_are_not_finished(early: str) -> None:
    tracker = made()
    opening = {"id": "c1", "name": "find", "args": early, "index": 0}
    following = {"id": "c2", "name": "find", "args": "{}", "index": 1}
    told = list(tracker.chunk("m1", chunk(opening), HERE))
    told += tracker.chunk("m1", chunk(following), HERE)
    assert ends(told) == []
    assert told[1].is_valid_json  # type: ignore[union-attr]  # only this kind of event has it


def test_an_object_ends_where_the_next_call_begins() -> None:
    tracker = made()
    list(
        tracker.chunk("m1", chunk({"id": "c1", "name": "a", "args": '{"b": 1}', "index": 0}), HERE)
    )
    told = list(tracker.chunk("m1", chunk({"id": "c2", "name": "a", "index": 1, "args": ""}), HERE))
    assert [e.type for e in told] == ["tool_call_completed", "tool_call_started"]


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ('{"a": ', "the arguments are no valid JSON: Expecting value at character 6"),
        ("[1]", "the arguments are no JSON object"),
        ("{}{}", "the arguments are no valid JSON: Extra data at character 2"),
        ("[" * 100_000, "the arguments are nested too deeply"),
    ],
)
def test_malformed_arguments_fail_and_raise_nothing(args: str, error: str) -> None:
    (*_, last) = told_of([{"id": "c1", "name": "find", "args": args, "index": 0}])
    assert last.type == "tool_call_failed"
    assert last.error == error
    assert last.accumulated_args == args


def test_no_arguments_are_none() -> None:
    assert ends(told_of([{"id": "c1", "name": "now", "args": "", "index": 0}])) == [
        ("c1", "now", {})
    ]


def test_blocks_of_anthropic_and_of_responses_without_tool_call_chunks() -> None:
    blocks: list[Any] = [
        {"type": "tool_use", "id": "c1", "name": "find", "input": {}, "index": 1},
        {"type": "input_json_delta", "partial_json": '{"a"', "index": 1},
        {"type": "input_json_delta", "partial_json": ": 1}", "index": 1},
        {"type": "function_call", "call_id": "c2", "id": "fc", "name": "get", "index": 2},
        {"type": "function_call", "arguments": '{"b": 2}', "index": 2},
    ]
    tracker = made()
    told: list[Event] = []
    for block in blocks:
        told += tracker.chunk("m1", AIMessageChunk(content=[block], id="m1"), HERE)
    told += tracker.finish("m1", HERE)
    assert ends(told) == [("c1", "find", {"a": 1}), ("c2", "get", {"b": 2})]


def test_a_message_that_dies_fails_its_calls() -> None:
    tracker = made()
    told = list(tracker.chunk("m1", chunk({"args": '{"a', "index": 0}), HERE))
    told += tracker.finish("m1", HERE, "cut")
    assert [e.type for e in told] == ["tool_call_started", "tool_call_progress", "tool_call_failed"]


def test_a_whole_message_tells_each_call_and_the_bad_ones_too() -> None:
    bad: Any = {"id": "c2", "name": "find", "args": "{", "error": "cut off", "type": "invalid"}
    good: Any = {"id": "c1", "name": "find", "args": {"a": 1}}
    message = AIMessage("", tool_calls=[good], invalid_tool_calls=[bad], id="m1")
    tracker = made()
    told = list(tracker.whole(message, HERE))
    assert [e.type.removeprefix("tool_call_") for e in told] == [
        "started",
        "completed",
        "started",
        "failed",
    ]
    assert list(tracker.whole(message, HERE)) == []
    assert list(tracker.whole(message, Where())) == [], "the same, in the graph around it"
    assert list(tracker.whole(message, ELSEWHERE)), "another, in a parallel task"


def test_a_result_goes_to_the_call_of_its_lineage() -> None:
    tracker = made()
    for where in (HERE, ELSEWHERE):
        message = f"of {where.task_id}"
        opening = chunk({"id": "c1", "name": "find", "args": "{}", "index": 0})
        list(tracker.chunk(message, opening, where))
        list(tracker.finish(message, where))
    answer = ToolMessage("Found.", tool_call_id="c1")
    at = Where(("agent:1",), "tools", "8"), Where(("agent:9",), "tools", "9")
    told = [event for where in at for event in tracker.result(answer, where)]
    assert [e.message_id for e in told if e.type == "tool_result"] == ["of 2", "of 3"]


def test_a_result_of_a_task_goes_to_the_call_of_that_task() -> None:
    tracker = made()
    ones, twos = Where((), "worker", "1"), Where((), "worker", "2")
    for where in (ones, twos):
        list(tracker.whole(AIMessage("", tool_calls=[call_of("c1")]), where))
    (told,) = tracker.result(ToolMessage("Found.", tool_call_id="c1"), ones)
    assert told.where == ones
    assert [state.result is not None for state in tracker.states] == [True, False]


def test_the_same_id_in_a_later_turn_is_another_call() -> None:
    tracker = made()
    messages = []
    for turn in ("m1", "m2"):
        opening = chunk({"id": "c1", "name": "find", "args": "{}", "index": 0})
        list(tracker.chunk(turn, opening, HERE))
        list(tracker.finish(turn, HERE))
        (told,) = tracker.result(ToolMessage("Found.", tool_call_id="c1"), HERE)
        messages.append(told.message_id)  # type: ignore[union-attr]  # only this kind of event has it
    assert messages == ["m1", "m2"]


def test_a_result_is_told_once_whoever_brings_it() -> None:
    tracker = made()
    list(tracker.whole(AIMessage("", tool_calls=[call_of("c1")], id="m1"), HERE))
    answer = ToolMessage("Found.", tool_call_id="c1")
    assert len(list(tracker.result(answer, HERE))) == 1
    assert list(tracker.result(answer, HERE)) == []


@pytest.mark.parametrize("tool_call_id", ["c1", None])
def test_calls_of_one_message_that_share_an_id_or_have_none_are_each_told_once(
    tool_call_id: Any,
) -> None:
    tracker = made()
    message = AIMessage("", tool_calls=[call_of(tool_call_id)] * 2, id="m1")
    assert len(list(tracker.whole(message, HERE))) == 4
    assert list(tracker.whole(message, HERE)) == []


def call_of(tool_call_id: str) -> Any:
    return {"id": tool_call_id, "name": "find", "args": {}}


def test_what_is_kept_of_tool_calls_is_bounded() -> None:
    tracker = made(max_calls=10)
    for at in range(100):
        list(tracker.whole(AIMessage("", tool_calls=[call_of(f"c{at}")], id=f"m{at}"), HERE))
    assert [state.tool_call_id for state in tracker.states] == [f"c{at}" for at in range(90, 100)]
    assert tracker.call_of("c1", HERE) is None


def test_arguments_that_are_no_json_are_not_readable() -> None:
    told = told_of([{"id": "c1", "name": "find", "args": "city: Paris", "index": 0}])
    (progress,) = [e for e in told if e.type == "tool_call_progress"]
    assert progress.partial_args is None
    assert not progress.is_valid_json


def test_partial_arguments_are_readable_at_each_step() -> None:
    told = told_of(
        [
            {"id": "c1", "name": "find", "args": '{"city": "Pa', "index": 0},
            {"args": 'ris", "n": 1', "index": 0},
            {"args": "}", "index": 0},
        ]
    )
    progress = [e for e in told if e.type == "tool_call_progress"]
    assert [e.partial_args for e in progress] == [
        {"city": "Pa"},
        {"city": "Paris", "n": 1},
        {"city": "Paris", "n": 1},
    ]
    assert [e.is_valid_json for e in progress] == [False, False, True]
    assert [e.accumulated_args for e in progress] == [
        '{"city": "Pa',
        '{"city": "Paris", "n": 1',
        '{"city": "Paris", "n": 1}',
    ]
