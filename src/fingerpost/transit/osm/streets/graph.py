"""The street graph as arrays, and its walking costs: pace, stairs, lights and lifts."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.columns import list_starts
from fingerpost.transit.engine.timetable.timetable import Float32, Int32, UInt8
from fingerpost.transit.engine.timetable.walks import PACE_M_PER_S
from fingerpost.transit.osm.streets.kernel import BUCKET_S

# Arrays that inner loops use as indices are unsigned.
UInt32 = npt.NDArray[np.uint32]

# edge_flags
ONE_WAY = 1  # walkable only from the edge's first node to its second
ENDS_ONLY = 2
STEPS = 4
MOVING = 8
NO_WHEELS = 16
CUT_OFF = 32  # in a small part of the streets, joined to the rest only by steps, kerbs and ways unfit for wheels
UNDERGROUND = 64
UNFIT = STEPS | NO_WHEELS  # step-free walks do not use these

# node_flags
LIGHTS = 1
BLOCKED = 2
LIFT = 4
KERB = 8
UNKNOWN_KERB = 16

DEGREES_E7 = 1e7
"""Positions are stored in ten-millionths of a degree, as in OpenStreetMap."""


class StreetGraph(NamedTuple):
    """Junctions and the edges between them. Arc 2e goes along edge e, and arc 2e + 1 goes against it.

    The arcs that leave node n are ``node_arc[node_first[n] : node_first[n + 1]]``; ``arc_head`` is the node at the end
    of an arc. ``edge_avoided`` is the cost factor of an edge, at least 1. The points of edge e are rows
    ``shape_first[e] .. shape_first[e + 1]``, ``shape_m`` metres from the beginning of the edge.
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


# Steps take this many times as long per metre as level ways, and cost this many times as much per second.
_STEPS_TIME_FACTOR, _STEPS_FACTOR = 3.0, 2.0
_ESCALATOR_M_PER_S = 0.45
# Seconds to wait at traffic lights, and to wait for and ride a lift.
_LIGHTS_S, _LIFT_S = 15.0, 110.0


class Weights(NamedTuple):
    """The costs of a graph's edges and nodes for one kind of walk; a cost is infinite if walking is impossible.

    Attributes:
        onward_first: the rows of node n in the next two arrays are ``onward_first[n] .. onward_first[n + 1]``.
        onward_to: (node, arc, flags ONE_WAY and ENDS_ONLY) for each arc that does not lead into a dead end.
        onward_cost: cost, seconds and metres of that arc.
        bucket_count: number of the queue's buckets, more than the cost of any arc spans.
    """

    edge_s: Float32
    edge_cost: Float32
    node_s: Float32
    onward_first: UInt32
    onward_to: UInt32
    onward_cost: Float32
    bucket_count: int


def compute_weights(
    graph: StreetGraph, *, step_free: bool = False, closed_lifts: frozenset[int] = frozenset()
) -> Weights:
    """Compute the weights; step-free walks never use steps, escalators, raised kerbs or ways unfit for wheels."""
    is_steps, is_moving = graph.edge_flags & STEPS != 0, graph.edge_flags & MOVING != 0
    seconds = graph.edge_m / PACE_M_PER_S
    seconds = np.where(is_steps, seconds * _STEPS_TIME_FACTOR, seconds)
    seconds = np.where(is_moving, graph.edge_m / _ESCALATOR_M_PER_S, seconds)
    cost = seconds * graph.edge_avoided
    cost = np.where(is_steps & ~is_moving, cost * _STEPS_FACTOR, cost)
    if step_free:
        cost = np.where(graph.edge_flags & UNFIT != 0, np.inf, cost)
    lights, lifts = graph.node_flags & LIGHTS != 0, graph.node_flags & LIFT != 0
    node_s = lights * _LIGHTS_S + lifts * _LIFT_S
    longest_s = float(node_s.max(initial=0.0))
    if step_free:
        node_s = np.where(graph.node_flags & KERB != 0, np.inf, node_s)
    node_s[list(closed_lifts)] = np.inf
    # Use only arcs along walkable edges to nodes that another arc leaves, so that no arc leads into a dead end.
    leaving = np.diff(graph.node_first)
    onward = np.isfinite(cost[graph.node_arc >> 1]) & (leaving[graph.arc_head[graph.node_arc]] >= 2)
    arcs = graph.node_arc[onward]
    edges = arcs >> 1
    onward_before = list_starts(onward)
    costliest = float(cost[edges].max(initial=0.0)) + longest_s
    rules = graph.edge_flags[edges] & (ONE_WAY | ENDS_ONLY)
    return Weights(
        edge_s=seconds.astype(np.float32),
        edge_cost=cost.astype(np.float32),
        node_s=node_s.astype(np.float32),
        onward_first=onward_before[graph.node_first].astype(np.uint32),
        onward_to=np.column_stack([graph.arc_head[arcs], arcs, rules]).astype(np.uint32),
        onward_cost=np.column_stack([cost[edges], seconds[edges], graph.edge_m[edges]]).astype(np.float32),
        bucket_count=1 << math.ceil(math.log2(costliest / BUCKET_S + 2.0)),
    )
