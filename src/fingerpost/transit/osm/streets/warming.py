"""Calls every kernel of the streets once, so that it is compiled or loaded before a query needs it."""

from collections import Counter

import numpy as np

from fingerpost.transit.engine.timetable.timetable import STOP
from fingerpost.transit.engine.timetable.walks import WalkedStops
from fingerpost.transit.osm.streets.building import build_graph
from fingerpost.transit.osm.streets.extract import ExtractedStreets, Way
from fingerpost.transit.osm.streets.snapping import build_grid
from fingerpost.transit.osm.streets.street_walks import StreetWalks
from fingerpost.transit.osm.streets.walking_profile import RIDER
from fingerpost.transit.osm.streets.way_rules import WayRule


def call_street_kernels() -> None:
    """Walk on three streets that meet at a junction."""
    ends = {1: (0.0, 0.0), 2: (0.0, 0.002), 3: (0.0, 0.004), 4: (0.002, 0.002)}
    ways = [Way(WayRule(), [2, node]) for node in (1, 3, 4)]
    streets = ExtractedStreets(ways=ways, positions=ends, uses=Counter(node for way in ways for node in way.nodes))
    graph = build_graph(streets).graph
    lats, lons = np.array([0.0, 0.002]), np.array([0.0005, 0.002])
    stops = WalkedStops(lats, lons, np.full(2, STOP, np.int8), ("1", "2"), ("", ""))
    walks = StreetWalks(graph, build_grid(graph), stops, RIDER)
    walks.list_links(np.arange(2))
    walks.reach(0.0, 0.003, np.arange(2), 1000.0, from_stops=False)
    walks.find_walk((0.0, 0.003), (0.0, 0.001), 1000.0)
