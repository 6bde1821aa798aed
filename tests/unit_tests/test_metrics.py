"""The metrics: what is counted, and how Prometheus reads it."""

from __future__ import annotations

import gc
import importlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import prometheus_client
import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import empty_checkpoint
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.testclient import TestClient

from langgraph_once import once
from langgraph_once.checkpoint import OnceSqliteSaver, open_sqlite_saver
from langgraph_once.errors import ConfigError
from langgraph_once.metrics import METRICS, OUTCOMES, Durations, PoolCounts, streams
from langgraph_once.platform.prometheus import prometheus_text
from langgraph_once.settings import load_settings
from langgraph_once.stream.forms import Because, DedupStats, Kind
from tests.unit_tests.stream.scenes import ASKED, chain, says_copy

Sample = tuple[str, frozenset[tuple[str, str]]]
HERE: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


def numbers() -> dict[Sample, float]:
    """Each number that Prometheus would read, by the name and the labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(prometheus_text().decode())
        for sample in family.samples
    }


class Added:
    """What was added to a number since this was made."""

    def __init__(self) -> None:
        self._before = numbers()

    def __call__(self, name: str, **labels: str) -> float:
        key = f"langgraph_once_{name}", frozenset(labels.items())
        return numbers().get(key, 0) - self._before.get(key, 0)


@pytest.fixture
def saver() -> Iterator[OnceSqliteSaver]:
    with open_sqlite_saver(":memory:") as opened:
        yield opened


def put(saver: OnceSqliteSaver, messages: list[Any]) -> None:
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"messages": messages}
    saver.put(HERE, checkpoint, {}, {})


def long(count: int) -> list[Any]:
    """Messages of a kilobyte each, in which nothing repeats."""
    return [HumanMessage(" ".join(map(str, range(i * 1000, i * 1000 + 200)))) for i in range(count)]


def test_a_copy_is_counted_by_operation_and_reason_when_its_stream_ends() -> None:
    added, graph = Added(), once(chain(says_copy("Paris.")))
    stream = graph.stream(ASKED, stream_mode="messages")
    next(stream)
    assert added("streams_total") == 0
    assert len([*stream]) > 0
    assert added("streams_total") == 1
    assert added("stream_decisions_total", operation="commit", reason="D7") == 1
    assert added("stream_outcomes_total", outcome="suppressed") >= 1


async def test_a_stream_that_its_reader_leaves_counts_once() -> None:
    added, graph = Added(), once(chain(says_copy("Paris."), says_copy("Rome.")))
    stream: Any = graph.astream(ASKED, stream_mode="messages")
    async for _ in stream:
        break
    await stream.aclose()
    assert added("streams_total") == 1


class Collecting(dict[str, int]):
    """Counts of a stream. Python's garbage collector runs as they are added."""

    def items(self) -> Any:
        gc.collect()
        return super().items()


def in_time(count: Callable[[], object]) -> bool:
    """Whether something ends that could wait for itself."""
    thread = threading.Thread(target=count, daemon=True)
    thread.start()
    thread.join(10)
    return not thread.is_alive()


def test_a_stream_may_be_collected_while_another_is_counted() -> None:
    stream = once(chain(says_copy("Paris."))).stream(ASKED, stream_mode="messages")
    next(stream)
    left: list[Any] = [stream]
    left.append(left)
    del stream, left
    added = Added()
    assert in_time(lambda: streams.end(Collecting(), {"held": 1}))
    assert added("streams_total") == 2
    assert added("stream_outcomes_total", outcome="held") == 1


def test_a_pool_may_be_collected_while_others_are_read() -> None:
    class Pool:
        def get_stats(self) -> dict[str, int]:
            counts.close(closed)  # as a generator does that opened it
            return {"requests_num": 1}

    opened, closed, counts = Pool(), Pool(), PoolCounts()
    counts.add(opened)
    assert in_time(lambda: counts.total("requests_num"))


def test_labels_are_operations_reasons_and_outcomes_alone() -> None:
    [*once(chain(says_copy("A secret of Ada."))).stream(ASKED, stream_mode="messages")]
    known = {
        "operation": {*Kind},
        "reason": {*Because},
        "outcome": {*OUTCOMES},
        "state": {"idle", "used"},
        "le": {*map(str, Durations.BOUNDS_S), "+Inf"},
    }
    for _, labels in numbers():
        assert all(value in known[label] for label, value in labels)
    assert b"Ada" not in prometheus_text()
    assert {*OUTCOMES} == {each.name for each in fields(DedupStats)} - {"reasons"}


def test_a_value_in_pieces_is_counted_and_adds_few_as_it_grows(
    saver: OnceSqliteSaver,
) -> None:
    added = Added()
    put(saver, long(300))
    encoded, stored = added("storage_encoded_bytes_total"), added("storage_stored_bytes_total")
    put(saver, long(301))
    assert added("storage_cut_values_total") == added("storage_writes_total") == 2
    assert added("storage_new_pieces_total") > 5
    # Stored once, the second takes a fraction of the first, and is encoded whole.
    assert added("storage_encoded_bytes_total") > 2 * encoded > 300_000
    assert added("storage_stored_bytes_total") < 1.5 * stored
    assert 0 < added("storage_encode_seconds_sum") < 10
    assert added("storage_encode_seconds_count") == 4  # the pieces of each count, too
    third = Added()
    put(saver, long(302))
    assert third("storage_new_pieces_total") < 5


def test_stored_bytes_are_what_the_database_holds(saver: OnceSqliteSaver) -> None:
    added = Added()
    put(saver, long(100))
    saved = saver.get_tuple(HERE)
    assert saved is not None
    saver.put_writes(saved.config, [("messages", long(3))], "task")
    put(saver, long(101))  # it lacks a few pieces of what is stored
    held = 0
    for table, column in (
        ("checkpoints", "checkpoint"),
        ("writes", "value"),
        ("once_pieces", "data"),
    ):
        (size,) = saver.conn.execute(f"SELECT sum(length({column})) FROM {table}").fetchone()
        held += size
    assert added("storage_stored_bytes_total") == held


def test_a_checkpoint_that_a_run_starts_from_counts_as_read(saver: OnceSqliteSaver) -> None:
    put(saver, long(100))
    added = Added()
    assert saver.get_tuple(HERE) is not None
    assert saver.get_tuple({"configurable": {"thread_id": "nobody", "checkpoint_ns": ""}}) is None
    assert added("storage_reads_total") == 1
    assert 0 < added("storage_decode_seconds_sum") < 10
    assert added("storage_decode_seconds_count") == 1
    assert added("storage_decode_seconds_bucket", le="+Inf") == 1


def test_who_waits_for_a_connection_is_counted(postgres: str) -> None:
    from langgraph_once.checkpoint import open_postgres_saver

    with open_postgres_saver(postgres, schema="metrics", max_size=1) as saver:
        added, waits = Added(), threading.Event()
        pool: Any = saver.conn

        def other() -> None:
            waits.set()
            saver.get_tuple(HERE)

        with pool.connection():
            thread = threading.Thread(target=other)
            thread.start()
            waits.wait()
            while not pool.get_stats().get("requests_waiting"):
                time.sleep(0.01)
            time.sleep(0.01)  # it is measured in whole milliseconds
            assert numbers()["langgraph_once_pool_waiting", frozenset()] == 1
        thread.join()
        assert added("pool_requests_total") == 2
        assert added("pool_waits_total") == 1
        assert added("pool_wait_seconds_total") > 0
        assert added("pool_connections", state="used") == 0


def test_what_a_pool_counted_stays_when_it_is_closed(postgres: str) -> None:
    from langgraph_once.checkpoint import open_postgres_saver

    added = Added()
    for _ in range(3):
        with open_postgres_saver(postgres, schema="metrics", max_size=1) as saver:
            saver.get_tuple(HERE)
        asked = added("pool_requests_total")
        del saver
        gc.collect()
        assert added("pool_requests_total") == asked
    assert asked >= 3
    assert added("pool_connections", state="idle") == added("pool_connections", state="used") == 0


def test_times_are_counted_by_how_long_they_were() -> None:
    times = Durations()
    for took_ns in (1, 100_000, 100_001, 2_000_000_000):
        times.add(took_ns)
    assert times.up_to() == [2, 3, 3, 3, 3, 3, 3, 3, 3, 4]
    assert times.total_s == pytest.approx(2.000200002)


def test_prometheus_reads_every_metric_with_its_type_and_meaning() -> None:
    found = {each.name: each for each in text_string_to_metric_families(prometheus_text().decode())}
    assert found.keys() == {metric.name for metric in METRICS}
    for metric in METRICS:
        assert found[metric.name].type == metric.kind
        assert found[metric.name].documentation == metric.meaning
        assert metric.name.startswith("langgraph_once_")


def test_the_registry_of_the_process_holds_none_of_ours() -> None:
    prometheus_text()
    assert b"langgraph_once" not in prometheus_client.generate_latest()


@pytest.mark.parametrize(("asked", "status"), [("false", 404), ("true", 200)])
def test_the_route_is_there_if_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: str, status: int
) -> None:
    monkeypatch.setenv("ONCE_CHECKPOINT__PATH", str(tmp_path / "threads.sqlite"))
    socket = importlib.import_module("langgraph_once.platform.app")
    settings = load_settings(environ={"ONCE_HTTP__METRICS": asked})
    app = Starlette(routes=socket.metrics_routes(settings))
    answer = TestClient(app).get("/once/metrics")
    assert answer.status_code == status
    if status == 200:
        assert answer.headers["content-type"].startswith("text/plain; version=")
        assert "langgraph_once_streams_total" in answer.text


def test_a_package_that_is_missing_is_named_by_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    socket = importlib.import_module("langgraph_once.platform.app")
    monkeypatch.delitem(sys.modules, "langgraph_once.platform.prometheus")
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    settings = load_settings(environ={"ONCE_HTTP__METRICS": "true"})
    with pytest.raises(ConfigError, match=r"ONCE_HTTP__METRICS: .*pip install .*prometheus-client"):
        socket.metrics_routes(settings)
