"""The networks that ship with the package: general properties of valid networks, and a few known facts."""

import itertools
import re
from collections import defaultdict
from functools import cache

import numpy as np
import pytest

from fingerpost.transit.engine.demo import NAMES, open_demo
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.timetable.stop_ids import escape
from fingerpost.transit.engine.timetable.timetable import Timetable
from fingerpost.transit.engine.timetable.walks import straight_line_m
from tests.demo.prepare import prepare
from tests.shared_data import get_shared
from tests.timetable.test_disk import plain

REAL_HELSINKI = "gtfs/helsinki/hsl_centre_2022-02-22.gtfs.zip"
NEAR_ENOUGH_M = 200


@pytest.fixture(params=NAMES)
def timetable(request) -> Timetable:
    return timetable_of(request.param)


@cache
def timetable_of(name: str) -> Timetable:
    return open_demo(name)


def hops(timetable: Timetable) -> set[tuple[int, int]]:
    trips = (
        timetable.stop_time_stop[timetable.list_stop_times(trip)].tolist() for trip in range(len(timetable.trip_route))
    )
    return {pair for stops in trips for pair in itertools.pairwise(stops)}


@pytest.mark.parametrize("name", NAMES)
def test_the_prepared_networks_are_current(name):
    """Run `python -m tests.demo.prepare` after a change of the tables or of the import."""
    assert plain(timetable_of(name)) == plain(prepare(name))


def test_every_stop_is_reached_from_every_other(timetable):
    begin = np.repeat(np.arange(timetable.stop_count), np.diff(timetable.footpaths.first)).tolist()
    neighbours: dict[int, set[int]] = defaultdict(set)
    for here, there in {*hops(timetable), *zip(begin, timetable.footpaths.to.tolist(), strict=True)}:
        neighbours[here].add(there)
    unseen = set(range(1, timetable.stop_count))
    open_stops = [0]
    while open_stops:
        found = neighbours[open_stops.pop()] & unseen
        unseen -= found
        open_stops.extend(found)

    assert [timetable.stop_printed_id[stop] for stop in sorted(unseen)] == []


def test_ids_are_short_and_printed_as_they_are(timetable):
    name = timetable.feeds[0].name
    assert list(timetable.stop_printed_id) == [f"{name}:{escape(local_id)}" for local_id in timetable.stop_local_id]
    assert [local_id for local_id in timetable.stop_local_id if not re.fullmatch(r"[A-Z0-9][A-Z0-9-]*", local_id)] == []


def test_a_demo_is_valid_on_any_day_and_past_midnight(timetable):
    """Its one service has no calendar, and some trip leaves its first stop after 24:00."""
    assert timetable.service_every_day.tolist() == [1]
    assert int(timetable.trip_departure_shift_s.max()) > 24 * 3600


@pytest.mark.parametrize(("lat", "lon", "stop"), [(60.1699, 24.9384, "HELSINKI"), (60.2055, 24.6559, "ESPOO")])
def test_the_contracts_example_starts_and_ends_near_a_train(lat, lon, stop):
    """The plan_trip contract's two points are within a walk of a kilometre of the stations that join them."""
    timetable = timetable_of("DEMO-HELSINKI")
    row = list(timetable.stop_local_id).index(stop)

    assert straight_line_m(lat, lon, timetable.stop_lat[row], timetable.stop_lon[row]) < 1000


def test_demo_stops_of_the_centre_are_near_the_real_ones():
    """Within the distance that design.md, section 6, allows.

    The feed is cut to a box. A demo stop outside it is left out: its real one was cut away, and another stop of the
    same name may have stayed (Kulosaari).
    """
    demo, real = timetable_of("DEMO-HELSINKI"), import_feeds("HSL", [FeedSource(get_shared(REAL_HELSINKI))]).timetable
    rows_of_name = defaultdict(list)
    for row, name in enumerate(real.stop_name):
        rows_of_name[name].append(row)
    distances_m = {}
    for stop, name in enumerate(demo.stop_name):
        lat, lon = float(demo.stop_lat[stop]), float(demo.stop_lon[stop])
        is_inside = (
            real.stop_lat.min() <= lat <= real.stop_lat.max() and real.stop_lon.min() <= lon <= real.stop_lon.max()
        )
        if is_inside and name in rows_of_name:
            there = rows_of_name[name]
            to_real_m = straight_line_m(lat, lon, real.stop_lat[there], real.stop_lon[there])
            distances_m[demo.stop_local_id[stop]] = round(float(to_real_m.min()))

    assert {stop: distance_m for stop, distance_m in distances_m.items() if distance_m > NEAR_ENOUGH_M} == {}
    assert len(distances_m) >= demo.stop_count * 2 // 3
