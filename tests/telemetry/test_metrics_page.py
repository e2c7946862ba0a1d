"""``/metrics`` reports what this process counted."""

import asyncio
import sys
import urllib.error
import urllib.request
from contextlib import closing

import pytest
from mcp import Client
from prometheus_client.parser import text_string_to_metric_families

from fingerpost.apps.mcp.listener import Address, listen
from fingerpost.apps.mcp.metrics_page import list_metrics_addresses, start_metrics
from fingerpost.errors import SettingsInvalid
from fingerpost.runtime.instruments import PLAN_RUNS
from tests.apps.processes import COMMAND, serving
from tests.apps.questions import KAMPPI_TO_ESPOO

pytestmark = pytest.mark.slow

ANY_PORT = Address("127.0.0.1", 0)


def read(text):
    families = text_string_to_metric_families(text.decode())
    return {(sample.name, *sample.labels.values()): sample.value for family in families for sample in family.samples}


def find_metrics_url(server):
    return next(line.split()[-1] for line in server.lines if "metrics at http" in line)


def scrape(url):
    with urllib.request.urlopen(url) as answer:
        return answer.headers["content-type"], answer.read()


def test_without_the_extra_there_is_no_page(monkeypatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)

    assert list_metrics_addresses(None, 1) == []


def test_an_occupied_address_is_refused_if_it_was_given():
    with closing(listen(ANY_PORT)) as occupied, pytest.raises(SettingsInvalid, match="Cannot listen on 127"):
        list_metrics_addresses(Address("127.0.0.1", occupied.getsockname()[1]), 1)
    with pytest.raises(SettingsInvalid, match=r"Cannot listen on 127\.0\.0\.1:65536"):
        list_metrics_addresses(Address("127.0.0.1", 65535), 2)


async def test_metrics_are_served_next_to_configured_exporters(seen):
    """Whoever starts the server under OpenTelemetry's launcher has the page too."""
    write = start_metrics()
    PLAN_RUNS.add(1, {"fingerpost.plan.run.state": "of a test"})

    assert read((await write(None)).body)["fingerpost_plan_runs_total", "of a test"] == 1


async def test_a_server_counts_its_calls(tmp_path):
    command = [*COMMAND, "serve", "--http", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--tools", "trips"]
    with serving(*command, FINGERPOST_HOME=str(tmp_path)) as server:
        server.wait_for("the networks are open")
        async with Client(f"{server.url}/mcp") as client:
            for _ in range(2):
                await client.call_tool("plan_trip", KAMPPI_TO_ESPOO)
        url = find_metrics_url(server)
        media_type, text = await asyncio.to_thread(scrape, url)
        with pytest.raises(urllib.error.HTTPError, match="404"):
            scrape(url.replace("/metrics", "/health"))
        with pytest.raises(urllib.error.HTTPError, match="421"):
            scrape(urllib.request.Request(url, headers={"Host": "elsewhere.example"}))
        with pytest.raises(urllib.error.HTTPError, match="404"):
            scrape(f"{server.url}/metrics")
    found = read(text)

    assert media_type.startswith("text/plain; version=0.0.4")
    assert found["fingerpost_tool_call_duration_seconds_count", "plan_trip"] == 2
    assert ("process_resident_memory_bytes",) in found
