"""An empty board names the next departure, or the next day with departures (rules C1, D3)."""

from datetime import date

import pytest

from fingerpost.transit.embedded import boardings
from tests.embedded.conftest import rows
from tests.realtime.messages import alert, at, call, message, update

TUESDAY, WEDNESDAY, SATURDAY = date(2026, 3, 10), date(2026, 3, 11), date(2026, 3, 14)
NINE = at("09:00")
DAILY = "rail R | Alpha 08:10 | Gamma 08:30"
ADDED = update("X", call("ALPHA", depart="10:00"), call("GAMMA", arrive="10:20"), relationship="ADDED", route_id="R")
CLOSED = alert(effect="NO_SERVICE", stop_id="ALPHA")


@pytest.fixture
def weekly(towns, clock):
    town = towns(DAILY, days=[TUESDAY, WEDNESDAY, SATURDAY])
    clock(NINE)
    return town


def cancelled(*days, relationship="CANCELED"):
    return message(*(update("R-1", relationship=relationship, day=day) for day in days), timestamp=NINE)


def why(town, tool="get_departures", **more):
    asked = {"stop": {"type": "id", "value": "TEST:ALPHA"}} if tool == "get_departures" else {"stopId": "TEST:ALPHA"}
    body = town.ask(tool, **asked, **more)
    assert body["departures"] == []
    return body["meta"]["whyEmpty"]


BOTH = pytest.mark.parametrize("tool", ["get_departures", "getStopTimetable"])


@BOTH
@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (["20260311"], "The next departures are on 2026-03-14."),
        (["20260311", "20260314"], "All departures from here until 2026-03-14 are cancelled."),
    ],
)
def test_a_day_with_only_cancelled_departures_is_not_named(weekly, tool, days, expected):
    weekly.publish(cancelled(*days))
    assert why(weekly, tool) == expected


def test_a_day_with_only_deleted_rides_is_not_listed(weekly):
    weekly.publish(cancelled("20260311", "20260314", relationship="DELETED"))
    assert why(weekly) == "The timetable has no departures from here after 2026-03-14."


def test_an_added_train_days_ahead_counts(towns, clock):
    """On Sunday: the added train runs on Tuesday at 10:00, and the next scheduled one on Saturday."""
    sunday = at("12:00", date(2026, 3, 8))
    town = towns(DAILY, days=[SATURDAY])
    clock(sunday)
    town.publish(message(ADDED, timestamp=sunday))
    assert (why(town), why(town, "getStopTimetable")) == (
        "The next departures are on 2026-03-10.",
        "The next departures are on 2026-03-14.",
    )


@BOTH
def test_no_next_day_is_named_for_a_closed_stop(towns, clock, tool):
    town = towns(DAILY)
    clock(NINE)
    town.publish(message(CLOSED, timestamp=NINE))
    assert why(town, tool) == "All departures from here until 2026-03-16 are cancelled."


def test_a_busy_closed_stop_is_queried_for_fewer_days(towns, clock, monkeypatch):
    """With at most two departures, the search ends after whole days, here Wednesday and Thursday."""
    monkeypatch.setattr(boardings, "_MAX_DEPARTURES", 1)
    town = towns(DAILY)
    clock(NINE)
    town.publish(message(CLOSED, timestamp=NINE))
    assert why(town) == "All departures from here until 2026-03-12 are cancelled."


@pytest.mark.parametrize(
    ("drawing", "days", "now", "expected"),
    [
        # Saturday's train leaves on Sunday at 00:20.
        ("rail N | Alpha 24:20 | Gamma 24:40", [TUESDAY, SATURDAY], at("01:00", WEDNESDAY),
         "The next departures are on 2026-03-15."),
        # On Thursday: Tuesday's train leaves Alpha on Saturday, and Saturday's on Wednesday.
        ("rail N | Gamma 09:00 | Alpha 103:00 | Beta 104:00", [TUESDAY, SATURDAY], at("09:00", date(2026, 3, 12)),
         "The next departures are on 2026-03-14."),
        # The last train leaves a day after the last service day.
        ("rail N | Alpha 24:20 | Gamma 24:40", [TUESDAY], at("01:00", WEDNESDAY),
         "The timetable has no departures from here after 2026-03-11."),
        # The train ends at Gamma, where riders cannot alight.
        ("rail R | Alpha 08:10 | Gamma 08:30 noalight", [TUESDAY, SATURDAY], NINE,
         "The timetable has no departures from here on any day."),
    ],
    ids=["after midnight", "after days", "last after midnight", "no alighting"],
)  # fmt: skip
def test_a_train_counts_on_the_day_on_which_riders_can_take_it(towns, clock, drawing, days, now, expected):
    clock(now)
    assert why(towns(drawing, days=days)) == expected


@pytest.mark.parametrize(
    ("train", "days", "now", "entity", "expected"),
    [
        # Wednesday's train leaves five hours late, on Thursday.
        ("20:10", [TUESDAY, WEDNESDAY, SATURDAY], at("21:00"),
         update("R-1", call("ALPHA", 18000, 18000), day="20260311"), "The next departures are on 2026-03-12."),
        # The last train, due at 09:06, left at 08:59, and does not count as cancelled.
        ("09:06", [TUESDAY], NINE, update("R-1", call("ALPHA", depart=-420)),
         "The timetable has no departures from here after 2026-03-10."),
    ],
    ids=["late", "early"],
)  # fmt: skip
def test_a_train_counts_when_it_is_expected(towns, clock, train, days, now, entity, expected):
    town = towns(f"rail R | Alpha {train} | Gamma 20:30", days=days)
    clock(now)
    town.publish(message(entity, timestamp=now))
    assert why(town, windowMinutes=5) == expected


def test_a_train_moved_to_another_platform_is_the_next_departure(towns, clock):
    stops = """stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station,platform_code
ST,Central,60.17,24.94,1,,
ALPHA,Central,60.17,24.94,0,ST,1
P2,Central,60.1702,24.9404,0,ST,2
G,Gamma,60.17,25.1,0,,
"""
    town = towns(
        "rail R | ALPHA 12:10 | G 12:30\nrail S | P2 12:05 | G 12:40", coordinates={}, tables={"stops.txt": stops}
    )
    clock(NINE)
    town.publish(message(update("R-1", call(sequence=1, depart=0, platform="P2")), timestamp=NINE))
    assert why(town, windowMinutes=60) == "The next departure is at 2026-03-10T12:10:00+02:00."


class TestTimetable:
    @pytest.fixture
    def town(self, towns, clock):
        town = towns(f"{DAILY}\nrail R | Alpha 11:10 | Gamma 11:30")
        clock(NINE)
        return town

    def test_a_timetable_omits_added_trains(self, town):
        town.publish(message(ADDED, timestamp=NINE))
        assert (why(town, windowMinutes=30), why(town, "getStopTimetable")) == (
            "The next departure is at 2026-03-10T10:00:00+02:00.",
            "The next departure is at 2026-03-10T09:10:00Z.",
        )

    def test_a_late_train_stays_at_its_scheduled_time(self, town):
        """The 11:10 is expected an hour late; a timetable at the named time lists it."""
        town.publish(message(update("R-2", call("ALPHA", 3600, 3600)), timestamp=NINE))
        listed = town.ask("getStopTimetable", stopId="TEST:ALPHA", at="2026-03-10T09:10:00Z")["departures"]
        assert why(town, "getStopTimetable") == "The next departure is at 2026-03-10T09:10:00Z."
        assert [each["scheduledTime"] for each in listed] == ["2026-03-10T09:10:00Z"]

    def test_a_window_with_only_cancelled_trains_names_the_next_departure(self, town):
        town.publish(message(update("R-2", relationship="CANCELED"), timestamp=NINE))
        window = {"at": "2026-03-10T11:00:00+02:00"}
        assert rows(town.board(**window)) == [("R", "11:10", "cancelled", None)]
        assert why(town, "getStopTimetable", **window) == "The next departure is at 2026-03-11T06:10:00Z."

    def test_the_text_names_the_next_departure_in_local_time(self, town):
        town.ask("getStopTimetable", stopId="TEST:ALPHA")
        assert town.text.splitlines()[0] == (
            "Timetable for Alpha (TEST:ALPHA), Tue 2026-03-10 (Europe/Helsinki, UTC+02:00), at most 3 within 45 min: "
            "no departures. NO_DEPARTURES The next departure is at 11:10."
        )
