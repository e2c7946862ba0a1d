"""The graph of streets as arrays: junctions, edges between them, and their shapes."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.timetable import Float32, Int32, UInt8

UInt16 = npt.NDArray[np.uint16]
# Unsigned where inner loops look up by it.
UInt32 = npt.NDArray[np.uint32]

# edge_flags
ONE_WAY = 1  # walked only from the edge's first node to its second
ENDS_ONLY = 2
STEPS = 4
MOVING = 8
NO_WHEELS = 16
SLOPE = 32
UNDERGROUND = 64

# node_flags
LIGHTS = 1
BLOCKED = 2
LIFT = 4
KERB = 8
UNKNOWN_KERB = 16
CROSSING = 32

DEGREES_E7 = 1e7
"""Positions are kept in ten millionths of a degree, as OpenStreetMap has them."""


class StreetGraph(NamedTuple):
    """Junctions and the edges between them. Arc 2e goes along edge e, arc 2e + 1 against it.

    Attributes:
        node_first, node_arc: the arcs that leave node n are ``node_arc[node_first[n] : node_first[n + 1]]``.
        arc_head: the node to which each arc leads.
        node_flags: LIGHTS, BLOCKED, LIFT, KERB, UNKNOWN_KERB, CROSSING.
        edge_flags: ONE_WAY, ENDS_ONLY, STEPS, MOVING, NO_WHEELS, SLOPE, UNDERGROUND.
        edge_m: length in metres.
        edge_avoided: how many times worse a metre counts, from 1.
        shape_first: the points of edge e are rows ``shape_first[e] .. shape_first[e + 1]`` of the shape columns.
        shape_lat_e7, shape_lon_e7: positions of points, in ten millionths of a degree.
        shape_m: metres from the beginning of the edge.
    """

    node_first: Int32
    node_arc: Int32
    arc_head: Int32
    node_flags: UInt8
    edge_flags: UInt8
    edge_m: Float32
    edge_avoided: Float32
    shape_first: Int32
    shape_lat_e7: Int32
    shape_lon_e7: Int32
    shape_m: Float32

    @property
    def node_count(self) -> int:
        return len(self.node_flags)

    @property
    def edge_count(self) -> int:
        return len(self.edge_m)
