"""A stream of a graph behind a URL: what its options change."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Command
from langgraph_sdk import get_sync_client

from langgraph_once import DedupConfig, OnceRemoteGraph
from langgraph_once.errors import ConfigError
from langgraph_once.remote import stream_run
from langgraph_once.remote.graph import v3_input
from langgraph_once.stream import Ledger
from tests.unit_tests.remote.clients import BEGUN, CUSTOM, QUICK, SUCCESS, custom, run_of
from tests.unit_tests.remote.raw_server import THREAD, RawServer, answer, events, stream

SAID: Any = {"type": "ai", "content": "Hi", "id": "a"}
SAID |= {"additional_kwargs": {}, "response_metadata": {}}
CHUNK: Any = SAID | {"type": "AIMessageChunk", "chunk_position": "last"}
META = {"langgraph_node": "n", "langgraph_step": 1, "langgraph_checkpoint_ns": "n:1"}
MODEL = {"ls_model_type": "chat"}
TELLS = stream(events([BEGUN, ("messages", [SAID, META], "2-0")]))
CUT = stream(events([BEGUN, *custom(1)]), whole=False)
LATER = stream(events(custom(7)))


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def chunks(request: pytest.FixtureRequest) -> Any:
    """All chunks of a run in the thread."""

    def chunks(server: RawServer, dedup: Any = None, **options: Any) -> list[Any]:
        graph = OnceRemoteGraph("g", url=server.url, remote=QUICK, dedup=dedup)
        asked: Any = ({}, {"configurable": {"thread_id": THREAD}})
        if not request.param:
            return list(graph.stream(*asked, **options))

        async def read() -> list[Any]:
            return [chunk async for chunk in graph.astream(*asked, **options)]

        return asyncio.run(read())

    return chunks


def test_what_a_ledger_holds_does_not_come_again(chunks: Any) -> None:
    ledger = Ledger()
    with RawServer(TELLS, SUCCESS, TELLS, SUCCESS, TELLS, SUCCESS) as server:
        ((first, _),) = chunks(server, ledger=ledger, stream_mode="messages")
        assert first == AIMessage("Hi", id="a")
        assert chunks(server, ledger=ledger, stream_mode="messages") == []
        assert len(chunks(server, stream_mode="messages")) == 1


def test_a_gap_is_told_to_who_asks_for_this_mode(chunks: Any) -> None:
    with RawServer(CUT, LATER, LATER, SUCCESS, answer([])) as server:
        found = chunks(server, stream_mode=["custom", "gap"])
    assert [mode for mode, _ in found] == ["custom", "gap", "custom"]
    assert json.loads(server.bodies[0])["stream_mode"] == ["custom", "updates"]


@pytest.mark.parametrize(("version", "modes"), [("v1", []), ("v2", ["gap"])])
def test_only_chunks_that_name_their_mode_tell_of_a_gap(
    chunks: Any, version: Any, modes: list[str]
) -> None:
    with RawServer(CUT, LATER, LATER, SUCCESS, answer([])) as server:
        found = chunks(server, stream_mode="custom", version=version)
    assert [c["type"] for c in found if isinstance(c, dict) and c.get("type") == "gap"] == modes
    assert len(found) == 2 + len(modes)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_what_a_state_names_anew_behind_a_gap_does_not_come_again(
    chunks: Any, version: Any
) -> None:
    """The server ended before its first checkpoint, and the node ran once more."""
    said = [BEGUN, ("messages", [CHUNK, META | MODEL], "2-0")]
    state = {"messages": [SAID | {"id": "again"}]}
    later = stream(events([("values", state, "9-0")]))
    with RawServer(stream(events(said), whole=False), later, later, SUCCESS, answer([])) as server:
        asked: Any = {"stream_mode": ["messages", "values"], "subgraphs": True, "version": version}
        last = chunks(server, dedup=DedupConfig(state="auto"), **asked)[-1]
    assert (last["data"] if version == "v2" else last[-1]) == {"messages": []}


def test_an_input_of_v3_goes_as_json_and_a_command_as_it_is() -> None:
    said = v3_input({"messages": [AIMessage("Hi", id="a")]})["messages"][0]
    assert (said["type"], said["content"], said["id"]) == ("ai", "Hi", "a")
    command: Any = Command(resume=1)
    assert v3_input(command) is command


class TestOneLedgerForTwoStreams:
    @pytest.fixture(params=["graph", "stream_run"])
    def begin(self, request: pytest.FixtureRequest) -> Any:
        """Begin a stream that reads into a ledger."""

        def begin(server: RawServer, ledger: Ledger) -> Any:
            if request.param == "graph":
                graph = OnceRemoteGraph("g", url=server.url, remote=QUICK)
                thread: Any = {"configurable": {"thread_id": THREAD}}
                return graph.stream({}, thread, stream_mode="custom", ledger=ledger)
            client = get_sync_client(url=server.url)
            return stream_run(client, THREAD, "g", input={}, ledger=ledger, **CUSTOM)

        return begin

    def test_the_one_that_goes_on_beside_a_later_one_fails_at_once(self, begin: Any) -> None:
        ledger = Ledger()
        with RawServer(run_of(1, 2), run_of(1, 2), SUCCESS) as server:
            first, second = (begin(server, ledger) for _ in range(2))
            next(first)
            next(second)
            with pytest.raises(ConfigError, match="ledger: was given to another stream"):
                next(first)
            assert len(list(second)) == 1, "the later one is as it was"

    def test_one_that_was_left_open_hinders_no_later_one(self, begin: Any) -> None:
        ledger = Ledger()
        with RawServer(run_of(1, 2), run_of(1, 2), SUCCESS) as server:
            first = begin(server, ledger)
            next(first)
            assert len(list(begin(server, ledger))) == 2
