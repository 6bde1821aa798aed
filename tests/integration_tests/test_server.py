"""A real `langgraph dev` with our components: what it serves, stores and streams."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient

from demo.dev_server import DevServer
from graphs.research.state import Finding
from langgraph_once import (
    READER_CHECKPOINT,
    DedupConfig,
    Ledger,
    OnceRemoteGraph,
    OnceSerializer,
    SerdeConfig,
)
from langgraph_once.checkpoint import open_sqlite_saver
from tests.integration_tests.conftest import NO_SETTINGS, SECRET, RemoteFactory
from tests.integration_tests.served import HELLO
from tests.integration_tests.tally import Tally, message_texts

MODES = ["messages-tuple", "updates", "values"]
ASKED: Any = {"messages": [{"role": "user", "content": "How is a message delivered exactly once?"}]}
OPTIONS: Any = {"stream_mode": MODES, "subgraphs": True, "version": "v2"}


AUTO = DedupConfig(state="auto")
"""For one reader of all modes, who adds up what they say."""


def new_thread(client: SyncLangGraphClient) -> tuple[str, Any]:
    thread_id = client.threads.create()["thread_id"]
    return thread_id, {"configurable": {"thread_id": thread_id}}


class TestWiring:
    def test_the_server_answers_and_lists_the_assistants(self, server: DevServer) -> None:
        assert httpx.get(f"{server.url}/ok").json()["ok"] is True
        found = httpx.post(f"{server.url}/assistants/search", json={"limit": 100}).json()
        assert {"research", "research_plain"} <= {a["graph_id"] for a in found}

    def test_variables_that_are_no_settings_do_not_stop_it(self, server: DevServer) -> None:
        assert httpx.get(f"{server.url}/once/config").json()["serde"]["compression"] == "zstd"
        told = {name for name in NO_SETTINGS if name in server.log}
        assert told == {"ONCE_SERDE__COMPRESION"}
        assert "did you mean ONCE_SERDE__COMPRESSION?" in server.log

    def test_our_routes_show_settings_and_no_secret(self, server: DevServer) -> None:
        assert httpx.get(f"{server.url}/once/health").json()["ok"] is True
        answer = httpx.get(f"{server.url}/once/config")
        shown = answer.json()
        assert shown["serde"]["max_decoded_bytes"] == 5_000_000  # from langgraph.json
        assert "checkpoints.sqlite" not in answer.text
        assert shown["graphs"]["research"]["target"] == "graphs.research.graph:graph"
        assert SECRET not in answer.text
        assert SECRET not in server.log
        paths = httpx.get(f"{server.url}/openapi.json").json()["paths"]
        assert paths["/once/health"]["get"]["summary"] == "Health of langgraph-once"

    def test_the_server_found_every_capability_of_the_saver(self, server: DevServer) -> None:
        assert "OnceSqliteSaver" in server.log
        assert "Custom checkpointer missing" not in server.log

    @pytest.mark.parametrize(
        "graph",
        ["copying", "by_factory", "by_config", "by_runtime", "by_context_manager"],
    )
    def test_a_wrapped_graph_streams_once_to_a_stock_client(
        self, remote: RemoteFactory, graph: str
    ) -> None:
        """The plain graph sends its greeting as tokens and again as a copy."""

        def sent(name: str) -> Tally:
            tally = Tally()
            for chunk in remote(RemoteGraph, name).stream(
                ASKED, stream_mode="messages-tuple", version="v2"
            ):
                tally.add(chunk)
            return tally

        assert sent("copying_plain").deliveries() == {HELLO: 2}
        assert sent(graph).deliveries() == {HELLO: 1}


class TestStreams:
    def test_a_stock_client_receives_texts_again_and_ours_does_not(
        self, remote: RemoteFactory, sync_client: SyncLangGraphClient
    ) -> None:
        plain, alone, ours = Tally(), Tally(), Tally()
        for graph, tally in (
            (remote(RemoteGraph, "research_plain"), plain),
            (remote(OnceRemoteGraph, "research_plain", dedup=AUTO), alone),
            (remote(OnceRemoteGraph, "research", dedup=AUTO), ours),
        ):
            _, config = new_thread(sync_client)
            for chunk in graph.stream(ASKED, config, **OPTIONS):
                tally.add(chunk)
            assert tally.lost(message_texts(graph.get_state(config).values)) == []
        assert plain.duplicates > 50
        assert alone.duplicates == 1  # what was said before a retry: only a wrapped graph knows
        assert ours.duplicates == 0
        assert set(ours.deliveries()) == set(plain.deliveries())

    async def test_an_async_client_is_delivered_what_a_sync_one_is(
        self, remote: RemoteFactory, sync_client: SyncLangGraphClient
    ) -> None:
        _, config = new_thread(sync_client)
        graph, tally = remote(OnceRemoteGraph, "research", dedup=AUTO), Tally()
        async for chunk in graph.astream(ASKED, config, **OPTIONS):
            tally.add(chunk)
        state = await graph.aget_state(config)
        assert tally.duplicates == 0
        assert tally.lost(message_texts(state.values)) == []
        assert [i.value["question"] for i in tally.interrupts] == ["May the report be published?"]

    @pytest.mark.parametrize("subgraphs", [False, True])
    @pytest.mark.parametrize("modes", ["values", "messages", ["messages", "values"]])
    def test_chunks_have_the_shapes_of_a_local_graph(
        self, remote: RemoteFactory, modes: Any, subgraphs: bool
    ) -> None:
        from tests.integration_tests.served import builder

        options: Any = {"stream_mode": modes, "subgraphs": subgraphs}
        local = builder.compile().stream(ASKED, **options)
        graph = remote(OnceRemoteGraph, "copying_plain", dedup=DedupConfig(state="full"))
        sent = graph.stream(ASKED, **options)

        def shape(chunk: Any) -> Any:
            return tuple(map(shape, chunk)) if isinstance(chunk, tuple) else type(chunk).__name__

        assert {shape(chunk) for chunk in sent} <= {shape(chunk) for chunk in local}

    @pytest.mark.parametrize("reader", [None, READER_CHECKPOINT], ids=["stock", "announced"])
    @pytest.mark.parametrize("modes", ["values", MODES, ["messages", "updates", "values"]], ids=str)
    def test_states_in_stock_form_are_whole_however_they_are_to_be_cut(
        self, sync_client: SyncLangGraphClient, modes: Any, reader: Any
    ) -> None:
        thread_id, _ = new_thread(sync_client)
        for turn in range(2):
            asked: Any = {"input": ASKED, "stream_mode": modes, "checkpoint": reader}
            sent = sync_client.runs.stream(thread_id, "copying_stock", **asked)
            states = [part.data["messages"] for part in sent if part.event == "values"]
            assert [len(messages) for messages in states] == [2 * turn + 1, 2 * turn + 2]
            assert states[-1][-1]["content"] == HELLO

    def test_invoke_gives_the_whole_state(self, remote: RemoteFactory) -> None:
        config = DedupConfig(state="new_messages")
        state = remote(OnceRemoteGraph, "copying", dedup=config).invoke(ASKED)
        assert [m.text for m in state["messages"]][1:] == [HELLO]


class TestKilledServer:
    def test_a_run_goes_on_after_sigkill_and_nothing_comes_twice(
        self,
        server: DevServer,
        remote: RemoteFactory,
        sync_client: SyncLangGraphClient,
        database: Path,
    ) -> None:
        thread_id, config = new_thread(sync_client)
        graph = remote(OnceRemoteGraph, "research", dedup=AUTO)
        tally, ledger = Tally(), Ledger()
        for chunk in graph.stream(ASKED, config, **OPTIONS, ledger=ledger):
            tally.add(chunk)
        before = graph.get_state(config)
        assert before.next == ("approve",)

        server.kill()
        server.start()

        sync_client.threads.create(thread_id=thread_id, if_exists="do_nothing", graph_id="research")
        after = graph.get_state(config)
        assert after.values == before.values
        assert after.next == before.next

        for chunk in graph.stream(Command(resume="approve"), config, **OPTIONS, ledger=ledger):
            tally.add(chunk)
        final = graph.get_state(config)
        assert final.next == ()
        texts = message_texts(final.values)
        assert len(texts) == 7  # question, plan, report, last word, three summaries
        assert tally.duplicates == 0
        assert tally.lost(texts) == []
        assert checkpoints(database, thread_id)


class TestStorage:
    async def test_the_history_of_a_delta_channel_is_one_walk(
        self, client: LangGraphClient
    ) -> None:
        """And not a question for each checkpoint of the thread."""
        thread_id = (await client.threads.create())["thread_id"]
        asked = []
        for number in range(6):
            given: Any = {"log": [f"asked {number}"]}
            state: Any = await client.runs.wait(thread_id, "deltas", input=given)
            asked.append(state["asked"])
        assert state["log"][-2:] == ["asked 5", "said"]
        assert len(state["log"]) == 12
        assert asked[5] - asked[4] == asked[2] - asked[1]

    def test_values_are_stored_by_our_serializer(
        self, remote: RemoteFactory, sync_client: SyncLangGraphClient, database: Path
    ) -> None:
        thread_id, config = new_thread(sync_client)
        remote(OnceRemoteGraph, "research").invoke(ASKED, config)
        assert {tag for tag, _ in checkpoints(database, thread_id)} <= {"channels", "channels.zstd"}
        serde = OnceSerializer(SerdeConfig(allowed_types=("graphs.research.state:Finding",)))
        with open_sqlite_saver(database, serde=serde) as saver:
            found = saver.get_tuple({"configurable": {"thread_id": thread_id}})
        assert found is not None
        findings = found.checkpoint["channel_values"]["findings"]
        assert [type(finding) for finding in findings] == [Finding] * 3

    async def test_history_copy_and_delete(
        self, client: LangGraphClient, sync_client: SyncLangGraphClient, database: Path
    ) -> None:
        thread_id, _ = new_thread(sync_client)
        for _ in range(2):
            await client.runs.wait(thread_id, "copying", input=ASKED)
        history = await client.threads.get_history(thread_id, limit=100)
        assert len(history) == 6
        # The SDK's annotation says None (langgraph-sdk 0.4.14); the server answers the new thread.
        copied: Any = await client.threads.copy(thread_id)  # type: ignore[func-returns-value]  # the SDK says it returns nothing
        copy_id = copied["thread_id"]
        assert (await client.threads.get_state(copy_id))["values"] == history[0]["values"]
        await client.runs.wait(copy_id, "copying", input=ASKED)
        assert len(await client.threads.get_history(thread_id, limit=100)) == 6

        await client.threads.delete(copy_id)
        assert checkpoints(database, copy_id) == []
        await client.threads.prune([thread_id], strategy="delete")
        assert checkpoints(database, thread_id) == []

    async def test_a_rolled_back_run_leaves_nothing(
        self, client: LangGraphClient, sync_client: SyncLangGraphClient, database: Path
    ) -> None:
        thread_id, _ = new_thread(sync_client)
        await client.runs.wait(thread_id, "copying", input=ASKED)
        rolled_back = await client.runs.create(thread_id, "slow", input=ASKED)
        await wait_for_status(client, thread_id, rolled_back["run_id"], "running")
        state: Any = await client.runs.wait(
            thread_id, "copying", input=ASKED, multitask_strategy="rollback"
        )
        texts = [message["content"] for message in state["messages"]]
        question = ASKED["messages"][0]["content"]
        assert texts == [question, HELLO, question, HELLO]
        with contextlib.closing(sqlite3.connect(database)) as connection:
            rows = connection.execute(
                "SELECT metadata FROM checkpoints WHERE thread_id = ?", [thread_id]
            ).fetchall()
        assert rolled_back["run_id"] not in {json.loads(row[0])["run_id"] for row in rows}


async def wait_for_status(
    client: LangGraphClient, thread_id: str, run_id: str, status: str
) -> None:
    import asyncio

    for _ in range(100):
        if (await client.runs.get(thread_id, run_id))["status"] == status:
            await asyncio.sleep(0.3)  # until its input is checkpointed
            return
        await asyncio.sleep(0.05)
    pytest.fail(f"the run was never {status}")


def checkpoints(database: Path, thread_id: str) -> list[tuple[str, bytes]]:
    """The root checkpoints of a thread as stored, oldest first."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return connection.execute(
            "SELECT type, checkpoint FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''"
            " ORDER BY checkpoint_id",
            [thread_id],
        ).fetchall()
