"""Pickup and drop-off types of stop time updates (StopTimeProperties, GTFS-Realtime reference)."""

import pytest

from fingerpost.testing.feeds import feed_from_drawing, timetable_from_drawing, timetable_from_tables
from fingerpost.transit.engine.timetable.timetable import BY_ARRANGEMENT, NO_ALIGHTING, NO_BOARDING
from tests.realtime.messages import draw, read, stop_time_with, update

DRAWING = "line A | Alpha 08:10 | Beta 08:20 | Gamma 08:30"
LINE = timetable_from_drawing(DRAWING)
SHUT = timetable_from_tables(
    feed_from_drawing(DRAWING)
    | {
        "stop_times.txt": "trip_id,stop_id,stop_sequence,arrival_time,departure_time,pickup_type,drop_off_type\n"
        "A-1,ALPHA,1,08:10:00,08:10:00,0,1\nA-1,BETA,2,08:20:00,08:20:00,1,2\nA-1,GAMMA,3,08:30:00,08:30:00,1,0\n"
    }
)


def flags(told):
    """Return the pickup and drop-off flags of the only ride, None where the timetable's hold."""
    [ride] = told.rides.values()
    return None if ride.flags is None else ride.flags.tolist()


@pytest.mark.parametrize(
    ("told", "shut"),
    [
        ({"pickup_type": "NONE"}, NO_BOARDING),
        ({"drop_off_type": "NONE"}, NO_ALIGHTING),
        ({"pickup_type": "NONE", "drop_off_type": "NONE"}, NO_BOARDING | NO_ALIGHTING),
    ],
)
def test_a_stop_without_pickup_or_drop_off(told, shut):
    """At Beta nobody gets on, off, or either; no time need be told for that."""
    overlay = read(LINE, update("A-1", stop_time_with("BETA", **told)))

    assert flags(overlay) == [0, shut, 0]
    assert (dict(overlay.counts), dict(overlay.stop_time_counts)) == ({"trip-updated": 1}, {"call-applied": 1})


def test_pickup_after_all_leaves_the_other_flags():
    """Beta takes on passengers today; that alighting there is by arrangement does not change."""
    overlay = read(SHUT, update("A-1", stop_time_with("BETA", pickup_type="REGULAR")))

    assert flags(overlay) == [NO_ALIGHTING, BY_ARRANGEMENT, NO_BOARDING]


@pytest.mark.parametrize(
    ("late_s", "drawn"),
    [(60, "Alpha 08:10 ? | Beta 08:21 | Gamma 08:31"), (None, "Alpha 08:10 ? | Beta 08:20 ? | Gamma 08:30 ?")],
)
def test_types_as_planned_change_nothing(late_s, drawn):
    """They count as an update, with or without a delay beside them."""
    overlay = read(LINE, update("A-1", stop_time_with("BETA", late_s, pickup_type="REGULAR")))

    assert (flags(overlay), draw(LINE, overlay)) == (None, drawn)
    assert (dict(overlay.counts), dict(overlay.stop_time_counts)) == ({"trip-updated": 1}, {"call-applied": 1})
