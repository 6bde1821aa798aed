"""The sample `relay`: a node that asks the server that runs it."""

from __future__ import annotations

import time
from typing import Any

from langgraph.types import Command
from langgraph_sdk.client import SyncLangGraphClient

from demo.reader import MODES, Reader
from langgraph_once import Ledger, OnceRemoteGraph

OPTIONS: Any = {"stream_mode": MODES, "subgraphs": True, "version": "v2"}
ASKED: Any = {"messages": [{"role": "user", "content": "How is a message delivered once?"}]}


def test_what_the_other_graph_says_comes_once_and_its_question_is_answered(
    client: SyncLangGraphClient,
) -> None:
    graph, reader, ledger = OnceRemoteGraph("relay", sync_client=client), Reader(), Ledger()
    config: Any = {"configurable": {"thread_id": client.threads.create()["thread_id"]}}
    inputs: list[Any] = [ASKED, Command(resume="approve"), ASKED, Command(resume="reject")]
    for given in inputs:
        for chunk in graph.stream(given, config, **OPTIONS, ledger=ledger):
            reader.add(chunk)
    assert reader.verdict() == ([], [], [])
    assert {i.value["question"] for i in reader.interrupts} == {"May the report be published?"}
    messages = graph.get_state(config).values["messages"]
    assert [m.text.split()[0] for m in messages if m.type == "ai"] == [
        *("That", "Exactly-once", "Exactly-once", "Published.", "The"),
        *("That", "Exactly-once", "Exactly-once", "Withdrawn.", "The"),
    ]


def test_a_stock_remote_graph_waits_for_itself(client: SyncLangGraphClient) -> None:
    thread_id = client.threads.create()["thread_id"]
    run_id = client.runs.create(thread_id, "relay_stock", input=ASKED)["run_id"]
    deadline = time.monotonic() + 20
    runs = client.runs.list(thread_id)
    while len(runs) < 2 and time.monotonic() < deadline:
        runs = client.runs.list(thread_id)
    assert sorted(run["status"] for run in runs) == ["pending", "running"]
    waiting = next(run["run_id"] for run in runs if run["run_id"] != run_id)
    client.runs.cancel(thread_id, waiting)
    client.runs.cancel(thread_id, run_id, wait=True)
