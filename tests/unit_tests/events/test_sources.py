"""The same graph through every source tells the same events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any, Literal

import pytest
from langgraph.stream import CustomTransformer, TasksTransformer, UpdatesTransformer

from langgraph_once import DedupConfig, once
from langgraph_once.events import ChannelStreamingProcessor, Event
from tests.corpus.scenario import Scenario
from tests.corpus.scenarios import SCENARIOS
from tests.corpus.variants import Variant
from tests.unit_tests.events.corpus_plays import PLAYED, aplayed, every_scenario, played
from tests.unit_tests.events.sameness import (
    all_of,
    all_told,
    asides_told,
    assert_same,
    assert_same_but_for_form,
    messages_and_asides,
)

V3 = Variant("sync", "v3", ("messages",), subgraphs=True)
V1 = Variant("sync", "v1", ("messages",), subgraphs=True)
IN_V3 = [s for s in SCENARIOS if s.only is None or (s.only(V3) and s.only(V1))]
CHANGED = DedupConfig(state="changed")


class Chunks:
    """Chunks of a wrapped graph, asked for as the processor would ask."""

    def __init__(self, watching: ChannelStreamingProcessor, version: Literal["v1", "v2"]) -> None:
        self._watching = watching
        self._asked: Any = {"stream_mode": list(watching.stream_modes), "subgraphs": True}
        self._version: Any = {"version": version}
        self._wrapped: Any = None

    def _graph(self, graph: Any) -> Any:
        self._wrapped = self._wrapped or once(graph, CHANGED)  # which knows earlier runs
        return self._wrapped

    def stream(self, graph: Any, *start: Any) -> Iterable[Event]:
        chunks = self._graph(graph).stream(*start, **self._asked, **self._version)
        return self._watching.stream_sync(chunks, **self._asked, **self._version)

    async def astream(self, graph: Any, *start: Any) -> AsyncIterator[Event]:
        chunks = self._graph(graph).astream(*start, **self._asked, **self._version)
        async for event in self._watching.stream(chunks, **self._asked, **self._version):
            yield event


def check_v1_sync(scenario: Scenario) -> None:
    chunks = Chunks(all_of(scenario, dedup=None), "v1")
    assert_same(all_told(scenario), played(scenario, chunks.stream))


def check_v2_async(scenario: Scenario) -> None:
    chunks = Chunks(all_of(scenario, dedup=None), "v2")
    assert_same(all_told(scenario), aplayed(scenario, chunks.astream))


CHECKS = (check_v1_sync, check_v2_async)


@every_scenario
def test_chunks_make_the_events_of_the_corpus(scenario: Scenario) -> None:
    """In turn of v1, sync, and v2, async: every class of scenarios meets both."""
    CHECKS[PLAYED.index(scenario) % 2](scenario)


@pytest.mark.product
@every_scenario
def test_chunks_of_both_versions_make_the_events_of_the_corpus(scenario: Scenario) -> None:
    for check in CHECKS:
        check(scenario)


TRANSFORMERS: Any = [UpdatesTransformer, CustomTransformer, TasksTransformer]

LATE_USAGE = "v3 tells what a message cost when it ends, and this one never does"
REMOVES_FIRST = "v3 tells a removal and another message, where here the other takes its place"
OWN_IN_V3 = {
    "retried-blocks": LATE_USAGE,
    "dict-copied-edited": REMOVES_FIRST,
    "pair-copied-edited": REMOVES_FIRST,
    "dict-copied-edited-in-a-graph": REMOVES_FIRST,
}


@pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)
@pytest.mark.parametrize("scenario", IN_V3, ids=lambda s: f"{s.kind}-{s.name}")
def test_v3_makes_the_events_of_the_corpus(scenario: Scenario) -> None:
    """It makes ids and content blocks of its own, and streams no tasks."""
    wrapped: list[Any] = []

    def stream(graph: Any, *start: Any) -> Iterable[Event]:
        wrapped.append(wrapped[0] if wrapped else once(graph))
        run = wrapped[0].stream_events(*start, version="v3", transformers=TRANSFORMERS)
        return messages_and_asides(dedup=None).stream_sync(run)

    one, other = asides_told(scenario), played(scenario, stream)
    if scenario.name in OWN_IN_V3:
        with pytest.raises(AssertionError):
            assert_same_but_for_form(one, other)
    else:
        assert_same_but_for_form(one, other)
