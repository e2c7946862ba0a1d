"""Matching a trip update to a ride, and its outcome."""

from datetime import date, timedelta

import pytest
from google.transit.gtfs_realtime_pb2 import FeedEntity, VehiclePosition

from fingerpost.transit.engine.gtfs.realtime.reader import CLOCK_SKEW_S
from tests.feeds import timetable_from_drawing
from tests.realtime.messages import DAY, NOW, at, call, draw, message, read, read_bytes, update

ONE_LINE = timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10", days=[date(2026, 3, 9), DAY])

FREQUENCIES = """trip_id,start_time,end_time,headway_secs,exact_times
A-1,08:00:00,09:00:00,600,{exact}
"""


def frequent(exact: int):
    """A trip of ten minutes that leaves every ten minutes from 08:00 to 08:50."""
    tables = {"frequencies.txt": FREQUENCIES.format(exact=exact)}
    return timetable_from_drawing("line A | Alpha 00:00 | Beta 00:10", tables=tables)


@pytest.mark.parametrize(("relationship", "drawn"), [("CANCELED", "cancelled"), ("DELETED", "deleted")])
def test_a_cancelled_trip_is_cancelled_on_its_day_only(relationship, drawn):
    told = read(ONE_LINE, update("A-1", relationship=relationship))
    assert (draw(ONE_LINE, told), draw(ONE_LINE, told, day=date(2026, 3, 9))) == (drawn, "nothing")
    assert dict(told.counts) == {f"trip-{drawn}": 1}


@pytest.mark.parametrize(
    ("entity", "reason"),
    [
        (update("OMEGA", call("BETA", 60)), "trip-unknown"),
        (update("A-1", call("BETA", 60), day="20260311"), "trip-not-running-that-day"),
        (update("A-1", call("BETA", 60), day="20260230"), "start-date-invalid"),
        # 366 days hold a leap year.
        *(
            (update("A-1", call("BETA", 60), day=f"{DAY + timedelta(days=way * days):%Y%m%d}"), reason)
            for days, reason in ((366, "trip-not-running-that-day"), (367, "start-date-far-from-today"))
            for way in (-1, 1)
        ),
        (update("A-1", call("BETA", 60), day="tomorrow"), "start-date-invalid"),
        (update("", call("BETA", 60)), "trip-not-named"),
        (update("", call("BETA", 60), route_id="A", start_time="09:00:00"), "trip-unknown"),
        (update("A-1", delay=12 * 3600 + 1), "trip-delay-out-of-range"),
        (update("A-1", call("BETA", 60), timestamp=at("08:02:01")), "from-the-future"),
    ],
)
def test_unapplied_data_is_counted_by_reason(entity, reason):
    told = read(ONE_LINE, entity)
    assert (dict(told.rides), dict(told.counts)) == ({}, {reason: 1})


def test_a_trip_of_another_route_is_refused():
    """The id is A-1's, but the known route B is named: the ids have been given anew."""
    two = timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10\nline B | Alpha 09:00 | Beta 09:10")
    told = read(two, update("A-1", call("BETA", 60), route_id="B"))
    assert (dict(told.rides), dict(told.counts)) == ({}, {"trip-of-another-route": 1})


NINTH = date(2026, 3, 9)
NIGHT = timetable_from_drawing("line A | Alpha 23:50 | Beta 24:10")
CANCELED = update("A-1", day="", relationship="CANCELED")


@pytest.mark.parametrize(
    ("timetable", "entity", "now", "day", "drawn"),
    [
        # The trip of 08:00 to 08:10: at 19:00 the morning is nearer, at 21:00 the next morning.
        (ONE_LINE, CANCELED, at("19:00", NINTH), NINTH, "cancelled"),
        (ONE_LINE, CANCELED, at("21:00", NINTH), DAY, "cancelled"),
        (ONE_LINE, CANCELED, at("07:00"), DAY, "cancelled"),
        # Late in the afternoon of the ninth a time on the tenth is told.
        (ONE_LINE, update("A-1", call("BETA", "08:12"), day=""), at("18:00", NINTH), DAY, "Alpha 08:00 ? | Beta 08:12"),
        # 24:10 of the ninth is ten past midnight on the tenth.
        (NIGHT, update("A-1", call("BETA", "00:15"), day=""), at("00:05"), NINTH, "Alpha 23:50 ? | Beta 00:15"),
    ],
)
def test_without_a_start_date_the_nearest_ride_is_meant(timetable, entity, now, day, drawn):
    assert draw(timetable, read(timetable, entity, now=now, timestamp=now), day=day) == drawn


def test_a_trip_without_departures_is_matched_by_no_start_time():
    drawing = "line A | Alpha 08:00 | Beta 08:10\nline B | Alpha 08:00 | Beta 08:10"
    never = "trip_id,start_time,end_time,headway_secs\nA-1,08:00:00,08:00:00,600\n"
    timetable = timetable_from_drawing(drawing, tables={"frequencies.txt": never})
    told = read(timetable, update("A-1", call("BETA", 60), start_time="08:00:00"))
    assert (dict(told.rides), dict(told.counts)) == ({}, {"start-time-unknown": 1})


@pytest.mark.parametrize(
    ("exact", "start", "found"),
    [
        # With exact times none departs at 08:21.
        (1, "08:20:00", (2, "Alpha 08:20 ? | Beta 08:31")),
        (1, "08:21:00", "start-time-unknown"),
        (1, "", "start-time-missing"),
        # By headway a trip stands for the nearest departure, and its delays count from its own start.
        (0, "08:23:00", (2, "Alpha 08:20 ? | Beta 08:34")),
        (0, "08:25:00", (2, "Alpha 08:20 ? | Beta 08:36")),
        (0, "08:25:01", (3, "Alpha 08:30 ? | Beta 08:36:01")),
        (0, "07:55:00", (0, "Alpha 08:00 ? | Beta 08:06")),
        (0, "07:54:59", "start-time-unknown"),
    ],
)
def test_a_trip_by_frequency_is_named_by_its_start_time(exact, start, found):
    told = read(frequent(exact), update("A-1", call("BETA", 60), start_time=start, relationship="UNSCHEDULED"))
    if isinstance(found, str):
        assert (dict(told.rides), dict(told.counts)) == ({}, {found: 1})
    else:
        departure, drawn = found
        assert draw(frequent(exact), told, departure_of_trip=departure) == drawn
        assert (len(told.rides), dict(told.counts)) == (1, {"trip-updated": 1})


BRANCHES = """
line A | Alpha 08:00 | Beta 08:10
line A | Alpha 08:00 | Gamma 08:10
line A | Alpha 09:00 | Gamma 09:10
"""


@pytest.mark.parametrize(
    ("made", "drawn"),
    [
        (update("", relationship="CANCELED", route_id="A", start_time="09:00:00"), ["nothing", "nothing", "cancelled"]),
        # Two trips leave at 08:00: the stops or the direction tell them apart, else none is guessed.
        (
            update("", call("GAMMA", 60), route_id="A", start_time="08:00:00"),
            ["nothing", "Alpha 08:00 ? | Gamma 08:11", "nothing"],
        ),
        (
            update("", relationship="CANCELED", route_id="A", start_time="08:00:00", direction_id=1),
            ["nothing", "cancelled", "nothing"],
        ),
        (update("", relationship="CANCELED", route_id="A", start_time="08:00:00"), ["nothing", "nothing", "nothing"]),
    ],
)
def test_a_route_and_a_start_time_name_a_trip(made, drawn):
    trips = "route_id,service_id,trip_id,direction_id\nA,ALL,A-1,0\nA,ALL,A-2,1\nA,ALL,A-3,1\n"
    branches = timetable_from_drawing(BRANCHES, tables={"trips.txt": trips})
    told = read(branches, made)
    assert [draw(branches, told, trip) for trip in ("A-1", "A-2", "A-3")] == drawn
    assert ("trip-ambiguous" in told.counts) == (not told.rides)


@pytest.mark.parametrize(
    ("entities", "drawn"),
    [
        pytest.param(
            [update("A-1", call("BETA", 60), route_id="Line A")], "Alpha 08:00 ? | Beta 08:11",
            id="some publishers write a line's name where its id belongs; the trip's id is enough",
        ),
        pytest.param(
            [update("", call("ALPHA", 60, 60), route_id="A", start_time="08:00:00", direction_id=1)],
            "Alpha 08:01 | Beta 08:11", id="a trip without a direction may go either way",
        ),
        pytest.param(
            [update("A-1", call("ALPHA", 60, 60)), update("A-1", call("ALPHA", 120, 120))],
            "Alpha 08:02 | Beta 08:12", id="of two entities at one instant the later counts",
        ),
        pytest.param(
            [update("A-1", call("ALPHA", 60, 60), timestamp=NOW + CLOCK_SKEW_S)],
            "Alpha 08:01 | Beta 08:11", id="an update may be as far ahead of the clock as clocks differ",
        ),
    ],
)  # fmt: skip
def test_updates_that_name_their_trip_otherwise_or_twice(entities, drawn):
    assert draw(ONE_LINE, read(ONE_LINE, *entities)) == drawn


@pytest.mark.parametrize(("first", "second"), [(60, 120), (120, 60)])
def test_of_two_messages_the_newer_counts(first, second):
    newer, older = at("08:00"), at("07:59")
    messages = [
        message(update("A-1", call("BETA", delay)), timestamp=newer if delay == 120 else older)
        for delay in (first, second)
    ]
    told = read_bytes(ONE_LINE, *messages)
    assert draw(ONE_LINE, told) == "Alpha 08:00 ? | Beta 08:12"
    assert dict(told.counts) == {"superseded-by-a-newer-one": 1, "trip-updated": 1}
    assert told.timestamp == older


def test_an_updates_timestamp_overrides_the_messages():
    told = read_bytes(
        ONE_LINE,
        message(update("A-1", call("BETA", 60)), timestamp=at("07:59")),
        message(update("A-1", call("BETA", 120), timestamp=at("07:58")), timestamp=at("08:00")),
    )
    assert [ride.updated for ride in told.rides.values()] == [at("07:59")]


def test_a_vehicle_position_is_not_read():
    vehicle = FeedEntity(id="v", vehicle=VehiclePosition(timestamp=NOW))
    both = update("A-1", call("BETA", 60))
    both.vehicle.MergeFrom(vehicle.vehicle)
    told = read(ONE_LINE, vehicle, both)
    assert (len(told.rides), dict(told.counts)) == (1, {"kind-not-read": 1, "trip-updated": 1})
