"""The basemap of an extract: what is read, how it is stored, and which parts lie in a box."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.errors import SettingsInvalid
from fingerpost.transit.engine.timetable.array_file import ARRAYS
from fingerpost.transit.model.map_layer import LayerKind, MapLayer
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.osm import basemap
from fingerpost.transit.osm.basemap import (
    FOLDER,
    DrawnLine,
    Water,
    clip_ring,
    draw_basemap,
    find_basemap,
    find_kind,
    pack_lines,
    read_lines,
    save_basemap,
)
from tests.osm_file import osm_text

BOX = Bounds(south=0.0, west=0.0, north=0.01, east=0.01)
KINDS = LayerKind

# A lake of four corners with an island, a street, a footway and a river; two nodes of the street lie far away.
NODES = [
    (0.001, 0.001), (0.001, 0.005), (0.005, 0.005), (0.005, 0.001), (0.002, 0.002), (0.002, 0.003), (0.003, 0.003),
    (3.0, 3.0), (3.0, 3.1),
]  # fmt: skip
OSM = osm_text(
    [(number, *point, {}) for number, point in enumerate(NODES, 1)],
    [
        ((1, 2, 3, 4, 1), {}),
        ((5, 6, 7, 5), {}),
        ((1, 2, 8, 9), {"highway": "primary_link"}),
        ((1, 3), {"highway": "footway"}),
        ((2, 3), {"waterway": "river"}),
    ],
    [([(1, "outer"), (2, "inner")], {"type": "multipolygon", "natural": "water"})],
)


def near(lat, lon):
    return abs(lat) < 1 and abs(lon) < 1


def read(tmp_path, text=OSM):
    path = tmp_path / "town.osm"
    path.write_text(text, encoding="utf-8")
    return read_lines(path, near, lambda _what, _done, _whole: None)


def test_water_and_ways_are_read_where_riders_are(tmp_path):
    found = [(line.kind, len(line.points)) for line in read(tmp_path)]

    assert sorted(found) == [(KINDS.COAST, 2), (KINDS.MAIN, 2), (KINDS.WATER, 4), (KINDS.WATER, 5)]


@pytest.mark.parametrize(
    ("tags", "kind"),
    [
        ({"highway": "motorway"}, KINDS.MAIN),
        ({"highway": "tertiary_link"}, KINDS.SECONDARY),
        ({"highway": "residential"}, KINDS.MINOR),
        ({"highway": "residential", "tunnel": "yes"}, None),
        ({"highway": "pedestrian", "area": "yes"}, None),
        ({"highway": "steps"}, None),
        ({"railway": "subway"}, KINDS.RAIL),
        ({"railway": "subway", "tunnel": "yes"}, None),
        ({"natural": "coastline"}, KINDS.COAST),
        ({"waterway": "drain"}, None),
        ({}, None),
    ],
)
def test_ways_are_drawn_by_their_class(tags, kind):
    assert find_kind(tags) is kind


def test_a_map_is_stored_and_reopened_unchanged(tmp_path):
    packed = pack_lines(read(tmp_path))
    save_basemap(packed, tmp_path)
    opened = find_basemap(tmp_path)

    assert [np.array_equal(*pair) for pair in zip(packed, opened, strict=True)] == [True] * len(packed)
    assert find_basemap(tmp_path / "elsewhere") is None
    save_basemap(pack_lines([]), tmp_path)
    assert draw_basemap(find_basemap(tmp_path), BOX) is None
    (tmp_path / FOLDER / ARRAYS).write_bytes(b"no array")
    with pytest.raises(SettingsInvalid, match="is damaged"):
        find_basemap(tmp_path)


def test_a_box_shows_its_contents(tmp_path):
    packed = pack_lines(read(tmp_path))

    assert [layer.kind for layer in draw_basemap(packed, BOX).layers] == [KINDS.WATER, KINDS.COAST, KINDS.MAIN]
    assert draw_basemap(packed, Bounds(south=0.5, west=0.5, north=0.51, east=0.51)) is None


def test_a_line_is_cut_where_it_leaves_the_box():
    line = DrawnLine(KINDS.MAIN, [(0.005, -0.02), (0.005, -0.01), (0.005, 0.005), (0.005, 0.02), (0.005, 0.03)])
    crossing = DrawnLine(KINDS.MAIN, [(-0.01, 0.005), (0.02, 0.005)])
    [layer] = draw_basemap(pack_lines([line, crossing]), BOX).layers

    assert layer == MapLayer(KINDS.MAIN, [[(0.005, -0.01), (0.005, 0.02)], [(-0.01, 0.005), (0.02, 0.005)]])


@pytest.mark.parametrize(
    ("most", "kinds", "left"), [(7, [KINDS.MAIN, KINDS.MINOR], ()), (6, [KINDS.MAIN], (KINDS.MINOR,))]
)
def test_the_least_useful_alert_is_dropped_if_not_all_fit(monkeypatch, most, kinds, left):
    monkeypatch.setattr(basemap, "MAX_POINTS", most)
    minor = DrawnLine(KINDS.MINOR, [(0.001, 0.001), (0.004, 0.002), (0.002, 0.008), (0.009, 0.003)])
    main = DrawnLine(KINDS.MAIN, [(0.001, 0.009), (0.004, 0.001), (0.008, 0.009)])
    shown = draw_basemap(pack_lines([minor, main]), BOX)

    assert ([layer.kind for layer in shown.layers], shown.left_out) == (kinds, left)


POINTS = st.tuples(st.floats(-0.02, 0.03), st.floats(-0.02, 0.03))


@given(st.lists(POINTS, min_size=3, max_size=12), POINTS)
def test_a_clipped_ring_covers_the_same_area_in_the_box(corners, point):
    ring = [*corners, corners[0]]
    clipped = clip_ring(ring, BOX)
    slack = 1e-9

    assert all(-slack <= lat <= BOX.north + slack and -slack <= lon <= BOX.east + slack for lat, lon in clipped)
    inside = (point[0] % 0.008 + 0.001, point[1] % 0.008 + 0.001)
    if min(abs(inside[0] - corner[0]) for corner in corners) > 1e-7 and distance_to(ring, inside) > 1e-7:
        assert is_in(clipped, inside) == is_in(ring, inside)


def distance_to(ring, point):
    nearest = 1.0
    for (lat, lon), (to_lat, to_lon) in pairwise(ring):
        length = (to_lat - lat) ** 2 + (to_lon - lon) ** 2
        share = 0 if length == 0 else ((point[0] - lat) * (to_lat - lat) + (point[1] - lon) * (to_lon - lon)) / length
        share = min(1, max(0, share))
        at = (lat + share * (to_lat - lat), lon + share * (to_lon - lon))
        nearest = min(nearest, abs(at[0] - point[0]) + abs(at[1] - point[1]))
    return nearest


def is_in(ring, point):
    """Whether a point is in a ring, by the even-odd rule."""
    crossings = 0
    for (lat, lon), (to_lat, to_lon) in pairwise(ring):
        if (lat > point[0]) != (to_lat > point[0]):
            crossings += lon + (point[0] - lat) / (to_lat - lat) * (to_lon - lon) > point[1]
    return crossings % 2 == 1


def test_no_box_is_drawn_with_more_points_than_are_worth_sending(monkeypatch):
    zigzag = [(0.005 + 0.004 * (n % 2), n * 0.0001) for n in range(100)]
    lines = [DrawnLine(kind, zigzag) for kind in (KINDS.MAIN, KINDS.SECONDARY, KINDS.MINOR)]
    monkeypatch.setattr(basemap, "MAX_DRAWN_POINTS", 150)
    shown = draw_basemap(pack_lines(lines), BOX)

    assert [layer.kind for layer in shown.layers] == [KINDS.MAIN]
    assert shown.left_out == (KINDS.SECONDARY, KINDS.MINOR)


@pytest.mark.parametrize(("start", "end", "sea_m"), [(0.006, 0.004, 111), (0.004, 0.006, 111), (0.006, 0.001, 333)])
def test_the_sea_is_to_the_right_of_a_coastline(start, end, sea_m):
    """From land to the sea, back, and across a strait; a river has no sea beside it."""
    coasts = [[(0.005, 0.0), (0.005, 0.002)], [(0.002, 0.002), (0.002, 0.0)]]
    river = DrawnLine(KINDS.COAST, [(0.0055, 0.0), (0.0055, 0.002)])
    water = Water(pack_lines([*(DrawnLine(KINDS.COAST, coast, is_coast=True) for coast in coasts), river]))

    assert water.measure_m((start, 0.001), (end, 0.001)) == pytest.approx(sea_m, abs=1)
