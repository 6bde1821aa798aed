"""The metrics as instruments of OpenTelemetry, which reads them when it exports."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from langgraph_once.extras import install_command
from langgraph_once.metrics.table import METRICS, Metric

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation

__all__ = ["observe"]


def observe(meter_provider: MeterProvider | None = None) -> None:
    """Make the metrics instruments of a provider. Call it once for each.

    Nothing is recorded as it happens: what exports them asks for the numbers.

    Args:
        meter_provider: By default that of the process, whenever it is set.

    Raises:
        ImportError: `opentelemetry-api` is not installed.
    """
    try:
        from opentelemetry.metrics import get_meter
    except ImportError:
        raise ImportError(f"OpenTelemetry needs an extra: {install_command('metrics')}") from None
    meter = get_meter("langgraph_once", meter_provider=meter_provider)
    for metric in METRICS:
        make = (
            meter.create_observable_gauge
            if metric.kind == "gauge"
            else meter.create_observable_counter
        )
        make(metric.name, [_asked(metric)], unit=metric.unit, description=metric.meaning)


def _asked(metric: Metric) -> Callable[[CallbackOptions], Iterable[Observation]]:
    from opentelemetry.metrics import Observation

    def numbers(_: CallbackOptions) -> Iterable[Observation]:
        for labels, number in metric.read():
            yield Observation(number, dict(zip(metric.labels, labels, strict=True)))

    return numbers
