"""An SDK that collects traces and metrics in memory while the tests that need it run."""

from types import SimpleNamespace

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


class Seen:
    def __init__(self, spans, reader):
        self._spans = spans
        self._reader = reader
        self._before = self._read()

    @property
    def spans(self):
        return self._spans.get_finished_spans()

    def find_spans(self, name):
        return [span for span in self.spans if span.name == name]

    def counted(self, metric):
        now = self._read()
        return {
            attributes: count - self._before.get((name, attributes), 0)
            for (name, attributes), count in now.items()
            if name == metric and count != self._before.get((name, attributes), 0)
        }

    def list_texts(self):
        texts = [f"{span.to_json()} {span.status.description}" for span in self.spans]
        return [*texts, *map(repr, self._read())]

    def _read(self):
        data = self._reader.get_metrics_data()
        return {
            (metric.name, tuple(sorted(point.attributes.items()))): getattr(point, "count", getattr(point, "value", 0))
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            for point in metric.data.data_points
        }


def start_sdk():
    """OpenTelemetry has one SDK a process, which another test may have set, and it cannot be taken away again."""
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracing = TracerProvider()
    tracing.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(tracing)
    configured = metrics.get_meter_provider()
    if isinstance(configured, MeterProvider):
        configured.add_metric_reader(reader)
    else:
        metrics.set_meter_provider(MeterProvider(metric_readers=[reader]))
    return SimpleNamespace(spans=spans, reader=reader)
