"""``/metrics`` reports what this process counted."""

import asyncio
import sys
import urllib.error
import urllib.request

import pytest
from mcp import Client
from prometheus_client.parser import text_string_to_metric_families

from fingerpost.apps.mcp.http import open_metrics_page
from fingerpost.runtime.instruments import PLAN_RUNS
from tests.apps.processes import COMMAND, serving
from tests.apps.questions import KAMPPI_TO_ESPOO

pytestmark = pytest.mark.slow


def read(text):
    families = text_string_to_metric_families(text.decode())
    return {(sample.name, *sample.labels.values()): sample.value for family in families for sample in family.samples}


def scrape(url):
    with urllib.request.urlopen(f"{url}/metrics") as answer:
        return answer.headers["content-type"], answer.read()


def test_without_the_extra_there_is_no_page(monkeypatch):
    """The route is not made, so that the server answers 404."""
    monkeypatch.setitem(sys.modules, "prometheus_client", None)

    assert open_metrics_page() is None


def test_metrics_are_served_next_to_configured_exporters(seen):
    """Whoever starts the server under OpenTelemetry's launcher has the page too."""
    write = open_metrics_page()
    PLAN_RUNS.add(1, {"fingerpost.plan.run.state": "of a test"})

    assert read(write())["fingerpost_plan_runs_total", "of a test"] == 1


async def test_a_server_counts_its_calls(tmp_path):
    command = [*COMMAND, "serve", "--http", "127.0.0.1:0", "--tools", "core"]
    with serving(*command, FINGERPOST_HOME=str(tmp_path)) as server:
        server.wait_for("the networks are open")
        async with Client(f"{server.url}/mcp") as client:
            for _ in range(2):
                await client.call_tool("plan_trip", KAMPPI_TO_ESPOO)
        media_type, text = await asyncio.to_thread(scrape, server.url)
    found = read(text)

    assert media_type.startswith("text/plain; version=0.0.4")
    assert found["fingerpost_tool_call_duration_seconds_count", "plan_trip"] == 2
    assert ("process_resident_memory_bytes",) in found
