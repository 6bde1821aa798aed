"""What a checkpoint says is due, in the forms that channels have had."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.types import Send

from langgraph_once_ops.due import Due, due_in


def due(channel: str, value: Any, seen: dict[str, Any] | None = None, **more: Any) -> Due:
    checkpoint = {
        "channel_versions": {channel: 2},
        "channel_values": {channel: value},
        "versions_seen": seen or {},
        **more,
    }
    return due_in(checkpoint, ())


def test_an_edge_starts_its_node_once() -> None:
    assert due("branch:to:a", None).nodes == {"a"}
    assert due("branch:to:a", None, {"a": {"branch:to:a": 1}}).nodes == {"a"}
    assert due("branch:to:a", None, {"a": {"branch:to:a": 2}}).nodes == set()


def test_a_join_waits_for_all() -> None:
    assert due("join:a+b:c", {"a", "b"}).nodes == {"c"}
    assert due("join:a+b:c", {"a"}).later == {("join:a+b:c", "c")}
    assert due("join:a+b:c", set()) == Due()


@pytest.mark.parametrize(
    ("channel", "value"), [("branch:to:a", (None, False)), ("join:b:a", ({"b"}, False))]
)
def test_what_is_deferred_comes_later(channel: str, value: Any) -> None:
    assert due(channel, value).later == {(channel, "a")}
    assert due(channel, (value[0], True)).nodes == {"a"}


@pytest.mark.parametrize("channel", ["start:a", "branch:b:condition:a"])
def test_channels_of_old_checkpoints(channel: str) -> None:
    assert due(channel, "a").nodes == {"a"}


def test_nodes_of_old_checkpoints_had_a_channel_each() -> None:
    ended = {"a": {"start:a": 1}}
    assert due("a", "a", ended, v=2).ended == {"a"}  # only the graph knows where that leads
    assert due("a", "a", {**ended, "b": {"a": 1}}, v=2).nodes == {"b"}
    assert due("a", "a", {**ended, "b": {"a": 2}}, v=2) == Due()
    assert due("a", "a", ended, v=3) == Due()
    assert due("a", "text", ended, v=2) == Due()  # a channel of the state


def test_an_input_is_read_once() -> None:
    assert due("__start__", {}).nodes == {"__start__"}
    assert due("__start__", {}, {"flow": {"__start__": 2}}).nodes == set()


@pytest.mark.parametrize("value", [[Send("a", 1)], (set(), [Send("a", 1)])])
def test_sends_of_all_times(value: Any) -> None:
    assert due("__pregel_tasks", value).sends == {"a"}
    assert due("x", 1, pending_sends=[Send("a", 1)]).sends == {"a"}


def test_what_tasks_of_the_step_have_started() -> None:
    checkpoint: Any = {"channel_versions": {}, "channel_values": {}, "versions_seen": {}}
    writes = [("1", "branch:to:a", None), ("1", "__pregel_tasks", Send("b", 1)), ("1", "note", 1)]
    assert {node for _, node in due_in(checkpoint, writes).later} == {"a", "b"}
