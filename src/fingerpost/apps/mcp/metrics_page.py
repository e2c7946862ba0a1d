"""``/metrics``: the metrics of this process in Prometheus' text format (extra ``[telemetry]``)."""

import logging
from collections.abc import Callable

from opentelemetry import metrics

_log = logging.getLogger(__name__)

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def open_metrics_page() -> Callable[[], bytes] | None:
    """Collect metrics, beside any exporters that are configured; return the page's writer, None without the extra."""
    try:
        from opentelemetry.exporter.prometheus import PrometheusMetricReader
        from opentelemetry.sdk.metrics import MeterProvider
        from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
    except ModuleNotFoundError:
        _log.info("no /metrics: the extra [telemetry] is not installed")
        return None
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    reader = PrometheusMetricReader(disable_target_info=True, scope_info_enabled=False, registry=registry)
    configured = metrics.get_meter_provider()
    if isinstance(configured, MeterProvider):
        configured.add_metric_reader(reader)
    else:
        metrics.set_meter_provider(MeterProvider(metric_readers=[reader]))
    return lambda: generate_latest(registry)
