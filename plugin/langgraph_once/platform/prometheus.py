"""The metrics as the text that Prometheus scrapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from langgraph_once.floors import install_command

try:
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
    from prometheus_client.metrics_core import (
        CounterMetricFamily,
        GaugeMetricFamily,
        HistogramMetricFamily,
        Metric as Family,
    )
    from prometheus_client.registry import Collector
except ImportError:
    raise ImportError(f"/once/metrics needs an extra: {install_command('metrics')}") from None

from langgraph_once.metrics import METRICS, Durations, Metric

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST


class _Ours(Collector):
    def collect(self) -> Iterator[Family]:
        for metric in METRICS:
            if isinstance(metric.source, Durations):
                yield _histogram(metric, metric.source)
                continue
            family = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
            found = family(metric.name, metric.meaning, labels=metric.labels)
            for labels, number in metric.source():
                found.add_metric(labels, number)
            yield found


def _histogram(metric: Metric, durations: Durations) -> Family:
    bounds = [*map(str, durations.BOUNDS_S), "+Inf"]
    buckets = [*zip(bounds, durations.up_to(), strict=True)]
    return HistogramMetricFamily(metric.name, metric.meaning, buckets, durations.total_s)


# Not the registry of the process: the server's own `/metrics` shows all that is there.
_REGISTRY: Final = CollectorRegistry(auto_describe=False)
_REGISTRY.register(_Ours())


def prometheus_text() -> bytes:
    """All metrics as they are now, in Prometheus's text format."""
    return generate_latest(_REGISTRY)
