"""Finds the lifts of a graph of streets around positions, so that those out of order can be closed."""

import numpy as np

from fingerpost.transit.engine.timetable.timetable import Float64
from fingerpost.transit.engine.timetable.walking import straight_line_m
from fingerpost.transit.osm.streets.graph import DEGREES_E7, LIFT, StreetGraph

# What an alert names as out of order and the lift on the map are no further apart.
LIFT_M = 30.0


def find_lifts(graph: StreetGraph, lats: Float64, lons: Float64) -> frozenset[int]:
    """Return the lifts (nodes) within 30 m of any of some positions in degrees."""
    nodes = np.flatnonzero(graph.node_flags & LIFT != 0)
    # The arc that leaves a node begins where its edge does, or where it ends.
    nodes = nodes[graph.node_first[nodes + 1] > graph.node_first[nodes]]
    arcs = graph.node_arc[graph.node_first[nodes]]
    edges = arcs >> 1
    points = np.where(arcs & 1, graph.shape_first[edges + 1] - 1, graph.shape_first[edges])
    lift_lats, lift_lons = graph.shape_lat_e7[points] / DEGREES_E7, graph.shape_lon_e7[points] / DEGREES_E7
    near = np.zeros(len(nodes), np.bool_)
    for lat, lon in zip(lats.tolist(), lons.tolist(), strict=True):
        near |= straight_line_m(lat, lon, lift_lats, lift_lons) <= LIFT_M
    return frozenset(nodes[near].tolist())
