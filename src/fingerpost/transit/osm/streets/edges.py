"""Edges between junctions while a graph of streets is built."""

from typing import NamedTuple

import numpy as np

from fingerpost.transit.engine.timetable.timetable import Float32, Float64, Int32, Int64, UInt8
from fingerpost.transit.osm.streets.graph import DEGREES_E7

# A bearing is taken over this many metres at an edge's end, so that a kink of the drawing is no turn.
_BEARING_M = 10.0


class Edges(NamedTuple):
    """Edges as columns, before arcs are made of them; nodes are numbered from 0.

    Attributes:
        begin, end: the nodes of each edge.
        flags, node_flags, avoided, turned_degrees: as in ``StreetGraph``.
        first: the points of edge e are rows ``first[e] .. first[e + 1]`` of the next three.
        lat_e7, lon_e7: positions of points, in ten millionths of a degree.
        along_m: metres from the beginning of the edge.
    """

    begin: Int32
    end: Int32
    flags: UInt8
    avoided: Float32
    turned_degrees: Float32
    first: Int64
    lat_e7: Int32
    lon_e7: Int32
    along_m: Float64
    node_flags: UInt8

    @property
    def length_m(self) -> Float64:
        """The length of each edge."""
        return self.along_m[self.first[1:] - 1]


def find_bearings(edges: Edges) -> Float32:
    """Return of each arc the bearing where it begins and where it ends, in degrees."""
    count = len(edges.begin)
    begins, ends = edges.first[:-1], edges.first[1:] - 1
    after, before = begins + 1, ends - 1
    # Far enough from the end for a bearing, where the edge goes on so far.
    for _ in range(8):
        after = np.where((edges.along_m[after] < _BEARING_M) & (after < ends), after + 1, after)
        short = edges.along_m[ends] - edges.along_m[before] < _BEARING_M
        before = np.where(short & (before > begins), before - 1, before)
    starts, finishes = _bearing(edges, begins, after), _bearing(edges, before, ends)
    bearing = np.empty((2 * count, 2), np.float32)
    bearing[::2, 0], bearing[::2, 1] = starts, finishes
    bearing[1::2, 0], bearing[1::2, 1] = (finishes + 180) % 360, (starts + 180) % 360
    return bearing


def _bearing(edges: Edges, start: Int64, end: Int64) -> Float64:
    north = (edges.lat_e7[end] - edges.lat_e7[start]).astype(np.float64)
    east = (edges.lon_e7[end] - edges.lon_e7[start]) * np.cos(np.radians(edges.lat_e7[start] / DEGREES_E7))
    bearing: Float64 = np.degrees(np.arctan2(east, north)) % 360
    return bearing
