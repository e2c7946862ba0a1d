"""Days are built in their own thread; in the last half hour of a day, the next day is built after the answer."""

import asyncio
import threading
from datetime import date

import pytest

from fingerpost.transit.embedded import network
from fingerpost.transit.engine.raptor.search_timetable import build
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from tests.apps.processes import DEADLINE_S
from tests.realtime.messages import at

TUESDAY, WEDNESDAY = date(2026, 3, 10), date(2026, 3, 11)
QUESTION = {
    end: {"type": "label", "value": f"TEST:{stop}"} for end, stop in (("origin", "ALPHA"), ("destination", "GAMMA"))
}


@pytest.fixture
def town(towns, clock, monkeypatch):
    monkeypatch.setattr(network, "is_ready", lambda: True)
    clock(at("23:45"))
    return towns("rail R | Alpha 23:50 | Gamma 24:10")


@pytest.fixture
def built(monkeypatch):
    days, get = [], SearchTimetables.get_search_timetable

    def watched(self, day, **options):
        if threading.current_thread().name.startswith("fingerpost-days"):
            days.append(day)
            if day == WEDNESDAY:
                raise MemoryError
        return get(self, day, **options)

    monkeypatch.setattr(SearchTimetables, "get_search_timetable", watched)
    return days


def test_a_week_is_not_built_in_the_threads_of_searches(town, monkeypatch):
    """They would be missing to others for seconds."""
    built, really_build = [], build.build_search_timetable

    def watched(*args, further_days, **options):
        built.append((further_days, threading.current_thread().name))
        return really_build(*args, further_days=further_days, **options)

    monkeypatch.setattr(build, "build_search_timetable", watched)
    town.plan(origin="TEST:GAMMA", destination="TEST:ALPHA")

    assert built == [(0, "fingerpost-days_0"), (6, "fingerpost-days_0")]


def test_a_one_shot_command_builds_only_the_day_it_needs(town, built, monkeypatch):
    monkeypatch.setattr(network, "_AFTER_QUERY_S", DEADLINE_S)
    town.plan()
    network._BUILDER.submit(int).result()

    assert built == [TUESDAY]


async def test_a_server_builds_the_next_day_and_logs_a_failure(town, built, monkeypatch):
    monkeypatch.setattr(network, "_AFTER_QUERY_S", 0)
    loop, logged = asyncio.get_running_loop(), asyncio.Event()
    failures = []

    def note(_message, exc_info):
        failures.append(type(exc_info))
        loop.call_soon_threadsafe(logged.set)

    monkeypatch.setattr(network._log, "error", note)
    await town.tools["plan_trip"].answer(QUESTION, user="ann")
    async with asyncio.timeout(DEADLINE_S):
        await logged.wait()

    assert (built, failures) == ([TUESDAY, WEDNESDAY], [MemoryError])
