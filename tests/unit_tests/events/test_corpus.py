"""The law of the engine, over typed events: their fold is what the consumer must have."""

from __future__ import annotations

import copy
import itertools
import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from ag_ui.core import Event as AgUiEvent
from pydantic import TypeAdapter

from langgraph_once import Ledger
from langgraph_once.events import (
    ChannelStreamingProcessor,
    Event,
    from_dict,
    to_dict,
)
from langgraph_once.events.render import to_ag_ui
from langgraph_once.stream import v2_part
from tests.corpus.play import Source
from tests.corpus.reasons import REASONS
from tests.corpus.scenario import Scenario
from tests.corpus.score import Outcome, score
from tests.unit_tests.events.corpus_plays import (
    EVERYTHING,
    MESSAGES,
    aplay,
    deviations,
    every_scenario,
)
from tests.unit_tests.events.sameness import all_of, all_told, asides_told, assert_same

AG_UI: TypeAdapter[Any] = TypeAdapter(AgUiEvent)


@every_scenario
def test_the_transcript_has_what_was_said_once_and_what_opens_is_closed_in_ag_ui_too(
    scenario: Scenario,
) -> None:
    events = asides_told(scenario)
    assert_closed(events)
    assert_closed_in_ag_ui(next(iter(_streams(events))))
    told = deviations(scenario, events)
    if told and _engine_fails(scenario):
        pytest.xfail("the engine itself does not deliver this scenario rightly")
    assert not told, "\n".join([scenario.what, *told])


def assert_closed(told: list[Event]) -> None:
    """Assert that every event that opens is closed, and that the end comes last."""
    for events in _streams(told):
        open_messages: Counter[Any] = Counter()
        open_calls: Counter[Any] = Counter()
        for event in events:
            key = event.where, getattr(event, "message_id", None)
            match event.type:
                case "token":
                    open_messages[key] = 1
                case "message_completed" | "message_replaced" | "message_removed":
                    open_messages[key] = 0
                case "message_superseded":
                    open_messages[event.where, event.old_id] = 0
                case "tool_call_started":
                    open_calls[key, event.index] += 1
                case "tool_call_completed" | "tool_call_failed":
                    open_calls[key, event.index] -= 1
        assert not +open_messages
        assert not +open_calls
        numbers = [event.seq for event in events]
        assert numbers == sorted(set(numbers)), "each has a number, and they rise"
        assert [e.type for e in events].count("stream_ended") == 1
        assert events[-1].type == "stream_ended"


def assert_closed_in_ag_ui(told: list[Event]) -> None:
    """Its own types take every event, and nothing is closed that is not open, nor left open."""
    opened: set[tuple[str, str]] = set()
    events: list[Any] = [*to_ag_ui(told, thread_id="t", run_id="r")]
    for event in events:
        plain = json.loads(event.model_dump_json(by_alias=True, exclude_none=True))
        AG_UI.validate_python(plain)
        kind, _, stage = event.type.value.rpartition("_")
        name = getattr(event, "message_id", None) or getattr(event, "tool_call_id", None)
        if kind == "STEP":
            name, stage = event.step_name, stage.removesuffix("ED").replace("FINISH", "END")
        if stage == "START":
            assert (kind, name) not in opened
            opened.add((kind, str(name)))
        elif stage in ("CONTENT", "ARGS"):
            assert (kind, name) in opened
        elif stage == "END":
            opened.remove((kind, str(name)))
    assert not opened


def _engine_fails(scenario: Scenario, source: Source = "once") -> bool:
    return any(v.outcome is not Outcome.RIGHT for v in score(scenario, MESSAGES, source))


@every_scenario
def test_sync_and_async_tell_the_same_which_survives_json(scenario: Scenario) -> None:
    told = all_told(scenario)
    assert_same(told, aplay(scenario, all_of(scenario)))
    for event in told:
        plain = to_dict(event)
        again = from_dict(json.loads(json.dumps(plain, allow_nan=False)))
        assert type(again) is type(event)
        assert to_dict(again) == plain


@every_scenario
def test_parts_of_a_plain_graph_are_fed(scenario: Scenario) -> None:
    """What a filter can know without our handler, `feed` knows."""
    told = deviations(scenario, _fed(scenario))
    if told and (scenario.name in REASONS or _engine_fails(scenario, "dedup")):
        return
    assert not told, "\n".join([scenario.what, *told])


def _fed(scenario: Scenario) -> list[Event]:
    graph, events = scenario.graph(), list[Event]()
    processor = ChannelStreamingProcessor(token_streaming=EVERYTHING, ledger=Ledger())
    for run in scenario.runs:
        error = None
        config = run.at(graph, {"configurable": {"thread_id": run.thread}})
        asked: Any = {"stream_mode": ["messages"], "subgraphs": True, "version": "v2"}
        try:
            for chunk in graph.stream(copy.deepcopy(run.input), config, **asked):
                events += processor.feed(v2_part(chunk))
        except Exception as raised:  # the scenarios raise what they want
            error = raised
        events += processor.close(error)
    return events


def _streams(events: list[Event]) -> Iterable[list[Event]]:
    """The events of each stream apart."""
    ends = [0, *(at + 1 for at, event in enumerate(events) if event.type == "stream_ended")]
    return [events[start:end] for start, end in itertools.pairwise(ends)]
