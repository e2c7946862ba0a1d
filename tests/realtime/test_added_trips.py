"""Rides that are not in the timetable (ADDED, NEW, REPLACEMENT), and the data in their entities."""

import pytest

from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING
from tests.feeds import timetable_from_drawing
from tests.realtime.messages import (
    DAY,
    NOW,
    alert,
    at,
    call,
    draw,
    draw_added,
    message,
    read,
    read_bytes,
    stop_time_with,
    update,
)  # fmt: skip

LINES = timetable_from_drawing(
    "line A | Alpha 08:00 | Beta 08:10-08:12 | Gamma 08:20\nline B | Alpha 09:00 | Delta 09:30"
)
THREE_CALLS = (call("ALPHA", None, "08:05"), call("DELTA", "08:15", "08:16"), call("GAMMA", "08:25"))


def stop_time_at(stop, after_midnight_s):
    made = call(stop)
    made.arrival.time = at("00:00") + after_midnight_s
    return made


def added(told, timetable=LINES):
    return [(ride.trip_id, draw_added(timetable, ride)) for ride in told.added]


@pytest.mark.parametrize("relationship", ["ADDED", "NEW"])
def test_an_added_ride_runs_at_its_stated_times(relationship):
    told = read(LINES, update("EXTRA", *THREE_CALLS, relationship=relationship, route_id="A"))
    assert added(told) == [("EXTRA", "Alpha 08:05 | Delta 08:15-08:16 | Gamma 08:25")]
    ride = told.added[0]
    assert (ride.service_day, ride.route, ride.trip, ride.updated) == (DAY, 0, -1, at("08:00"))
    assert dict(told.counts) == {"trip-added": 1}


def scheduled_and_late():
    """A new trip may state its own timetable (StopTimeEvent.scheduled_time) and how late it is."""
    late = call("GAMMA")
    late.arrival.scheduled_time, late.arrival.delay = at("08:25"), 120
    return late


@pytest.mark.parametrize(
    ("calls", "drawn"),
    [
        (
            (THREE_CALLS[0], call("BETA", "08:10", relationship="SKIPPED"), THREE_CALLS[2]),
            "Alpha 08:05 | Beta 08:10 skip | Gamma 08:25",
        ),
        ((THREE_CALLS[0], scheduled_and_late()), "Alpha 08:05 | Gamma 08:27"),
        # Omega is no stop, Delta has a delay and no planned time; two calls remain.
        ((THREE_CALLS[0], call("OMEGA", "08:10"), call("DELTA", 60), THREE_CALLS[2]), "Alpha 08:05 | Gamma 08:25"),
        # Gamma before Delta waits for it.
        ((THREE_CALLS[0], THREE_CALLS[1], call("GAMMA", "08:14")), "Alpha 08:05 | Delta 08:15-08:16 | Gamma 08:16"),
    ],
)
def test_stop_times_of_an_added_ride(calls, drawn):
    assert added(read(LINES, update("EXTRA", *calls, relationship="ADDED"))) == [("EXTRA", drawn)]


def test_of_two_added_rides_of_one_id_the_newer_counts():
    told = read(
        LINES,
        update("EXTRA", *THREE_CALLS, relationship="ADDED", timestamp=at("07:58")),
        update("EXTRA", THREE_CALLS[0], call("GAMMA", "08:40"), relationship="ADDED", timestamp=at("07:59")),
    )
    assert added(told) == [("EXTRA", "Alpha 08:05 | Gamma 08:40")]
    assert dict(told.counts) == {"superseded-by-a-newer-one": 1, "trip-added": 1}


def replacement(*calls):
    return update("A-1", *calls, relationship="REPLACEMENT")


@pytest.mark.parametrize(
    "unused",
    [call("OMEGA", "08:10"), call("BETA"), call("BETA", 60), stop_time_at("BETA", 5 * 86_400)],
    ids=["unknown stop", "no time", "delay without time", "out of range"],
)
def test_a_trip_with_unused_stop_times_is_counted_as_such(unused):
    calls = (THREE_CALLS[0], unused, THREE_CALLS[2])
    told = read(LINES, update("EXTRA", *calls, relationship="ADDED"), replacement(*calls))
    assert [drawn for _, drawn in added(told)] == ["Alpha 08:05 | Gamma 08:25"] * 2
    assert dict(told.counts) == {"trip-added-in-part": 1, "trip-replaced-in-part": 1}


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([call("ALPHA", depart=300), call("GAMMA", 300)], id="delays without times"),
        pytest.param([call("OMEGA", "08:10")], id="one unknown stop"),
    ],
)
def test_a_replacement_by_nothing_known_leaves_its_trip_as_planned(calls):
    told = read(LINES, replacement(*calls))
    assert (draw(LINES, told), added(told)) == ("nothing", [])
    assert dict(told.counts) == {"trip-replaced-by-nothing-known": 1}


def test_a_replacement_replaces_a_trip():
    told = read(LINES, replacement(*THREE_CALLS))
    assert draw(LINES, told) == "cancelled"
    assert added(told) == [("A-1", "Alpha 08:05 | Delta 08:15-08:16 | Gamma 08:25")]
    assert dict(told.counts) == {"trip-replaced": 1}
    assert [(ride.trip, ride.headsign) for ride in told.added] == [(0, "Gamma")]


CLOSED = timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10 noboard | Gamma 08:20")
BETA_AND_GAMMA = (call("BETA", depart="08:15"), call("GAMMA", arrive="08:25"))


@pytest.mark.parametrize(
    ("entity", "flags"),
    [
        # StopTimeProperties.pickup_type and drop_off_type.
        (
            update(
                "EXTRA",
                stop_time_with("ALPHA", "08:05", pickup_type="NONE"),
                stop_time_with("GAMMA", "08:25", drop_off_type="NONE"),
                relationship="NEW",
            ),
            [NO_BOARDING, NO_ALIGHTING],
        ),
        # Nobody gets on at Beta, by the replacement no more than by the trip, unless that is told.
        (replacement(*BETA_AND_GAMMA), [NO_BOARDING, 0]),
        (replacement(stop_time_with("BETA", "08:15", pickup_type="REGULAR"), BETA_AND_GAMMA[1]), [0, 0]),
    ],
    ids=["added", "kept", "allowed"],
)
def test_pickup_and_drop_off_are_the_trips_unless_updated(entity, flags):
    assert read(CLOSED, entity).added[0].flags.tolist() == flags


LINE = timetable_from_drawing("line A | Alpha 08:10 | Beta 08:20")
FIRST_ADDED = (-1, DAY.toordinal())


def extra(**told):
    calls = (call("ALPHA", depart="08:05"), call("BETA", arrive="08:15"))
    return update("X", *calls, relationship="ADDED", route_id="A", **told)


@pytest.mark.parametrize(
    "trip", [{}, {"start_date": f"{DAY:%Y%m%d}"}, {"start_time": "08:05:00"}, {"start_time": "8:05:00"}]
)
def test_an_alert_touches_an_added_trip(trip):
    adding, works = extra(start_time="08:05:00"), alert(trip={"trip_id": "X", **trip})
    for order in ((adding, works), (works, adding)):
        assert [each.selectors for each in read(LINE, *order).alerts] == [{("ride", FIRST_ADDED)}]


@pytest.mark.parametrize(
    "trip",
    [
        {"trip_id": "Y"},
        {"trip_id": "X", "start_date": "20260311"},
        {"trip_id": "X", "start_time": "08:06:00"},
        {"route_id": "A", "start_time": "08:05:00"},
    ],
)
def test_an_alert_of_another_ride_touches_no_added_trip(trip):
    told = read(LINE, extra(start_time="08:05:00"), alert(trip=trip))
    assert dict(told.counts) == {"alert-without-known-selector": 1, "trip-added": 1}


def test_another_message_may_add_the_trip():
    told = read_bytes(LINE, message(alert(trip={"trip_id": "X"})), message(extra()))
    assert [(told.added[-1 - run].trip_id, day) for _, (run, day) in told.alerts[0].selectors] == [
        ("X", DAY.toordinal())
    ]


@pytest.mark.parametrize("relationship", ["CANCELED", "DELETED"])
def test_an_added_trip_that_is_cancelled_does_not_run(relationship):
    told = read(LINE, extra(), update("X", relationship=relationship))
    outcome = {"CANCELED": "trip-cancelled", "DELETED": "trip-deleted"}[relationship]
    assert (added(told, LINE), dict(told.counts)) == ([], {"superseded-by-a-newer-one": 1, outcome: 1})


@pytest.mark.parametrize(("later_s", "runs"), [(-1, False), (0, True), (1, True)])
def test_the_newest_update_to_an_added_trip_counts(later_s, runs):
    cancelled = message(update("X", relationship="CANCELED", timestamp=NOW - 9))
    told = read_bytes(LINE, cancelled, message(extra(timestamp=NOW - 9 + later_s)))
    assert [ride.trip_id for ride in told.added] == ["X"] * runs


@pytest.mark.parametrize(
    ("entities", "counts"),
    [
        ((extra(), update("X", relationship="CANCELED", day="20260311")), {"trip-added": 1, "trip-unknown": 1}),
        ((update("A-1", relationship="DUPLICATED"),), {"kind-not-read": 1}),
        ((update("X", call("BETA", "08:15"), relationship="ADDED"),), {"added-trip-without-two-known-calls": 1}),
    ],
    ids=["cancelled on another day", "duplicated", "one stop time"],
)
def test_updates_that_change_no_added_trip_are_counted(entities, counts):
    told = read(LINE, *entities)
    assert (len(told.added), dict(told.rides)) == (counts.get("trip-added", 0), {})
    assert dict(told.counts) == counts
