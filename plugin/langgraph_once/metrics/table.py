"""All metrics, each a row: its name, labels, unit and meaning, and where its number stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal, NamedTuple

from langgraph_once.metrics.counts import pools, retention, storage, streams

__all__ = ["METRICS", "Metric"]

Samples = Iterable[tuple[tuple[str, ...], float]]
"""Values of labels, with the number."""


class Metric(NamedTuple):
    """One metric."""

    name: str
    """Without the suffix `_total` that Prometheus gives to counters."""
    kind: Literal["counter", "gauge"]
    unit: str
    """As OpenTelemetry writes it (UCUM)."""
    labels: tuple[str, ...]
    meaning: str
    read: Callable[[], Samples]
    """The number now."""

    @property
    def prometheus_name(self) -> str:
        """Its name at `/once/metrics`."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


def _number(read: Callable[[], float]) -> Callable[[], Samples]:
    return lambda: [((), read())]


def _labelled(counts: Mapping[str, int], words: int = 0) -> Callable[[], Samples]:
    """Each count under its key, of which the first `words` are labels of their own."""
    return lambda: [(tuple(key.split(" ", words)), number) for key, number in [*counts.items()]]


def _connections() -> Samples:
    size, idle = pools.total("pool_size"), pools.total("pool_available")
    return [(("idle",), idle), (("used",), max(0, size - idle))]


METRICS: Final = (
    Metric(
        "langgraph_once_streams",
        "counter",
        "{stream}",
        (),
        "Streams that ended, well or badly.",
        _number(lambda: streams.ended),
    ),
    Metric(
        "langgraph_once_stream_decisions",
        "counter",
        "{decision}",
        ("operation", "reason"),
        "Decisions on messages, and on states that come again; but for tokens that simply go on.",
        _labelled(streams.decisions, words=1),
    ),
    Metric(
        "langgraph_once_stream_outcomes",
        "counter",
        "{part}",
        ("outcome",),
        "Parts of streams, by what happened to them: `suppressed` as a repetition, `retracted` as "
        "their task ran again, `repaired` as tokens were lost (a gap that was closed), `replaced`, "
        "`held`, `hidden`, `malformed`, `unknown`; `inferred` counts decisions by content alone.",
        _labelled(streams.outcomes),
    ),
    Metric(
        "langgraph_once_remote_gaps",
        "counter",
        "{gap}",
        (),
        "Gaps that no state of the thread could fill, in runs read from another server.",
        _number(lambda: streams.gaps),
    ),
    Metric(
        "langgraph_once_storage_writes",
        "counter",
        "{write}",
        (),
        "Checkpoints, and writes of tasks, that savers encoded.",
        _number(lambda: storage.writes),
    ),
    Metric(
        "langgraph_once_storage_encode_seconds",
        "counter",
        "s",
        (),
        "How long savers encoded, compressed, encrypted and cut those, without storing them.",
        _number(lambda: storage.encode_ns / 1e9),
    ),
    Metric(
        "langgraph_once_storage_encoded_bytes",
        "counter",
        "By",
        (),
        "What the codec wrote for them: neither compressed nor in pieces.",
        _number(lambda: storage.encoded_bytes),
    ),
    Metric(
        "langgraph_once_storage_stored_bytes",
        "counter",
        "By",
        (),
        "What was stored for them. The difference to the encoded bytes is saved.",
        _number(lambda: storage.stored_bytes),
    ),
    Metric(
        "langgraph_once_storage_cut_values",
        "counter",
        "{value}",
        (),
        "Values that were stored in pieces.",
        _number(lambda: storage.cut_values),
    ),
    Metric(
        "langgraph_once_storage_new_pieces",
        "counter",
        "{piece}",
        (),
        "Pieces that were stored for them; all others of their pieces were there.",
        _number(lambda: storage.new_pieces),
    ),
    Metric(
        "langgraph_once_storage_reads",
        "counter",
        "{checkpoint}",
        (),
        "Checkpoints that were decoded whole, as at the start of a run.",
        _number(lambda: storage.reads),
    ),
    Metric(
        "langgraph_once_storage_decode_seconds",
        "counter",
        "s",
        (),
        "How long that took, without reading rows.",
        _number(lambda: storage.decode_ns / 1e9),
    ),
    Metric(
        "langgraph_once_retention_passes",
        "counter",
        "{pass}",
        (),
        "How often the policy of retention looked at all threads.",
        _number(lambda: retention.passes),
    ),
    Metric(
        "langgraph_once_retention_failures",
        "counter",
        "{failure}",
        (),
        "Passes of it that ended with an error, and threads that could not be read.",
        _number(lambda: retention.failures),
    ),
    Metric(
        "langgraph_once_retention_deleted_threads",
        "counter",
        "{thread}",
        (),
        "Threads that it deleted whole.",
        _number(lambda: retention.deleted_threads),
    ),
    Metric(
        "langgraph_once_retention_shortened_threads",
        "counter",
        "{thread}",
        (),
        "Threads of which it deleted some checkpoints.",
        _number(lambda: retention.shortened_threads),
    ),
    Metric(
        "langgraph_once_retention_deleted_checkpoints",
        "counter",
        "{checkpoint}",
        (),
        "Checkpoints that it deleted.",
        _number(lambda: retention.deleted_checkpoints),
    ),
    Metric(
        "langgraph_once_retention_deleted_bytes",
        "counter",
        "By",
        (),
        "Bytes of values that it deleted, as they were stored.",
        _number(lambda: retention.deleted_bytes),
    ),
    Metric(
        "langgraph_once_pool_connections",
        "gauge",
        "{connection}",
        ("state",),
        "PostgreSQL: connections of the pools, `idle` or `used`.",
        _connections,
    ),
    Metric(
        "langgraph_once_pool_waiting",
        "gauge",
        "{request}",
        (),
        "PostgreSQL: who waits for a connection now.",
        _number(lambda: pools.total("requests_waiting")),
    ),
    Metric(
        "langgraph_once_pool_requests",
        "counter",
        "{request}",
        (),
        "PostgreSQL: how often a connection was asked for.",
        _number(lambda: pools.total("requests_num")),
    ),
    Metric(
        "langgraph_once_pool_waits",
        "counter",
        "{request}",
        (),
        "PostgreSQL: how often none was idle.",
        _number(lambda: pools.total("requests_queued")),
    ),
    Metric(
        "langgraph_once_pool_wait_seconds",
        "counter",
        "s",
        (),
        "PostgreSQL: how long connections were waited for.",
        _number(lambda: pools.total("requests_wait_ms") / 1000),
    ),
    Metric(
        "langgraph_once_pool_timeouts",
        "counter",
        "{request}",
        (),
        "PostgreSQL: how often none came in time.",
        _number(lambda: pools.total("requests_errors")),
    ),
)
