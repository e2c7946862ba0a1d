"""Ways that lead to no stop in time are not followed, and every stop that is reached in time is still found."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.transit.engine.timetable.timetable import STOP
from fingerpost.transit.engine.timetable.walks import WalkedStops
from fingerpost.transit.osm.streets.search import NONE_AHEAD, find_stops_ahead
from fingerpost.transit.osm.streets.street_walks import StreetWalks
from tests.streets import oracle
from tests.streets.drawn import degrees, read
from tests.streets.test_walks_on_streets import towns
from tests.streets.towns import PLAIN, Town

# A ring of streets to the right of A, a stop 200 m to the left of it.
RING = """
S--A---B
   |   |
   |   |
   C---D
"""


def _walks(town, places, profile=PLAIN):
    """Return the walks around stops at places in cells or at nodes."""
    found = [town.drawing.place(place) if isinstance(place, str) else degrees(*place) for place in places]
    lats, lons = np.array(found).T
    stops = WalkedStops(lats, lons, np.full(len(lats), STOP, np.int8), (), ())
    return StreetWalks(town.graph, town.grid, stops, profile)


def _node_at(town, letter):
    """Return the graph's number of a node."""
    lat, lon = town.drawing.place(letter)
    graph = town.graph
    points = {
        int(graph.arc_head[2 * edge + 1 - end]): int(graph.shape_first[edge + end] - end)
        for edge in range(graph.edge_count)
        for end in (0, 1)
    }
    return next(
        node
        for node, point in points.items()
        if abs(graph.shape_lat_e7[point] - lat * 1e7) < 2 and abs(graph.shape_lon_e7[point] - lon * 1e7) < 2
    )


def _ahead(town, stop, letter):
    """Return how far a stop at a place in cells is ahead of the arcs that end at a node, ascending."""
    ahead = find_stops_ahead(town.graph, town.snap(stop))
    return sorted(ahead[town.graph.arc_head == _node_at(town, letter)].tolist())


def test_a_stop_is_as_far_ahead_as_the_street_to_it(tmp_path):
    """From the ends of the ring's streets at A 200 m to the stop; who comes from it must go round: 1,200 m and back."""
    town = Town(RING, tmp_path)

    assert [each // 10 * 10 for each in _ahead(town, (1, 0), "A")] == [190, 190, 1590]


def test_where_a_street_leads_back_only_no_stop_is_ahead(tmp_path):
    """B ends blindly: who walks there finds no stop but by turning round."""
    town = Town("S-----A--B\n      |\n      C", tmp_path)

    assert _ahead(town, (1, 0), "B") == [NONE_AHEAD]


@pytest.mark.parametrize(("place", "least_m"), [((1, 0), 0), ((3, 2), 300), ((2, 1), 100), ((5, 4), 700)])
def test_how_far_the_nearest_stop_is_at_least_is_known_at_once(tmp_path, place, least_m):
    """The stop's own street says nothing; else it is the way along the streets, and the way to the street."""
    walks = _walks(Town(RING, tmp_path), [(2, 0)])

    assert math.ceil(walks.find_least_m(*degrees(*place)) / 10) * 10 == pytest.approx(least_m, abs=10)


def test_a_stop_at_a_shut_gate_is_near_from_both_sides(tmp_path):
    """Nobody passes the gate, but who comes to it from either street has reached the stop that stands there."""
    walks = _walks(Town("+---o\n|   |\n|   |\n|   |\n+---+", tmp_path), [(4, 0)])

    assert [walks.find_least_m(*degrees(*place)) <= 51 for place in [(4, 0.5), (3.5, 0)]] == [True, True]


def test_off_the_streets_nothing_is_known_at_once(tmp_path):
    """A stop beside no street is walked to in a straight line, from wherever one is."""
    walks = _walks(Town(RING, tmp_path), ["S", (0, 40)])

    assert walks.find_least_m(*degrees(5, 4)) == 0


@settings(max_examples=60, deadline=None)
@given(towns(), st.data())
def test_every_stop_that_is_walked_to_in_time_is_found(tmp_path_factory, text, data):
    """On any drawn town: the walks to the stops, there and back, are those that a search which drops nothing finds.

    Where the quickest way is too long, another that is not may be found; it takes no less time.
    """
    drawing = read(text)
    streets = oracle.walkable(drawing) if any(street.kind != "x" for street in drawing.streets) else []
    if not streets:
        return
    town = Town(text, tmp_path_factory.mktemp("town"))
    places = []
    for _ in range(5):
        street = data.draw(st.sampled_from(streets))
        along = data.draw(st.integers(0, 8)) / 2
        start, end = drawing.nodes[street.start], drawing.nodes[street.end]
        places.append((start.x + along * (end.x > start.x), start.y + along * (end.y > start.y)))
    # Streets that hang together with too little are left out.
    if any(town.snap(place).away_m[0] > 1 for place in places):
        return
    limit_m = float(data.draw(st.integers(100, 2500)))
    pin, *stops = places
    walks = _walks(town, stops)
    for back in (False, True):
        reached = walks.reach(*degrees(*pin), np.arange(len(stops)), limit_m, from_stops=back)
        found = {
            stop: (metres, seconds)
            for stop, metres, seconds in zip(*(column.tolist() for column in reached), strict=True)
        }
        for stop, place in enumerate(stops):
            expected = town.walk(place, pin, backward=True) if back else town.walk(pin, place)
            if expected is not None and expected[0] <= limit_m - 1:
                assert found[stop] == pytest.approx(expected, abs=1.01)
            elif stop in found:
                assert found[stop][0] <= limit_m
                assert expected is not None
                assert found[stop][1] >= expected[1] - 0.1
        if found:
            assert walks.find_least_m(*degrees(*pin)) <= min(metres for metres, _ in found.values())
