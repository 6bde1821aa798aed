"""Room: counts of the process -> metrics, as Prometheus text."""

from langgraph_once.metrics.counts import OUTCOMES, pools, retention, storage, streams
from langgraph_once.metrics.table import METRICS, Metric

__all__ = ["METRICS", "OUTCOMES", "Metric", "pools", "retention", "storage", "streams"]
