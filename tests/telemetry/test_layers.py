"""Each layer of a call has one span, each dropped item is counted, and no telemetry reveals the query."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest
from opentelemetry.trace import SpanKind

from fingerpost.apps import error_boundary
from fingerpost.apps.mcp.http_limits import Admission
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from fingerpost.errors import SourceFailed
from fingerpost.net.request import Request
from fingerpost.runtime import instruments
from fingerpost.runtime.instruments import Age
from fingerpost.transit.networks.wrappers import FallbackNetwork, NetworkBreaker
from fingerpost.transit.port import DepartureQuery
from tests.apps.questions import KAMPPI_TO_ESPOO
from tests.apps.scripted_tool import ScriptedTool
from tests.contracts.conftest import stop_place
from tests.fakes import FakeNetwork
from tests.net.local_server import LIMITS, answer, new_client, serving
from tests.plan.drawing import NOW, Recorder, failure, plan, runs_in, step


def call(outcome, name="scripted"):
    return asyncio.run(error_boundary.answer({"scripted": ScriptedTool(outcome)}, name, {}, user=None))


@pytest.fixture
def application(tmp_path, monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", "2026-03-10T08:00:00+02:00")
    return build(read_settings(home=tmp_path))


def test_a_trip_is_a_tool_over_a_network(application, seen):
    async def ask():
        try:
            return await error_boundary.answer(application.tools, "plan_trip", KAMPPI_TO_ESPOO, user=None)
        finally:
            await application.aclose()

    asyncio.run(ask())
    (tool,) = seen.find_spans("execute_tool plan_trip")
    queries = seen.find_spans("query network")

    assert {span.parent.span_id for span in queries} == {tool.context.span_id}
    assert "DEMO-HELSINKI" in {span.attributes["fingerpost.network.name"] for span in queries}
    assert not {"Kamppi", "Espoo"} & {str(value) for span in seen.spans for value in span.attributes.values()}


@pytest.mark.parametrize(
    ("outcome", "name", "expected"),
    [
        ({}, "scripted", (("gen_ai.tool.name", "scripted"),)),
        (SourceFailed("503"), "scripted", (("error.type", "upstream-error"), ("gen_ai.tool.name", "scripted"))),
        (KeyError("Home"), "scripted", (("error.type", "KeyError"), ("gen_ai.tool.name", "scripted"))),
        ({}, "no-such-tool-of-ann", (("error.type", "ToolNotFound"), ("gen_ai.tool.name", "_OTHER"))),
    ],
    ids=["answered", "failed", "unexpected", "unknown"],
)
def test_a_call_is_counted_by_tool_and_outcome(seen, outcome, name, expected):
    """A name that no tool bears is its caller's own, and no series of ours."""
    call(outcome, name)

    assert seen.counted("fingerpost.tool.call.duration") == {expected: 1}


def test_an_exception_leaves_no_words_in_a_span(seen):
    """They may quote what the caller sent."""
    call(KeyError("Home"))
    (span,) = seen.find_spans("execute_tool scripted")

    assert (span.events, span.status.description, span.attributes["error.type"]) == ((), None, "KeyError")


@pytest.mark.parametrize("holder", [None, "metadata"])
def test_warnings_of_answers_are_counted_by_code(seen, monkeypatch, holder):
    warned = {"warnings": [{"code": "realtime-stale", "message": "old"}, {"code": "of-ann", "message": "?"}]}
    if holder:
        definition = replace(ScriptedTool.definition, warnings_path=(holder, "warnings"))
        monkeypatch.setattr(ScriptedTool, "definition", definition)
    call({holder: warned} if holder else warned)
    counted = seen.counted("fingerpost.answer.warnings")

    assert {dict(key)["fingerpost.warning.code"]: count for key, count in counted.items()} == {
        "realtime-stale": 1,
        "_OTHER": 1,
    }


@pytest.mark.parametrize(("warnings", "count"), [(None, 0), (5, 0), (["old"], 0), ([{}], 1), ([{"code": []}], 1)])
def test_malformed_warnings_of_a_tool_do_not_fail_its_call(seen, warnings, count):
    answered = call({"warnings": warnings})

    assert not answered.is_error
    assert sum(seen.counted("fingerpost.answer.warnings").values()) == count


@pytest.mark.parametrize(("characters", "count"), [(40_000, 0), (60_000, 1)])
def test_a_truncated_answer_is_counted(seen, characters, count):
    call({"text": "x" * characters})

    assert sum(seen.counted("fingerpost.answers.shortened").values()) == count


def test_a_call_that_is_refused_is_counted(seen):
    with Admission(1).answer() as is_admitted, Admission(0).answer() as is_beyond:
        assert (is_admitted, is_beyond) == (True, False)

    assert seen.counted("fingerpost.calls.refused") == {(): 1}


async def test_a_request_to_a_source_records_only_its_host(seen, monkeypatch):
    monkeypatch.setenv("SOURCE_KEY", "hush-hush")
    async with serving(answer(body=b"hello")) as server, new_client() as client:
        request = Request(
            url=f"{server.url}/home-of-ann",
            params={"lat": "60.1699"},
            secret_params={"key": "SOURCE_KEY"},
            limits=LIMITS,
        )
        await client.fetch(request)
    (span,) = seen.find_spans("GET")

    assert span.kind is SpanKind.CLIENT
    assert dict(span.attributes) == {
        "http.request.method": "GET",
        "server.address": "feeds.example",
        "server.port": int(server.url.rpartition(":")[2]),
        "http.response.status_code": 200,
    }


def test_the_oldest_of_several_sources_is_reported(seen, monkeypatch):
    """A fresh message must not hide that another is not; a source of no feed of its own speaks of its network."""
    ages = [Age("CITY", "BUS", 4.0), Age("CITY", "BUS", 90.0), Age("CITY", "BUS", 5.0), Age("CITY", None, 7.0)]
    monkeypatch.setattr(instruments, "_AGE_SOURCES", [SimpleNamespace(list_realtime_ages=lambda: ages)])

    assert seen.counted("fingerpost.realtime.age") == {
        (("fingerpost.feed.name", "BUS"), ("fingerpost.network.name", "CITY")): 90.0,
        (("fingerpost.network.name", "CITY"),): 7.0,
    }


def test_a_query_of_a_fallback_is_counted(seen):
    live = FakeNetwork(name="LIVE", feed_names=frozenset({"T"}), departures=SourceFailed("503"))
    offline = FakeNetwork(name="OFFLINE", places={"Kamppi": [stop_place("T:K", "Kamppi")]})
    query = DepartureQuery(stop_ids=("T:K",), instant=0, window_s=60, wanted=1)
    asyncio.run(FallbackNetwork(live, offline).list_departures(query))

    assert seen.counted("fingerpost.network.fallbacks") == {
        (("fingerpost.network.fallback", "OFFLINE"), ("fingerpost.network.name", "LIVE")): 1
    }


@pytest.mark.parametrize(("failures", "count"), [(1, 0), (2, 1)])
def test_a_breaker_that_opens_is_counted(seen, failures, count):
    """At its threshold, here 2; a name may be an address, and is not told."""
    breaker = NetworkBreaker(threshold=2)
    for _ in range(failures):
        breaker.record_failure("LIVE https://key@example.org", SourceFailed("503"))

    assert seen.counted("fingerpost.breaker.opened") == ({(): 1} if count else {})


async def test_steps_are_inside_their_run(tmp_path, monkeypatch, seen):
    monkeypatch.setenv("FINGERPOST_NOW", NOW)
    recorder = Recorder({"x": failure("no")})
    runs = runs_in(tmp_path, recorder.tool())
    run_id = await runs.create(plan(step(1), step(2, parameters={"label": "x"})), user="ann")
    state = await runs.execute(run_id)
    runs.journal.close()
    (run,) = seen.find_spans("plan run")
    steps = seen.find_spans("plan step")

    assert [span.parent.span_id for span in steps] == [run.context.span_id] * 2
    assert {span.attributes["fingerpost.plan.step_id"]: span.attributes.get("error.type") for span in steps} == {
        1: None,
        2: "failed",
    }
    assert sum(seen.counted("fingerpost.plan.step.duration").values()) == 2
    assert seen.counted("fingerpost.plan.runs") == {(("fingerpost.plan.run.state", state),): 1}
