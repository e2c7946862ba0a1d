"""Walks around stops on drawn streets: links, access, egress, steps, and straight lines where streets end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.errors import SettingsInvalid
from fingerpost.transit.engine.gtfs.report import StreetCoverage
from fingerpost.transit.engine.timetable.draft import TransferColumns
from fingerpost.transit.engine.timetable.footpaths import build_footpaths
from fingerpost.transit.engine.timetable.timetable import MINIMUM_TIME, STOP
from fingerpost.transit.osm.streets.stop_access import connect_at_positions
from fingerpost.transit.osm.streets.store import StoredStreets, find_streets, save_streets
from tests.streets import oracle
from tests.streets.drawn import degrees, read
from tests.streets.test_walks_on_streets import draw_place, towns
from tests.streets.towns import Town

# From A to B over the steps 600 m, without them 1,000 m; no street joins D to C, 300 m further down.
TOWN = """
A-+s+-B--------------------G
|     |
D-----E


C--------------------------F
"""
ROAD = "A--------------------------B"
NO_RULES = TransferColumns()


def _walks(tmp_path, places, town=TOWN):
    return Town(town, tmp_path).walks(*places)


def _linked(walks, count, rules=NO_RULES):
    """Return {(from, to): (metres, seconds on foot, seconds of the change)} and the order in which they stand."""
    paths, _ = build_footpaths(walks, np.full(count, STOP, np.int8), np.full(count, -1, np.int32), rules)
    begin = np.repeat(np.arange(count), np.diff(paths.first))
    rows = zip(begin.tolist(), paths.to.tolist(), strict=True)
    values = zip(paths.metres.tolist(), paths.walk_s.tolist(), paths.seconds.tolist(), strict=True)
    return dict(zip(rows, values, strict=True))


def test_stops_are_linked_along_the_streets(tmp_path):
    """600 m, 200 m of them steps at a third of the pace; the slack of a change is added."""
    metres, walk_s, change_s = _linked(_walks(tmp_path, ["A", "B"]), 2)[0, 1]

    assert metres in (600, 601)
    assert walk_s == pytest.approx(400 / 1.25 + 200 / 1.25 * 3, abs=1)
    assert change_s == walk_s + 120


def test_step_free_riders_are_not_linked_over_steps(tmp_path):
    """Round by D and E it is 1,000 m, more than a change may be; from A to D 200 m, as before."""
    links = _linked(_walks(tmp_path, ["A", "B", "D"]).without_steps(), 3)

    assert (0, 1) not in links
    assert links[0, 2][0] in (200, 201)


@pytest.mark.parametrize(("cells", "is_linked"), [(6, True), (7, False)])
def test_a_change_is_650_m_on_the_streets_at_most(tmp_path, cells, is_linked):
    links = _linked(_walks(tmp_path, ["A", (cells, 0)], ROAD), 2)

    assert ((0, 1) in links) is is_linked


def test_near_stops_that_no_street_joins_are_not_linked(tmp_path):
    """D and C stand 300 m apart, and no street leads from one to the other; the straight line would link them."""
    walks = _walks(tmp_path, ["D", "C"])

    assert _linked(walks, 2) == {}


def test_a_stop_without_streets_uses_the_straight_line(tmp_path):
    """The second stop is 400 m from the only street, 300 m from the third: walks of 520 m and 390 m by the factor."""
    walks = _walks(tmp_path, ["A", (0, 4), (0, 7)], ROAD)

    metres = {pair: metres // 10 * 10 for pair, (metres, _, _) in _linked(walks, 3).items()}
    assert metres == {(0, 1): 520, (1, 0): 520, (1, 2): 390, (2, 1): 390}


def test_footpaths_of_a_stop_are_sorted_by_duration(tmp_path):
    walks = _walks(tmp_path, [(0, 0), (5, 0), (2, 0), (3, 0)], ROAD)

    assert [end for begin, end in _linked(walks, 4) if begin == 0] == [2, 3, 1]


def test_values_of_the_feed_override_the_streets(tmp_path):
    rules = TransferColumns(
        *(np.array([each], kind) for each, kind in ((0, "i4"), (1, "i4"), (MINIMUM_TIME, "i1"), (45, "i4")))
    )
    metres, walk_s, change_s = _linked(_walks(tmp_path, ["A", (3, 0)], ROAD), 2, rules)[0, 1]

    assert (metres in (300, 301), walk_s in (240, 241), change_s) == (True, True, 45)


def test_stops_are_reached_within_the_limit_and_the_way_to_the_street_counts(tmp_path):
    """From 1 cell off the street: 100 m to it, then 200 m and 600 m along it; 650 m reach the first stop alone."""
    walks = _walks(tmp_path, [(2, 0), (6, 0)], ROAD)
    reached = walks.reach(*degrees(0, 1), np.arange(2), 650.0, from_stops=False)

    assert (reached.stop.tolist(), reached.metres.tolist()) == ([0], [301])


def test_the_way_from_a_stop_may_be_longer_than_the_way_to_it(tmp_path):
    walks = _walks(tmp_path, ["B"], "A--e--B\n|     |\nC-----D")
    metres = [
        int(walks.reach(*degrees(0, 0), np.arange(1), 3000.0, from_stops=back).metres[0]) for back in (False, True)
    ]

    assert [each - each % 10 for each in metres] == [600, 1000]


@pytest.mark.parametrize(("limit_m", "is_found"), [(402.0, True), (398.0, False)])
def test_a_trip_on_foot_stays_within_the_limit(tmp_path, limit_m, is_found):
    walks = _walks(tmp_path, ["A"], ROAD)

    assert (walks.find_walk(degrees(1, 0), degrees(5, 0), limit_m) is not None) is is_found


def test_off_the_streets_the_walk_is_a_straight_line(tmp_path):
    """500 m from one place off the map to another: 650 m by the factor, and no line along streets."""
    walks = _walks(tmp_path, ["A"], ROAD)
    ends = degrees(0, 10), degrees(5, 10)

    assert (walks.find_walk(*ends, 651.0), walks.find_walk(*ends, 649.0), walks.find_line(*ends, (None, None))) == (
        (650, 520),
        None,
        None,
    )


def test_a_position_beyond_a_pole_is_damage(tmp_path):
    town = Town(TOWN, tmp_path)
    access = connect_at_positions(np.array([120.4]), np.array([24.9]))
    coverage = StreetCoverage(extract="/town.osm.pbf", stops=1, covered_stops=1, street_km=1, left_out_km=0)
    save_streets(StoredStreets(town.graph, town.grid, access, coverage), tmp_path)

    with pytest.raises(SettingsInvalid, match="the array access_lat is out of bounds"):
        find_streets(tmp_path)


def test_saved_streets_are_opened_as_they_were(tmp_path):
    town = Town(TOWN, tmp_path)
    coverage = StreetCoverage(extract="/town.osm.pbf", stops=3, covered_stops=2, street_km=4.5, left_out_km=0.1)
    access = connect_at_positions(np.array([0.1, 0.2, 0.3]), np.array([1.1, 1.2, 1.3]))
    save_streets(StoredStreets(town.graph, town.grid, access, coverage), tmp_path)
    opened = find_streets(tmp_path)

    assert find_streets(tmp_path / "elsewhere") is None
    assert opened.coverage == coverage
    for before, after in ((town.graph, opened.graph), (town.grid, opened.grid), (access, opened.access)):
        for name in before._fields:
            np.testing.assert_array_equal(getattr(before, name), getattr(after, name))


@settings(max_examples=60, deadline=None)
@given(towns(), st.data())
def test_every_stop_that_is_walked_to_in_time_is_found(tmp_path_factory, text, data):
    """On any drawn town: the walks to the stops, there and back, are those between two places.

    Where the quickest way is too long, another that is not may be found; it takes no less time.
    """
    drawing = read(text)
    streets = oracle.walkable(drawing) if drawing.streets else []
    if not streets:
        return
    town = Town(text, tmp_path_factory.mktemp("town"))
    pin, *stops = [draw_place(data, drawing, streets, st.integers(0, 8).map(lambda half: half / 2)) for _ in range(5)]
    limit_m = float(data.draw(st.integers(100, 2500)))
    walks = town.walks(*stops)
    for back in (False, True):
        reached = walks.reach(*degrees(*pin), np.arange(len(stops)), limit_m, from_stops=back)
        found = {
            stop: (metres, seconds)
            for stop, metres, seconds in zip(*(column.tolist() for column in reached), strict=True)
        }
        for stop, place in enumerate(stops):
            expected = town.walk(place, pin) if back else town.walk(pin, place)
            if expected is not None and expected[0] <= limit_m - 1:
                assert found[stop] == pytest.approx(expected, abs=1.01)
            elif stop in found:
                assert found[stop][0] <= limit_m
                assert expected is not None
                assert found[stop][1] >= expected[1] - 0.1
