"""getStopTimetable and planRoute with the embedded engine and realtime data (rule D3)."""

import threading

import pytest

from fingerpost.transit.embedded import network
from fingerpost.transit.tools import get_stop_timetable
from tests.realtime.messages import call, update

WINDOW = {"stopId": "TEST:ALPHA", "until": "2026-03-10T08:40:00+02:00"}
ROUTE = {
    "origin": {"rawText": "TEST:ALPHA"},
    "destination": {"rawText": "TEST:GAMMA"},
    "departureTime": "2026-03-10T08:00:00+02:00",
}


def rows(body):
    return [(row["routeShortName"], row["scheduledTime"][11:16]) for row in body["departures"]]


def test_delays_do_not_change_a_timetable(town):
    calm = rows(town.ask("getStopTimetable", **WINDOW))
    town.publish(update("R-2", call(sequence=1, depart=600)))

    assert calm == [("R", "06:10"), ("B", "06:15"), ("R", "06:40")]
    assert rows(town.ask("getStopTimetable", **WINDOW)) == calm


def test_a_cancelled_trip_is_counted_but_neither_listed_nor_offered(town):
    town.publish(update("R-1", relationship="CANCELED"))
    timetable, plan = town.ask("getStopTimetable", **WINDOW), town.ask("planRoute", **ROUTE)

    assert rows(timetable) == [("B", "06:15"), ("R", "06:40")]
    assert [each["startTime"][11:16] for each in plan["itineraries"]] == ["06:15", "06:40"]
    assert [body["metadata"]["cancelledLeftOut"] for body in (timetable, plan)] == [1, 1]


def test_every_itinerary_in_the_window_is_counted(towns):
    trains = "\n".join(
        f"rail R | Alpha {8 + at // 60:02d}:{at % 60:02d} | Gamma {8 + (at + 9) // 60:02d}:{(at + 9) % 60:02d}"
        for at in range(0, 150, 5)
    )
    town = towns(trains, coordinates={"Gamma": (60.17, 25.1)})
    body = town.ask("planRoute", **ROUTE, searchWindowMinutes=120)

    messages = {each["code"]: each["message"] for each in body["metadata"]["warnings"]}
    assert messages["truncated-results"].startswith("25 itineraries are in the window; 3 are shown.")


@pytest.fixture
def watch(monkeypatch):
    def watch_calls(owner, name):
        seen, function = [], getattr(owner, name)

        def watched(*args, **kwargs):
            seen.append("thread" if threading.current_thread().name.startswith("fingerpost-compute") else "loop")
            return function(*args, **kwargs)

        monkeypatch.setattr(owner, name, watched)
        return seen

    return watch_calls


def test_a_timetable_is_serialized_in_a_thread(town, watch):
    seen = watch(get_stop_timetable, "serialize_metadata")
    town.ask("getStopTimetable", **WINDOW)

    assert seen == ["thread"]


def test_a_long_board_is_built_in_a_thread(town, watch):
    town.ask("getStopTimetable", **WINDOW)
    seen = watch(network.EmbeddedNetwork, "_build_board")
    town.ask("getStopTimetable", stopId="TEST:ALPHA", until="2026-03-10T11:01:00+02:00")

    assert seen == ["thread"]
