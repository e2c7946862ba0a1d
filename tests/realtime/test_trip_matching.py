"""Which ride a trip update means, and what becomes of it."""

from datetime import date, timedelta

import pytest
from google.transit.gtfs_realtime_pb2 import FeedEntity, VehiclePosition

from fingerpost.testing.feeds import feed_from_drawing, timetable_from_drawing, timetable_from_tables
from fingerpost.transit.engine.gtfs.realtime import CLOCK_SKEW_S
from tests.realtime.messages import DAY, NOW, at, call, draw, message, read, read_bytes, update

ONE_LINE = timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10", days=[date(2026, 3, 9), DAY])

FREQUENCIES = """trip_id,start_time,end_time,headway_secs,exact_times
A-1,08:00:00,09:00:00,600,{exact}
"""


def frequent(exact: int):
    """A trip of ten minutes that leaves every ten minutes from 08:00 to 08:50."""
    feed = feed_from_drawing("line A | Alpha 00:00 | Beta 00:10")
    return timetable_from_tables(feed | {"frequencies.txt": FREQUENCIES.format(exact=exact)})


@pytest.mark.parametrize(
    ("relationship", "drawn", "counted"),
    [("CANCELED", "cancelled", "trip-cancelled"), ("DELETED", "deleted", "trip-deleted")],
)
def test_a_cancelled_trip_is_cancelled_on_its_day_only(relationship, drawn, counted):
    """Tuesday's ride is gone, Monday's is not."""
    told = read(ONE_LINE, update("A-1", relationship=relationship))
    assert (draw(ONE_LINE, told), draw(ONE_LINE, told, day=date(2026, 3, 9))) == (drawn, "nothing")
    assert dict(told.counts) == {counted: 1}


@pytest.mark.parametrize(
    ("entity", "reason"),
    [
        (update("OMEGA", call("BETA", 60)), "trip-unknown"),
        (update("A-1", call("BETA", 60), day="20260311"), "trip-not-running-that-day"),
        (update("A-1", call("BETA", 60), day="20260230"), "start-date-unreadable"),
        # 366 days hold a leap year.
        *(
            (update("A-1", call("BETA", 60), day=f"{DAY + timedelta(days=way * days):%Y%m%d}"), reason)
            for days, reason in ((366, "trip-not-running-that-day"), (367, "start-date-far-from-today"))
            for way in (-1, 1)
        ),
        (update("A-1", call("BETA", 60), day="tomorrow"), "start-date-unreadable"),
        (update("", call("BETA", 60)), "trip-not-named"),
        (update("", call("BETA", 60), route_id="A", start_time="09:00:00"), "trip-unknown"),
        (update("A-1", delay=12 * 3600 + 1), "trip-delay-out-of-range"),
        (update("A-1", call("BETA", 60), timestamp=at("08:02:01")), "from-the-future"),
    ],
)
def test_what_cannot_be_applied_is_counted_by_reason(entity, reason):
    """Nothing changes, and the reason says why."""
    told = read(ONE_LINE, entity)
    assert (dict(told.rides), dict(told.counts)) == ({}, {reason: 1})


def test_a_trip_of_another_route_is_refused():
    """The id is A-1's, but the known route B is named: the ids have been given anew."""
    two = timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10\nline B | Alpha 09:00 | Beta 09:10")
    told = read(two, update("A-1", call("BETA", 60), route_id="B"))
    assert (dict(told.rides), dict(told.counts)) == ({}, {"trip-of-another-route": 1})


def test_an_unknown_route_does_not_hinder():
    """Some publishers write a line's name where its id belongs; the trip's id is enough."""
    told = read(ONE_LINE, update("A-1", call("BETA", 60), route_id="Line A"))
    assert draw(ONE_LINE, told) == "Alpha 08:00 ? | Beta 08:11"


@pytest.mark.parametrize(
    ("now", "day"), [("2026-03-09T19:00", date(2026, 3, 9)), ("2026-03-09T21:00", DAY), ("2026-03-10T07:00", DAY)]
)
def test_without_a_start_date_the_nearest_ride_is_meant(now, day):
    """The trip of 08:00 to 08:10: at 19:00 the morning is nearer, at 21:00 the next morning."""
    instant = at(now[-5:], day=date.fromisoformat(now[:10]))
    told = read(ONE_LINE, update("A-1", day="", relationship="CANCELED"), now=instant, timestamp=instant)
    assert draw(ONE_LINE, told, day=day) == "cancelled"


def test_without_a_start_date_a_time_tells_the_day():
    """Late in the evening of the ninth, a time on the tenth is told."""
    instant = at("18:00", day=date(2026, 3, 9))
    told = read(ONE_LINE, update("A-1", call("BETA", "08:12"), day=""), now=instant, timestamp=instant)
    assert draw(ONE_LINE, told) == "Alpha 08:00 ? | Beta 08:12"


def test_a_ride_past_midnight_belongs_to_the_day_before():
    """24:10 of the ninth is ten past midnight on the tenth."""
    night = timetable_from_drawing("line A | Alpha 23:50 | Beta 24:10")
    told = read(night, update("A-1", call("BETA", "00:15"), day=""), now=at("00:05"), timestamp=at("00:05"))
    assert draw(night, told, day=date(2026, 3, 9)) == "Alpha 23:50 ? | Beta 00:15"


def test_a_trip_by_frequency_is_named_by_its_start_time():
    """The third departs at 08:20."""
    told = read(frequent(1), update("A-1", call("BETA", 60), start_time="08:20:00"))
    assert draw(frequent(1), told, departure_of_trip=2) == "Alpha 08:20 ? | Beta 08:31"
    assert len(told.rides) == 1


@pytest.mark.parametrize(("start", "reason"), [("", "start-time-missing"), ("08:21:00", "start-time-unknown")])
def test_a_trip_by_frequency_needs_its_start_time(start, reason):
    """With exact times none departs at 08:21."""
    told = read(frequent(1), update("A-1", call("BETA", 60), start_time=start))
    assert (dict(told.rides), dict(told.counts)) == ({}, {reason: 1})


def test_a_trip_without_departures_is_matched_by_no_start_time():
    """A row of frequencies.txt that ends before it begins leaves a trip no departure."""
    feed = feed_from_drawing("line A | Alpha 08:00 | Beta 08:10\nline B | Alpha 08:00 | Beta 08:10")
    never = "trip_id,start_time,end_time,headway_secs\nA-1,08:00:00,08:00:00,600\n"
    timetable = timetable_from_tables(feed | {"frequencies.txt": never})
    told = read(timetable, update("A-1", call("BETA", 60), start_time="08:00:00"))
    assert (dict(told.rides), dict(told.counts)) == ({}, {"start-time-unknown": 1})


@pytest.mark.parametrize(
    ("start", "run", "drawn"),
    [
        ("08:23:00", 2, "Alpha 08:20 ? | Beta 08:34"),
        ("08:25:00", 2, "Alpha 08:20 ? | Beta 08:36"),
        ("08:25:01", 3, "Alpha 08:30 ? | Beta 08:36:01"),
    ],
)
def test_a_trip_by_headway_may_leave_between_two_departures(start, run, drawn):
    """It stands for the nearest departure, and its delays count from its own start."""
    told = read(frequent(0), update("A-1", call("BETA", 60), start_time=start, relationship="UNSCHEDULED"))
    assert draw(frequent(0), told, departure_of_trip=run) == drawn


@pytest.mark.parametrize(
    ("start", "counts"), [("07:55:00", {"trip-updated": 1}), ("07:54:59", {"start-time-unknown": 1})]
)
def test_a_trip_by_headway_leaves_at_most_half_a_headway_beside_its_departures(start, counts):
    """The first departs at 08:00, every ten minutes."""
    told = read(frequent(0), update("A-1", call("BETA", 60), start_time=start))
    assert dict(told.counts) == counts


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
    """A-1 runs in direction 0, A-2 and A-3 in direction 1."""
    feed = feed_from_drawing(BRANCHES)
    feed["trips.txt"] = "route_id,service_id,trip_id,direction_id\nA,ALL,A-1,0\nA,ALL,A-2,1\nA,ALL,A-3,1\n"
    branches = timetable_from_tables(feed)
    told = read(branches, made)
    assert [draw(branches, told, trip) for trip in ("A-1", "A-2", "A-3")] == drawn
    assert ("trip-ambiguous" in told.counts) == (not told.rides)


def test_a_trip_without_a_direction_may_go_either_way():
    """The feed states none, so a direction that is named excludes nothing."""
    entity = update("", call("ALPHA", 60, 60), route_id="A", start_time="08:00:00", direction_id=1)
    assert draw(ONE_LINE, read(ONE_LINE, entity)) == "Alpha 08:01 | Beta 08:11"


@pytest.mark.parametrize(("first", "second"), [(60, 120), (120, 60)])
def test_of_two_messages_the_newer_counts(first, second):
    """Whichever comes first, the update of 07:59 gives way to that of 08:00."""
    newer, older = at("08:00"), at("07:59")
    messages = [
        message(update("A-1", call("BETA", delay)), timestamp=newer if delay == 120 else older)
        for delay in (first, second)
    ]
    told = read_bytes(ONE_LINE, *messages)
    assert draw(ONE_LINE, told) == "Alpha 08:00 ? | Beta 08:12"
    assert dict(told.counts) == {"superseded-by-a-newer-one": 1, "trip-updated": 1}
    assert told.timestamp == older


def test_of_two_entities_about_one_trip_at_one_instant_the_later_counts():
    """Neither is newer, so the publisher's own order decides."""
    told = read(ONE_LINE, update("A-1", call("ALPHA", 60, 60)), update("A-1", call("ALPHA", 120, 120)))
    assert draw(ONE_LINE, told) == "Alpha 08:02 | Beta 08:12"


def test_an_update_may_be_as_far_ahead_of_the_clock_as_clocks_differ():
    """Two minutes; a second more is an update from the future, and changes nothing yet (above)."""
    told = read(ONE_LINE, update("A-1", call("ALPHA", 60, 60), timestamp=NOW + CLOCK_SKEW_S))
    assert draw(ONE_LINE, told) == "Alpha 08:01 | Beta 08:11"


def test_an_updates_own_timestamp_goes_before_the_messages():
    """The message is newer, the update in it is not."""
    told = read_bytes(
        ONE_LINE,
        message(update("A-1", call("BETA", 60)), timestamp=at("07:59")),
        message(update("A-1", call("BETA", 120), timestamp=at("07:58")), timestamp=at("08:00")),
    )
    assert [ride.updated for ride in told.rides.values()] == [at("07:59")]


def seen(trip_id="A-1", timestamp=0):
    """Return an entity with a vehicle position."""
    entity = FeedEntity(id="v", vehicle=VehiclePosition(timestamp=timestamp))
    if trip_id:
        entity.vehicle.trip.trip_id, entity.vehicle.trip.start_date = trip_id, f"{DAY:%Y%m%d}"
    return entity


@pytest.mark.parametrize(
    ("entities", "counts"),
    [
        ([seen(timestamp=at("07:59"))], {"vehicle-seen": 1}),
        ([seen(timestamp=at("08:02:01"))], {"from-the-future": 1}),
        *[
            ([seen(timestamp=instant) for instant in instants], {"superseded-by-a-newer-one": 1, "vehicle-seen": 1})
            for instants in ((at("07:59"), at("08:00")), (at("08:00"), at("07:59")))
        ],
        # On its way to the depot, or of another feed.
        ([seen(""), seen("OMEGA")], {"trip-not-named": 1, "trip-unknown": 1}),
    ],
)
def test_a_vehicle_position_is_counted_and_moves_no_ride(entities, counts):
    """Of two positions of one ride the newer counts, in either order."""
    told = read(ONE_LINE, *entities)
    assert (dict(told.rides), dict(told.counts)) == ({}, counts)


def test_an_entity_with_an_update_and_a_vehicle_is_counted_once():
    """The update's outcome counts."""
    both = update("A-1", call("BETA", 60))
    both.vehicle.MergeFrom(seen().vehicle)
    told = read(ONE_LINE, both)
    assert (len(told.rides), dict(told.counts)) == (1, {"trip-updated": 1})
