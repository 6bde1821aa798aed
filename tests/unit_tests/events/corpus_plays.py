"""The corpus of the engine, told as typed events."""

from __future__ import annotations

import asyncio
import copy
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from langgraph_once.events import (
    ChannelStreamingProcessor,
    Event,
    TokenStreamingConfig,
    Transcript,
)
from tests.corpus.content import Buffer
from tests.corpus.scenario import Run, Scenario
from tests.corpus.scenarios import SCENARIOS
from tests.corpus.units import Piece
from tests.corpus.variants import Variant

EVERYTHING = TokenStreamingConfig(enabled_namespaces={"**"})

MESSAGES = Variant("sync", "v2", ("messages",), subgraphs=True)

PLAYED = [s for s in SCENARIOS if s.only is None or s.only(MESSAGES)]

every_scenario = pytest.mark.parametrize("scenario", PLAYED, ids=lambda s: f"{s.kind}-{s.name}")


def play(scenario: Scenario, processor: ChannelStreamingProcessor) -> list[Event]:
    """The events of all its runs, sync."""
    return played(scenario, lambda graph, *start: processor.stream_sync(graph, *start))


def played(scenario: Scenario, stream: Callable[..., Iterable[Event]]) -> list[Event]:
    """The events of all its runs, where `stream` takes a graph, an input and a config."""
    graph = scenario.graph()
    told: list[Event] = []
    for run in scenario.runs:
        with _ending_as(run):
            for event in stream(graph, *_start(graph, run)):
                told.append(event)  # noqa: PERF402  # those before an error count
    return told


def aplay(scenario: Scenario, processor: ChannelStreamingProcessor) -> list[Event]:
    """The events of all its runs, async."""

    async def stream(graph: Any, *start: Any) -> AsyncIterator[Event]:
        async for event in processor.stream(graph, *start):
            yield event

    return aplayed(scenario, stream)


def aplayed(scenario: Scenario, stream: Callable[..., AsyncIterator[Event]]) -> list[Event]:
    """`played`, async."""

    async def play_all() -> list[Event]:
        graph = scenario.graph()
        told: list[Event] = []
        for run in scenario.runs:
            with _ending_as(run):
                async for event in stream(graph, *_start(graph, run)):
                    told.append(event)  # noqa: PERF401  # those before an error count
        return told

    return asyncio.run(play_all())


def _ending_as(run: Run) -> AbstractContextManager[Any]:
    return pytest.raises(run.raises) if run.raises else nullcontext()


def _start(graph: Any, run: Run) -> tuple[Any, Any]:
    config = run.at(graph, {"configurable": {"thread_id": run.thread}})
    return copy.deepcopy(run.input), config


def pieces(messages: Iterable[BaseMessage], scenario: Scenario) -> tuple[Counter[Piece], list[str]]:
    """The units of content in messages, and what is in them besides."""
    known = sorted((unit.piece for unit in scenario.oracle), key=lambda p: -len(p.says))
    found: Counter[Piece] = Counter()
    strays = []
    for message in messages:
        buffer = Buffer()
        buffer.append(message)
        said, rest = buffer.pieces(known)
        found += said
        if rest.strip():
            strays.append(rest)
    return found, strays


def deviations(scenario: Scenario, events: Iterable[Event]) -> list[str]:
    """Where the fold of the events is not what the consumer must have in the end."""
    messages = Transcript(events).messages(None)
    found, strays = pieces(messages, scenario)
    told = [f"beside the oracle: {rest!r}" for rest in strays]
    for unit in scenario.oracle:
        if unit.again or unit.piece.says == "":
            continue
        if found[unit.piece] != unit.streamed:
            told.append(f"{unit.piece}: wanted {unit.streamed}, has {found[unit.piece]}")
    return told
