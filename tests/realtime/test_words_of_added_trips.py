"""What other entities say of trips that the timetable does not have: alerts."""

import pytest
from google.transit.gtfs_realtime_pb2 import Alert, EntitySelector, FeedEntity

from fingerpost.testing.feeds import timetable_from_drawing
from tests.realtime.messages import DAY, call, message, read, read_bytes, update

LINE = timetable_from_drawing("line A | Alpha 08:10 | Beta 08:20")
ALPHA, BETA = range(2)
TODAY = f"{DAY:%Y%m%d}"
FIRST_ADDED = (-1, DAY.toordinal())


def extra(**told):
    calls = (call("ALPHA", depart="08:05"), call("BETA", arrive="08:15"))
    return update("X", *calls, relationship="ADDED", route_id="A", **told)


def copy(start_time="08:05:00"):
    entity = update("A-1", relationship="DUPLICATED")
    properties = entity.trip_update.trip_properties
    properties.trip_id, properties.start_date, properties.start_time = "COPY", TODAY, start_time
    return entity


def alert(**selector):
    return FeedEntity(id="works", alert=Alert(informed_entity=[EntitySelector(**selector)]))


@pytest.mark.parametrize("trip", [{}, {"start_date": TODAY}, {"start_time": "08:05:00"}, {"start_time": "8:05:00"}])
@pytest.mark.parametrize(("adding", "trip_id"), [(extra(start_time="08:05:00"), "X"), (copy(), "COPY")])
def test_an_alert_touches_an_added_trip(adding, trip_id, trip):
    """Which of the two comes first in the message does not matter."""
    works = alert(trip={"trip_id": trip_id, **trip})
    assert [[each.rides for each in read(LINE, *order).alerts] for order in ((adding, works), (works, adding))] == [
        [{FIRST_ADDED}],
        [{FIRST_ADDED}],
    ]


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
    """Another id, another day, another time, and no id at all."""
    told = read(LINE, extra(start_time="08:05:00"), alert(trip=trip))
    assert dict(told.counts) == {"alert-without-known-selector": 1, "trip-added": 1}


def test_an_alert_touches_an_added_trip_at_one_stop():
    """Beta alone."""
    (told,) = read(LINE, extra(), alert(trip={"trip_id": "X"}, stop_id="BETA")).alerts
    assert (told.rides, told.ride_stops) == (set(), {(FIRST_ADDED, BETA)})


def test_another_message_may_add_the_trip():
    """A source of alerts, and one of trips that is read later."""
    told = read_bytes(LINE, message(alert(trip={"trip_id": "X"})), message(copy(), extra()))
    assert [(told.added[-1 - run].trip_id, day) for run, day in told.alerts[0].rides] == [("X", DAY.toordinal())]
