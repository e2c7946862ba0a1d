"""Shapes: the part of a line that a ride follows, and its length."""

import pytest

from fingerpost.transit.engine.timetable.shapes import find_ride_line, find_ride_path, line_m
from tests.feeds import timetable_from_drawing

# Three stops a kilometre apart on the 60.17th parallel.
DRAWING = "line A | Alpha 08:00 | Beta 08:10 | Gamma 08:20"
HEAD = "shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence\n"
TRIPS = "route_id,service_id,trip_id,shape_id\nA,ALL,A-1,S\n"


def timetable(points):
    rows = "".join(f"S,{lat},{lon},{number}\n" for number, (lat, lon) in enumerate(points, 1))
    return timetable_from_drawing(DRAWING, tables={"shapes.txt": HEAD + rows, "trips.txt": TRIPS})


def draw(table, begin, end):
    return find_ride_line(table, find_ride_path(table, 0, begin, end))


def ride(points, *stops):
    table = timetable(points)
    line = find_ride_line(table, find_ride_path(table, 0, 0, 2)._replace(stops=stops))
    return None if line is None else [(round(lat, 4), round(lon, 4)) for lat, lon in line.tolist()]


def test_a_ride_follows_the_corners_of_its_shape():
    points = [(60.17, 24.93), (60.17, 24.945), (60.18, 24.95), (60.17, 24.955), (60.17, 25.0)]

    assert ride(points, 0, 1) == [(60.17, 24.94), (60.17, 24.945), (60.18, 24.95), (60.17, 24.955), (60.17, 24.958)]


def test_line_that_passes_twice():
    there_and_back = [(60.17, 24.94), (60.17, 24.976), (60.1701, 24.976), (60.1701, 24.94)]

    assert ride(there_and_back, 0, 1) == [(60.17, 24.94), (60.17, 24.958)]
    assert ride(there_and_back, 2, 1)[-1] == (60.1701, 24.958)


@pytest.mark.parametrize(("north", "fits"), [(0.0026, True), (0.0028, False)])
def test_shape_that_does_not_fit(north, fits):
    """A shape 289 m away from a stop serves, one 311 m away was not drawn for it."""
    points = [(60.17 + north, 24.94), (60.17 + north, 24.98)]

    assert (ride(points, 0, 1) is not None) == fits


def test_a_short_part_is_preferred_to_a_nearer_pass():
    """A loop: out to Alpha on the way east, past it again on the way back, where the shape comes nearer to the stop."""
    loop = [(60.1702, 24.93), (60.1702, 24.97), (60.17, 24.97), (60.17, 24.93)]

    assert ride(loop, 0, 1) == [(60.1702, 24.94), (60.1702, 24.958)]


def test_a_loop_with_a_stop_belongs_to_a_ride_past_its_last_stop():
    out_and_back = [(60.17, 24.94), (60.17, 24.976), (60.1701, 24.976), (60.1701, 24.95)]

    assert ride(out_and_back, 0, 2, 1) == [*out_and_back[:3], (60.1701, 24.958)]


def test_a_trip_without_shape_has_no_line():
    bare = timetable_from_drawing(DRAWING)

    assert (draw(bare, 0, 1), ride([(60.17, 24.94)], 0, 1)) == (None, None)


@pytest.mark.parametrize(
    ("points", "metres"),
    [([(60, 24), (61, 24)], 111_195), ([(60, 24), (60, 25)], 55_597), ([(60, 179.5), (60, -179.5)], 55_597)],
)
def test_length(points, metres):
    """A degree of latitude is 111.195 km on the globe that we use, one of longitude half of it at 60 degrees."""
    assert line_m(points) == pytest.approx(metres, abs=1)
