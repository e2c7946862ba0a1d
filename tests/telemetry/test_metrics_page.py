"""``/metrics`` tells of all workers at once, whichever of them is asked."""

import asyncio
import os
import socket
import urllib.request
from contextlib import closing

import pytest
from mcp import Client
from prometheus_client import CollectorRegistry, Counter
from prometheus_client.parser import text_string_to_metric_families

from fingerpost.apps.mcp import metrics_page
from fingerpost.apps.mcp.metrics_page import MetricsPage, open_metrics_page
from fingerpost.runtime.instruments import PLAN_RUNS
from tests.apps.processes import COMMAND, serving
from tests.apps.questions import KAMPPI_TO_ESPOO

CALLS = "fingerpost_tool_call_duration_seconds"


def new_page(worker, calls, folder):
    registry = CollectorRegistry()
    Counter("calls", "Calls", ["tool"], registry=registry).labels("plan_trip").inc(calls)
    page = MetricsPage(registry, folder)
    page._own = worker
    return page


def read(text):
    """Return each sample's value by its name and its labels' values."""
    families = text_string_to_metric_families(text.decode())
    return {(each.name, *each.labels.values()): each.value for family in families for each in family.samples}


def scrape(url):
    with urllib.request.urlopen(f"{url}/metrics") as answer:
        return answer.headers["content-type"], answer.read()


async def test_one_page_has_the_samples_of_all_workers(tmp_path):
    """Each with its worker, under one heading; the sum would fall when a worker ends."""
    one, other = new_page("1", 3, tmp_path), new_page("2", 4, tmp_path)
    async with one.shared(), other.shared():
        text = await one.collect()
    found = read(text)

    assert (found["calls_total", "plan_trip", "1"], found["calls_total", "plan_trip", "2"]) == (3, 4)
    assert (found["fingerpost_worker_up", "1"], found["fingerpost_worker_up", "2"]) == (1, 1)
    assert text.count(b"# TYPE calls_total") == 1


async def test_a_worker_that_does_not_answer_is_told(tmp_path, monkeypatch):
    """Its counts are missing from the page, and the page says whose."""
    monkeypatch.setattr(metrics_page, "_PATIENCE_S", 0.05)
    with closing(socket.socket(socket.AF_UNIX)) as hanging:
        hanging.bind(str(tmp_path / "2.socket"))
        hanging.listen()
        found = read(await new_page("1", 3, tmp_path).collect())

    assert (found["fingerpost_worker_up", "1"], found["fingerpost_worker_up", "2"]) == (1, 0)


async def test_a_worker_that_was_killed_is_gone(tmp_path):
    """It leaves its socket behind, at which nobody listens."""
    with closing(socket.socket(socket.AF_UNIX)) as dead:
        dead.bind(str(tmp_path / "2.socket"))
    found = read(await new_page("1", 3, tmp_path).collect())

    assert [key for key in found if key[0] == "fingerpost_worker_up"] == [("fingerpost_worker_up", "1")]


def test_without_the_extra_there_is_no_page(monkeypatch):
    """The route is not made, so that the server answers 404."""
    monkeypatch.setattr(metrics_page, "has_extra", lambda: False)

    assert open_metrics_page() is None


async def test_the_page_stands_beside_exporters_that_were_configured(seen):
    """Whoever starts the server under OpenTelemetry's launcher has the page too."""
    page = open_metrics_page()
    PLAN_RUNS.add(1, {"fingerpost.plan.run.state": "of a test"})
    found = read(await page.collect())

    assert found["fingerpost_plan_runs_total", "of a test", str(os.getpid())] == 1


@pytest.mark.parametrize("workers", [1, 2])
async def test_a_server_counts_its_calls(tmp_path, workers):
    """Six calls over connections of their own: the workers' counts add up to six on any worker's page."""
    command = [*COMMAND, "serve", "--http", "127.0.0.1:0", "--tools", "core", "--workers", str(workers)]
    with serving(*command, FINGERPOST_HOME=str(tmp_path)) as server:
        for _ in range(workers):
            server.wait_for("the networks are open")
        for _ in range(6):
            async with Client(f"{server.url}/mcp") as client:
                await client.call_tool("plan_trip", KAMPPI_TO_ESPOO)
        media_type, text = await asyncio.to_thread(scrape, server.url)
    found = read(text)

    assert media_type.startswith("text/plain; version=0.0.4")
    assert sum(count for key, count in found.items() if key[:2] == (f"{CALLS}_count", "plan_trip")) == 6
    assert len([key for key in found if key[0] == "process_resident_memory_bytes"]) == workers
