"""Streets that are left out, because they do not connect to the others in both directions."""

import numpy as np
import pytest

from tests.streets.drawn import degrees, read
from tests.streets.towns import Town

# A street of 2,600 m; what is drawn below it lies within 300 m.
STREET = "A-------------------------B"


def test_islands_shorter_than_two_kilometres_are_left_out(tmp_path):
    short = Town(f"{STREET}\n\nC---D", tmp_path)
    long = Town(f"{STREET}\n\n\n\nC--------------------D", tmp_path)

    assert (short.left_out_m, short.walk("D", "B")) == (pytest.approx(400, abs=0.1), (2200, 1760.0))
    assert (long.walk("C", "D"), long.walk("C", "B")) == ((2100, 1680.0), None)


def test_streets_that_meet_at_a_shut_gate_do_not_hang_together(tmp_path):
    """Three streets of 400 m, each by itself: none is so short beside the others that it is left out."""
    town = Town("A   o\n|   |\nB   |\n|   |\no---o", tmp_path)

    assert town.walk("A", "B")[0] == 200


@pytest.mark.parametrize(("way", "metres"), [("e", 0), ("v", 200), ("s", 200)])
def test_a_platform_with_only_exits_is_not_an_origin(tmp_path, way, metres):
    """From the platform C to D one escalator leads up to the street: a stop there is on the street above it.

    Where a road for vehicles, or steps, lead there, the walk along the street goes 200 m down too.
    """
    below = {"e": [((5, 6, 3), {"highway": "steps", "conveying": "backward"})]}.get(way)
    drawing = read(f"A---+---------------------B\n    {way if not below else ' '}\n    C---D")
    escalator = [(drawing.ring("C+"), {"highway": "steps", "conveying": "forward"})]
    town = Town(drawing, tmp_path, extra_ways=escalator if below else ())

    assert town.walk("A", "C")[0] == town.walk("C", "A")[0] == 400 + metres


def test_an_escalator_near_a_stop_is_entered_and_left_at_its_ends(tmp_path):
    drawing = read("A---C----B\n|\n|   D\n|   |\n+---+")
    escalator = [(drawing.ring("CD"), {"highway": "steps", "conveying": "forward"})]
    town = Town(drawing, tmp_path, extra_ways=escalator)

    assert (town.walk("A", (4, 1))[0], town.walk((4, 1), "A")[0]) == (500, 1100)


def test_a_pin_at_the_top_of_an_escalator_leaves_by_the_private_road_there(tmp_path):
    town = Town("A--e--C\n|     p\n+-----D-----------------B", tmp_path)
    reached = town.walks("B").reach(*town.place("C"), np.array([0]), 3000, from_stops=False)

    assert reached.metres.tolist() == [pytest.approx(2000, abs=1)]


def test_a_stop_at_the_top_of_an_escalator_leaves_by_the_private_road_there(tmp_path):
    """The stop is beyond the top, so that the escalator is the nearest way."""
    town = Town("A--e--C\n|     p\n+-----D-----------------B", tmp_path)

    assert town.walk((7, -0.5), "B")[0] == 2000


def test_an_unreachable_square_is_skipped_however_often_it_is_crossed(tmp_path):
    """Its border of 1,131 m counts, and none of its crossings, which from each corner to each are many times that."""
    nodes, square = _draw_square()
    town = Town(STREET, tmp_path, extra_nodes=nodes, extra_ways=square)

    assert (town.left_out_m, town.walk((3, 2), "B")[0]) == (pytest.approx(1131, abs=1), 2300)


def test_a_square_behind_a_private_road_can_be_left_by_it(tmp_path):
    drawing = read("A-C-----------------------B")
    nodes, square = _draw_square()
    road = (*drawing.ring("C"), 50), {"highway": "service", "access": "private"}
    town = Town(drawing, tmp_path, extra_nodes=nodes, extra_ways=[*square, road])

    assert town.walk((2, 1.5), "B")[0] == 2550


def _draw_square():
    """Return the nodes of a square of nine corners, the first of which is 150 m below the street; and its border."""
    corners = [
        (x, y) for x, y in ((2, 1.5), (4, 1.2), (5, 1.6), (6, 1.2), (6.2, 2), (6, 3), (5, 2.6), (4, 3), (2, 2.6))
    ]
    nodes = [(50 + at, *degrees(*corner), {"barrier": "bollard"}) for at, corner in enumerate(corners)]
    ring = [50 + at for at in (*range(len(corners)), 0)]
    square = [(ring, {"highway": "pedestrian", "area": "yes"})]
    return nodes, square
