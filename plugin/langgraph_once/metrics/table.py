"""All metrics, each a row: its name, labels, unit and meaning, and where its number stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from langgraph_once.metrics.counts import Durations, pools, retention, storage, streams

Samples = Iterable[tuple[tuple[str, ...], float]]
"""Values of labels, with the number."""


class Metric(NamedTuple):
    """One metric.

    Attributes:
        name: Without the suffix `_total` that Prometheus gives to counters.
        unit: In the notation of UCUM.
        source: Gives the numbers now; of a histogram, its durations.
        labels: Their names.
    """

    name: str
    unit: str
    meaning: str
    source: Callable[[], Samples] | Durations
    labels: tuple[str, ...] = ()
    kind: Literal["counter", "gauge", "histogram"] = "counter"

    @property
    def prometheus_name(self) -> str:
        """Its name at `/once/metrics`."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


def _number(read: Callable[[], float]) -> Callable[[], Samples]:
    return lambda: [((), read())]


def _labelled(counts: Mapping[str, int], words: int = 0) -> Callable[[], Samples]:
    """Each count under its key, of which the first `words` are labels of their own."""
    return lambda: [(tuple(key.split(" ", words)), number) for key, number in [*counts.items()]]


def _of_fields(name: str, counts: Any) -> Iterator[Metric]:
    """The metrics that the fields of a dataclass are."""
    for each in fields(counts):
        if each.metadata:
            found = getattr(counts, each.name)
            is_histogram = isinstance(found, Durations)
            yield Metric(
                f"langgraph_once_{name}_{each.name}",
                source=found if is_histogram else _number(partial(getattr, counts, each.name)),
                kind="histogram" if is_histogram else "counter",
                **each.metadata,
            )


def _of_pools(name: str, statistic: str, unit: str, meaning: str, **more: Any) -> Metric:
    """The sum of a statistic of psycopg's pools; milliseconds become seconds."""
    scale, is_now = 1e-3 if unit == "s" else 1, more.get("kind") == "gauge"
    read = _number(lambda: pools.total(statistic, is_now=is_now) * scale)
    return Metric(f"langgraph_once_pool_{name}", unit, f"PostgreSQL: {meaning}", read, **more)


def _connections() -> Samples:
    size, idle = (pools.total(name, is_now=True) for name in ("pool_size", "pool_available"))
    return [(("idle",), idle), (("used",), max(0, size - idle))]


METRICS: Final = (
    Metric(
        "langgraph_once_streams",
        "{stream}",
        "Streams that ended, well or badly.",
        _number(lambda: streams.ended),
    ),
    Metric(
        "langgraph_once_stream_decisions",
        "{decision}",
        "Decisions on messages, and on states that come again; but for tokens that simply go on.",
        _labelled(streams.decisions, words=1),
        ("operation", "reason"),
    ),
    Metric(
        "langgraph_once_stream_outcomes",
        "{part}",
        "Parts of streams, by what happened to them: `suppressed` as a repetition, `retracted` as "
        "their task ran again, `repaired` as tokens were lost (a gap that was closed), `replaced`, "
        "`held`, `hidden`, `unknown`; `inferred` counts decisions by content alone.",
        _labelled(streams.outcomes),
        ("outcome",),
    ),
    Metric(
        "langgraph_once_remote_gaps",
        "{gap}",
        "Gaps that no state of the thread could fill, in runs read from another server.",
        _number(lambda: streams.gaps),
    ),
    *_of_fields("storage", storage),
    *_of_fields("retention", retention),
    Metric(
        "langgraph_once_pool_connections",
        "{connection}",
        "PostgreSQL: connections of the pools, `idle` or `used`.",
        _connections,
        ("state",),
        "gauge",
    ),
    _of_pools(
        "waiting", "requests_waiting", "{request}", "who waits for a connection now.", kind="gauge"
    ),
    _of_pools("requests", "requests_num", "{request}", "how often a connection was asked for."),
    _of_pools("waits", "requests_queued", "{request}", "how often none was idle."),
    _of_pools("wait_seconds", "requests_wait_ms", "s", "how long connections were waited for."),
    _of_pools("timeouts", "requests_errors", "{request}", "how often none came in time."),
)
