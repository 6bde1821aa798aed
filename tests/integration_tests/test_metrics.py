"""`/once/metrics` of a real `langgraph dev`, beside the server's own `/metrics`."""

from __future__ import annotations

from typing import Any

import httpx
from langgraph_sdk.client import SyncLangGraphClient
from prometheus_client.parser import text_string_to_metric_families

from demo.dev_server import DevServer


def read(server: DevServer) -> dict[str, float]:
    """The sum of each metric over its labels; of a histogram, the sum of its times."""
    answer = httpx.get(f"{server.url}/once/metrics")
    assert answer.status_code == 200
    return {
        family.name: sum(
            sample.value
            for sample in family.samples
            if not sample.name.endswith(("_bucket", "_count"))
        )
        for family in text_string_to_metric_families(answer.text)
    }


def test_a_run_is_counted_in_streams_and_storage(
    server: DevServer, sync_client: SyncLangGraphClient
) -> None:
    before = read(server)
    thread = sync_client.threads.create()["thread_id"]
    asked: Any = {"messages": [{"role": "user", "content": "Hello"}]}
    for _ in range(2):
        [*sync_client.runs.stream(thread, "copying", input=asked, stream_mode=["messages-tuple"])]
    after = read(server)
    added = {name: after[name] - before[name] for name in after}
    assert added["langgraph_once_streams"] == 2
    assert added["langgraph_once_stream_decisions"] >= 2
    assert added["langgraph_once_storage_writes"] >= 3
    assert added["langgraph_once_storage_reads"] >= 1
    assert 0 < added["langgraph_once_storage_encode_seconds"] < 5
    assert (
        0
        < added["langgraph_once_storage_stored_bytes"]
        <= added["langgraph_once_storage_encoded_bytes"] + 500
    )


def test_the_servers_own_metrics_hold_none_of_ours(server: DevServer) -> None:
    own = httpx.get(f"{server.url}/metrics")
    assert own.status_code == 200
    assert "lg_api" in own.text
    assert "langgraph_once" not in own.text


def test_who_does_not_ask_has_no_route(sse_server: DevServer) -> None:
    assert httpx.get(f"{sse_server.url}/once/metrics").status_code == 404
