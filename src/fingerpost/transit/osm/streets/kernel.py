"""Snap positions to streets, and search for the cheapest walks from a point to the nodes and stops around it.

A *state* is a node and the stage of a walk, because some ways are allowed only at the beginning or end of a walk. The
stage is 0 on restricted ways at the beginning, 1 on public ways, and 2 on restricted ways at the end. A walk cannot
leave stage 2. A state's number is its node plus the stage times the number of nodes, so the states of most walks are
close in memory. The queue of states consists of buckets of a few seconds each, used in turn. There are more buckets
than the costliest edge spans, so no bucket holds entries from two turns. Removing the cheapest entry first gives
Dijkstra's order, in half the time of a heap.
"""

import math

import numpy as np

from fingerpost.transit.kernel_mode import entry, kernel

# Flags of an edge and of a node, as in ``graph.py``.
ONE_WAY, ENDS_ONLY = 1, 2
BLOCKED = 2
# A walk that starts or ends this close to a node does not count as passing it.
AT_NODE_M = 0.01

# The width of a bucket of the queue in seconds; a bucket holds few states even where streets are dense.
BUCKET_S = 2.0

BEGINNING, PUBLIC, END = 0, 1, 2
# The columns of a state's label, and of ``Weights.onward_cost``.
# ARRIVAL encodes how a walk reached the state: 4 * arc + the stage of the previous state. If the walk begins on that
# arc, START replaces the stage.
COST, SECONDS, METRES, ARRIVAL = 0, 1, 2, 3
START = 3
# The columns of ``Weights.onward_to``; RULE holds the flags ONE_WAY and ENDS_ONLY of the edge.
HEAD, ARC, RULE = 0, 1, 2


@kernel
def _enqueue(work, used, cost, state):
    bucket = int(cost / BUCKET_S) & (len(work.bucket) - 1)
    work.entry_cost[used] = cost
    work.entry_state[used] = state
    work.entry_next[used] = work.bucket[bucket]
    work.bucket[bucket] = used


@kernel
def _take_cheapest(work, bucket):
    """Remove and return the cheapest entry of a non-empty bucket. Buckets hold few entries, so search them linearly."""
    entry, previous = work.bucket[bucket], -1
    best, best_previous = entry, previous
    while entry >= 0:
        if work.entry_cost[entry] < work.entry_cost[best]:
            best, best_previous = entry, previous
        entry, previous = work.entry_next[entry], entry
    if best_previous < 0:
        work.bucket[bucket] = work.entry_next[best]
    else:
        work.entry_next[best_previous] = work.entry_next[best]
    return best


@kernel
def _is_wrong_way(graph, arc, backward):
    return graph.edge_flags[arc >> 1] & ONE_WAY != 0 and (arc & 1) != backward


@kernel
def _find_next_stage(graph, edge, stage):
    """Return the stage of a walk after an edge, or -1 if the walk may not use the edge."""
    if graph.edge_flags[edge] & ENDS_ONLY:
        return BEGINNING if stage == BEGINNING else END
    return -1 if stage == END else PUBLIC


@kernel
def _reach_node(work, touched, state, cost, seconds, metres, arc, stage_before):
    """Store a better way to a state; return the number of touched states."""
    if work.label[state, COST] == np.inf:
        work.touched[touched] = state
        touched += 1
    work.label[state, COST] = cost
    work.label[state, SECONDS] = seconds
    work.label[state, METRES] = metres
    work.label[state, ARRIVAL] = 4 * arc + stage_before
    return touched


@entry
@kernel
def reset_labels(work, touched):
    for index in range(touched):
        work.label[work.touched[index], COST] = np.inf


@kernel
def _clear_buckets(work):
    for bucket in range(len(work.bucket)):
        work.bucket[bucket] = -1


@kernel
def _begin(graph, weights, work, edge, offset_m, backward, limit_m):
    """Enqueue both ends of the edge on which a walk begins; return the numbers of touched and queued states."""
    touched = used = 0
    length_m = graph.edge_m[edge]
    stage = BEGINNING if graph.edge_flags[edge] & ENDS_ONLY else PUBLIC
    for way in range(2):
        arc = 2 * edge + way
        if _is_wrong_way(graph, arc, backward) or weights.edge_cost[edge] == np.inf:
            continue
        metres = length_m - offset_m if way == 0 else offset_m
        ratio = metres / length_m if length_m > 0 else 0.0
        state = stage * len(weights.node_s) + graph.arc_head[arc]
        cost = weights.edge_cost[edge] * ratio
        if metres <= limit_m and cost < work.label[state, COST]:
            _enqueue(work, used, cost, state)
            used += 1
            touched = _reach_node(work, touched, state, cost, weights.edge_s[edge] * ratio, metres, arc, START)
    return touched, used


@kernel
def _is_start(work, state):
    """Whether a walk begins at a state's node, and therefore does not pass through the node."""
    return work.label[state, METRES] < AT_NODE_M and int(work.label[state, ARRIVAL]) & 3 == START


@entry
@kernel
def search_nodes(graph, weights, work, edge, offset_m, backward, limit_m, goal_edge, goal_m):
    """Find the cheapest ways from a point on an edge to all nodes within ``limit_m``; count the touched states.

    Dead ends are skipped: points on a dead-end edge are measured from its other end. If ``backward`` is 1, the search
    finds ways to the point instead. If ``goal_edge`` is not -1, the search ends once the way to the point ``goal_m``
    along that edge is known.
    """
    last_bucket, count = len(work.bucket) - 1, len(weights.node_s)
    goal_cost, goal_start, goal_end = np.inf, -1, -1
    if goal_edge >= 0:
        goal_end, goal_start = graph.arc_head[2 * goal_edge], graph.arc_head[2 * goal_edge + 1]
    touched, used = _begin(graph, weights, work, edge, offset_m, backward, limit_m)
    waiting = used
    turn = 0
    while waiting > 0:
        if work.bucket[turn & last_bucket] < 0:
            turn += 1
            continue
        entry = _take_cheapest(work, turn & last_bucket)
        waiting -= 1
        cost, state = work.entry_cost[entry], np.uint32(work.entry_state[entry])
        if cost > work.label[state, COST]:
            continue
        if cost >= goal_cost:
            _clear_buckets(work)
            break
        stage = int(state >= count) + int(state >= 2 * count)
        node = np.uint32(state - stage * count)
        if node in (goal_start, goal_end):
            # If this walk exceeds limit_m, goal_cost stays infinite: a costlier walk may be shorter.
            goal_cost = measure_goal(graph, weights, work, edge, offset_m, backward, limit_m, goal_edge, goal_m)[0]
        seconds, metres = work.label[state, SECONDS], work.label[state, METRES]
        passing_s = 0.0 if _is_start(work, state) else np.float64(weights.node_s[node])
        for row in range(weights.onward_first[node], weights.onward_first[node + np.uint32(1)]):
            new_metres = metres + weights.onward_cost[row, METRES]
            if new_metres > limit_m:
                continue
            rule, arc = weights.onward_to[row, RULE], weights.onward_to[row, ARC]
            next_stage = PUBLIC
            # Most edges are public and two-way.
            if rule != 0 or stage != PUBLIC:
                next_stage = _find_next_stage(graph, arc >> 1, stage)
                if next_stage < 0 or (rule & ONE_WAY != 0 and (arc & 1) != backward):
                    continue
            new_cost = cost + passing_s + weights.onward_cost[row, COST]
            new_state = np.uint32(next_stage * count + weights.onward_to[row, HEAD])
            if new_cost < work.label[new_state, COST]:
                new_seconds = seconds + passing_s + weights.onward_cost[row, SECONDS]
                touched = _reach_node(work, touched, new_state, new_cost, new_seconds, new_metres, arc, stage)
                _enqueue(work, used, new_cost, new_state)
                used += 1
                waiting += 1
    return touched


@entry
@kernel
def measure_goal(graph, weights, work, edge, offset_m, backward, limit_m, goal, goal_m):
    """Measure the cheapest way to the point ``goal_m`` along an edge, after ``search_nodes`` has run.

    Return the cost, metres (-1: none within the limit), seconds, the last arc and the state before it (-1: none).
    """
    best, found_m, found_s, last_arc, last = np.inf, -1.0, 0.0, 0, -1
    if goal < 0 or weights.edge_cost[goal] == np.inf:
        return best, found_m, found_s, last_arc, last
    length_m = graph.edge_m[goal]
    if goal == edge:
        delta_m = goal_m - offset_m if backward == 0 else offset_m - goal_m
        if delta_m >= 0 or graph.edge_flags[edge] & ONE_WAY == 0:
            ratio = abs(delta_m) / length_m if length_m > 0 else 0.0
            if abs(delta_m) <= limit_m:
                best, found_m, found_s = weights.edge_cost[goal] * ratio, abs(delta_m), weights.edge_s[goal] * ratio
                last_arc = 2 * goal + (1 if goal_m < offset_m else 0)
    for way in range(2):
        arc = 2 * goal + way
        if _is_wrong_way(graph, arc, backward):
            continue
        node = graph.arc_head[arc ^ 1]
        remaining_m = goal_m if way == 0 else length_m - goal_m
        ratio = remaining_m / length_m if length_m > 0 else 0.0
        for stage in range(BEGINNING if graph.edge_flags[edge] & ENDS_ONLY else PUBLIC, 3):
            # A walk in the END stage cannot enter public ways, so usually only the label of the PUBLIC stage is read.
            if _find_next_stage(graph, goal, stage) < 0:
                continue
            state = stage * len(weights.node_s) + node
            if work.label[state, COST] == np.inf:
                continue
            if graph.node_flags[node] & BLOCKED and remaining_m >= AT_NODE_M:
                continue
            metres = work.label[state, METRES] + remaining_m
            passing_s = 0.0
            if remaining_m >= AT_NODE_M and not _is_start(work, state):
                passing_s = weights.node_s[node]
            cost = work.label[state, COST] + passing_s + weights.edge_cost[goal] * ratio
            if cost < best and metres <= limit_m:
                best, found_m, last_arc, last = cost, metres, arc, state
                found_s = work.label[state, SECONDS] + passing_s + weights.edge_s[goal] * ratio
    return best, found_m, found_s, last_arc, last


@entry
@kernel
def reach_stops(graph, weights, work, first, snapped, access, point, backward, limit_m, pace, stops, out):
    """Find the walks from a point to the given stops; return their number.

    The access points of stop s are rows ``first[s] .. first[s + 1]``; the quickest one is used. Walks include
    the stretches off the streets and inside stations. ``point`` is an edge, the distance along it, and the distance to
    it, in metres. ``out`` receives the reached stops, and the walks to them in whole metres and whole seconds.
    """
    edge, offset_m, away_m = point
    touched = search_nodes(graph, weights, work, edge, offset_m, backward, limit_m - away_m, -1, 0.0)
    count = 0
    for stop in stops:
        best_s = np.inf
        for row in range(first[stop], first[stop + 1]):
            inside_s = access.out_s[row] if backward else access.in_s[row]
            _, metres, seconds, _, _ = measure_goal(
                graph, weights, work, edge, offset_m, backward, limit_m - away_m,
                snapped.edge[row], snapped.offset_m[row],
            )  # fmt: skip
            if metres < 0 or inside_s < 0:
                continue
            off_street_m = snapped.away_m[row] + away_m
            metres = math.ceil(metres + off_street_m) + access.inside_m[row]
            seconds = math.ceil(seconds + off_street_m / pace) + inside_s
            if metres <= limit_m and seconds < best_s:
                best_s = seconds
                out.stop[count], out.metres[count], out.seconds[count] = stop, metres, seconds
        count += int(best_s < np.inf)
    reset_labels(work, touched)
    return count


CELLS_PER_ROW = 1 << 32


@kernel
def _search_cell(graph, grid, row, lat, lon, north_m, east_m, refused, found, index):
    """Update the point found for a position if a segment in the cell is nearer."""
    for number in range(grid.cell_first[row], grid.cell_first[row + 1]):
        point = grid.segment[number]
        y = (graph.shape_lat_e7[point] * 1e-7 - lat) * north_m
        x = (graph.shape_lon_e7[point] * 1e-7 - lon) * east_m
        dy = (graph.shape_lat_e7[point + 1] - graph.shape_lat_e7[point]) * 1e-7 * north_m
        dx = (graph.shape_lon_e7[point + 1] - graph.shape_lon_e7[point]) * 1e-7 * east_m
        square = dx * dx + dy * dy
        ratio = 0.0
        if square > 0:
            ratio = min(1.0, max(0.0, -(x * dx + y * dy) / square))
        away_m = math.hypot(x + ratio * dx, y + ratio * dy)
        if away_m >= found.away_m[index]:
            continue
        # Edge flags are stored elsewhere in memory, so they are read only for nearby segments.
        edge = grid.edge_of_point[point]
        flags = graph.edge_flags[edge]
        # Where a private way meets a public one, the public one is preferred.
        if flags & ENDS_ONLY:
            away_m += AT_NODE_M
        if away_m < found.away_m[index] and not flags & refused:
            length_m = graph.shape_m[point + 1] - graph.shape_m[point]
            found.edge[index], found.away_m[index] = edge, away_m
            found.offset_m[index] = graph.shape_m[point] + ratio * length_m


@entry
@kernel
def snap(graph, grid, lats, lons, metres_per_degree, refused, found):
    """Write to ``found`` the point on a way that is nearest to each position and nearer than ``found.away_m``.

    Edges with a flag in ``refused`` are ignored.
    """
    for index in range(len(lats)):
        lat, lon = lats[index], lons[index]
        east_m = metres_per_degree * math.cos(math.radians(lat))
        middle_y, middle_x = math.floor(lat / grid.cell_lat), math.floor(lon / grid.cell_lon)
        # The shorter side of a cell, in metres.
        cell_m = min(metres_per_degree * grid.cell_lat, grid.cell_lon * east_m)
        ring = 0
        while (ring - 1) * cell_m < found.away_m[index]:
            for y in range(middle_y - ring, middle_y + ring + 1):
                # Skip rows of cells that are too far away, slightly reduced because of ``AT_NODE_M``.
                gap_deg = max(0.0, y * grid.cell_lat - lat, lat - (y + 1) * grid.cell_lat)
                if gap_deg * metres_per_degree - AT_NODE_M >= found.away_m[index]:
                    continue
                step = 1 if ring == 0 or abs(y - middle_y) == ring else 2 * ring
                for x in range(middle_x - ring, middle_x + ring + 1, step):
                    cell = y * CELLS_PER_ROW + x
                    row = np.searchsorted(grid.cells, cell)
                    if row < len(grid.cells) and grid.cells[row] == cell:
                        _search_cell(graph, grid, row, lat, lon, metres_per_degree, east_m, refused, found, index)
            ring += 1
