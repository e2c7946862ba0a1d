"""Gaps in a calendar, and its end: answers report missing service, and empty answers give the reason."""

from datetime import date

import pytest

from tests.contracts.conftest import asker_of
from tests.embedded.conftest import trips, warnings
from tests.feeds import timetable_from_drawing
from tests.homes import keep_network, open_networks
from tests.realtime.messages import at, message, update

MONDAY, TUESDAY, WEDNESDAY, FRIDAY = (date(2026, 3, day) for day in (9, 10, 11, 13))
DRAWING = "rail R | Alpha 08:10 | Gamma 08:30\nrail R | Alpha 23:50 | Gamma 24:20"


@pytest.fixture
def holed(towns):
    return towns(DRAWING, days=[TUESDAY, WEDNESDAY, FRIDAY])


def depart(day, clock="08:00"):
    return {"type": "depart", "time": f"{day}T{clock}:00+02:00"}


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        ("2026-03-10", None),
        ("2026-03-11", None),
        ("2026-03-12", "No service on 2026-03-12, so trips of these feeds are missing: TEST (resumes on 2026-03-13)."),
        ("2026-03-13", None),
    ],
)
def test_a_day_in_a_gap_of_service_is_reported_with_the_next_day(holed, day, expected):
    assert warnings(holed.plan(when=depart(day))).get("feed-not-in-service") == expected


@pytest.mark.parametrize(("clock", "is_told"), [("03:59", False), ("04:00", True)])
def test_until_four_the_previous_day_counts(holed, clock, is_told):
    """Wednesday's last train arrives at 00:20 on Thursday."""
    assert ("feed-not-in-service" in warnings(holed.plan(when=depart("2026-03-12", clock)))) is is_told


def test_the_hint_names_the_next_day_after_a_gap_in_service(towns):
    town = towns(DRAWING, days=[TUESDAY, date(2026, 4, 10)])
    body = town.plan(when=depart("2026-03-15"))
    assert body["error"]["hint"] == "No service on 2026-03-15: TEST (resumes on 2026-04-10). Try 2026-04-10"


def test_no_day_is_suggested_on_which_nothing_departs_from_the_origin(towns):
    trips = "route_id,service_id,trip_id\nR,A,R-1\nB,B,B-1\n"
    days = "service_id,date,exception_type\nA,20260310,1\nB,20260410,1\n"
    town = towns("rail R | Alpha 08:10 | Gamma 08:30\nline B | Delta 08:00 | Beta 08:10",
                 tables={"trips.txt": trips, "calendar_dates.txt": days})  # fmt: skip
    hint = town.plan(when=depart("2026-03-15"))["error"]["hint"]
    assert hint.endswith("near the origin. The timetable has no departures from here after 2026-03-10")


@pytest.mark.parametrize(
    ("day", "codes"),
    [
        (date(2026, 3, 9), {"outside-calendar"}),
        (TUESDAY, set()),
        (date(2026, 3, 12), {"feed-not-in-service"}),
        (date(2026, 3, 14), {"outside-calendar"}),
    ],
)
def test_gaps_and_days_outside_the_calendar_are_distinguished(holed, clock, day, codes):
    clock(at("08:00", day))
    assert set(warnings(holed.board())) == codes


NIGHT = at("00:05", WEDNESDAY)
COVERED = "The timetable of TEST covers 2026-03-09 to 2026-03-10 only"


@pytest.fixture
def ending(towns):
    return towns("rail N | Alpha 20:20 | Gamma 20:40\nrail N | Alpha 24:20 | Gamma 24:40", days=[MONDAY, TUESDAY])


def route(town, **when):
    ends = {"origin": {"rawText": "TEST:ALPHA"}, "destination": {"rawText": "TEST:GAMMA"}}
    return town.ask("planRoute", **ends, **when)


def test_a_cancelled_train_of_the_last_night_is_shown_as_cancelled_and_counted(ending, clock):
    """The last train, at 00:20, belongs to Tuesday, which the calendar covers; planRoute omits cancelled trains."""
    clock(NIGHT)
    ending.publish(message(update("N-2", relationship="CANCELED"), timestamp=NIGHT))
    body, metadata = ending.plan(), route(ending, departureTime="now")["metadata"]
    assert (trips(body), body["itineraries"][0]["legs"][0]["status"]) == (["N 00:20"], "cancelled")
    assert set(warnings(body)) == {"no-usable-itinerary"}
    assert (metadata["noResultsReason"], metadata["cancelledLeftOut"]) == ("NO_DEPARTURES", 1)


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_after_the_last_train_the_calendar_has_ended(ending, clock, is_cancelled):
    later = at("00:21", WEDNESDAY)
    clock(later)
    if is_cancelled:
        ending.publish(message(update("N-2", relationship="CANCELED"), timestamp=later))
    assert ending.plan()["error"]["message"] == COVERED


def test_an_arrival_that_is_too_early_in_the_last_night_names_the_earliest_one(ending, clock):
    clock(NIGHT)
    hint = ending.plan(when={"type": "arrive", "time": "2026-03-11T00:10:00+02:00"})["error"]["hint"]
    assert hint.startswith("The earliest possible arrival is at 2026-03-11T00:40:00+02:00, if you leave at ")


def test_the_end_of_the_timetable_explains_missing_departures(towns, clock):
    clock(at("21:00"))
    over = towns("rail N | Alpha 20:20 | Gamma 20:40", days=[MONDAY, TUESDAY])
    body = route(over, departureTime="now")
    why = "There are no departures near the origin. The timetable has no departures from here after 2026-03-10"
    assert (over.plan()["error"]["hint"], body["meta"]["whyEmpty"]) == (why, f"{why}.")


def test_the_local_day_of_a_time_without_offset_chooses_the_network(tmp_path, clock):
    """At 06:30 in Los Angeles, the old feed's last service day is over in local time, but not in UTC."""
    clock(at("12:00", MONDAY))
    for name, day in (("OLD", MONDAY), ("NEW", TUESDAY)):
        timetable = timetable_from_drawing(DRAWING, zone="America/Los_Angeles", days=[day])
        keep_network(tmp_path, name, timetable, priority=int(name == "OLD"))
    query = {"origin": "Alpha", "destination": "Gamma", "when": {"time": "2026-03-10T06:30:00"}}
    answer = asker_of(open_networks(tmp_path), tmp_path)("plan_trip", query)

    assert answer.body["meta"]["network"] == "NEW"
