"""A stop takes the position of the stop with its code or id on the map."""

import numpy as np
import pytest

from fingerpost.transit.engine.timetable.timetable import STATION, STOP
from fingerpost.transit.engine.timetable.walks import WalkedStops
from fingerpost.transit.osm.streets.extract import OsmStop
from fingerpost.transit.osm.streets.stop_access import connect_at_positions, find_stop_places
from tests.streets.drawn import degrees
from tests.streets.towns import Town, places_of

# 99 m and 101 m are 0.99 and 1.01 cells of the drawn towns.
HERE = degrees(0, 0)


def _stops(*names, kind=STOP):
    count = len(names)
    places = places_of(np.full(count, HERE[0]), np.full(count, HERE[1]), kind)
    unserved = np.zeros(count, np.bool_)
    return WalkedStops(places, *zip(*names, strict=True), unserved, unserved)


def _found(stops, *mapped):
    _, lons, matched = find_stop_places(stops, [OsmStop(ref, *degrees(x, 0)) for ref, x in mapped])
    return [round(lon / degrees(1, 0)[1], 2) for lon in lons.tolist()], matched


@pytest.mark.parametrize(
    ("names", "ref", "x", "matched"),
    [
        pytest.param(("0012", ""), "0012", 0.5, 1, id="its id"),
        pytest.param(("1240134", "H3596"), "h3596", 0.5, 1, id="its code, in another case"),
        pytest.param(("1121450", "H0249"), "0249", 0.5, 1, id="the number in its code"),
        pytest.param(("1121450", "H12"), "12", 0.5, 0, id="a platform's number"),
        pytest.param(("0012", ""), "12", 0.5, 0, id="another"),
        pytest.param(("0012", ""), "0012", 0.99, 1, id="99 m away"),
        pytest.param(("0012", ""), "0012", 1.01, 0, id="101 m away"),
    ],
)
def test_a_stop_is_where_the_map_has_it(names, ref, x, matched):
    assert _found(_stops(names), (ref, x)) == ([x if matched else 0.0], matched)


def test_a_stop_is_at_the_nearest_of_its_ref_and_a_station_stays():
    assert _found(_stops(("7", "")), ("7", 0.6), ("7", 0.2), ("7", 0.4)) == ([0.2], 1)
    assert _found(_stops(("7", ""), kind=STATION), ("7", 0.2)) == ([0.0], 0)


def test_walks_to_a_stop_end_at_its_position_on_the_map(tmp_path):
    """The feed puts the stop 20 m off the lower street; the map has it nearer to the upper one by a hair.

    From C: 800 m along the lower street and 20 m, or 200 m up, 800 m along the upper street and 99 m.
    """
    town = Town("A-------B\n|\nC-------D", tmp_path)

    def metres(access):
        walks = town.walks((8, 1.8), access=access)
        return walks.reach(*degrees(0, 2), np.zeros(1, np.int64), 3000.0, from_stops=False).metres.tolist()

    assert metres(None) == [pytest.approx(820, abs=2)]
    assert metres(connect_at_positions(*np.array([degrees(8, 0.99)]).T)) == [pytest.approx(1099, abs=2)]


@pytest.mark.parametrize(
    ("tags", "is_one"),
    [
        ({"highway": "bus_stop"}, True),
        ({"public_transport": "platform", "railway": "platform"}, True),
        ({"railway": "station", "public_transport": "stop_position"}, False),
        ({"amenity": "bus_station"}, False),
    ],
)
def test_a_station_of_several_platforms_is_not_a_stop_of_its_ref(tmp_path, tags, is_one):
    town = Town("A-B", tmp_path, extra_nodes=[(9, *degrees(1, 1), {**tags, "ref": "7"})])

    assert [stop.ref for stop in town.extracted.stops] == ["7"] * is_one
