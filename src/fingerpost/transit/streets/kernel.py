"""Loops over the graph of streets: the nearest point of a way, and the ways to everything around it.

All functions stand in this one file: numba's cache watches the file of the function that it compiled, not its callees'.
A *state* is a node and how far a walk has come with ways that may only begin or end it: 0 still on those of its
beginning, 1 on public ways, 2 on those of its end, which it does not leave any more. Its number is the node's, plus the
stage times how many nodes there are, so that the states of most walks lie together in memory.
The queue of states has buckets of some seconds each, used in turn: with as many as the costliest edge spans, none holds
entries of two turns. Taking the cheapest of its bucket makes it Dijkstra's order, at half the time of a heap.
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
# The columns of a state's label and of ``Weights.onward_cost``; they lie together because they are read together.
# CAME holds the arc on which a state was reached, times 4, and the stage of the state before it: START where a walk
# begins on that arc.
COST, SECONDS, METRES, CAME = 0, 1, 2, 3
START = 3
# The columns of ``Weights.onward_to``; RULE holds the flags ONE_WAY and ENDS_ONLY of the edge.
HEAD, ARC, RULE = 0, 1, 2

# Returned where the queue is too small; the search is begun again with a larger one.
NO_ROOM = -1

# Who starts or stops so near to a node does not walk past it.
_AT_NODE_M = 0.01
_HALF_TURN = 180.0


@looping
def _queue(work, used, cost, state, per_bucket):
    """Add an entry to the queue, which has room for it, before the others of its bucket."""
    bucket = int(cost * per_bucket) & (len(work.bucket) - 1)
    work.entry_cost[used] = cost
    work.entry_state[used] = state
    work.entry_next[used] = work.bucket[bucket]
    work.bucket[bucket] = used


@looping
def _take_cheapest(work, bucket):
    """Take the cheapest entry out of a bucket that is not empty, and return it. Buckets hold a handful."""
    entry, before = work.bucket[bucket], -1
    best, best_before = entry, before
    while entry >= 0:
        if work.entry_cost[entry] < work.entry_cost[best]:
            best, best_before = entry, before
        entry, before = work.entry_next[entry], entry
    if best_before < 0:
        work.bucket[bucket] = work.entry_next[best]
    else:
        work.entry_next[best_before] = work.entry_next[best]
    return best


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
    if weights.turn_s_per_degree == 0:
        return weights.node_s[node]
    turn = abs(graph.arc_bearing[goes, 0] - graph.arc_bearing[came, 1])
    if turn > _HALF_TURN:
        turn = 2 * _HALF_TURN - turn
    return weights.node_s[node] + turn * weights.turn_s_per_degree


@looping
def _reach_node(work, touched, state, cost, seconds, metres, arc, stage_before):
    """Note a better way to a state; return how many states are touched."""
    if work.label[state, COST] == np.inf:
        work.touched[touched] = state
        touched += 1
    work.label[state, COST] = cost
    work.label[state, SECONDS] = seconds
    work.label[state, METRES] = metres
    work.label[state, CAME] = 4 * arc + stage_before
    return touched


@looping
def forget(work, touched):
    """Make the work arrays as new."""
    for index in range(touched):
        work.label[work.touched[index], COST] = np.inf


@looping
def _empty(work):
    """Empty the queue."""
    for bucket in range(len(work.bucket)):
        work.bucket[bucket] = -1


@looping
def _begin(graph, weights, work, edge, at_m, backward, limit_m, per_bucket):
    """Reach both ends of the edge on which a walk begins; return how many states are touched and queued."""
    touched = used = 0
    length_m = graph.edge_m[edge]
    stage = BEGINNING if graph.edge_flags[edge] & ENDS_ONLY else PUBLIC
    for way in range(2):
        arc = 2 * edge + way
        if _is_against(graph, arc, backward) or weights.edge_cost[edge] == np.inf:
            continue
        metres = length_m - at_m if way == 0 else at_m
        part = metres / length_m if length_m > 0 else 0.0
        state = stage * len(weights.node_s) + graph.arc_head[arc]
        cost = weights.edge_cost[edge] * part
        if metres <= limit_m and cost < work.label[state, COST]:
            _queue(work, used, cost, state, per_bucket)
            used += 1
            touched = _reach_node(work, touched, state, cost, weights.edge_s[edge] * part, metres, arc, START)
    return touched, used


@looping
def _cost_to_goal(graph, weights, work, node, stage, state, backward, goal_edge, goal_m):
    """Return the cost of walking from a state to the point ``goal_m`` along an edge that begins or ends at its node."""
    best = np.inf
    length_m = graph.edge_m[goal_edge]
    if _next_stage(graph, goal_edge, stage) < 0 or weights.is_blocked[node]:
        return best
    for way in range(2):
        arc = 2 * goal_edge + way
        if graph.arc_head[arc ^ 1] != node or _is_against(graph, arc, backward):
            continue
        rest_m = goal_m if way == 0 else length_m - goal_m
        part = rest_m / length_m if length_m > 0 else 0.0
        passing_s = 0.0 if _is_start(work, state) else _passing_s(graph, weights, node, _came_by(work, state), arc)
        best = min(best, work.label[state, COST] + passing_s + weights.edge_cost[goal_edge] * part)
    return best


@looping
def _is_start(work, state):
    """Whether a walk begins at a state's node, which it then does not walk past."""
    return work.label[state, METRES] < _AT_NODE_M and int(work.label[state, CAME]) & 3 == START


@looping
def _came_by(work, state):
    return int(work.label[state, CAME]) >> 2


@looping
def spread(graph, weights, work, edge, at_m, backward, limit_m, goal_edge, goal_m):
    """Find the cheapest ways from a point on an edge to all nodes up to ``limit_m``; return how many states.

    Dead ends are left out: what lies on their edge is measured from the end where one comes in.
    ``backward`` 1 finds ways to the point instead. A ``goal_edge`` other than -1 ends the search when the way to the
    point ``goal_m`` along it is known. NO_ROOM: the queue is full.
    """
    per_bucket, last_bucket, count = 1.0 / weights.bucket_s, len(work.bucket) - 1, len(weights.node_s)
    goal_start = goal_end = -1
    if goal_edge >= 0:
        goal_end, goal_start = graph.arc_head[2 * goal_edge], graph.arc_head[2 * goal_edge + 1]
    goal_cost = np.inf
    touched, used = _begin(graph, weights, work, edge, at_m, backward, limit_m, per_bucket)
    waiting = used
    turn = 0
    while waiting > 0:
        if work.bucket[turn & last_bucket] < 0:
            turn += 1
            continue
        entry = _take_cheapest(work, turn & last_bucket)
        waiting -= 1
        cost, state = work.entry_cost[entry], work.entry_state[entry]
        if cost > work.label[state, COST]:
            continue
        if cost >= goal_cost:
            _empty(work)
            break
        stage = (state >= count) + (state >= 2 * count)
        node = state - stage * count
        if node in (goal_start, goal_end):
            reached = _cost_to_goal(graph, weights, work, node, stage, state, backward, goal_edge, goal_m)
            goal_cost = min(goal_cost, reached)
        seconds, metres = work.label[state, SECONDS], work.label[state, METRES]
        is_start = _is_start(work, state)
        for row in range(weights.onward_first[node], weights.onward_first[node + 1]):
            rule, arc = weights.onward_to[row, RULE], weights.onward_to[row, ARC]
            then = PUBLIC
            # Most are public and walked either way.
            if rule != 0 or stage != PUBLIC:
                then = _next_stage(graph, arc >> 1, stage)
                if then < 0 or (rule & ONE_WAY != 0 and (arc & 1) != backward):
                    continue
            new_metres = metres + weights.onward_cost[row, METRES]
            if new_metres > limit_m:
                continue
            passing_s = 0.0 if is_start else _passing_s(graph, weights, node, _came_by(work, state), arc)
            new_cost = cost + passing_s + weights.onward_cost[row, COST]
            new_state = then * count + weights.onward_to[row, HEAD]
            if new_cost < work.label[new_state, COST]:
                if used == len(work.entry_cost):
                    _empty(work)
                    forget(work, touched)
                    return NO_ROOM
                new_seconds = seconds + passing_s + weights.onward_cost[row, SECONDS]
                touched = _reach_node(work, touched, new_state, new_cost, new_seconds, new_metres, arc, stage)
                _queue(work, used, new_cost, new_state, per_bucket)
                used += 1
                waiting += 1
    return touched


@looping
def measure(graph, weights, work, edge, at_m, backward, limit_m, goal_edge, goal_m, found_m, found_s, last_arc, last):
    """Measure the cheapest ways to points on edges, after ``spread`` from a point has found those to the nodes.

    Writes metres, -1 where there is none within the limit, seconds, the last arc and the state before it (-1: none).
    """
    first_stage = BEGINNING if graph.edge_flags[edge] & ENDS_ONLY else PUBLIC
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
            for stage in range(first_stage, 3):
                # Most goals lie on public ways, which are not come to from private ones: one label to read.
                if _next_stage(graph, there, stage) < 0:
                    continue
                state = stage * len(weights.node_s) + node
                if work.label[state, COST] == np.inf:
                    continue
                if weights.is_blocked[node] and rest_m >= _AT_NODE_M:
                    continue
                metres = work.label[state, METRES] + rest_m
                passing_s = 0.0
                if rest_m >= _AT_NODE_M and not _is_start(work, state):
                    passing_s = _passing_s(graph, weights, node, _came_by(work, state), arc)
                cost = work.label[state, COST] + passing_s + weights.edge_cost[there] * part
                if cost < best and metres <= limit_m:
                    best = cost
                    found_m[goal] = metres
                    found_s[goal] = work.label[state, SECONDS] + passing_s + weights.edge_s[there] * part
                    last_arc[goal] = arc
                    last[goal] = state


@looping
def measure_around(
    graph, weights, work, edge, at_m, backward, limit_m, goal_edge, goal_m, found_m, found_s, arcs, last
):
    """Measure the cheapest ways from a point to points on edges, and forget them: ``spread``, then ``measure``.

    NO_ROOM: the queue is full.
    """
    touched = spread(graph, weights, work, edge, at_m, backward, limit_m, -1, 0.0)
    if touched != NO_ROOM:
        measure(graph, weights, work, edge, at_m, backward, limit_m, goal_edge, goal_m, found_m, found_s, arcs, last)
        forget(work, touched)
    return touched


@looping
def measure_stops(
    graph, weights, work, edge, at_m, away_m, backward, limit_m, pace, snapped, rows, goals, found, metres, seconds
):
    """Measure walks from a point to some rows of places: whole metres (-1: none) and seconds, ways to streets included.

    ``goals`` and ``found`` are work space as long as the rows: (edge, metres along) and (metres, seconds, arc, state).
    NO_ROOM: the queue is full.
    """
    for index in range(len(rows)):
        goals.edge[index] = snapped.edge[rows[index]]
        goals.at_m[index] = snapped.at_m[rows[index]]
    touched = measure_around(
        graph, weights, work, edge, at_m, backward, limit_m - away_m, goals.edge, goals.at_m,
        found.metres, found.seconds, found.last_arc, found.last,
    )  # fmt: skip
    if touched == NO_ROOM:
        return touched
    for index in range(len(rows)):
        metres[index], seconds[index] = -1, 0
        if found.metres[index] >= 0:
            off_m = snapped.away_m[rows[index]] + away_m
            metres[index] = math.ceil(found.metres[index] + off_m)
            seconds[index] = math.ceil(found.seconds[index] + off_m / pace)
    return touched


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
