"""Artifacts of any values, beside a count of what is new in them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, strategies as st

from langgraph_once.events import (
    ChannelConfig,
    ChannelMode,
    ChannelStreamingProcessor,
    Transcript,
)
from langgraph_once.events.channels import ArtifactTracker
from langgraph_once.stream import Part

NAMED = st.builds(lambda name, t: {"id": name, "t": t}, st.sampled_from("abc"), st.integers(0, 2))
NAMELESS = st.sampled_from(["x", "y", "z"])


def told(values: list[Any]) -> tuple[list[list[Any]], Transcript]:
    """What is told of each value, and the fold of it all."""
    channel = ChannelConfig(key="notes", artifact_type="Document")
    watching, transcript, steps = ChannelStreamingProcessor([channel]), Transcript(), []
    for value in values:
        events = list(watching.feed(Part((), "values", {"notes": value})))
        for event in events:
            transcript.apply(event)
        steps.append([event.artifact_data for event in events if event.type == "artifact"])
    return steps, transcript


@given(st.lists(st.lists(NAMED, max_size=4, unique_by=lambda note: note["id"]), max_size=6))
def test_an_element_with_an_id_is_told_when_the_value_before_had_none_such(
    values: list[list[dict[str, Any]]],
) -> None:
    steps, transcript = told(values)
    before: list[Any] = []
    for value, step in zip(values, steps, strict=True):
        assert step == [note for note in value if note not in before]
        before = value
    for note in before:
        assert transcript.artifacts["notes", note["id"]].artifact_data == note


@given(st.lists(st.lists(NAMELESS, max_size=4), max_size=6))
def test_of_elements_without_ids_as_many_are_told_as_there_are_more(values: list[Any]) -> None:
    steps, _ = told(values)
    before: Counter[str] = Counter()
    for value, step in zip(values, steps, strict=True):
        assert Counter(step) == Counter(value) - before
        before = Counter(value)


def test_an_artifact_tells_its_type_its_key_and_its_id() -> None:
    channel = ChannelConfig(key="notes", artifact_type="Document")
    watching = ChannelStreamingProcessor([channel])
    notes = [{"id": "a"}, {"id": 7}, "x"]
    events: Any = list(watching.feed(Part(("agent:1",), "values", {"notes": notes})))
    assert {(e.type, e.artifact_type, e.key, e.namespace) for e in events} == {
        ("artifact", "Document", "notes", ("agent:1",))
    }
    ids = [event.artifact_id for event in events]
    assert ids[:2] == ["a", "7"]
    assert len(ids[2]) == 32, "made of its content"


def test_what_nodes_wrote_more_often_before_is_not_new() -> None:
    tracker = ArtifactTracker(10)
    written = [["x", "x"], ["x"], ["x", "x"], ["x", "x", "x"]]
    assert [len(list(tracker.update(elements))) for elements in written] == [2, 0, 0, 1]


def test_of_a_key_whose_values_and_updates_are_watched_the_values_tell_the_artifacts() -> None:
    both = ChannelConfig(key="notes", artifact_type="Document", stream_mode=ChannelMode.BOTH)
    watching = ChannelStreamingProcessor([both])
    update = Part((), "updates", {"node": {"notes": ["x"]}})
    assert list(watching.feed(update)) == []
    told = list(watching.feed(Part((), "values", {"notes": ["x"]})))
    assert [event.type for event in told] == ["artifact"]
