"""Boxes around positions, and lines with fewer points."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.transit.model.geodesy import METRES_PER_DEGREE, thin
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
def test_a_box_around_a_position_contains_its_circle(lat):
    box = box_around(Coordinate(lat, 25.0), 1000)

    north_m, south_m = (box.north - lat) * DEGREE_M, (lat - box.south) * DEGREE_M
    assert (north_m, south_m) == pytest.approx((1001, 1001), abs=0.1)
    east_m, west_m = (box.east - 25) * DEGREE_M / 2, (25 - box.west) * DEGREE_M / 2
    assert (1001 < east_m < 1003, east_m) == (True, pytest.approx(west_m, abs=0.1))


@pytest.mark.parametrize("lat", [90.0, -90.0])
def test_a_box_around_a_pole_is_as_wide_as_at_89_degrees(lat):
    box = box_around(Coordinate(lat, 0.0), 1000)

    assert box.east == pytest.approx(1001 / DEGREE_M / 0.0174524, abs=1e-3)
    assert box.west == -box.east


METRE = 1 / METRES_PER_DEGREE
# Three points on the equator; the middle one ten metres to the north.
BENT = [(0.0, 0.0), (10 * METRE, 100 * METRE), (0.0, 200 * METRE)]


@pytest.mark.parametrize(("tolerance_m", "count"), [(9.9, 3), (10.1, 2)])
def test_a_bend_within_the_tolerance_is_removed(tolerance_m, count):
    assert len(thin(BENT, tolerance_m)) == count


def test_a_zero_tolerance_preserves_everything():
    straight = [(0.0, 0.0), (0.0, 1.0), (0.0, 2.0)]

    assert thin(straight, 0) == straight


def test_a_ring_preserves_its_shape():
    ring = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0)]

    assert thin(ring, 10) == ring


# Whole millionths, a tenth of a metre: no feed is finer.
DEGREES = st.integers(-10_000, 10_000).map(lambda millionths: millionths / 1e6)


@given(st.lists(st.tuples(DEGREES, DEGREES), min_size=2, max_size=12), st.sampled_from([1, 10, 100]))
def test_removed_points_are_near_the_remaining_ones(points, tolerance_m):
    """Oracle: both ends stay, and each point lies within the tolerance of some piece of the thinned line."""
    kept = thin(points, tolerance_m)

    def away_m(point, begin, end):
        # The nearest place of a piece is its foot of the perpendicular, or an end where that foot lies beyond.
        (dx, dy), length_m = ((b - a) for a, b in zip(begin, end, strict=True)), math.dist(begin, end)
        along = sum((p - a) * d for p, a, d in zip(point, begin, (dx, dy), strict=True))
        share = min(1.0, max(0.0, along / length_m**2)) if length_m else 0.0
        return math.dist(point, (begin[0] + dx * share, begin[1] + dy * share)) / METRE

    assert (kept[0], kept[-1]) == (points[0], points[-1])
    left_out = [point for point in points if point not in kept]
    worst = max((min(map(away_m, [p] * len(kept), kept, kept[1:])) for p in left_out), default=0.0)
    assert worst <= tolerance_m + 1e-6
