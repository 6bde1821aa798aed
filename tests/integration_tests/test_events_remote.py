"""Typed events of graphs on a real `langgraph dev`: those of the same graph in this process."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.pregel.remote import RemoteException, RemoteGraph
from langgraph.types import Command
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient

from demo.dev_server import DevServer
from langgraph_once import READER_CHECKPOINT, Ledger, OnceRemoteGraph
from langgraph_once.events import (
    BaseEvent,
    ChannelConfig,
    ChannelStreamingProcessor,
    Event,
    StreamEndedEvent,
    TokenStreamingConfig,
    Transcript,
)
from tests.corpus.scenario import Scenario
from tests.integration_tests.conftest import RemoteFactory
from tests.unit_tests.events.corpus_plays import play
from tests.unit_tests.events.sameness import all_of, assert_same
from tests.unit_tests.events.served import MANIFEST, SERVED, minutes, name_of
from tests.unit_tests.events.team import brief, processor
from tests.unit_tests.events.test_team import EXPECTED

QUESTION: Any = {"messages": [{"role": "user", "content": "Which is warmer, Paris or Oslo?"}]}
ASKED: Any = {
    "input": QUESTION,
    "stream_subgraphs": True,
    "checkpoint": READER_CHECKPOINT,
}
MODES: Any = ["messages-tuple", "updates", "values"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    """One that serves each graph as it is, and wrapped by `once`."""
    folder = tmp_path_factory.mktemp("events")
    config = folder / "langgraph.json"
    config.write_text(json.dumps(MANIFEST))
    with DevServer(config, cwd=folder) as running:
        yield running


every_kind = pytest.mark.parametrize("kind", [RemoteGraph, OnceRemoteGraph])
every_graph = pytest.mark.parametrize("graph", ["team_graph", "team_graph_once"])


@every_kind
@every_graph
def test_the_events_of_a_remote_team(remote: RemoteFactory, kind: Any, graph: str) -> None:
    events = processor().stream_sync(remote(kind, graph), QUESTION)
    assert brief(events) == EXPECTED


@every_kind
@every_graph
async def test_the_events_of_a_remote_team_async(
    remote: RemoteFactory, kind: Any, graph: str
) -> None:
    events = processor().stream(remote(kind, graph), QUESTION)
    assert brief([event async for event in events]) == EXPECTED


@every_graph
def test_what_a_client_streams(sync_client: SyncLangGraphClient, graph: str) -> None:
    chunks = sync_client.runs.stream(None, graph, stream_mode=MODES, **ASKED)
    assert brief(processor().stream_sync(chunks)) == EXPECTED


@every_graph
async def test_what_a_client_streams_async(client: LangGraphClient, graph: str) -> None:
    chunks = client.runs.stream(None, graph, stream_mode=MODES, **ASKED)
    assert brief([event async for event in processor().stream(chunks)]) == EXPECTED


@every_graph
def test_what_a_client_streams_is_fed(sync_client: SyncLangGraphClient, graph: str) -> None:
    watching = processor()
    chunks = sync_client.runs.stream(None, graph, stream_mode=MODES, **ASKED)
    events = [event for chunk in chunks for event in watching.feed(chunk)]
    assert brief([*events, *watching.close()]) == EXPECTED


SOME = [  # of the others each takes two seconds of waiting for its runs
    pytest.param(scenario, marks=() if i % 6 == 0 else pytest.mark.product, id=name_of(scenario))
    for i, scenario in enumerate(SERVED)
]


@pytest.mark.parametrize("scenario", SOME)
def test_the_events_of_the_corpus_over_a_server(remote: RemoteFactory, scenario: Scenario) -> None:
    """A wrapped graph says the same here and there, and to both kinds of clients."""
    here = play(scenario, all_of(scenario))
    for kind in (RemoteGraph, OnceRemoteGraph):
        graph = remote(kind, f"{name_of(scenario)}_once")
        there = all_of(scenario).stream_sync(graph, copy.deepcopy(scenario.runs[0].input))
        assert_same(here, there.collect())


TURNS: Any = [
    {"messages": [("user", "Note this.")]},
    Command(resume="One."),
    {"messages": [("user", "And this.")]},
    Command(resume="Two."),
]


def taking_minutes(**how: Any) -> ChannelStreamingProcessor:
    return ChannelStreamingProcessor(
        [ChannelConfig(key="notes", artifact_type="Note")],
        TokenStreamingConfig(),
        include=["custom", "interrupts"],
        **how,
    )


@every_kind
def test_a_thread_over_several_streams(
    remote: RemoteFactory, sync_client: SyncLangGraphClient, kind: Any
) -> None:
    """Artifacts of earlier turns are not new, and a resume takes back what its task said."""
    local = minutes.compile(checkpointer=InMemorySaver())
    here, there = taking_minutes(), taking_minutes(ledger=Ledger())
    graph, config = remote(kind, "minutes_once"), thread_of(sync_client.threads.create())
    all_told: list[Event] = []
    for turn in TURNS:
        expected = here.stream_sync(local, turn, {"configurable": {"thread_id": "1"}})
        told = there.stream_sync(graph, turn, config).collect()
        assert_same(expected.collect(), told)
        all_told += told
    assert [e.artifact_id for e in all_told if e.type == "artifact"] == ["note-0", "note-1"]
    transcript = Transcript(all_told)
    assert [m.text for m in transcript.messages()] == ["Let me ask."] * 2
    assert not transcript.interrupts


@every_kind
async def test_a_thread_over_several_streams_async(
    remote: RemoteFactory, client: LangGraphClient, kind: Any
) -> None:
    watching, graph = taking_minutes(ledger=Ledger()), remote(kind, "minutes_once")
    config, told = thread_of(await client.threads.create()), list[Event]()
    for turn in TURNS:
        told += await watching.stream(graph, turn, config).collect()
    assert [e.artifact_id for e in told if e.type == "artifact"] == ["note-0", "note-1"]
    assert [m.text for m in Transcript(told).messages()] == ["Let me ask."] * 2


def thread_of(thread: Any) -> Any:
    return {"configurable": {"thread_id": thread["thread_id"]}}


@every_kind
def test_a_run_that_fails_on_the_server(
    remote: RemoteFactory, sync_client: SyncLangGraphClient, kind: Any
) -> None:
    graph, config = remote(kind, "minutes_once"), thread_of(sync_client.threads.create())
    watching, told = taking_minutes(), list[BaseEvent]()
    watching.stream_sync(graph, TURNS[0], config).collect()
    events = watching.stream_sync(graph, Command(resume="nothing"), config)
    with pytest.raises(RemoteException):
        events.on(BaseEvent, told.append).collect()
    assert [event.type for event in told][-2:] == ["stream_error", "stream_ended"]
    assert isinstance(told[-1], StreamEndedEvent)
    assert told[-1].status == "failed"


@every_kind
def test_a_thread_that_the_server_does_not_know_yet(remote: RemoteFactory, kind: Any) -> None:
    config: Any = {"configurable": {"thread_id": str(uuid4())}}
    events = taking_minutes().stream_sync(remote(kind, "minutes"), TURNS[0], config)
    assert events.collect()[-1].type == "stream_ended"
