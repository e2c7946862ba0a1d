"""Measure the tools and the engine: ``make bench``. bench/README.md describes the method.

With a mock upstream, plan_trip and get_departures run in this process: the contracts' own figures (rule G). Over HTTP,
``--rounds`` of ``--calls`` of each tool alternate with a no-op tool, with the demo network and with a mock
OpenTripPlanner. ``--trips`` are compared with nigiri; 0 skips it.
"""

import asyncio
import os
import platform
import sys
import tempfile
import time
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import beside_nigiri
import over_http
import over_upstream
from harness import HEAD, p50, p95, read_options, report
from questions import NOW, open_questions
from tests.contracts.conftest import at, stop_place
from tests.fakes import FakeNetwork, FakeNetworks, Journeys
from tests.rules.drawing import T0, departure, ride, trip, walk

from fingerpost.apps.wiring import list_tools
from fingerpost.store.variables import VariableStore

# The limits of the plan_trip and get_departures contracts: (median, p95) in milliseconds.
BOUNDS = {"plan_trip": (120.0, 400.0), "get_departures": (80.0, 250.0)}
QUESTIONS = {
    "plan_trip": {"origin": at(60.1, 24.9), "destination": at(60.2, 24.9), "limit": 3},
    "get_departures": {"stop": {"type": "id", "value": "T:A"}, "limit": 50},
}
STOPS = "ABCDEFGHI"
ITINERARIES = 12
DEPARTURES = 200


def _network() -> FakeNetwork:
    """Return a source that answers at once, with more results than are shown; every second trip is late."""
    now_s = int(datetime.fromisoformat(NOW).timestamp())
    now_min = (now_s - T0) // 60
    rows = [replace(departure(row % 90), scheduled=now_s + 10 * row, trip_id=f"T:{row}") for row in range(DEPARTURES)]
    return FakeNetwork(
        journeys=[Journeys([_itinerary(now_min + row, 400 * (row % 2)) for row in range(ITINERARIES)])],
        departures=rows,
        places={"A": [stop_place("T:A", "A")]},
    )


def _itinerary(leaves_min, delay_s):
    legs = []
    for number, (start, end) in enumerate(pairwise(STOPS)):
        departs = leaves_min + 5 * number
        if number % 2:
            legs.append(ride(str(leaves_min % 97), start, end, departs, departs + 5, delay_s, headsign="Terminus"))
        else:
            legs.append(walk(start, end, departs, departs + 5, 150.0))
    return trip(*legs)


async def _time(tool, calls):
    times = []
    for _ in range(calls):
        begin = time.perf_counter()
        answer = await tool.answer(QUESTIONS[tool.name], user="bench")
        times.append((time.perf_counter() - begin) * 1000)
        if answer.is_error:
            raise RuntimeError(answer.text)
    return times


def measure_with_mock_upstream(*, calls: int) -> bool:
    print(f"\nWith a mock upstream, in ms, of {calls} calls: 3 itineraries of 8 legs, 50 of {DEPARTURES} departures")
    print(HEAD)
    good = True
    with tempfile.TemporaryDirectory() as home:
        tools = list_tools(FakeNetworks(_network()), VariableStore(Path(home) / "variables.sqlite"))
        for tool in (tool for name in QUESTIONS for tool in tools if tool.name == name):
            times = asyncio.run(_time(tool, calls))
            median_bound, p95_bound = BOUNDS[tool.name]
            good &= report(f"{tool.name} p50", p50(times), bound=median_bound)
            good &= report(f"{tool.name} p95", p95(times), bound=p95_bound)
    return good


def main() -> int:
    options = read_options(__doc__, rounds=12, calls=60, trips=300)
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}")
    with open_questions() as (questions, home):
        good = measure_with_mock_upstream(calls=options.rounds * options.calls)
        good &= over_http.measure(questions, home, rounds=options.rounds, calls=options.calls)
    good &= over_upstream.measure(rounds=options.rounds, calls=options.calls)
    if options.trips:
        good &= beside_nigiri.measure(is_live=False, count=options.trips)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
