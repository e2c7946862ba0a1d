"""Boxes around positions, in degrees."""

import pytest

from fingerpost.transit.model.place import Coordinate, box_around, box_of
from tests.rules.drawing import DEGREE_M


def test_a_networks_box_reaches_three_kilometres_beyond_its_outermost_stops():
    """At 60 degrees a degree of longitude is half one of latitude; the furthest stop from the equator says how long."""
    box = box_of([Coordinate(60.0, 25.0), Coordinate(-10.0, 24.0), Coordinate(50.0, 26.0)])

    margin = 3000 / DEGREE_M
    assert (box.south, box.north) == pytest.approx((-10 - margin, 60 + margin))
    assert (box.west, box.east) == pytest.approx((24 - 2 * margin, 26 + 2 * margin))


def test_at_a_pole_a_box_is_wide_and_not_endless():
    """Where degrees of longitude have no length, a hundred times that of the equator is taken."""
    box = box_of([Coordinate(90.0, 0.0)])

    assert box.east - box.west == pytest.approx(2 * 100 * 3000 / DEGREE_M)


@pytest.mark.parametrize("lat", [60.0, -60.0])
def test_a_box_around_a_position_holds_its_circle(lat):
    """A thousandth and a little more than the radius, to the north as to the east, south of the equator too."""
    box = box_around(Coordinate(lat, 25.0), 1000)

    north_m, south_m = (box.north - lat) * DEGREE_M, (lat - box.south) * DEGREE_M
    assert (north_m, south_m) == pytest.approx((1001, 1001), abs=0.1)
    east_m, west_m = (box.east - 25) * DEGREE_M / 2, (25 - box.west) * DEGREE_M / 2
    assert (1001 < east_m < 1003, east_m) == (True, pytest.approx(west_m, abs=0.1))


@pytest.mark.parametrize("lat", [90.0, -90.0])
def test_a_box_around_a_pole_is_as_wide_as_at_89_degrees(lat):
    """Beyond 89 degrees no box grows wider."""
    box = box_around(Coordinate(lat, 0.0), 1000)

    assert box.east == pytest.approx(1001 / DEGREE_M / 0.0174524, abs=1e-3)
    assert box.west == -box.east
