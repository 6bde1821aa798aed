"""Keys of the state, artifacts, UI messages, interrupts, tasks and what nodes write."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import START, StateGraph
from langgraph.graph.ui import delete_ui_message, push_ui_message, ui_message_reducer
from langgraph.pregel.remote import RemoteException
from langgraph.types import Command, Overwrite, interrupt
from pydantic import BaseModel

from langgraph_once.events import (
    ChannelConfig,
    ChannelMode,
    ChannelStreamingProcessor,
    TokenStreamingConfig,
    Transcript,
)
from langgraph_once.events.channels import MISSING, ArtifactTracker, node_updates, read_key
from langgraph_once.stream import Part


def graph_of(schema: Any, *nodes: Any, memory: bool = False) -> Any:
    builder = StateGraph(schema)
    before = START
    for at, action in enumerate(nodes):
        builder.add_node(f"n{at}", action)
        builder.add_edge(before, f"n{at}")
        before = f"n{at}"
    return builder.compile(checkpointer=InMemorySaver() if memory else None)


class Notes(TypedDict, total=False):
    notes: Annotated[list[Any], operator.add]
    title: str
    ui: Annotated[list[Any], ui_message_reducer]


def told(graph: Any, input: Any, *configs: ChannelConfig, **how: Any) -> list[Any]:
    config = how.pop("config", None)
    return ChannelStreamingProcessor(configs, **how).stream_sync(graph, input, config).collect()


def test_a_key_is_told_when_it_changes_and_only_then() -> None:
    graph = graph_of(Notes, lambda _: {"notes": [1]}, lambda _: {"title": "new"})
    events = told(graph, {"title": "old"}, ChannelConfig(key="title"))
    values = [(e.value, e.previous_known) for e in events if e.type == "channel_value"]
    assert values == [("old", False), ("new", True)]


def test_updates_name_their_node_and_values_come_too_if_both_are_asked_for() -> None:
    graph = graph_of(Notes, lambda _: {"notes": [1]}, lambda _: {"notes": [2]})
    config = ChannelConfig(key="notes", stream_mode=ChannelMode.BOTH)
    events = told(graph, {"notes": []}, config)
    assert [(e.type, e.node, getattr(e, "update", None)) for e in events[:-1]] == [
        ("channel_value", None, None),
        ("channel_update", "n0", [1]),
        ("channel_value", None, None),
        ("channel_update", "n1", [2]),
        ("channel_value", None, None),
    ]


def test_states_may_be_models() -> None:
    class Model(BaseModel):
        title: str = ""

    graph = graph_of(Model, lambda _: {"title": "new"})
    events = told(graph, Model(title="old"), ChannelConfig(key="title"))
    assert [e.value for e in events if e.type == "channel_value"] == ["old", "new"]


def test_a_filter_drops_events_of_its_channel() -> None:
    graph = graph_of(Notes, lambda _: {"title": "new"})
    keep = ChannelConfig(key="title", filter_fn=lambda event: event.value != "old")
    events = told(graph, {"title": "old"}, keep)
    assert [e.value for e in events if e.type == "channel_value"] == ["new"]


def artifacts(values: list[Any], mode: str = "values") -> list[list[tuple[str, Any]]]:
    """For each value in turn, what is told of it: id and data."""
    stream_mode = ChannelMode(mode)
    processor = ChannelStreamingProcessor(
        [ChannelConfig(key="notes", artifact_type="Document", stream_mode=stream_mode)], dedup=None
    )
    found = []
    for value in values:
        state = {"notes": value}
        part = Part((), mode, state if mode == "values" else {"node": state})
        events: list[Any] = list(processor.feed(part))
        found.append([(event.artifact_id, event.artifact_data) for event in events])
    return found


def test_an_artifact_is_told_when_new_or_changed_wherever_it_stands() -> None:
    a, b, edited = {"id": "a", "t": 1}, {"id": "b", "t": 2}, {"id": "a", "t": 3}
    assert artifacts([[a], [b, a], [b], [b, edited], [edited]]) == [
        [("a", a)],
        [("b", b)],
        [],
        [("a", edited)],
        [],
    ]


def test_artifacts_without_ids_are_told_by_content_and_equal_ones_twice() -> None:
    found = artifacts([["x"], ["y", "x"], ["y"], ["y", "y"], ["y", "z"]])
    assert [[data for _, data in step] for step in found] == [["x"], ["y"], [], ["y"], ["z"]]


def test_artifacts_that_updates_bring() -> None:
    a, edited = {"id": "a", "t": 1}, {"id": "a", "t": 3}
    found = artifacts([[a], [a], [edited], ["x"], ["x", "y"], Overwrite(["y"])], "updates")
    assert [[data for _, data in step] for step in found] == [
        [a],
        [],
        [edited],
        ["x"],
        ["y"],
        [],
    ]


class Typed(BaseModel):
    title: str = "typed"


@dataclass
class Plain:
    title: str = "plain"


class Other:
    title = "of no state"


@pytest.mark.parametrize(
    ("state", "key", "found"),
    [
        ({"title": 1}, "title", 1),
        ({}, "title", MISSING),
        (Typed(), "title", "typed"),
        (Typed(), "text", MISSING),
        (Plain(), "title", "plain"),
        (Plain(), "text", MISSING),
        (Other(), "title", MISSING),
        ([1], "title", MISSING),
        ([1], "__root__", [1]),
    ],
)
def test_a_key_of_any_state(state: Any, key: str, found: Any) -> None:
    assert read_key(state, key) == found


def test_a_node_may_write_several_times() -> None:
    several: Any = {"a": [{"t": 1}, {"t": 2}], "b": [1, {"t": 3}], "c": None, "__x__": {"t": 4}}
    assert list(node_updates(several)) == [("a", {"t": 1}), ("a", {"t": 2}), ("b", [1, {"t": 3}])]
    assert list(node_updates([1])) == []


def updates_of(*parts: Part, **config: Any) -> list[tuple[str, Any]]:
    channel = ChannelConfig(key="title", stream_mode=ChannelMode.UPDATES_ONLY, **config)
    processor = ChannelStreamingProcessor([channel], dedup=None)
    events: list[Any] = [event for part in parts for event in processor.feed(part)]
    return [(event.formatted_namespace, event.update) for event in events]


def test_only_updates_of_the_key_at_the_places_are_told() -> None:
    parts = [
        Part((), "updates", {"n": {"title": 1}}),
        Part((), "updates", {"n": {"other": 2}}),
        Part(("a:1",), "updates", {"n": {"title": 3}}),
    ]
    assert updates_of(*parts) == [("main", 1), ("a:1", 3)]
    assert updates_of(*parts, namespaces={"main"}) == [("main", 1)]


def test_graphs_whose_artifacts_were_told_longest_ago_are_forgotten() -> None:
    channel = ChannelConfig(key="notes", artifact_type="Note")
    processor = ChannelStreamingProcessor([channel], dedup=None, max_history=2)

    def told_in(graph: str) -> int:
        return len(list(processor.feed(Part((graph,), "values", {"notes": ["x"]}))))

    assert [told_in(graph) for graph in "ababcba"] == [1, 1, 0, 0, 1, 0, 1]


def test_two_elements_of_one_id_are_told_once_for_each_content() -> None:
    one, other = {"id": "a", "t": 1}, {"id": "a", "t": 2}
    found = artifacts([[one, other, one], [one, other], [other], [other, one]])
    assert [[data for _, data in step] for step in found] == [[one, other], [], [], [one]]


def test_what_nodes_wrote_long_ago_is_forgotten() -> None:
    tracker = ArtifactTracker(max_known=2)

    def told(*written: Any) -> list[Any]:
        return [data for _, data in tracker.update(list(written))]

    a, b, c = ({"id": name} for name in "abc")
    assert [told(a, b), told(a), told(c), told(a, b)] == [[a, b], [], [c], [b]]
    assert [told("x", "x"), told("x"), told("y"), told("z"), told("x")] == [
        ["x", "x"],
        [],
        ["y"],
        ["z"],
        ["x"],
    ]


def test_one_value_is_one_artifact_and_opaque_ones_are_told() -> None:
    opaque = object()
    assert [[data for _, data in step] for step in artifacts([{"t": 1}, {"t": 1}, None])] == [
        [{"t": 1}],
        [],
        [],
    ]
    assert artifacts([[opaque]])[0][0][1] is opaque


def test_artifacts_of_an_earlier_turn_of_the_thread_are_not_new() -> None:
    graph = graph_of(Notes, lambda state: {"notes": [f"note {len(state['notes'])}"]}, memory=True)
    config: Any = {"configurable": {"thread_id": "1"}}
    channel = ChannelConfig(key="notes", artifact_type="Document")
    turns = [told(graph, {"notes": []}, channel, config=config) for _ in range(3)]
    data = [[e.artifact_data for e in turn if e.type == "artifact"] for turn in turns]
    assert data == [["note 0"], ["note 1"], ["note 2"]]


def shows(state: Any) -> Any:
    push_ui_message("chart", {"a": 1, "b": 1}, id="u1")
    push_ui_message("chart", {"b": 2}, id="u1", merge=True)
    push_ui_message("chart", {"c": 3}, id="u1")
    push_ui_message("table", {"d": 4}, id="u2", merge=True)
    return {}


def removes(state: Any) -> Any:
    delete_ui_message("u1")
    get_stream_writer()({"type": "progress", "done": 0.5})
    return {}


def test_ui_messages_fold_as_their_reducer_folds_them() -> None:
    graph = graph_of(Notes, shows, removes)
    events = told(graph, {}, include=["ui"])
    assert [(e.action, e.ui_id, e.name, e.props) for e in events if e.type == "ui"] == [
        ("push", "u1", "chart", {"a": 1, "b": 1}),
        ("merge", "u1", "chart", {"a": 1, "b": 2}),
        ("push", "u1", "chart", {"c": 3}),
        ("push", "u2", "table", {"d": 4}),
        ("remove", "u1", None, {}),
    ]
    state = graph.invoke({})["ui"]
    shown = Transcript(events).ui
    assert {m["id"]: m["props"] for m in state} == {key: e.props for key, e in shown.items()}


def test_what_nodes_write_is_told_if_asked_for() -> None:
    graph = graph_of(Notes, removes)
    events = told(
        graph, {"ui": [{"type": "ui", "id": "u1", "name": "n", "props": {}}]}, include=["custom"]
    )
    assert [e.data["type"] for e in events if e.type == "custom"] == ["remove-ui", "progress"]


def asks(state: Any) -> Any:
    return {"title": interrupt({"question": "Which?"})}


def test_an_interrupt_is_told_once_and_the_stream_is_interrupted() -> None:
    inner = graph_of(Notes, asks)
    graph = graph_of(Notes, inner, memory=True)
    config: Any = {"configurable": {"thread_id": "1"}}
    channel = ChannelConfig(key="title", stream_mode=ChannelMode.BOTH)
    processor = ChannelStreamingProcessor([channel], include=["interrupts"])
    events: list[Any] = processor.stream_sync(graph, {"title": "?"}, config).collect()
    (waiting,) = [e for e in events if e.type == "interrupt"]
    assert waiting.value == {"question": "Which?"}
    assert events[-1].status == "interrupted"
    transcript = Transcript(events)
    assert list(transcript.interrupts) == [waiting.interrupt_id]
    for event in processor.stream_sync(graph, Command(resume="this"), config):
        transcript.apply(event)
    assert not transcript.interrupts
    assert transcript.channels()["title"] == "this"


def test_an_interrupt_is_told_without_channels() -> None:
    graph = graph_of(Notes, asks, memory=True)
    config: Any = {"configurable": {"thread_id": "1"}}
    events = told(graph, {}, include=["interrupts"], config=config)
    assert [e.type for e in events] == ["interrupt", "stream_ended"]


def test_tasks_are_told_with_their_place() -> None:
    graph = graph_of(Notes, graph_of(Notes, lambda _: {"title": "new"}))
    events = told(graph, {"title": "old"}, include=["tasks"])
    assert [(e.type, e.path, e.node) for e in events[:-1]] == [
        ("task_started", (), "n0"),
        ("task_started", ("n0",), "n0"),
        ("task_finished", ("n0",), "n0"),
        ("task_finished", (), "n0"),
    ]
    assert events[0].input["title"] == "old"
    assert events[0].task_id == events[3].task_id != events[1].task_id


def test_tool_calls_are_told_from_states_where_no_tokens_are_watched() -> None:
    call: Any = {"name": "find", "args": {"a": 1}, "id": "c1"}
    part = Part((), "updates", {"model": {"messages": [AIMessage("", tool_calls=[call], id="m1")]}})
    again = Part((), "values", {"messages": [AIMessage("", tool_calls=[call], id="m1")]})
    processor = ChannelStreamingProcessor(include=["tool_calls"])
    assert [e.type for e in processor.feed(part)] == ["tool_call_started", "tool_call_completed"]
    assert list(processor.feed(again)) == []


def test_a_possible_gap_is_told() -> None:
    processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
    (gap,) = processor.feed(Part((), "gap", "the connection was cut"))
    assert gap.type == "gap_possible"
    assert gap.reason == "the connection was cut"


WRITTEN = {"error": "ValueError", "message": "no"}


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (None, None),
        (ValueError("no"), "no"),
        ("no", "no"),
        (WRITTEN, "no"),
        (RemoteException(WRITTEN), "no"),
        (RemoteException("no"), "no"),
        (RemoteException(), ""),
        ({"n": 1}, "{'n': 1}"),
    ],
)
def test_the_error_of_a_task_however_it_is_told(error: Any, told: str | None) -> None:
    processor = ChannelStreamingProcessor(include=["tasks"])
    data = {"name": "n", "id": "1", "result": None, "error": error}
    (event,) = processor.feed(Part((), "tasks", data))
    assert event.type == "task_finished"
    assert event.error == told


def test_the_error_of_a_stream_is_told_as_the_server_says_it() -> None:
    error, _ = ChannelStreamingProcessor(include=["tasks"]).close(RemoteException(WRITTEN))
    assert error.type == "stream_error"
    assert (error.error_type, error.message) == ("RemoteException", "no")
