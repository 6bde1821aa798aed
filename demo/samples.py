"""The samples, what each is asked, and how one is read: stock from its plain twin, and once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command
from langgraph_sdk.client import SyncLangGraphClient

from demo.reader import MODES, Reader
from langgraph_once import Ledger, OnceRemoteGraph

__all__ = ["SAMPLES", "Sample", "read_once", "read_stock"]


class Sample(NamedTuple):
    """What a sample is asked."""

    question: str
    answers: tuple[Any, ...] = ()
    """To its interrupts, in order."""
    has_twin: bool = True
    """There is the plain graph, too."""


SAMPLES: Mapping[str, Sample] = {
    "research": Sample("How do agents deliver each message exactly once?", ("approve",)),
    "agent": Sample("I would like to go from Paris to Rome."),
    "swarm": Sample("A flight to Vienna and a room there, please."),
    "tools": Sample("What would an oak table and a reading chair cost me?"),
    "relay": Sample("What makes delivery exactly once?", ("approve",), has_twin=False),
}


def read_stock(name: str, client: SyncLangGraphClient) -> Reader:
    """What a stock client has of the plain twin of a sample."""
    return _read(RemoteGraph(f"{name}_plain", sync_client=client), client, SAMPLES[name])


def read_once(name: str, client: SyncLangGraphClient) -> Reader:
    """What our client has of a sample."""
    graph = OnceRemoteGraph(name, sync_client=client)
    return _read(graph, client, SAMPLES[name], ledger=Ledger())


def _read(graph: Any, client: SyncLangGraphClient, sample: Sample, **options: Any) -> Reader:
    """Stream a sample in a thread of its own: its question, then each of the answers."""
    reader = Reader()
    thread_id = client.threads.create()["thread_id"]
    config = {"configurable": {"thread_id": thread_id}}
    asked = {"messages": [{"role": "user", "content": sample.question}]}
    for given in (asked, *(Command(resume=answer) for answer in sample.answers)):
        for chunk in graph.stream(
            given, config, stream_mode=MODES, subgraphs=True, version="v2", **options
        ):
            reader.add(chunk)
    return reader
