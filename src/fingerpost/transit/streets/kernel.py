"""Loops over the graph of streets: the nearest point of a way, and the ways to everything around it.

All functions stand in this one file: numba's cache watches the file of the function that it compiled, not its callees'.
A *state* is a node and how far a walk has come with ways that may only begin or end it: 0 still on those of its
beginning, 1 on public ways, 2 on those of its end, which it does not leave any more. Its number is 3 x node + stage.
"""

import math
from typing import Any

import numpy as np

from fingerpost.transit.changeover import kernel


def looping(function: Any) -> Any:
    """Mark a kernel; none makes an array, and numba then leaves out counting references to those of a named tuple."""
    return kernel(function, _compile)


def _compile(function: Any) -> Any:
    # A process that answers uncompiled does without numba, which takes half a second to import.
    from numba import njit

    return njit(cache=True, nogil=True, _nrt=False)(function)  # type: ignore[call-overload]  # numba's stubs lack it


ONE_WAY, ENDS_ONLY = 1, 2
BEGINNING, PUBLIC, END = 0, 1, 2
# The columns of a state's label, which lie together in memory because they are read together.
COST, SECONDS, METRES = 0, 1, 2

# Returned where the heap is too small; the search is begun again with a larger one.
NO_ROOM = -1

# Who starts or stops so near to a node does not walk past it.
_AT_NODE_M = 0.01
_HALF_TURN = 180.0


@looping
def _push(heap_cost, heap_state, size, cost, state):
    """Add a state to the heap, which has room for it."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if heap_cost[above] <= cost:
            break
        heap_cost[at] = heap_cost[above]
        heap_state[at] = heap_state[above]
        at = above
    heap_cost[at] = cost
    heap_state[at] = state


@looping
def _pop(heap_cost, heap_state, size):
    """Remove the cheapest state from the heap, which then holds ``size``."""
    cost, state = heap_cost[size], heap_state[size]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and heap_cost[below + 1] < heap_cost[below]:
            below += 1
        if heap_cost[below] >= cost:
            break
        heap_cost[at] = heap_cost[below]
        heap_state[at] = heap_state[below]
        at = below
    heap_cost[at] = cost
    heap_state[at] = state


@looping
def _is_against(graph, arc, backward):
    """Whether an arc may not be taken because its edge is one-way."""
    return graph.edge_flags[arc >> 1] & ONE_WAY != 0 and (arc & 1) != backward


@looping
def _next_stage(graph, edge, stage):
    """Return the stage of a walk that goes on along an edge, -1 where it may not."""
    if graph.edge_flags[edge] & ENDS_ONLY:
        return BEGINNING if stage == BEGINNING else END
    return -1 if stage == END else PUBLIC


@looping
def _passing_s(graph, weights, node, came, goes):
    """Return the seconds that it takes to walk past a node, from one arc to the next."""
    turn = abs(graph.arc_bearing[goes, 0] - graph.arc_bearing[came, 1])
    if turn > _HALF_TURN:
        turn = 2 * _HALF_TURN - turn
    return weights.node_s[node] + turn * weights.turn_s_per_degree


@looping
def _reach_node(work, touched, state, cost, seconds, metres, arc, before):
    """Note a better way to a state; return how many states are touched."""
    if work.label[state, COST] == np.inf:
        work.touched[touched] = state
        touched += 1
    work.label[state, COST] = cost
    work.label[state, SECONDS] = seconds
    work.label[state, METRES] = metres
    work.arc[state] = arc
    work.before[state] = before
    return touched


@looping
def forget(work, touched):
    """Make the work arrays as new."""
    for index in range(touched):
        work.label[work.touched[index], COST] = np.inf


@looping
def spread(graph, weights, work, edge, at_m, backward, limit_m, goal_edge, goal_m):
    """Find the cheapest ways from a point on an edge to all nodes up to ``limit_m``; return how many states.

    ``backward`` 1 finds ways to the point instead. A ``goal_edge`` other than -1 ends the search when the way to the
    point ``goal_m`` along it is known. NO_ROOM: the heap is full.
    """
    touched = size = 0
    goal_cost = np.inf
    length_m = graph.edge_m[edge]
    stage = BEGINNING if graph.edge_flags[edge] & ENDS_ONLY else PUBLIC
    for way in range(2):
        arc = 2 * edge + way
        if _is_against(graph, arc, backward) or weights.edge_cost[edge] == np.inf:
            continue
        metres = length_m - at_m if way == 0 else at_m
        part = metres / length_m if length_m > 0 else 0.0
        state = 3 * graph.arc_head[arc] + stage
        cost = weights.edge_cost[edge] * part
        if metres <= limit_m and cost < work.label[state, COST]:
            seconds = weights.edge_s[edge] * part
            touched = _reach_node(work, touched, state, cost, seconds, metres, arc, -1)
            _push(work.heap_cost, work.heap_state, size, cost, state)
            size += 1
    while size > 0:
        cost, state = work.heap_cost[0], work.heap_state[0]
        size -= 1
        _pop(work.heap_cost, work.heap_state, size)
        if cost > work.label[state, COST]:
            continue
        if cost >= goal_cost:
            break
        node, stage, came = state // 3, state % 3, work.arc[state]
        is_start = work.before[state] < 0 and work.label[state, METRES] < _AT_NODE_M
        for row in range(graph.node_first[node], graph.node_first[node + 1]):
            arc = graph.node_arc[row]
            ahead = arc >> 1
            then = _next_stage(graph, ahead, stage)
            if then < 0 or _is_against(graph, arc, backward):
                continue
            passing_s = 0.0 if is_start else _passing_s(graph, weights, node, came, arc)
            if ahead == goal_edge:
                rest_m = goal_m if arc & 1 == 0 else graph.edge_m[ahead] - goal_m
                part = rest_m / graph.edge_m[ahead] if graph.edge_m[ahead] > 0 else 0.0
                goal_cost = min(goal_cost, cost + passing_s + weights.edge_cost[ahead] * part)
            new_cost = cost + passing_s + weights.edge_cost[ahead]
            new_metres = work.label[state, METRES] + graph.edge_m[ahead]
            new_state = 3 * graph.arc_head[arc] + then
            beyond = graph.arc_head[arc]
            if graph.node_first[beyond + 1] - graph.node_first[beyond] < 2:
                # A dead end: what lies on its edge is measured from the end where one comes in.
                continue
            if new_cost < work.label[new_state, COST] and new_metres <= limit_m:
                if size == len(work.heap_cost):
                    forget(work, touched)
                    return NO_ROOM
                new_seconds = work.label[state, SECONDS] + passing_s + weights.edge_s[ahead]
                touched = _reach_node(work, touched, new_state, new_cost, new_seconds, new_metres, arc, state)
                _push(work.heap_cost, work.heap_state, size, new_cost, new_state)
                size += 1
    return touched


@looping
def measure(graph, weights, work, edge, at_m, backward, limit_m, goal_edge, goal_m, found_m, found_s, last_arc, last):
    """Measure the cheapest ways to points on edges, after ``spread`` from a point has found those to the nodes.

    Writes metres, -1 where there is none within the limit, seconds, the last arc and the state before it (-1: none).
    """
    for goal in range(len(goal_edge)):
        best = np.inf
        found_m[goal] = -1.0
        there, place_m = goal_edge[goal], goal_m[goal]
        length_m = graph.edge_m[there]
        if there < 0 or weights.edge_cost[there] == np.inf:
            continue
        if there == edge:
            along = place_m - at_m if backward == 0 else at_m - place_m
            if along >= 0 or graph.edge_flags[edge] & ONE_WAY == 0:
                part = abs(along) / length_m if length_m > 0 else 0.0
                if abs(along) <= limit_m:
                    best = weights.edge_cost[there] * part
                    found_m[goal] = abs(along)
                    found_s[goal] = weights.edge_s[there] * part
                    last_arc[goal] = 2 * there + (1 if place_m < at_m else 0)
                    last[goal] = -1
        for way in range(2):
            arc = 2 * there + way
            if _is_against(graph, arc, backward):
                continue
            node = graph.arc_head[arc ^ 1]
            rest_m = place_m if way == 0 else length_m - place_m
            part = rest_m / length_m if length_m > 0 else 0.0
            for stage in range(3):
                state = 3 * node + stage
                if work.label[state, COST] == np.inf or _next_stage(graph, there, stage) < 0:
                    continue
                if weights.is_blocked[node] and rest_m >= _AT_NODE_M:
                    continue
                metres = work.label[state, METRES] + rest_m
                passing_s = 0.0
                if rest_m >= _AT_NODE_M and not (work.before[state] < 0 and work.label[state, METRES] < _AT_NODE_M):
                    passing_s = _passing_s(graph, weights, node, work.arc[state], arc)
                cost = work.label[state, COST] + passing_s + weights.edge_cost[there] * part
                if cost < best and metres <= limit_m:
                    best = cost
                    found_m[goal] = metres
                    found_s[goal] = work.label[state, SECONDS] + passing_s + weights.edge_s[there] * part
                    last_arc[goal] = arc
                    last[goal] = state


@looping
def _find_cell(cells, wanted):
    """Return the row of a cell among sorted ones, -1 where it is not there."""
    low, high = 0, len(cells)
    while low < high:
        middle = (low + high) >> 1
        if cells[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < len(cells) and cells[low] == wanted else -1


@looping
def _nearest_in_cell(graph, grid, row, lat, lon, metres_per_degree, refused, nearest):
    """Improve ``nearest`` (metres away, segment, part of it) by the segments of a cell."""
    east_m = metres_per_degree * math.cos(math.radians(lat))
    for index in range(grid.cell_first[row], grid.cell_first[row + 1]):
        point = grid.segment[index]
        if graph.edge_flags[grid.edge_of_point[point]] & refused:
            continue
        y = (graph.shape_lat_e7[point] * 1e-7 - lat) * metres_per_degree
        x = (graph.shape_lon_e7[point] * 1e-7 - lon) * east_m
        dy = (graph.shape_lat_e7[point + 1] - graph.shape_lat_e7[point]) * 1e-7 * metres_per_degree
        dx = (graph.shape_lon_e7[point + 1] - graph.shape_lon_e7[point]) * 1e-7 * east_m
        square = dx * dx + dy * dy
        part = 0.0
        if square > 0:
            part = min(1.0, max(0.0, -(x * dx + y * dy) / square))
        away_m = math.hypot(x + part * dx, y + part * dy)
        # Whoever stands where a private way meets a public one stands on the public one.
        if graph.edge_flags[grid.edge_of_point[point]] & ENDS_ONLY:
            away_m += _AT_NODE_M
        if away_m < nearest[0]:
            nearest[0], nearest[1], nearest[2] = away_m, point, part


@looping
def snap(graph, grid, lats, lons, limit_m, metres_per_degree, refused, nearest, edge, at_m, away_m):
    """Find the nearest point of a way to each position; edges with a flag of ``refused`` do not count.

    Writes the edge (-1: none within ``limit_m``), the metres along it and the metres away.
    """
    for index in range(len(lats)):
        lat, lon = lats[index], lons[index]
        middle_y, middle_x = math.floor(lat / grid.cell_lat), math.floor(lon / grid.cell_lon)
        # A cell is at least so high and so wide, in metres.
        cell_m = metres_per_degree * min(grid.cell_lat, grid.cell_lon * math.cos(math.radians(lat)))
        nearest[0], nearest[1], nearest[2] = limit_m, -1, 0.0
        ring = 0
        while (ring - 1) * cell_m < nearest[0]:
            for y in range(middle_y - ring, middle_y + ring + 1):
                is_rim = abs(y - middle_y) == ring
                step = 1 if is_rim or ring == 0 else 2 * ring
                for x in range(middle_x - ring, middle_x + ring + 1, step):
                    row = _find_cell(grid.cells, y * grid.cells_per_row + x)
                    if row >= 0:
                        _nearest_in_cell(graph, grid, row, lat, lon, metres_per_degree, refused, nearest)
            ring += 1
        point = int(nearest[1])
        edge[index] = -1
        away_m[index] = nearest[0]
        if point >= 0:
            edge[index] = grid.edge_of_point[point]
            length_m = graph.shape_m[point + 1] - graph.shape_m[point]
            at_m[index] = graph.shape_m[point] + nearest[2] * length_m
