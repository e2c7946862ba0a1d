"""Shapes: the part of a line that a ride follows, and its length."""

import numpy as np
import pytest

from fingerpost.testing.feeds import timetable_from_drawing
from fingerpost.transit.engine.timetable.shapes import find_ride_line, find_ride_path, line_m

# Three stops a kilometre apart on the 60.17th parallel.
DRAWING = "line A | Alpha 08:00 | Beta 08:10 | Gamma 08:20"
HEAD = "shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence\n"
TRIPS = "route_id,service_id,trip_id,shape_id\nA,ALL,A-1,S\n"


# A loop: out to Alpha on the way east, past it again on the way back, where the shape comes nearer to the stop.
LOOP = [(60.1702, 24.93, 0), (60.1702, 24.94, 1), (60.1702, 24.958, 2), (60.17, 24.958, 2.1), (60.17, 24.93, 4)]


def measured(points, calls):
    rows = "".join(f"S,{lat},{lon},{number},{dist}\n" for number, (lat, lon, dist) in enumerate(points, 1))
    times = "trip_id,stop_id,stop_sequence,arrival_time,departure_time,shape_dist_traveled\n" + "".join(
        f"A-1,{stop},{number},8:{number}0:00,8:{number}0:00,{dist}\n"
        for number, (stop, dist) in enumerate(zip(("ALPHA", "BETA", "GAMMA"), calls, strict=True), 1)
    )
    shapes = f"{HEAD.strip()},shape_dist_traveled\n{rows}"
    tables = {"shapes.txt": shapes, "trips.txt": TRIPS, "stop_times.txt": times}
    return timetable_from_drawing(DRAWING, tables=tables)


def timetable(points):
    rows = "".join(f"S,{lat},{lon},{number}\n" for number, (lat, lon) in enumerate(points, 1))
    return timetable_from_drawing(DRAWING, tables={"shapes.txt": HEAD + rows, "trips.txt": TRIPS})


def draw(table, begin, end):
    return find_ride_line(table, find_ride_path(table, 0, begin, end))


def ride(points, begin, end):
    table = timetable(points)
    line = find_ride_line(table, find_ride_path(table, 0, 0, 2)._replace(stops=(begin, end)))
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


def test_stated_distances_decide():
    """Where the feed says how far along the shape the calls lie, the line is cut there, not at the nearest place."""
    stated = draw(measured(LOOP, ("1", "2", "4")), 0, 1)
    guessed = draw(measured(LOOP, ("", "", "")), 0, 1)

    assert stated.round(4).tolist() == [[60.1702, 24.94], [60.1702, 24.958]]
    assert guessed[-1].round(4).tolist() == [60.17, 24.958]


@pytest.mark.parametrize(
    ("calls", "places"),
    [
        (("0", "1", "4"), [0, 1, 4]),
        (("0.5", "1.5", "2"), [0.5, 1.5, 2]),
        (("2.1", "3.05", ""), [3, 3.5, None]),
        # Beyond the end by rounding, and further than any rounding.
        (("1", "4.003", "4.005"), [1, 4, None]),
    ],
)
def test_stop_times_are_located_on_a_shape(calls, places):
    told = measured(LOOP, calls).stop_time_shape_point.tolist()

    assert [None if np.isnan(place) else round(place, 3) for place in told] == places


@pytest.mark.parametrize("broken", ["", "0.5"])
def test_shape_with_broken_distances(broken):
    points = [*LOOP[:3], (60.17, 24.958, broken), LOOP[4]]

    assert measured(points, ("0", "1", "4")).stop_time_shape_point.tolist() == []


def test_stated_distances_that_cannot_be_true():
    far, backwards = measured(LOOP, ("0", "4", "4")), measured(LOOP, ("2", "1", "4"))

    assert draw(far, 0, 1)[-1].round(4).tolist() == [60.17, 24.958]
    assert draw(backwards, 0, 1)[-1].round(4).tolist() == [60.17, 24.958]


def test_a_trip_without_shape_has_no_line():
    bare = timetable_from_drawing(DRAWING)

    assert (draw(bare, 0, 1), ride([(60.17, 24.94)], 0, 1)) == (None, None)


@pytest.mark.parametrize(
    ("points", "metres"),
    [([(60, 24), (61, 24)], 111_195), ([(60, 24), (60, 25)], 55_597), ([(60, 179.5), (60, -179.5)], 55_597)],
)
def test_length(points, metres):
    """A degree of latitude is 111.195 km on the globe that we use, one of longitude half of it at 60 degrees."""
    assert line_m(np.array(points, float)) == pytest.approx(metres, abs=1)
