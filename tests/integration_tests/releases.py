"""A server and a client of the corpus, to be run with the package of one release or another.

`serve` writes what graphs stream to an exact reader, as JSON; `read` reads that, and writes what a
reader has at the end of each thread.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from langchain_core.messages import (
    BaseMessage,
    BaseMessageChunk,
    RemoveMessage,
    message_to_dict,
    messages_from_dict,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once import Deduplicator, Ledger
from langgraph_once.stream import Part
from tests.corpus.scenario import Scenario
from tests.corpus.scenarios import SCENARIOS
from tests.exact import exactly

PLAYED = [scenario for scenario in SCENARIOS if scenario.only is None and scenario.kind != "L5"]
"""Not the equal ids of parallel tasks: a fold by id has the one that came last."""


def serve() -> dict[str, Any]:
    """The parts of each run of each scenario."""
    return {scenario.name: [list(parts) for parts in _runs(scenario)] for scenario in PLAYED}


def _runs(scenario: Scenario) -> Iterator[Iterator[Any]]:
    graph = exactly(scenario.graph())
    for run in scenario.runs:
        config = run.at(graph, {"configurable": {"thread_id": run.thread}})
        asked: Any = {"stream_mode": "messages", "subgraphs": True, "version": "v2"}
        yield _parts(graph.stream(run.input, config, **asked))


def _parts(chunks: Iterator[Any]) -> Iterator[Any]:
    with suppress(Exception):  # some scenarios die, and go on in their next run
        for chunk in chunks:
            message, metadata = chunk["data"]
            yield chunk["ns"], message_to_dict(message), metadata


def read(streams: dict[str, Any]) -> dict[str, list[str]]:
    """The texts that a reader has of each scenario, sorted: tasks run side by side."""
    return {name: sorted(_folded(runs)) for name, runs in streams.items()}


def _folded(runs: list[Any]) -> list[str]:
    texts: dict[str | None, str] = {}
    ledger = Ledger()
    for parts in runs:
        dedup = Deduplicator(ledger=ledger)
        for ns, said, metadata in parts:
            (message,) = messages_from_dict([said])
            for new in dedup.feed(Part(tuple(ns), "messages", message, metadata)):
                _fold(new.data, texts)
        for new in dedup.close():
            _fold(new.data, texts)
    return list(texts.values())


def _fold(message: BaseMessage, texts: dict[str | None, str]) -> None:
    if not isinstance(message, RemoveMessage):
        before = texts.get(message.id, "") if isinstance(message, BaseMessageChunk) else ""
        texts[message.id] = before + str(message.text)
    elif message.id == REMOVE_ALL_MESSAGES:
        texts.clear()
    else:
        texts.pop(message.id, None)


if __name__ == "__main__":
    found = serve() if sys.argv[1] == "serve" else read(json.load(sys.stdin))
    json.dump(found, sys.stdout, default=str)
