"""Squares that are one area, or end at a wall; traffic lights that count as one wait; and lifts."""

import numpy as np
import pytest

from fingerpost.transit.osm.streets.graph import CUT_OFF, STEPS, UNDERGROUND
from fingerpost.transit.osm.streets.snapping import find_lifts, snap_pin
from tests.streets.drawn import degrees, read
from tests.streets.towns import Town

SQUARE = {"highway": "pedestrian", "area": "yes"}


@pytest.mark.parametrize("right", ["BFHDB", "BDHFB"])
def test_squares_side_by_side_are_crossed_as_one(tmp_path, right):
    """From A to H across the common border B to D: 4 cells right and 4 down, drawn either way round."""
    drawing = read("E-A B F\n\n\n\n  C D H-G")
    squares = [(drawing.ring(ring), SQUARE) for ring in ("ABDCA", right)]
    town = Town(drawing, tmp_path, extra_ways=squares)

    assert town.walk("A", "H")[0] == round(100 * 32**0.5)


def test_a_square_drawn_twice_is_crossed_too(tmp_path):
    drawing = read("E-A B\n\n\n\n  C D-F")
    relation = ({"outer": ""}, {"type": "multipolygon", **SQUARE})
    town = Town(drawing, tmp_path, extra_ways=[(drawing.ring("ABDCA"), SQUARE)], extra_relations=[relation])

    assert town.walk("A", "D")[0] == round(100 * 20**0.5)


WALLED = """
E-A B
|
|
|
| C {corner}-F
|     |
+-----+
"""


def _walk_over_border(tmp_path, corner, barrier):
    drawing = read(WALLED.format(corner=corner))
    border = drawing.ring(f"B{corner}"), {"barrier": barrier}
    town = Town(drawing, tmp_path, extra_ways=[(drawing.ring(f"CAB{corner}C"), SQUARE), border])
    return town.walk("E", "F")[0]


def test_nobody_climbs_from_a_square_down_the_wall_at_its_border(tmp_path):
    """The street to F begins at the foot of the wall: the way there leads round, 6 cells down, 6 right and 2 up."""
    assert _walk_over_border(tmp_path, "D", "retaining_wall") == 1400


@pytest.mark.parametrize(("corner", "barrier"), [("D", "kerb"), ("k", "retaining_wall")])
def test_a_square_is_left_over_a_kerb(tmp_path, corner, barrier):
    """A border that is a kerb, or a wall with a kerb for an opening: straight across, between 2 cells either side."""
    assert _walk_over_border(tmp_path, corner, barrier) == 400 + round(100 * 20**0.5)


@pytest.mark.parametrize("crossed", [[([2, 5], {"highway": "residential"})], []])
def test_signals_at_both_rails_are_one_wait(tmp_path, crossed):
    """Two lights on one way, of which another way crosses the first, or none: 600 m and 15 s."""
    drawing = read("A * * B\n\n  C")
    town = Town(drawing, tmp_path, extra_ways=[([1, 2, 3, 4], {"highway": "footway"}), *crossed])

    assert town.walk("A", "B") == (600, 495.0)


def test_a_lift_that_is_drawn_as_a_way_is_one(tmp_path):
    """From A to D over the lift from B to C: 700 m and 110 s. An alert that closes it names its middle."""
    drawing = read("A-B  C-D")
    town = Town(drawing, tmp_path, extra_ways=[(drawing.ring("BC"), {"highway": "elevator"})])
    lat, lon = degrees(3.5, 0)

    assert town.walk("A", "D") == (700, 670.0)
    assert len(find_lifts(town.graph, np.array([lat]), np.array([lon]))) == 1


@pytest.mark.parametrize(("cells_down", "is_underground"), [(0.4, False), (0.3, True)])
def test_a_pin_above_a_tunnel_snaps_to_the_street_next_to_it(tmp_path, cells_down, is_underground):
    """The tunnel lies at the top, the street 100 m below: one is 20 m nearer to the pin, or 40 m."""
    drawing = read("A   B\nC---D")
    below = [([1, 2], {"highway": "footway", "tunnel": "yes"}), ([1, 3], {"highway": "footway"})]
    town = Town(drawing, tmp_path, extra_ways=below)
    edge = snap_pin(town.graph, town.grid, *degrees(2, cells_down)).edge[0]

    assert bool(town.graph.edge_flags[edge] & UNDERGROUND) is is_underground


@pytest.mark.parametrize(("cells_down", "is_cut_off"), [(0.4, False), (0.3, True)])
def test_a_step_free_pin_at_a_terrace_snaps_to_the_street_next_to_it(tmp_path, cells_down, is_cut_off):
    """Only steps lead from the terrace at the top to the street 100 m below; one is 20 m nearer to the pin, or 40 m."""
    drawing = read("A   B\nC-----D")
    above = [([1, 2], {"highway": "footway"}), ([1, 3], {"highway": "steps"})]
    town = Town(drawing, tmp_path, extra_ways=above)
    edge = snap_pin(town.graph, town.grid, *degrees(2, cells_down), refused=STEPS, avoided=CUT_OFF).edge[0]

    assert bool(town.graph.edge_flags[edge] & CUT_OFF) is is_cut_off
