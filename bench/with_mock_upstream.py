"""plan_trip and get_departures in this process, over a mock upstream: the contracts' own figures (rule G)."""

import asyncio
import tempfile
import time
from datetime import date, datetime
from pathlib import Path

from figures import p50, p95, verdict
from questions import NOW

from fingerpost.apps.wiring import list_tools
from fingerpost.contract.published import PublishedTool
from fingerpost.store.variables import VariableStore
from fingerpost.testing.fakes import FakeNetwork, FakeNetworks, Journeys
from fingerpost.transit.model.itinerary import Departure, Itinerary, Leg, Mode, StopPoint
from fingerpost.transit.model.place import Coordinate, Place, PlaceKind, PlaceMatch

# The plan_trip and get_departures contracts: (median, p95) in milliseconds.
BOUNDS = {"plan_trip": (120.0, 400.0), "get_departures": (80.0, 250.0)}
LEGS = 8
ITINERARIES = 12
DEPARTURES = 200
_LEG_S = 300


def _network() -> FakeNetwork:
    """Return a source that answers at once, with more than anybody can be shown; every second trip is late."""
    now = int(datetime.fromisoformat(NOW).timestamp())
    itineraries = [_itinerary(now + 60 * number, 400 if number % 2 else 0) for number in range(ITINERARIES)]
    place = Place(id="T:A", name="A", coordinate=Coordinate(60.17, 24.94), kind=PlaceKind.STOP, member_ids=("T:A",))
    return FakeNetwork(
        journeys=[Journeys(itineraries=tuple(itineraries))],
        departures=[_departure(now + 10 * number) for number in range(DEPARTURES)],
        places={"A": [PlaceMatch(place=place, score=1.0)]},
    )


def _itinerary(leaves: int, delay_s: int) -> Itinerary:
    points = [
        StopPoint(name=f"Stop {number}", coordinate=Coordinate(60.1 + number / 100, 24.9), id=f"T:{number}")
        for number in range(LEGS + 1)
    ]
    return Itinerary(
        tuple(
            Leg(
                mode=Mode.BUS if number % 2 else Mode.WALK,
                start=points[number],
                end=points[number + 1],
                departure_scheduled=leaves + number * _LEG_S,
                arrival_scheduled=leaves + (number + 1) * _LEG_S,
                departure_delay_s=delay_s,
                arrival_delay_s=delay_s,
                distance_m=150.0,
                line=str(leaves % 97),
                headsign="Terminus",
                trip_id=f"T:{leaves}-{number}",
            )
            for number in range(LEGS)
        )
    )


def _departure(leaves: int) -> Departure:
    return Departure(
        line="7",
        mode=Mode.TRAM,
        destination="Terminus",
        scheduled=leaves,
        stop_id="T:A",
        trip_id=f"T:{leaves}",
        service_day=date(2026, 3, 10),
        departure_delay_s=leaves % 90,
        platform="2",
    )


def measure(*, calls: int) -> bool:
    """Print p50 and p95 of both handlers and return whether the contracts' figures hold."""
    with tempfile.TemporaryDirectory() as home:
        variables = VariableStore(Path(home) / "variables.sqlite")
        tools = {tool.name: tool for tool in list_tools(FakeNetworks(_network()), variables)}
        questions = {
            "plan_trip": {
                "origin": {"type": "coords", "value": {"lat": 60.1, "lon": 24.9}},
                "destination": {"type": "coords", "value": {"lat": 60.2, "lon": 24.9}},
                "limit": 3,
            },
            "get_departures": {"stop": {"type": "id", "value": "T:A"}, "limit": 50},
        }
        print(f"\nWith a mock upstream, {calls} calls: 3 itineraries of {LEGS} legs, 50 of {DEPARTURES} departures")
        print(f"  {'tool':<16}{'p50 ms':>8}{'p95 ms':>8}{'bounds':>14}")
        verdicts = [_report(tools[name], question, calls) for name, question in questions.items()]
        return all(verdicts)


def _report(tool: PublishedTool, question: dict, calls: int) -> bool:
    times = asyncio.run(_time(tool, question, calls))
    median_bound, p95_bound = BOUNDS[tool.name]
    outcome = {verdict(p50(times), median_bound), verdict(p95(times), p95_bound)}
    print(f"  {tool.name:<16}{p50(times):>8.2f}{p95(times):>8.2f}{median_bound:>8.0f}/{p95_bound:.0f}  {max(outcome)}")
    return outcome == {"ok"}


async def _time(tool: PublishedTool, question: dict, calls: int) -> list[float]:
    times = []
    for _ in range(calls):
        begin = time.perf_counter()
        answer = await tool.answer(question, user="bench")
        times.append((time.perf_counter() - begin) * 1000)
        if answer.is_error:
            raise RuntimeError(answer.text)
    return times
