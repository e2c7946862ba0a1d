"""The networks that ship with the package: what holds for any sound network, and a few known facts."""

import itertools
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from fingerpost.errors import DataNotFound
from fingerpost.transit.engine.demo import catalogue
from fingerpost.transit.engine.demo.catalogue import build_demo, list_demo_names
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.timetable.stop_ids import escape
from fingerpost.transit.engine.timetable.timetable import Timetable
from fingerpost.transit.engine.timetable.walking import straight_line_m

NETWORKS = list_demo_names()

# Between neighbouring stops, in a straight line: a tram at the lights, an express train on the main line.
SLOWEST_KM_PER_H, FASTEST_KM_PER_H = 8, 130


@cache
def timetable_of(name: str) -> Timetable:
    return build_demo(name)


def distance_m(here: tuple[float, float], there: tuple[float, float]) -> float:
    return float(straight_line_m(*here, np.array([there[0]]), np.array([there[1]]))[0])


def position(timetable: Timetable, stop: int) -> tuple[float, float]:
    return float(timetable.stop_lat[stop]), float(timetable.stop_lon[stop])


def calls(timetable: Timetable, trip: int) -> list[int]:
    return timetable.stop_time_stop[
        timetable.trip_first_stop_time[trip] : timetable.trip_first_stop_time[trip + 1]
    ].tolist()


def footpaths_from(timetable: Timetable, stop: int) -> list[int]:
    return timetable.foot_to[timetable.foot_first[stop] : timetable.foot_first[stop + 1]].tolist()


def test_two_networks_ship():
    """Helsinki and London, sorted."""
    assert list_demo_names() == ("DEMO-HELSINKI", "DEMO-LONDON")


def test_an_unknown_demo_is_refused_with_the_known_names():
    """Whoever asks for another city is told which there are."""
    with pytest.raises(DataNotFound) as refused:
        build_demo("DEMO-PARIS")

    assert (refused.value.message, refused.value.hint) == (
        "There is no demo network 'DEMO-PARIS'.",
        "Choose one of: DEMO-HELSINKI, DEMO-LONDON.",
    )


@pytest.mark.parametrize("name", NETWORKS)
def test_the_importer_reads_the_same_timetable(name):
    """The tables are a valid GTFS feed: the importer skips nothing and finds the same stops, trips and departures."""
    imported = import_feeds("TOWN", [FeedSource(Path(catalogue.__file__).parent / "feeds" / name)])
    columns = ("stop_lat", "stop_time_stop", "stop_time_arrival_s", "trip_departure_trip", "trip_departure_shift_s")

    assert imported.report.feeds[0].findings == ()
    for column in columns:
        assert np.array_equal(getattr(imported.timetable, column), getattr(timetable_of(name), column)), column


@pytest.mark.parametrize("name", NETWORKS)
def test_trips_run_at_plausible_speeds(name):
    """A mistyped coordinate or minute makes a vehicle crawl or fly."""
    timetable = timetable_of(name)
    implausible = []
    for trip in range(len(timetable.trip_route)):
        begin, end = timetable.trip_first_stop_time[trip : trip + 2].tolist()
        for row in range(begin, end - 1):
            here, there = timetable.stop_time_stop[row : row + 2].tolist()
            seconds = int(timetable.stop_time_arrival_s[row + 1] - timetable.stop_time_departure_s[row])
            straight_m = distance_m(position(timetable, here), position(timetable, there))
            km_per_h = straight_m / 1000 / (seconds / 3600)
            if not SLOWEST_KM_PER_H <= km_per_h <= FASTEST_KM_PER_H:
                implausible.append((timetable.stop_name[here], timetable.stop_name[there], round(km_per_h)))

    assert implausible == []


@pytest.mark.parametrize("name", NETWORKS)
def test_every_stop_is_reached_from_every_other(name):
    """Lines and footpaths together leave no island: not even Suomenlinna, which has its ferry."""
    timetable = timetable_of(name)
    neighbours: dict[int, set[int]] = {
        stop: set(footpaths_from(timetable, stop)) for stop in range(timetable.stop_count)
    }
    for trip in range(len(timetable.trip_route)):
        for here, there in itertools.pairwise(calls(timetable, trip)):
            neighbours[here].add(there)
    unseen = set(range(1, timetable.stop_count))
    open_stops = [0]
    while open_stops:
        found = neighbours[open_stops.pop()] & unseen
        unseen -= found
        open_stops.extend(found)

    assert [timetable.stop_printed_id[stop] for stop in sorted(unseen)] == []


@pytest.mark.parametrize("name", NETWORKS)
def test_every_line_can_be_ridden_both_ways(name):
    """What goes out comes back; the airport ring's two lines are each other's way back."""
    timetable = timetable_of(name)
    ridden = {pair for trip in range(len(timetable.trip_route)) for pair in itertools.pairwise(calls(timetable, trip))}

    assert {(there, here) for here, there in ridden} == ridden


@pytest.mark.parametrize("name", NETWORKS)
def test_ids_are_short_and_printed_as_they_are(name):
    """Local ids need no escaping."""
    timetable = timetable_of(name)

    assert list(timetable.stop_printed_id) == [f"{name}:{escape(local_id)}" for local_id in timetable.stop_local_id]
    assert [local_id for local_id in timetable.stop_local_id if not re.fullmatch(r"[A-Z0-9][A-Z0-9-]*", local_id)] == []


@pytest.mark.parametrize("name", NETWORKS)
def test_a_demo_holds_on_any_day_and_over_midnight(name):
    """Its one service has no calendar, and some trip leaves its first stop after 24:00."""
    assert timetable_of(name).is_every_day
    assert int(timetable_of(name).trip_departure_shift_s.max()) > 24 * 3600


def test_from_kamppi_to_espoo_takes_one_change_at_the_central_station():
    """The metro to Rautatientori, a walk to the trains, and any train that calls at Espoo."""
    timetable = timetable_of("DEMO-HELSINKI")
    ids = list(timetable.stop_local_id)
    start, goal = ids.index("KAMPPI"), ids.index("ESPOO")
    trips = [calls(timetable, trip) for trip in range(len(timetable.trip_route))]
    line = [timetable.route_short_name[int(route)] for route in timetable.trip_route]
    found = set()
    for first, stops in enumerate(trips):
        if start not in stops:
            continue
        ahead = stops[stops.index(start) + 1 :]
        boardable = {*ahead, *(near for stop in ahead for near in footpaths_from(timetable, stop))}
        for second, others in enumerate(trips):
            if goal in others and boardable & set(others[: others.index(goal)]):
                found.add((line[first], line[second]))

    assert found == {("M1", "E"), ("M1", "U"), ("M1", "L"), ("M2", "E"), ("M2", "U"), ("M2", "L")}


@pytest.mark.parametrize(
    ("lat", "lon", "stop"),
    [(60.1699, 24.9384, "HELSINKI"), (60.2055, 24.6559, "ESPOO")],
)
def test_the_contracts_own_example_starts_and_ends_near_a_train(lat, lon, stop):
    """The plan_trip contract's two points are within a walk of a kilometre of the stations that join them."""
    timetable = timetable_of("DEMO-HELSINKI")
    row = list(timetable.stop_local_id).index(stop)

    assert distance_m((lat, lon), (timetable.stop_lat[row], timetable.stop_lon[row])) < 1000
