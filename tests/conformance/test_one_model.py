"""The same question to every source, in the same town, returns the same model; only the provenance differs.

The embedded engine is the measure. What a source cannot say, because its server does not, stands in ``UNSAID``.
"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import fields

import pytest

from fingerpost import clock
from fingerpost.transit.engine.timetable.stop_ids import escape
from fingerpost.transit.model.itinerary import Departure, Leg, ServiceAlert, StopPoint
from tests.conformance.embedded import EmbeddedConformance
from tests.conformance.network_checks import NEAR_ALPHA
from tests.conformance.test_conformance import SOURCES
from tests.conformance.town import NOW, PLACES, new_town
from tests.conformance.town_network import TownNetwork
from tests.feeds import stop_id_of

# Fields that only the engine fills: the age of realtime data, and the time for a change. Handles are internal.
_INTERNAL = {"handle", "last_realtime_update", "change_s"}
PLANS = {
    "Alpha to Gamma": ("Alpha", "Gamma", "08:00", {}),
    "with one change at most": ("Alpha", "Älvsjö", "08:00", {"max_transfers": 1}),
    "to arrive by nine": ("Alpha", "Gamma", "09:00", {"arrive_by": True}),
    "without a step": ("Alpha", "Gamma", "08:00", {"step_free": True}),
    "from a door": (NEAR_ALPHA, "Gamma", "08:00", {}),
    "where nothing runs": ("Älvsjö", "Alpha", "08:00", {}),
}
BOARDS = [
    ("Alpha", "08:00", "09:00"),
    ("Delta", "08:00", "09:00"),
    ("Gamma", "08:00", "09:59"),
    ("Älvsjö", "08:00", "08:30"),
]

UNSAID = {
    "motis": {"wheelchair": "MOTIS returns NOT_ACCESSIBLE if its feed has no value, and has no value for stops"},
    "opentripplanner": {},
    "tfl": {
        "wheelchair": "TfL has no value for rides",
        "distance_m": "TfL measures only walks",
        "trip_id": "TfL's vehicles have no trip ids",
        "service_day": "TfL's vehicles have no service days",
    },
}
_PREDICTED = "TfL's boards are predictions without scheduled times, and include arrivals that riders cannot board"
_IN_MINUTES = "TfL rounds walks to minutes"
# The answers of each source that differ from the engine's, with the reasons.
OTHERWISE = {"tfl": {"from a door": _IN_MINUTES, "board of Delta": _PREDICTED}}
# Sources whose realtime answers have no scheduled times, so that they cannot be compared.
WITHOUT_PROMISES = {"tfl": _PREDICTED}
OTHERS = [source for source in SOURCES if source is not EmbeddedConformance]


def show(value, unsaid):
    if isinstance(value, ServiceAlert):
        return value.header, value.text, value.effect, value.since, value.until, value.url
    if isinstance(value, Leg | StopPoint | Departure):
        names = value._fields if isinstance(value, Leg) else [each.name for each in fields(value)]
        names = [name for name in names if name not in _INTERNAL and name not in unsaid]
        shown = {name: show(getattr(value, name), unsaid) for name in names}
        if shown.get("distance_m") is not None:
            # Lines are written with a metre's precision at best.
            shown["distance_m"] = round(shown["distance_m"] / 20)
        return tuple(shown.items())
    if isinstance(value, tuple):
        return tuple(sorted((show(each, unsaid) for each in value), key=repr))
    return value


def show_trips(itineraries, unsaid):
    return sorted((tuple(show(leg, unsaid) for leg in each.legs) for each in itineraries if each.rides), key=repr)


async def query_all(network, town, unsaid):
    asked, told = TownNetwork(network, town), {}
    for name, (begin, end, when, wishes) in PLANS.items():
        origin = begin if isinstance(begin, str) else asked.point(begin)
        answer = await asked.plan(origin, end, when, **wishes)
        told[name] = show_trips(answer.itineraries, unsaid)
        told[f"{name}, taken away"] = show_trips(
            [each for each in answer.timetabled if any(leg.cancelled for leg in each.legs)], unsaid
        )
    for stop, first, last in BOARDS:
        board = await asked.board(stop, first, last)
        told[f"board of {stop}"] = (show(tuple(board.departures), unsaid), board.found_count)
    for name in PLACES:
        found = await network.find_places(name)
        told[f"places called {name}"] = [(each.place.token, each.place.name, each.place.kind) for each in found[:1]]
        stop = await network.find_stop(f"{town.name}:{escape(stop_id_of(name))}")
        told[f"stop {name}"] = (stop.id, stop.name, stop.coordinate, stop.member_ids, stop.kind)
    near = (await network.list_stops_near(NEAR_ALPHA, 3000.0)).stops
    told["near Alpha"] = [(show(each.stop, unsaid), round(each.distance_m, 3), each.modes) for each in near]
    return told


@pytest.mark.parametrize("source", OTHERS, ids=lambda source: source.name)
@pytest.mark.parametrize("live", [False, True], ids=["by the timetable", "with real time"])
def test_the_same_question_gives_one_model(source, live, monkeypatch):
    if live and source.name in WITHOUT_PROMISES:
        pytest.skip(WITHOUT_PROMISES[source.name])
    monkeypatch.setenv(clock.VARIABLE, NOW)
    town, unsaid = new_town(live=live), UNSAID[source.name]

    async def ask_both():
        async with AsyncExitStack() as stack:
            networks = [await stack.enter_async_context(each().open(town)) for each in (EmbeddedConformance, source)]
            return [await query_all(network, town, unsaid) for network in networks]

    ours, theirs = asyncio.run(ask_both())

    otherwise = OTHERWISE.get(source.name, {})
    assert {name for name in theirs if theirs[name] != ours[name]} == set(otherwise), otherwise
    assert all(ours[name] for name in ("Alpha to Gamma", "from a door", "near Alpha"))
    assert bool(ours["Alpha to Gamma, taken away"]) is live
