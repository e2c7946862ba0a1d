"""The Helsinki demo against the real feed."""

import csv
import io
import zipfile

import numpy as np
import pytest

from fingerpost.transit.engine.demo.catalogue import build_demo
from fingerpost.transit.engine.timetable.walking import straight_line_m
from tests.shared_data import get_shared

FEED = "gtfs/helsinki/hsl_centre_2022-02-22.gtfs.zip"
NEAR_ENOUGH_M = 200


@pytest.fixture(scope="module")
def real_stops() -> dict[str, list[tuple[float, float]]]:
    with zipfile.ZipFile(get_shared(FEED)) as archive:
        rows = csv.DictReader(io.StringIO(archive.read("stops.txt").decode("utf-8-sig")))
        positions: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            positions.setdefault(row["stop_name"], []).append((float(row["stop_lat"]), float(row["stop_lon"])))
    return positions


@pytest.fixture(scope="module")
def distances_m(real_stops) -> dict[str, float]:
    """How far each demo stop is from the nearest real stop of its name.

    The feed is cut to a box. A demo stop outside it is left out: its real one was cut away, and another stop of
    the same name may have stayed (Kulosaari).
    """
    lats, lons = np.array([place for places in real_stops.values() for place in places]).T
    distances = {}
    demo = build_demo("DEMO-HELSINKI")
    for row, name in enumerate(demo.stop_name):
        lat, lon = float(demo.stop_lat[row]), float(demo.stop_lon[row])
        inside = lats.min() <= lat <= lats.max() and lons.min() <= lon <= lons.max()
        if inside and name in real_stops:
            there = np.array(real_stops[name]).T
            distances[demo.stop_local_id[row]] = float(straight_line_m(lat, lon, there[0], there[1]).min())
    return distances


def test_demo_stops_lie_where_the_real_stops_of_their_name_lie(distances_m):
    assert {stop: round(m) for stop, m in distances_m.items() if m > NEAR_ENOUGH_M} == {}


def test_most_demo_stops_of_the_centre_bear_a_real_name(distances_m):
    """The comparison is not empty: two thirds of the demo's stops are in it."""
    assert len(distances_m) >= build_demo("DEMO-HELSINKI").stop_count * 2 // 3
