"""Status, schedule type, freshness, and delays of walks (rules B2, B3, B4)."""

import pytest

from fingerpost.transit.model.itinerary import Leg, Mode, StopPoint
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.model.provenance import Provenance
from fingerpost.transit.rules.realtime_status import add_walk_delays, find_realtime_age_s, get_status
from tests.rules.drawing import T0, departure, ride


@pytest.mark.parametrize(
    ("delay_s", "cancelled", "status"),
    [
        (None, False, "scheduled_only"),
        (0, False, "on_time"),
        (60, False, "on_time"),
        (61, False, "delayed"),
        (-61, False, "delayed"),
        (900, True, "cancelled"),
    ],
)
def test_status_of_a_ride_and_of_a_departure(delay_s, cancelled, status):
    assert get_status(ride("7", "A", "B", 0, 9, delay_s, cancelled=cancelled)) == status
    assert get_status(departure(delay_s, cancelled=cancelled)) == status


def test_status_is_of_rides_where_they_are_boarded():
    assert get_status(ride("7", "A", "B", 0, 9, 0, arrival_delay_s=600)) == "on_time"


@pytest.mark.parametrize(
    ("updates", "of_source", "age_s"),
    [((T0 - 40, T0 - 95, None), T0 - 99, 95), ((None,), None, None), ((None,), T0 - 99, 99), ((T0 + 3,), None, 0)],
)
def test_realtime_age_is_that_of_the_oldest_update(updates, of_source, age_s):
    """B4: the age of the oldest ride, or of the source; never negative, even if a clock is ahead."""
    provenance = Provenance(network="T", source="fake", zone="UTC", retrieved_at=T0, realtime_updated=of_source)

    assert find_realtime_age_s([departure(0, updated=updated) for updated in updates], provenance, T0) == age_s


HERE = StopPoint(name="Here", coordinate=Coordinate(60.0, 25.0))


def new_leg(mode, departs, arrives, delay_s=None):
    return Leg(
        mode=mode,
        start=HERE,
        end=HERE,
        departure_scheduled=departs,
        arrival_scheduled=arrives,
        departure_delay_s=delay_s,
        arrival_delay_s=delay_s,
    )


def on_foot(departs, arrives, delay_s=None):
    return new_leg(Mode.WALK, departs, arrives, delay_s)


def times(legs):
    return [
        (each.departure_scheduled, each.departure_delay_s, each.arrival_scheduled, each.arrival_delay_s)
        for each in legs
        if not each.is_transit
    ]


@pytest.mark.parametrize(
    ("legs", "walked"),
    [
        # The first walk leads to a late ride; the last one follows an early ride.
        ([on_foot(160, 220), new_leg(Mode.BUS, 160, 400, 60)], (100, 60, 160, 60)),
        ([new_leg(Mode.BUS, 160, 400, -60), on_foot(340, 400)], (400, -60, 460, -60)),
        # A delay from the source stays.
        ([on_foot(0, 100, 30), new_leg(Mode.BUS, 100, 200, 60)], (0, 30, 100, 30)),
    ],
)
def test_a_walk_is_as_late_as_its_ride(legs, walked):
    assert times(add_walk_delays(legs)) == [walked]


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
def test_the_walk_of_a_transfer_begins_with_one_ride_and_ends_with_the_next(before_s, next_departs, walked):
    """The walk is expected from 400 to 450."""
    rides = new_leg(Mode.BUS, 100, 400 - (before_s or 0), before_s), new_leg(Mode.TRAM, next_departs, 900, 60)

    assert times(add_walk_delays([rides[0], on_foot(400, 450), rides[1]])) == [walked]


def test_without_a_ride_and_without_realtime_nothing_changes():
    for legs in ([on_foot(0, 100)], [on_foot(0, 100), new_leg(Mode.BUS, 100, 200), on_foot(200, 300)]):
        assert list(add_walk_delays(legs)) == legs
