"""Footpaths: pairs of stops within walking distance, and the feeds' own transfer rules."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.transit.engine.timetable import walks
from fingerpost.transit.engine.timetable.columns import to_columns
from fingerpost.transit.engine.timetable.draft import TransferColumns
from fingerpost.transit.engine.timetable.footpaths import build_footpaths as link
from fingerpost.transit.engine.timetable.timetable import FORBIDDEN, MINIMUM_TIME, RECOMMENDED, STATION, STOP, TIMED
from fingerpost.transit.engine.timetable.walks import StraightLine
from fingerpost.transit.model.geodesy import EARTH_RADIUS_M

SLACK_S = walks.CHANGE_SLACK_S + walks.STRAIGHT_SLACK_S
M_PER_DEG = math.radians(1) * EARTH_RADIUS_M


def footpaths(lats, lons, kinds=None, transfers=(), parents=None):
    columns = list(zip(*transfers, strict=True)) or [(), (), (), ()]
    paths, change_s = link(
        StraightLine(np.array(lats, np.float64), np.array(lons, np.float64)),
        np.array(kinds if kinds is not None else [STOP] * len(lats), np.int8),
        np.array(parents if parents is not None else [-1] * len(lats), np.int32),
        to_columns(TransferColumns, dict(zip(TransferColumns._fields, columns, strict=True))),
    )
    rows = {}
    for stop in range(len(lats)):
        for row in range(paths.first[stop], paths.first[stop + 1]):
            key = (stop, int(paths.to[row]))
            assert key not in rows
            rows[key] = (int(paths.seconds[row]), int(paths.metres[row]))
    return rows, change_s.tolist()


def distance_m(a, b):
    """Return the great-circle distance by the chord through the globe: another formula than the one under test."""
    (lat_a, lon_a), (lat_b, lon_b) = (map(math.radians, point) for point in (a, b))
    ends = [
        (math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat))
        for lat, lon in ((lat_a, lon_a), (lat_b, lon_b))
    ]
    return 2 * EARTH_RADIUS_M * math.asin(math.dist(*ends) / 2)


def slow_footpaths(points, kinds, transfers):
    said = {(begin, end): (kind, minimum_s) for begin, end, kind, minimum_s in transfers}
    rows = {}
    for a, start in enumerate(points):
        for b, goal in enumerate(points):
            if a == b:
                continue
            kind, minimum_s = said.get((a, b), (None, -1))
            straight_m = distance_m(start, goal)
            near = straight_m <= walks.FOOTPATH_RADIUS_M and kinds[a] == STOP and kinds[b] == STOP
            if kind == FORBIDDEN or (kind is None and not near):
                continue
            metres = straight_m * walks.DETOUR_FACTOR
            seconds = metres / walks.PACE_M_PER_S + (0 if kind == TIMED else SLACK_S)
            rows[a, b] = (minimum_s if kind == MINIMUM_TIME and minimum_s >= 0 else seconds, metres)
    return rows


@st.composite
def towns(draw):
    lat, lon = draw(st.floats(-87, 87)), draw(st.floats(-180, 180))
    spread_m = draw(st.sampled_from([300.0, 1500.0, 6000.0]))
    offsets = draw(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), max_size=14))
    wide = spread_m / M_PER_DEG / math.cos(math.radians(lat))
    points = [(lat + north * spread_m / M_PER_DEG, (lon + east * wide + 180) % 360 - 180) for north, east in offsets]
    kinds = [draw(st.sampled_from([STOP, STOP, STOP, STATION])) for _ in points]
    if not points:
        return points, kinds, []
    end = st.integers(0, len(points) - 1)
    rules = st.tuples(end, end, st.integers(RECOMMENDED, FORBIDDEN), st.integers(-1, 900))
    transfers = draw(st.lists(rules, max_size=6, unique_by=lambda rule: rule[:2]))
    return points, kinds, transfers


@settings(max_examples=300, deadline=None)
@given(towns())
def test_footpaths_equal_the_slow_way(town):
    """The grid finds what asking of every pair finds, at any latitude, and a feed's rule replaces what was found."""
    points, kinds, transfers = town
    rows, _ = footpaths([lat for lat, _ in points], [lon for _, lon in points], kinds, transfers)
    expected = slow_footpaths(points, kinds, transfers)
    # The two formulas differ by less than this, so only a pair on the very edge may differ.
    edge = {
        (a, b)
        for a, start in enumerate(points)
        for b, goal in enumerate(points)
        if abs(distance_m(start, goal) - walks.FOOTPATH_RADIUS_M) < 0.01
    }

    assert set(rows) ^ set(expected) <= edge
    for pair in set(rows) & set(expected):
        seconds, metres = expected[pair]
        assert rows[pair][1] == pytest.approx(math.ceil(metres), abs=1)
        assert rows[pair][0] == pytest.approx(math.ceil(seconds), abs=2)


@settings(deadline=None)
@given(towns())
def test_stops_near_a_point_equal_the_slow_way(town):
    points, kinds, _ = town
    lats, lons = np.array(points, np.float64).reshape(-1, 2).T
    for point in points:
        near, distances_m = StraightLine(lats, lons).find_near(*point, np.array(kinds) == STOP, 1000.0)
        slow_m = {row: distance_m(point, other) for row, other in enumerate(points) if kinds[row] == STOP}

        assert near.tolist() == [row for row in slow_m if slow_m[row] <= 1000.0]
        assert distances_m.tolist() == pytest.approx([slow_m[row] for row in near.tolist()], abs=0.01)


@pytest.mark.parametrize(("apart_m", "pairs"), [(499.9, [(0, 1), (1, 0)]), (500.1, [])])
def test_only_stops_within_the_radius_are_linked(apart_m, pairs):
    rows, _ = footpaths([60.0, 60.0 + apart_m / M_PER_DEG], [24.0, 24.0])

    assert list(rows) == pairs


def test_a_footpath_includes_detour_pace_and_slack():
    rows, change_s = footpaths([60.0, 60.0 + 100.0 / M_PER_DEG], [24.0, 24.0])

    # 130 m (131 by rounding up what lies a hair above), 105 s at 1.25 m/s, 120 s and 135 s.
    assert rows[0, 1] in {(359, 130), (360, 131)}
    assert change_s == [120, 120]


@pytest.mark.parametrize(
    ("parents", "seconds"), [([2, 2, -1, -1], {224, 225}), ([2, 3, -1, -1], {359, 360}), ([2, -1, -1, -1], {359, 360})]
)
def test_within_a_station_no_street_is_in_doubt(parents, seconds):
    """Two platforms 100 m apart: of one station the slack of a change alone, else that of the straight line too."""
    lats = [60.0, 60.0 + 100.0 / M_PER_DEG, 60.0, 60.0]

    rows, _ = footpaths(lats, [24.0] * 4, [STOP, STOP, STATION, STATION], parents=parents)

    assert rows[0, 1][0] in seconds


@pytest.mark.parametrize(
    ("kind", "minimum_s", "change_s"),
    [(RECOMMENDED, -1, 120), (TIMED, -1, 0), (MINIMUM_TIME, 45, 45), (MINIMUM_TIME, -1, 120), (FORBIDDEN, -1, -1)],
)
def test_changing_at_one_stop(kind, minimum_s, change_s):
    """A rule from a stop to itself sets the time to change there."""
    rows, changes_s = footpaths([60.0, 61.0], [24.0, 24.0], None, [(0, 0, kind, minimum_s)])

    assert (rows, changes_s) == ({}, [change_s, 120])
