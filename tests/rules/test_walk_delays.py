"""Walks are as late as the rides that they belong to."""

import pytest

from fingerpost.transit.model.itinerary import Leg, Mode, StopPoint
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.rules.realtime_status import with_walk_delays

HERE = StopPoint(name="Here", coordinate=Coordinate(60.0, 25.0))


def leg(mode, departs, arrives, delay_s=None):
    return Leg(
        mode=mode,
        start=HERE,
        end=HERE,
        departure_scheduled=departs,
        arrival_scheduled=arrives,
        departure_delay_s=delay_s,
        arrival_delay_s=delay_s,
    )


def walk(departs, arrives):
    return leg(Mode.WALK, departs, arrives)


def times(legs):
    return [
        (each.departure_scheduled, each.departure_delay_s, each.arrival_scheduled, each.arrival_delay_s)
        for each in legs
        if not each.is_transit
    ]


def test_the_first_walk_is_as_late_as_the_ride_that_it_leads_to():
    """The walk of 160 to 220 was planned for 100 to 160."""
    assert times(with_walk_delays([walk(160, 220), leg(Mode.BUS, 160, 400, 60)])) == [(100, 60, 160, 60)]


def test_the_last_walk_is_as_late_as_the_ride_before():
    """Early is late with a sign."""
    assert times(with_walk_delays([leg(Mode.BUS, 160, 400, -60), walk(340, 400)])) == [(400, -60, 460, -60)]


@pytest.mark.parametrize(
    ("before_s", "next_departs", "walked"),
    [
        (None, 500, (400, None, 450, None)),
        (60, 500, (340, 60, 390, 60)),
        # Only because the next is late can it be caught: by the timetable the walk ends as it leaves.
        (None, 430, (400, None, 430, 20)),
        (None, 390, (400, None, 400, 50)),
    ],
)
def test_the_walk_of_a_change_begins_with_one_ride_and_ends_with_the_next(before_s, next_departs, walked):
    """The walk is expected from 400 to 450."""
    rides = leg(Mode.BUS, 100, 400 - (before_s or 0), before_s), leg(Mode.TRAM, next_departs, 900, 60)

    assert times(with_walk_delays([rides[0], walk(400, 450), rides[1]])) == [walked]


def test_without_a_ride_and_without_real_time_nothing_changes():
    """A way on foot alone, and a trip by the timetable."""
    for legs in ([walk(0, 100)], [walk(0, 100), leg(Mode.BUS, 100, 200), walk(200, 300)]):
        assert list(with_walk_delays(legs)) == legs


def test_a_walk_that_has_a_delay_keeps_it():
    """Its source knows better."""
    late = leg(Mode.WALK, 0, 100, 30)

    assert with_walk_delays([late, leg(Mode.BUS, 100, 200, 60)])[0] == late
