"""How far the nearest stop is ahead of each arc: ways that lead to none in time need not be followed.

A search for the stops around a point drops an arc where what was walked and what is still to come pass the limit.
Who walks never turns back at once, so the way back along the arc itself does not count: a street that leads to no stop
but by coming back has none ahead.
"""

import numpy as np

from fingerpost.transit.changeover import in_one_mode
from fingerpost.transit.engine.timetable.timetable import Float64, Int64
from fingerpost.transit.osm.streets.graph import BLOCKED, StreetGraph, UInt16
from fingerpost.transit.osm.streets.kernel.compiling import AT_NODE_M
from fingerpost.transit.osm.streets.kernel.stops_ahead import NO_EDGE, measure_ahead
from fingerpost.transit.osm.streets.snapping import Snapped

NONE_AHEAD = 65_535
"""Metres where no stop is ahead within any limit."""

# Nobody may ask to walk as far.
_FAR_M = 60_000.0
# More than what sums of metres in another order differ by.
_HAIR_M = 0.01


@in_one_mode
def find_stops_ahead(graph: StreetGraph, stops: Snapped) -> UInt16:
    """Return for each arc the whole metres from its end to the nearest stop, at least; NONE_AHEAD where there is none.

    ``stops`` are where all meet the streets. Which ways are one-way or barred does not count, so that it holds for all
    who walk, there and back.
    """
    arcs = 2 * graph.edge_count
    on = stops.edge >= 0
    edge, at_m, away_m = stops.edge[on].astype(np.int64), stops.at_m[on], stops.away_m[on]
    along_m, ahead_m = np.full(arcs, np.inf), np.full(arcs, np.inf)
    np.minimum.at(along_m, 2 * edge, at_m + away_m)
    np.minimum.at(along_m, 2 * edge + 1, np.maximum(0.0, graph.edge_m[edge] - at_m) + away_m)
    at_gate_m = _measure_at_gates(graph, edge, at_m, away_m)
    np.minimum(along_m, np.repeat(graph.edge_m, 2) + at_gate_m, out=along_m)
    taken_edge = np.full(graph.node_count, NO_EDGE, np.int32)
    measure_ahead(graph, along_m, taken_edge, np.empty(2 * arcs), np.empty(2 * arcs, np.int32), _FAR_M, ahead_m)
    whole_m: Float64 = np.floor(np.maximum(0.0, np.minimum(ahead_m, at_gate_m) - _HAIR_M))
    return np.minimum(whole_m, NONE_AHEAD).astype(np.uint16)


def _measure_at_gates(graph: StreetGraph, edge: Int64, at_m: Float64, away_m: Float64) -> Float64:
    """Return for each arc how far a stop is that stands at the shut gate where the arc ends; infinite for none.

    No arc leaves a shut gate, but a stop that stands there is reached from both of its sides.
    """
    nearest_m: Float64 = np.full(graph.node_count, np.inf)
    for end, rest_m in enumerate((at_m, graph.edge_m[edge] - at_m)):
        node = graph.arc_head[2 * edge + 1 - end]
        at_gate = (graph.node_flags[node] & BLOCKED != 0) & (rest_m < AT_NODE_M)
        np.minimum.at(nearest_m, node[at_gate], (np.maximum(0.0, rest_m) + away_m)[at_gate])
    behind_m: Float64 = nearest_m[graph.arc_head]
    return behind_m
