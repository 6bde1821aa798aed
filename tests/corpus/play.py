"""One scenario in one variant from one source, as the events that its consumer receives."""

from __future__ import annotations

import asyncio
import copy
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Literal, NamedTuple

from langchain_core.language_models.chat_model_stream import ChatModelStream
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig

from langgraph_once import DedupConfig, Ledger, adedup, dedup, once
from langgraph_once.config import READER_KEY
from langgraph_once.stream.readers import RECORDING_READER
from langgraph_once.stream.v3 import VOID
from tests.corpus.scenario import Graph, Run, Scenario
from tests.corpus.variants import Variant
from tests.exact import exactly

Source = Literal["plain", "dedup", "once", "stock", "chain", "recorded"]
"""`once` is what a wrapped graph streams to a reader that announced itself, `stock` what it streams
to any other. `chain` is `dedup` of a wrapped graph's stream: it announces itself. `recorded` has
both of one run, each message marked with its side."""

SOURCES: tuple[Source, ...] = ("plain", "dedup", "once")
"""Those of the report."""


FILTERED = {"dedup", "chain"}
"""Those whose chunks pass the filter."""


class Event(NamedTuple):
    """What a chunk says, whatever its shape was."""

    ns: tuple[str, ...]
    mode: str
    data: Any


BEGUN = Event((), "run", None)
"""Told as each run begins; no graph streams it."""

Watch = Callable[[Event], None]

ENDS = {"message-finish", "error"}
"""The events of v3 that end a message."""


def applies(scenario: Scenario, variant: Variant, source: Source) -> bool:
    """Whether this play exists: `dedup` filters chunks, of which v3 has none."""
    if source in FILTERED and variant.is_v3:
        return False
    return scenario.only is None or scenario.only(variant)


def play(scenario: Scenario, variant: Variant, source: Source, watch: Watch) -> None:
    """Run it, and call `watch` with each event as it arrives.

    Raises:
        AssertionError: A stream did not end with the error that its run names.
    """
    stage = _stage(scenario, variant, source)
    if variant.api == "sync":
        for run in scenario.runs:
            stage.run(run, watch)
    else:
        asyncio.run(stage.arun_all(scenario.runs, watch))


def play_two(
    scenario: Scenario, variant: Variant, source: Source, watches: tuple[Watch, Watch]
) -> None:
    """Run two sync streams of one graph at once, an event of each in turn."""
    stage = _stage(scenario, variant, source)
    (run,) = scenario.runs
    for events in itertools.zip_longest(stage.events(run), stage.events(run)):
        for event, watch in zip(events, watches, strict=True):
            if event is not None:
                watch(event)


def _stage(scenario: Scenario, variant: Variant, source: Source) -> _Stage:
    graph = scenario.graph()
    if source == "once":
        graph = exactly(graph, DedupConfig(state=variant.state))
    elif source in {"stock", "chain", "recorded"}:
        graph = once(graph, DedupConfig(state=variant.state))
    return _Stage(graph, variant, source)


class _Stage:
    """A graph, and how it is streamed and read."""

    def __init__(self, graph: Graph, variant: Variant, source: Source) -> None:
        self._graph = graph
        self._variant = variant
        self._ledger = Ledger() if source in FILTERED else None
        self._told = {READER_KEY: RECORDING_READER} if source == "recorded" else {}
        self._single = len(variant.modes) == 1
        self._asked: dict[str, Any] = {
            "stream_mode": variant.modes[0] if self._single else list(variant.modes),
            "subgraphs": variant.subgraphs,
            "version": variant.version,
        }

    def run(self, run: Run, watch: Watch) -> None:
        error: BaseException | None = None
        watch(BEGUN)
        try:
            for event in self.events(run):
                watch(event)
        except Exception as raised:  # compared with what was expected
            error = raised
        _expect(run, error)

    async def arun_all(self, runs: tuple[Run, ...], watch: Watch) -> None:
        for run in runs:
            error: BaseException | None = None
            watch(BEGUN)
            try:
                async for event in self.aevents(run):
                    watch(event)
            except Exception as raised:  # as above
                error = raised
            _expect(run, error)

    def events(self, run: Run) -> Iterator[Event]:
        asked, config = copy.deepcopy(run.input), self._config(run)
        if self._variant.is_v3:
            reader = V3Reader()
            for protocol_event in self._graph.stream_events(asked, config, version="v3"):
                yield from reader.feed(protocol_event)
            yield from reader.close()
            return
        chunks: Any = self._graph.stream(asked, config, **self._asked)
        if self._ledger is not None:
            chunks = dedup(chunks, **self._asked, **self._filter())
        yield from map(self._read, chunks)

    async def aevents(self, run: Run) -> AsyncIterator[Event]:
        asked, config = copy.deepcopy(run.input), self._config(run)
        if self._variant.is_v3:
            reader = V3Reader()
            async for protocol_event in await self._graph.astream_events(
                asked, config, version="v3"
            ):
                for event in reader.feed(protocol_event):
                    yield event
            for event in reader.close():
                yield event
            return
        chunks: Any = self._graph.astream(asked, config, **self._asked)
        if self._ledger is not None:
            chunks = adedup(chunks, **self._asked, **self._filter())
        async for chunk in chunks:
            yield self._read(chunk)

    def _filter(self) -> dict[str, Any]:
        return {"ledger": self._ledger, "config": DedupConfig(state=self._variant.state)}

    def _config(self, run: Run) -> RunnableConfig:
        return run.at(self._graph, {"configurable": {"thread_id": run.thread, **self._told}})

    def _read(self, chunk: Any) -> Event:
        if self._variant.version == "v2":
            return Event(chunk["ns"], chunk["type"], chunk["data"])
        ns: tuple[str, ...] = ()
        mode = self._variant.modes[0]
        if self._variant.subgraphs:
            ns, *fields = chunk
            chunk = fields[0] if self._single else tuple(fields)
        if not self._single:
            mode, chunk = chunk
        return Event(ns, mode, chunk)


def _expect(run: Run, error: BaseException | None) -> None:
    if error is None and run.raises is None:
        return
    if run.raises is not None and isinstance(error, run.raises):
        return
    wanted = run.raises.__name__ if run.raises else "no error"
    raise AssertionError(f"expected {wanted}, the stream ended with {error!r}") from error


class V3Reader:
    """Whole messages from the protocol events of a v3 run, in every namespace."""

    def __init__(self) -> None:
        self._open: dict[tuple[tuple[str, ...], str], ChatModelStream] = {}

    def feed(self, event: Any) -> Iterator[Event]:
        """The message that `event` completes; one that ends as void is none."""
        if event["method"] != "messages":
            return
        ns = tuple(event["params"]["namespace"])
        payload, meta = event["params"]["data"]
        if isinstance(payload, BaseMessage):
            yield Event(ns, "chat", payload)
            return
        key = ns, str(meta.get("run_id"))
        stream = self._open.setdefault(key, ChatModelStream())
        stream.dispatch(payload)
        if payload["event"] in ENDS:
            del self._open[key]
            if payload.get("metadata") != VOID and stream.output_message is not None:
                yield Event(ns, "chat", stream.output_message)

    def close(self) -> Iterator[Event]:
        """What a run that ended well has left open, which `run.messages` shows all the same."""
        for (ns, _), stream in self._open.items():
            stream.dispatch({"event": "message-finish"})
            yield Event(ns, "chat", stream.output_message)
