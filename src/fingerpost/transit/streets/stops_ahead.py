"""How far the nearest stop is ahead of each arc: ways that lead to none in time need not be followed.

A search for the stops around a point drops an arc where what was walked and what is still to come pass the limit.
Who walks never turns back at once, so the way back along the arc itself does not count: a street that leads to no stop
but by coming back has none ahead.
"""

import numpy as np

from fingerpost.transit.changeover import in_one_mode
from fingerpost.transit.streets.graph import StreetGraph, UInt16
from fingerpost.transit.streets.kernel.stops_ahead import NO_EDGE, measure_ahead
from fingerpost.transit.streets.snapping import Snapped

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
    taken_edge = np.full(graph.node_count, NO_EDGE, np.int32)
    measure_ahead(graph, along_m, taken_edge, np.empty(2 * arcs), np.empty(2 * arcs, np.int32), _FAR_M, ahead_m)
    whole_m = np.floor(np.maximum(0.0, ahead_m - _HAIR_M))
    return np.minimum(whole_m, NONE_AHEAD).astype(np.uint16)
