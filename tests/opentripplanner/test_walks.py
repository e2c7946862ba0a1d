"""Differences between planners are put down to what makes them."""

import pytest

from fingerpost.transit.model.itinerary import Itinerary, Leg, Mode, StopPoint
from fingerpost.transit.model.place import Coordinate
from tests.opentripplanner.walks import Cause, explain

POINTS = [StopPoint(name=str(number), coordinate=Coordinate(60.0 + number / 100, 25.0)) for number in range(6)]


def _leg(mode, number, leaves, arrives):
    return Leg(
        mode=mode, start=POINTS[number], end=POINTS[number + 1], departure_scheduled=leaves, arrival_scheduled=arrives
    )


# A walk of 100 s, a ride to 300, a change of 100 s on foot with 150 s between the rides, a ride to 700, a walk.
BETTER = Itinerary(
    (
        _leg(Mode.WALK, 0, 0, 100),
        _leg(Mode.BUS, 1, 100, 300),
        _leg(Mode.WALK, 2, 300, 400),
        _leg(Mode.BUS, 3, 450, 700),
        _leg(Mode.WALK, 4, 700, 800),
    )
)


@pytest.mark.parametrize(
    ("walk_s", "slack_s", "cause"),
    [
        (100.0, 0.0, Cause.FAULT),
        (100.0, 50.0, Cause.FAULT),
        (100.0, 51.0, Cause.SLACK),
        (101.0, 0.0, Cause.STREETS),
        (None, 0.0, Cause.STREETS),
    ],
)
async def test_a_difference_has_one_cause(walk_s, slack_s, cause):
    """The same rides with walks of 100 s work; with a second more the first is missed, with more slack the change."""

    async def walk(_, __):
        return walk_s

    assert await explain(BETTER, 1000, 0, walk, slack_s, 0) is cause


async def test_a_longer_last_walk_is_streets():
    """It arrives no better then."""

    async def walk(here, there):
        return 400.0 if there == POINTS[5] else 50.0

    assert await explain(BETTER, 1000, 0, walk, 0.0, 0) is Cause.STREETS
