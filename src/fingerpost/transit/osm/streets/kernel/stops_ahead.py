"""How far the nearest stop is ahead of each arc.

All functions stand in this one file: numba's cache watches the file of the function that it compiled, not its callees'.
"""

import numpy as np

from fingerpost.transit.osm.streets.kernel.compiling import looping

# In place of the edge of the nearest way on from a node: none is known yet, or the second one is known too.
NO_EDGE, BOTH = -1, -2


@looping
def _put(heap_m, heap_arc, used, metres, arc):
    """Put an entry into a heap that has room for it."""
    at = used
    while at > 0 and heap_m[(at - 1) >> 1] > metres:
        heap_m[at], heap_arc[at] = heap_m[(at - 1) >> 1], heap_arc[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap_m[at], heap_arc[at] = metres, arc


@looping
def _drop_first(heap_m, heap_arc, used):
    """Drop the least of so many entries of a heap."""
    last = used - 1
    metres, arc = heap_m[last], heap_arc[last]
    at, below = 0, 1
    while below < last:
        if below + 1 < last and heap_m[below + 1] < heap_m[below]:
            below += 1
        if heap_m[below] >= metres:
            break
        heap_m[at], heap_arc[at] = heap_m[below], heap_arc[below]
        at, below = below, 2 * below + 1
    heap_m[at], heap_arc[at] = metres, arc


@looping
def measure_ahead(graph, along_m, taken_edge, heap_m, heap_arc, far_m, ahead_m):
    """Write how far the nearest stop is from the end of each arc, without turning back along it.

    ``along_m`` is the same from the beginning of each arc, along it: infinite but for those with stops on them.
    ``taken_edge`` of each node is NO_EDGE, and ``ahead_m`` infinite. Dijkstra's order over arcs, each of which is
    known once the two nearest different ways on from its end are.
    """
    used = 0
    for arc in range(len(along_m)):
        if along_m[arc] < np.inf:
            _put(heap_m, heap_arc, used, along_m[arc], arc)
            used += 1
    while used > 0:
        metres, arc = heap_m[0], heap_arc[0]
        _drop_first(heap_m, heap_arc, used)
        used -= 1
        node, edge = graph.arc_head[arc ^ 1], arc >> 1
        taken = taken_edge[node]
        if metres > along_m[arc] or taken in (BOTH, edge):
            continue
        taken_edge[node] = edge if taken == NO_EDGE else BOTH
        for row in range(graph.node_first[node], graph.node_first[node + 1]):
            before = graph.node_arc[row] ^ 1
            # The first way on is for all who come by another edge, the second for who came by the first one's.
            if before >> 1 == edge or (taken >= 0 and before >> 1 != taken):
                continue
            ahead_m[before] = metres
            whole_m = metres + graph.edge_m[before >> 1]
            if whole_m < along_m[before] and whole_m < far_m:
                along_m[before] = whole_m
                _put(heap_m, heap_arc, used, whole_m, before)
                used += 1
