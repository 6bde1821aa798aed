"""Room: counts of the process -> metrics, as Prometheus text or by OpenTelemetry."""

from langgraph_once.metrics.counts import OUTCOMES, pools, retention, storage, streams
from langgraph_once.metrics.table import METRICS, Metric
from langgraph_once.metrics.telemetry import observe

__all__ = ["METRICS", "OUTCOMES", "Metric", "observe", "pools", "retention", "storage", "streams"]
