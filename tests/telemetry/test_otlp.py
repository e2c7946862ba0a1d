"""A worker under OpenTelemetry's launcher sends its traces and metrics to a collector (docs/telemetry.md)."""

import asyncio
import gzip
import re
from collections import defaultdict
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from mcp import Client

from tests.apps.feed_server import serving_http
from tests.apps.processes import COMMAND, serving
from tests.apps.questions import KAMPPI_TO_ESPOO
from tests.plan.suite.processes import wait_until

PAGE = Path(__file__).parents[2] / "docs" / "telemetry.md"
LAUNCHER = Path(COMMAND[0]).with_name("opentelemetry-instrument")
pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the exporter over OTLP is not installed")

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest  # noqa: E402
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest  # noqa: E402

pytestmark = pytest.mark.slow


class Collector(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.taken[self.path].append(body)
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_words):
        """Say nothing."""


def list_spans(bodies):
    traces = [ExportTraceServiceRequest.FromString(body) for body in list(bodies)]
    return [span for each in traces for top in each.resource_spans for scope in top.scope_spans for span in scope.spans]


def list_metrics(bodies):
    sent = [ExportMetricsServiceRequest.FromString(body) for body in list(bodies)]
    return {
        metric.name for each in sent for top in each.resource_metrics for scope in top.scope_metrics
        for metric in scope.metrics
    }  # fmt: skip


@pytest.mark.skipif(not LAUNCHER.exists(), reason="OpenTelemetry's launcher is not installed")
async def test_a_trip_arrives_at_the_collector(tmp_path):
    with serving_http(Collector) as collector:
        taken = collector.taken = defaultdict(list)
        command = PAGE.read_text(encoding="utf-8").partition("opentelemetry-instrument")[0]
        environ = dict(re.findall(r"(OTEL_\w+)=(\S+)", command)) | {
            "FINGERPOST_HOME": str(tmp_path),
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
            "OTEL_TRACES_EXPORTER": "otlp",
            "OTEL_BSP_SCHEDULE_DELAY": "50",
            "OTEL_METRIC_EXPORT_INTERVAL": "200",
        }
        command = [str(LAUNCHER), *COMMAND, "serve", "--http", "127.0.0.1:0", "--workers", "2"]
        with serving(*command, ready=True, **environ) as server:
            async with Client(f"{server.url}/mcp") as client:
                await client.call_tool("plan_trip", KAMPPI_TO_ESPOO)

            def has_arrived():
                names = {span.name for span in list_spans(taken["/v1/traces"])}
                metrics = list_metrics(taken["/v1/metrics"])
                return "execute_tool plan_trip" in names and "fingerpost.tool.call.duration" in metrics

            await asyncio.to_thread(wait_until, has_arrived, "the trip's span and its count arrive")
    spans = list_spans(taken["/v1/traces"])
    (tool,) = [span for span in spans if span.name == "execute_tool plan_trip"]
    queries = [span for span in spans if span.name == "query network"]

    assert {(span.trace_id, span.parent_span_id) for span in queries} == {(tool.trace_id, tool.span_id)}
    assert not any(word in body for body in taken["/v1/traces"] for word in (b"Kamppi", b"Espoo"))
