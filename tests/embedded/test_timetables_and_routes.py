"""getStopTimetable and planRoute over the embedded engine, with real time (rule D3)."""

import threading

import pytest

from fingerpost.transit.embedded import network
from fingerpost.transit.tools import get_stop_timetable
from tests.realtime.messages import NOW, call, message, update

WINDOW = {"stopId": "TEST:ALPHA", "until": "2026-03-10T08:40:00+02:00"}


def rows(body):
    return [(row["routeShortName"], row["scheduledTime"][11:16]) for row in body["departures"]]


def test_a_timetable_is_the_same_whatever_is_late(town):
    """A train that real time moves out of the window, at either end, stays at its scheduled time."""
    calm = rows(town.ask("getStopTimetable", **WINDOW))
    town.say(message(update("R-2", call(sequence=1, depart=600)), timestamp=NOW))

    assert calm == [("R", "06:10"), ("B", "06:15"), ("R", "06:40")]
    assert rows(town.ask("getStopTimetable", **WINDOW)) == calm


def test_a_cancelled_trip_is_not_listed_and_counted(town):
    """The board of the same time shows it as cancelled."""
    town.say(message(update("R-1", relationship="CANCELED"), timestamp=NOW))
    body = town.ask("getStopTimetable", **WINDOW)

    assert rows(body) == [("B", "06:15"), ("R", "06:40")]
    assert body["metadata"]["cancelledLeftOut"] == 1


def test_a_cancelled_trip_is_not_offered_and_counted(town):
    """PlanRoute goes by the train after it, and by the buses."""
    town.say(message(update("R-1", relationship="CANCELED"), timestamp=NOW))
    body = town.ask(
        "planRoute",
        origin={"rawText": "TEST:ALPHA"},
        destination={"rawText": "TEST:GAMMA"},
        departureTime="2026-03-10T08:00:00+02:00",
    )

    assert [each["startTime"][11:16] for each in body["itineraries"]] == ["06:15", "06:40"]
    assert body["metadata"]["cancelledLeftOut"] == 1


def test_all_of_a_window_is_found(towns):
    """Trains each five minutes: two hours of them are counted, and none outside."""
    trains = "\n".join(
        f"rail R | Alpha {8 + at // 60:02d}:{at % 60:02d} | Gamma {8 + (at + 9) // 60:02d}:{(at + 9) % 60:02d}"
        for at in range(0, 150, 5)
    )
    body = towns(trains, coordinates={"Gamma": (60.17, 25.1)}).ask(
        "planRoute",
        origin={"rawText": "TEST:ALPHA"},
        destination={"rawText": "TEST:GAMMA"},
        departureTime="2026-03-10T08:00:00+02:00",
        searchWindowMinutes=120,
    )

    told = {each["code"]: each["message"] for each in body["metadata"]["warnings"]}
    assert told["truncated-results"].startswith("25 itineraries are in the window; 3 are shown.")


@pytest.mark.parametrize(("count", "where"), [(50, "loop"), (51, "aside")])
def test_a_long_timetable_is_written_aside(towns, monkeypatch, count, where):
    """In the event loop it would keep every other call waiting."""
    buses = "\n".join(f"bus B | Alpha {8 + at // 60:02d}:{at % 60:02d} | Gamma 11:00" for at in range(count))
    town, seen = towns(buses, coordinates={"Gamma": (60.17, 25.1)}), []
    show = get_stop_timetable.show_metadata

    def watched(*args, **kwargs):
        seen.append("aside" if threading.current_thread().name.startswith("fingerpost-compute") else "loop")
        return show(*args, **kwargs)

    monkeypatch.setattr(get_stop_timetable, "show_metadata", watched)
    body = town.ask("getStopTimetable", stopId="TEST:ALPHA", until="2026-03-10T11:00:00+02:00")

    assert len(body["departures"]) == count
    assert seen == [where]


def test_a_board_of_many_hours_is_read_aside(town, monkeypatch):
    """In the event loop it would keep every other call waiting."""
    town.ask("getStopTimetable", stopId="TEST:ALPHA", until="2026-03-10T08:40:00+02:00")
    seen, read = [], network.EmbeddedNetwork._board

    def watched(*args):
        seen.append("aside" if threading.current_thread().name.startswith("fingerpost-compute") else "loop")
        return read(*args)

    monkeypatch.setattr(network.EmbeddedNetwork, "_board", watched)
    town.ask("getStopTimetable", stopId="TEST:ALPHA", until="2026-03-10T11:01:00+02:00")

    assert seen == ["aside"]
