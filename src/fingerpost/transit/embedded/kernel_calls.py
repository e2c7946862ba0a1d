"""Call every numba kernel once, so that it is compiled before a query needs it."""

from collections import Counter
from datetime import date
from itertools import product

import numpy as np

from fingerpost.transit.engine.demo import open_demo
from fingerpost.transit.engine.raptor.journeys import list_board_departures
from fingerpost.transit.engine.raptor.search import Endpoint, SearchQuery, find_journeys
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from fingerpost.transit.engine.timetable.overlay import Overlay, RideUpdate
from fingerpost.transit.engine.timetable.service_days import find_service_day_start
from fingerpost.transit.engine.timetable.timetable import STOP, Pathways, StationPlaces
from fingerpost.transit.engine.timetable.walks import StopWalks
from fingerpost.transit.osm.streets.building import build_graph
from fingerpost.transit.osm.streets.extract import ExtractedStreets, Way, WayRule
from fingerpost.transit.osm.streets.snapping import build_grid
from fingerpost.transit.osm.streets.stop_access import connect_at_positions
from fingerpost.transit.osm.streets.street_walks import StreetWalks

_DAY = date(2026, 1, 7)


def call_search_kernels() -> None:
    """Search the Helsinki demo from the first to the last stop of its first trip."""
    timetable = open_demo("DEMO-HELSINKI")
    start = find_service_day_start(_DAY, timetable.feeds[0].zone)
    zeros, access = np.zeros(timetable.trip_first_stop_time[1], np.int32), np.full(1, 600, np.int32)
    on_time = RideUpdate(
        is_cancelled=False, arrival_delay_s=zeros, departure_delay_s=zeros,
        is_known=zeros == 0, is_skipped=zeros > 0, updated=start,
    )  # fmt: skip
    planned = SearchTimetables(timetable)
    live = SearchTimetables(timetable, Overlay(rides={(0, _DAY.toordinal()): on_time}, as_of=start))
    lats, lons = timetable.stop_lat.tolist(), timetable.stop_lon.tolist()
    origin, destination = (
        Endpoint(lat=lats[stop], lon=lons[stop], walks=StopWalks(np.full(1, stop, np.int32), access, access))
        for stop in timetable.stop_time_stop[[0, len(zeros) - 1]].tolist()
    )
    # Access plus egress exceeds 700 m, so queries with that limit also run McRAPTOR.
    for search_timetables, arrive_by, max_walk_m in product((planned, live), (False, True), (3000, 700)):
        query = SearchQuery(
            origin=origin, destination=destination, instant=start + 12 * 3600, arrive_by=arrive_by,
            max_rides=2, max_walk_m=max_walk_m, step_free=False, wanted=1,
        )  # fmt: skip
        find_journeys(timetable, search_timetables, query)
    step_free = planned.get_search_timetable(_DAY, is_reverse=False, step_free=True)
    list_board_departures(timetable, step_free, [0], start, 24 * 3600)


def call_street_kernels() -> None:
    """Find walks on a graph of three streets that meet."""
    nodes = {1: (0.0, 0.0), 2: (0.0, 0.002), 3: (0.0, 0.004), 4: (0.002, 0.002)}
    ways = [Way(WayRule(), [2, node]) for node in (1, 3, 4)]
    streets = ExtractedStreets(ways=ways, positions=nodes, uses=Counter(node for way in ways for node in way.nodes))
    graph, _ = build_graph(streets)
    lats, lons = np.array([0.0, 0.002]), np.array([0.0005, 0.002])
    kinds, parents = np.full(2, STOP, np.int8), np.full(2, -1, np.int32)
    places = StationPlaces(lats, lons, kinds, parents, np.zeros(2, np.int8), Pathways())
    walks = StreetWalks(graph, build_grid(graph), places, connect_at_positions(lats, lons))
    walks.list_links(np.arange(2))
    walks.reach(0.0, 0.003, np.arange(2), 1000.0, from_stops=False)
    walks.find_walk((0.0, 0.003), (0.0, 0.001), 1000.0)
