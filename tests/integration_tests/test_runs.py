"""`stream_run` and `join_run` with a real server: what users do with them."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest
from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command
from langgraph_sdk.client import (
    LangGraphClient,
    RunsClient,
    SyncLangGraphClient,
    SyncRunsClient,
)
from langgraph_sdk.errors import ConflictError

from demo.dev_server import DevServer
from langgraph_once import (
    ChannelConfig,
    ChannelStreamingProcessor,
    Ledger,
    OnceRemoteGraph,
    OnceSerializer,
    TokenStreamingConfig,
)
from langgraph_once.config import RemoteConfig
from langgraph_once.errors import StreamInterrupted
from langgraph_once.events import ChannelMode, ChannelUpdateEvent
from langgraph_once.remote import RunOptions, join_run, stream_run
from langgraph_once.stream import Part
from langgraph_once.stream.graph import ATTEMPT_KEY
from langgraph_once.stream.shapes import revive
from tests.forked import run_python
from tests.integration_tests.cuts import AUTO, folded, opened
from tests.integration_tests.served import HELLO
from tests.integration_tests.sse_proxy import Cut, CuttingProxy

ASKED: Any = {"messages": [{"role": "user", "content": "Well?"}]}
MODES = ["messages", "updates", "values"]
ADDED_UP: Any = {"stream_mode": MODES, "dedup": AUTO}
GRAPHS = pytest.mark.parametrize("graph", ["copying", "copying_plain"])

GO_ON = """
import sys
from langgraph_once import OnceSerializer
from langgraph_sdk import get_sync_client
from langgraph_once import DedupConfig, Ledger
from langgraph_once.remote import join_run

url, thread_id, run_id, position, ledger = sys.argv[1:]
with get_sync_client(url=url) as client:
    known = Ledger.from_bytes(bytes.fromhex(ledger))
    config = DedupConfig(state="auto")
    parts = join_run(client, thread_id, run_id, position=position, ledger=known, dedup=config)
    kind, data = OnceSerializer().dumps_typed([[part.mode, part.data] for part in parts])
print(kind, data.hex())
"""


def text(parts: Iterable[Part]) -> str:
    return "".join(str(p.data.text) for p in parts if p.mode == "messages")


async def taken(run: AsyncIterator[Part], parts: list[Part]) -> None:
    async for part in run:
        parts.append(part)  # noqa: PERF401  # those before an error are wanted too


@pytest.fixture
def thread_id(sync_client: SyncLangGraphClient) -> str:
    return str(sync_client.threads.create()["thread_id"])


class TestStreaming:
    @GRAPHS
    def test_each_text_comes_once_in_whatever_mode(
        self, sync_client: SyncLangGraphClient, thread_id: str, graph: str
    ) -> None:
        run = stream_run(sync_client, thread_id, graph, input=ASKED, **ADDED_UP)
        parts = list(run)
        assert text(parts) == HELLO
        assert folded(parts) == {HELLO: 1}
        assert run.thread_id == thread_id
        assert sync_client.runs.get(thread_id, str(run.run_id))["status"] == "success"

    @GRAPHS
    async def test_each_text_comes_once_to_an_async_client(
        self, client: LangGraphClient, thread_id: str, graph: str
    ) -> None:
        run = stream_run(client, thread_id, graph, input=ASKED, **ADDED_UP)
        assert folded([part async for part in run]) == {HELLO: 1}

    @GRAPHS
    def test_the_last_state_is_that_of_the_thread(
        self, sync_client: SyncLangGraphClient, thread_id: str, graph: str
    ) -> None:
        """Who takes each of the `values` for the whole state, as all do at first, has it."""
        run = stream_run(sync_client, thread_id, graph, input=ASKED, stream_mode=MODES)
        states = [part.data for part in run if part.mode == "values"]
        joined = join_run(sync_client, thread_id, str(run.run_id))
        for last in (states[-1], [part.data for part in joined if part.mode == "values"][-1]):
            assert last == revive(sync_client.threads.get_state(thread_id)["values"])
            assert [message.type for message in last["messages"]] == ["human", "ai"]

    @pytest.mark.slow
    @pytest.mark.parametrize("graph", ["cached", "cached_plain"])
    def test_each_turn_has_its_update_though_the_cache_gives_equal_ones(
        self, sync_client: SyncLangGraphClient, thread_id: str, graph: str
    ) -> None:
        remote = OnceRemoteGraph(graph, sync_client=sync_client)
        config: Any = {"configurable": {"thread_id": thread_id}}
        asked: Any = {"stream_mode": "updates", "ledger": Ledger()}
        watched = ChannelConfig(key="messages", stream_mode=ChannelMode.UPDATES_ONLY)
        processor = ChannelStreamingProcessor([watched], ledger=Ledger())
        begins: list[dict[str, Any]] = [{"input": ASKED}, {"command": {"goto": "node"}}]
        for given in begins * 2:
            value = Command(goto="node") if "command" in given else ASKED
            (part, _) = stream_run(sync_client, thread_id, graph, **given, **asked)
            (update, _) = remote.stream(value, config, **asked)
            stock = RemoteGraph(graph, sync_client=sync_client)
            event, *_ = processor.stream_sync(stock, value, config)
            assert isinstance(event, ChannelUpdateEvent)
            for told in (part.data["node"], update["node"], event.update):
                assert HELLO in str(told)

    def test_the_server_says_how_often_it_began_a_run(
        self, sync_client: SyncLangGraphClient, thread_id: str
    ) -> None:
        list(stream_run(sync_client, thread_id, "copying", input=ASKED))
        state = sync_client.threads.get_state(thread_id)
        assert (state["metadata"] or {})[ATTEMPT_KEY] == 1

    def test_a_run_without_a_thread_streams(self, sync_client: SyncLangGraphClient) -> None:
        parts = list(stream_run(sync_client, None, "copying", input=ASKED, **ADDED_UP))
        assert folded(parts) == {HELLO: 1}
        assert not [part for part in parts if part.mode == "gap"]

    @pytest.mark.parametrize("frame", [3, 8])
    async def test_a_cut_without_a_thread(self, server: DevServer, frame: int) -> None:
        with CuttingProxy(server.port, cuts=[Cut(frame, "middle")]) as proxy:
            async with opened(proxy.url) as client:
                run = stream_run(client, None, "copying", input=ASKED, stream_mode=MODES)
                parts = [part async for part in run]
        assert text(parts) == HELLO
        assert not [part for part in parts if part.mode == "gap"]

    def test_a_later_run_with_the_ledger_repeats_nothing(
        self, sync_client: SyncLangGraphClient, thread_id: str
    ) -> None:
        ledger = Ledger()
        call: Any = {"input": ASKED, "ledger": ledger, **ADDED_UP}
        first = list(stream_run(sync_client, thread_id, "copying_plain", **call))
        second = list(stream_run(sync_client, thread_id, "copying_plain", **call))
        assert text(first) == text(second) == HELLO
        assert folded([*first, *second]) == {HELLO: 2}

    def test_typed_events_of_a_run_on_a_server(
        self, sync_client: SyncLangGraphClient, thread_id: str
    ) -> None:
        processor = ChannelStreamingProcessor(
            [ChannelConfig(key="messages")], TokenStreamingConfig()
        )
        run = stream_run(sync_client, thread_id, "copying_plain", input=ASKED)
        events = list(run.events(processor))
        assert "".join(e.content_delta for e in events if e.type == "token") == HELLO
        assert [e.type for e in events][-1] == "stream_ended"
        assert len([e for e in events if e.type == "channel_value"][-1].value) == 2

    async def test_typed_events_of_a_run_on_a_server_async(
        self, client: LangGraphClient, thread_id: str
    ) -> None:
        processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
        run = stream_run(client, thread_id, "copying", input=ASKED)
        events = [event async for event in run.events(processor)]
        assert "".join(e.content_delta for e in events if e.type == "token") == HELLO

    def test_a_run_on_a_busy_thread(self, sync_client: SyncLangGraphClient, thread_id: str) -> None:
        busy = stream_run(sync_client, thread_id, "slow", input=ASKED)
        next(busy)
        refused = stream_run(
            sync_client, thread_id, "slow", input=ASKED, multitask_strategy="reject"
        )
        with pytest.raises(ConflictError):
            next(refused)
        sync_client.runs.cancel(thread_id, str(busy.run_id))
        assert all(part.mode != "gap" for part in busy)  # a run that is cancelled ends

    def test_all_options_are_passed_on(self) -> None:
        ours = {"self", "thread_id", "assistant_id", "stream_mode", "stream_subgraphs", "version"}
        for runs in (RunsClient, SyncRunsClient):
            options = inspect.signature(runs.stream).parameters.keys() - ours
            assert options == RunOptions.__annotations__.keys()


class TestJoining:
    @GRAPHS
    def test_a_run_that_is_over_is_told_as_it_was(
        self, sync_client: SyncLangGraphClient, thread_id: str, graph: str
    ) -> None:
        run = stream_run(sync_client, thread_id, graph, input=ASKED, stream_mode=MODES)
        parts = list(run)
        assert list(join_run(sync_client, thread_id, str(run.run_id))) == parts

    def test_some_of_its_modes(self, sync_client: SyncLangGraphClient, thread_id: str) -> None:
        run = stream_run(sync_client, thread_id, "copying", input=ASKED, stream_mode=MODES)
        list(run)
        joined = join_run(sync_client, thread_id, str(run.run_id), stream_mode=["updates"])
        assert {part.mode for part in joined} == {"updates"}

    @GRAPHS
    async def test_a_reader_that_leaves_a_run_may_come_back(
        self, client: LangGraphClient, thread_id: str, graph: str
    ) -> None:
        run = stream_run(client, thread_id, graph, input=ASKED, **ADDED_UP)
        parts = [await anext(run) for _ in range(5)]
        await run.aclose()
        rest = join_run(
            client,
            thread_id,
            str(run.run_id),
            position=run.position,
            ledger=run.ledger,
            dedup=AUTO,
        )
        parts += [part async for part in rest]
        assert text(parts) == HELLO
        assert folded(parts) == {HELLO: 1}

    @pytest.mark.parametrize(("graph", "at"), [("copying", "end"), ("copying_plain", "middle")])
    async def test_another_process_goes_on_with_a_run(
        self, server: DevServer, thread_id: str, graph: str, at: Any
    ) -> None:
        parts: list[Part] = []
        with CuttingProxy(server.port, cuts=[Cut(6, at)]) as proxy:
            async with opened(proxy.url) as client:
                run = stream_run(
                    client,
                    thread_id,
                    graph,
                    input=ASKED,
                    **ADDED_UP,
                    remote=RemoteConfig(max_retries=0),
                )
                with pytest.raises(StreamInterrupted) as caught:
                    await taken(run, parts)
        error = caught.value
        facts = (server.url, thread_id, str(error.run_id), error.position)
        done = run_python("-c", GO_ON, *facts, error.ledger.to_bytes().hex())
        assert done.returncode == 0, done.stderr
        kind, data = done.stdout.split()
        rest = [
            Part((), *said) for said in OnceSerializer().loads_typed((kind, bytes.fromhex(data)))
        ]
        assert text([*parts, *rest]) == HELLO
        assert folded([*parts, *rest]) == {HELLO: 1}
