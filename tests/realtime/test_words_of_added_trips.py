"""What other entities say of trips that the timetable does not have: alerts, cancellations, delays."""

import pytest
from google.transit.gtfs_realtime_pb2 import Alert, EntitySelector, FeedEntity

from fingerpost.testing.feeds import timetable_from_drawing
from tests.realtime.messages import DAY, NOW, call, draw_added, message, read, read_bytes, update

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


def drawn(told):
    return [(ride.trip_id, draw_added(LINE, ride)) for ride in told.added]


@pytest.mark.parametrize("relationship", ["CANCELED", "DELETED"])
@pytest.mark.parametrize(("adding", "trip_id"), [(extra(), "X"), (copy(), "COPY")])
def test_an_added_trip_that_is_cancelled_does_not_run(adding, trip_id, relationship):
    """The later entity of one message counts; the earlier is superseded."""
    told = read(LINE, adding, update(trip_id, relationship=relationship))
    outcome = {"CANCELED": "trip-cancelled", "DELETED": "trip-deleted"}[relationship]
    assert (drawn(told), dict(told.counts)) == ([], {"superseded-by-a-newer-one": 1, outcome: 1})


@pytest.mark.parametrize(("later_s", "runs"), [(-1, False), (0, True), (1, True)])
def test_the_newest_word_on_an_added_trip_counts(later_s, runs):
    """A source cancels it, and another that is read after it adds it ``later_s`` afterwards."""
    cancelled = message(update("X", relationship="CANCELED", timestamp=NOW - 9))
    told = read_bytes(LINE, cancelled, message(extra(timestamp=NOW - 9 + later_s)))
    assert [ride.trip_id for ride in told.added] == ["X"] * runs


def test_of_two_words_on_an_added_trip_the_newer_counts():
    """The copy was cancelled, and runs after all, a minute late."""
    told = read(
        LINE,
        copy(),
        update("COPY", call("ALPHA", 60, 60), timestamp=NOW),
        update("COPY", relationship="CANCELED", timestamp=NOW - 60),
    )
    assert drawn(told) == [("COPY", "Alpha 08:06 | Beta 08:16")]
    assert dict(told.counts) == {"superseded-by-a-newer-one": 1, "trip-duplicated": 1, "trip-updated": 1}


@pytest.mark.parametrize("day", [TODAY, ""])
def test_a_delay_of_a_copy_counts_against_its_own_times(day):
    """Told under the copy's id, with its day or without one; its headsign stays."""
    entity = copy()
    entity.trip_update.trip_properties.trip_headsign = "Harbour"
    told = read(LINE, entity, update("COPY", call("ALPHA", 300, 300), day=day))
    assert (drawn(told), told.added[0].headsign) == ([("COPY", "Alpha 08:10 | Beta 08:20")], "Harbour")


def test_a_word_on_another_day_cancels_nothing():
    """Tomorrow no such trip is added."""
    told = read(LINE, extra(), update("X", relationship="CANCELED", day="20260311"))
    assert (len(told.added), dict(told.counts)) == (1, {"trip-added": 1, "trip-unknown": 1})


def test_a_word_on_two_added_trips_is_not_guessed():
    """Two copies of one id leave today, and the cancellation states no time."""
    told = read(LINE, copy(), copy("08:35:00"), update("COPY", relationship="CANCELED"))
    assert (len(told.added), dict(told.counts)) == (2, {"trip-ambiguous": 1, "trip-duplicated": 2})


def test_a_trip_that_is_added_on_a_day_when_it_does_not_run_can_be_cancelled():
    """Its id is the timetable's, its ride is not."""
    weekday = timetable_from_drawing("line A | Alpha 08:10 | Beta 08:20", days=[DAY.replace(day=11)])
    calls = (call("ALPHA", depart="08:05"), call("BETA", arrive="08:15"))
    told = read(weekday, update("A-1", *calls, relationship="ADDED"), update("A-1", relationship="CANCELED"))
    assert (told.added, dict(told.rides)) == ((), {})


def test_of_an_added_and_a_duplicated_trip_of_one_id_the_newer_runs():
    """A publisher that says it both ways means one vehicle."""
    added = update("COPY", call("ALPHA", depart="08:06"), call("BETA", arrive="08:16"), relationship="ADDED",
                   start_time="08:05:00")  # fmt: skip
    assert drawn(read(LINE, copy(), added)) == [("COPY", "Alpha 08:06 | Beta 08:16")]
