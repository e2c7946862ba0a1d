"""Shapes: the part of a line that a ride follows, and how long it is."""

import numpy as np
import pytest

from fingerpost.testing.feeds import feed_from_drawing, timetable_from_tables
from fingerpost.transit.timetable.shapes import find_ride_line, line_m

# Three stops a kilometre apart on the 60.17th parallel.
DRAWING = "line A | Alpha 08:00 | Beta 08:10 | Gamma 08:20"
HEAD = "shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence\n"
TRIPS = "route_id,service_id,trip_id,shape_id\nA,ALL,A-1,S\n"


def timetable(points):
    rows = "".join(f"S,{lat},{lon},{number}\n" for number, (lat, lon) in enumerate(points, 1))
    return timetable_from_tables(feed_from_drawing(DRAWING) | {"shapes.txt": HEAD + rows, "trips.txt": TRIPS})


def ride(points, begin, end):
    line = find_ride_line(timetable(points), 0, begin, end)
    return None if line is None else [(round(lat, 4), round(lon, 4)) for lat, lon in line.tolist()]


def test_detour():
    """A ride takes the shape's corners between its stops, and none before or after."""
    points = [(60.17, 24.93), (60.17, 24.945), (60.18, 24.95), (60.17, 24.955), (60.17, 25.0)]

    assert ride(points, 0, 1) == [(60.17, 24.94), (60.17, 24.945), (60.18, 24.95), (60.17, 24.955), (60.17, 24.958)]


def test_line_that_passes_twice():
    """Of two passes at a stop the one that fits the direction of the ride is taken."""
    there_and_back = [(60.17, 24.94), (60.17, 24.976), (60.1701, 24.976), (60.1701, 24.94)]

    assert ride(there_and_back, 0, 1) == [(60.17, 24.94), (60.17, 24.958)]
    assert ride(there_and_back, 2, 1)[-1] == (60.1701, 24.958)


@pytest.mark.parametrize(("north", "fits"), [(0.0026, True), (0.0028, False)])
def test_shape_that_does_not_fit(north, fits):
    """A shape 289 m away from a stop serves, one 311 m away was not drawn for it."""
    points = [(60.17 + north, 24.94), (60.17 + north, 24.98)]

    assert (ride(points, 0, 1) is not None) == fits


def test_no_shape():
    """A trip without a shape has no line; neither has one whose shape is a point."""
    bare = timetable_from_tables(feed_from_drawing(DRAWING))

    assert (find_ride_line(bare, 0, 0, 1), ride([(60.17, 24.94)], 0, 1)) == (None, None)


@pytest.mark.parametrize(("points", "metres"), [([(60, 24), (61, 24)], 111_195), ([(60, 24), (60, 25)], 55_597)])
def test_length(points, metres):
    """A degree of latitude is 111.195 km on the globe that we use, one of longitude half of it at 60 degrees."""
    assert line_m(np.array(points, float)) == pytest.approx(metres, abs=1)
