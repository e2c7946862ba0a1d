"""McRAPTOR with walking as a criterion, for journeys within a walking limit.

``search_mcraptor`` is the multicriteria form of RAPTOR (Delling, Pajor, Werneck: "Round-Based Public Transit
Routing", Transportation Science 49(3), 2015, section 4.3) with walked metres as the second criterion.
It uses target pruning (the target is the destination) with the lower bounds computed by ``lower_bounds``.
"""

import numpy as np

from fingerpost.transit.engine.raptor.kernel import NO_ALIGHTING, NO_BOARDING, UNREACHED
from fingerpost.transit.engine.raptor.kernel.range_raptor import can_improve, enqueue, find_first_instance
from fingerpost.transit.kernel_mode import kernel

# The columns of a label. POSITIONS encodes the board and alight positions in one number; NEXT is the next label at the
# same stop.
STOP, TIME_S, WALKED_M, PARENT, PATTERN, INSTANCE, POSITIONS, NEXT = range(8)
POSITIONS_BASE = 1 << 15
# The columns of a rider. RIDER_LABEL is the label with which the rider boarded.
RIDER_INSTANCE, RIDER_WALKED_M, RIDER_LABEL, RIDER_BOARDED_AT = range(4)
NO_LABEL = -1
BUFFER_FULL = -1


@kernel
def _is_dominated(labels, newest, oldest, time_s, walked_m):
    """Whether a label after ``oldest``, up to ``newest``, is no worse than ``time_s`` and ``walked_m``."""
    row = newest
    while row > oldest:
        if labels.row[row, TIME_S] <= time_s and labels.row[row, WALKED_M] <= walked_m:
            return True
        row = labels.row[row, NEXT]
    return False


@kernel
def _push(labels, count, head, stop, time_s, walked_m, parent, pattern, instance, positions):
    """Add a label to a stop's list unless there is no room for it; return the new number of labels."""
    if count == len(labels.row):
        labels.is_full[0] = True
        return count
    labels.row[count, STOP] = stop
    labels.row[count, TIME_S] = time_s
    labels.row[count, WALKED_M] = walked_m
    labels.row[count, PARENT] = parent
    labels.row[count, PATTERN] = pattern
    labels.row[count, INSTANCE] = instance
    labels.row[count, POSITIONS] = positions
    labels.row[count, NEXT] = head[stop]
    head[stop] = count
    return count + 1


@kernel
def search_mcraptor(net, query, best_s, work, labels, out):
    """Find the earliest arrival for each number of rides, leaving at ``earliest_s`` and walking up to ``max_walk_m``.

    Arrivals must improve on ``best_s`` for their number of rides. The search is exact: it drops a label only if another
    label is no worse in time and walking, or if the dropped label cannot improve an arrival. Returns a journey count or
    BUFFER_FULL.
    """
    for rides in range(len(work.target)):
        work.target[rides] = min(best_s[rides], query.latest_s + 1)
        labels.target_row[rides] = NO_LABEL
    for stop in range(len(net.change_s)):
        labels.ready_head[stop] = labels.reached_head[stop] = NO_LABEL
    bound_s = min(query.latest_s + 1, query.earliest_s + query.direct_s)
    # The most walking allowed before the egress, given the shortest egress walk.
    max_before_m = np.int64(-1)
    for egress_m in query.egress.metres:
        max_before_m = max(max_before_m, query.max_walk_m - egress_m)

    labels.is_full[0] = False
    begin, end = 0, _push_access(query, work, labels, max_before_m)
    for rides in range(1, query.max_rides + 1):
        queue_count = _enqueue_boarded(net, work, labels, begin, end)
        reached_end = _ride_patterns(net, work, labels, begin, end, queue_count, bound_s, rides)
        _walk_to_target(query, work, labels, end, reached_end, bound_s, rides)
        begin, end = reached_end, _walk_to_stops(net, work, labels, end, reached_end, max_before_m, rides)
        if labels.is_full[0]:
            return BUFFER_FULL
    return _write_labels(query, work, labels, out)


@kernel
def _push_access(query, work, labels, max_before_m):
    count = 0
    for row in range(len(query.access.stop)):
        stop = np.uint32(query.access.stop[row])  # an index
        time_s = np.int32(query.earliest_s + query.access.seconds[row])
        walked_m = query.access.metres[row]
        if walked_m > max_before_m or not can_improve(work, stop, time_s, work.rides_from[stop]):
            continue
        if not _is_dominated(labels, labels.ready_head[stop], NO_LABEL, time_s, walked_m):
            count = _push(labels, count, labels.ready_head, stop, time_s, walked_m, NO_LABEL, NO_LABEL, NO_LABEL, 0)
    return count


@kernel
def _enqueue_boarded(net, work, labels, begin, end):
    """Queue the patterns that can be boarded with the labels of a round; return the length of the queue."""
    queue_count = 0
    for row in range(begin, end):
        stop = np.uint32(labels.row[row, STOP])
        if not work.is_marked[0, stop]:
            work.is_marked[0, stop] = True
            for pair in range(net.stop_first[stop], net.stop_first[stop + 1]):
                queue_count = enqueue(work, queue_count, net.stop_pattern[pair], net.stop_position[pair])
    for row in range(begin, end):
        work.is_marked[0, labels.row[row, STOP]] = False
    return queue_count


@kernel
def _ride_patterns(net, work, labels, first_row, count, queue_count, bound_s, rides):
    """Scan each pattern in the queue once with all its riders; push a label wherever a rider can alight.

    Labels from row ``first_row`` on may board. Of two riders, the one who has walked more is in the earlier instance.
    Returns the new number of labels.
    """
    for index in range(queue_count):
        pattern = work.queue[index]
        begin, last = work.queue_position[pattern], work.queue_last[pattern]
        work.queue_position[pattern] = work.queue_last[pattern] = -1
        first = net.pattern_first[pattern]
        length = net.pattern_first[pattern + 1] - first
        riders = 0
        for position in range(begin, length):
            if riders == 0 and position > last:
                break
            stop = net.position_stop[first + position]
            flags = net.position_flags[first + position]
            kept_count = 0
            for rider in range(riders):
                instance, walked_m = labels.aboard[rider, RIDER_INSTANCE], labels.aboard[rider, RIDER_WALKED_M]
                arrival_s = net.arrival_s[net.stop_time_base[pattern] + instance * length + position]
                if arrival_s >= bound_s or arrival_s >= work.target[rides]:
                    continue
                if (
                    not flags & NO_ALIGHTING
                    and can_improve(work, stop, arrival_s, rides + work.rides_after[stop])
                    and not _is_dominated(labels, labels.reached_head[stop], NO_LABEL, arrival_s, walked_m)
                ):
                    positions = labels.aboard[rider, RIDER_BOARDED_AT] * POSITIONS_BASE + position
                    count = _push(
                        labels, count, labels.reached_head,
                        stop, arrival_s, walked_m, labels.aboard[rider, RIDER_LABEL], pattern, instance, positions,
                    )  # fmt: skip
                # Staying on board is like boarding here, so the same pruning applies.
                if flags & NO_BOARDING or can_improve(work, stop, arrival_s, rides - 1 + work.rides_from[stop]):
                    _move_rider(labels, rider, kept_count)
                    kept_count += 1
            riders = kept_count
            if flags & NO_BOARDING or position == length - 1:
                continue
            row = labels.ready_head[stop]
            while row >= first_row:
                riders = _board(net, work, labels, pattern, position, row, riders, rides)
                row = labels.row[row, NEXT]
    return count


@kernel
def _board(net, work, labels, pattern, position, row, riders, rides):
    """Board the first possible instance, unless a rider in it or in an earlier one has walked no farther.

    Removes the riders that the new rider dominates. Returns the number of riders.
    """
    walked_m = labels.row[row, WALKED_M]
    limit = net.instance_first[pattern + 1] - net.instance_first[pattern]
    for rider in range(riders):
        if labels.aboard[rider, RIDER_WALKED_M] <= walked_m:
            limit = min(limit, labels.aboard[rider, RIDER_INSTANCE])
    ready_s = labels.row[row, TIME_S]
    length = net.pattern_first[pattern + 1] - net.pattern_first[pattern]
    previous = net.stop_time_base[pattern] + (limit - 1) * length + position
    # Few labels can catch an earlier instance, so the previous one is checked before the binary search.
    if limit == 0 or net.departure_s[previous] < ready_s:
        return riders
    instance = find_first_instance(net, pattern, position, ready_s, limit)
    stop = net.position_stop[net.pattern_first[pattern] + position]
    departure_s = net.departure_s[net.stop_time_base[pattern] + instance * length + position]
    if not can_improve(work, stop, departure_s, rides - 1 + work.rides_from[stop]):
        return riders
    kept_count = 0
    for rider in range(riders):
        if labels.aboard[rider, RIDER_INSTANCE] < instance or labels.aboard[rider, RIDER_WALKED_M] < walked_m:
            _move_rider(labels, rider, kept_count)
            kept_count += 1
    if kept_count == len(labels.aboard):
        labels.is_full[0] = True
        return kept_count
    labels.aboard[kept_count, RIDER_INSTANCE], labels.aboard[kept_count, RIDER_WALKED_M] = instance, walked_m
    labels.aboard[kept_count, RIDER_LABEL], labels.aboard[kept_count, RIDER_BOARDED_AT] = row, position
    return kept_count + 1


@kernel
def _move_rider(labels, rider, slot):
    for column in range(labels.aboard.shape[1]):
        labels.aboard[slot, column] = labels.aboard[rider, column]


@kernel
def _walk_to_target(query, work, labels, begin, end, bound_s, rides):
    for row in range(begin, end):
        stop, time_s, walked_m = np.uint32(labels.row[row, STOP]), labels.row[row, TIME_S], labels.row[row, WALKED_M]
        if work.egress_s[stop] == UNREACHED or walked_m + work.egress_m[stop] > query.max_walk_m:
            continue
        total_s = time_s + work.egress_s[stop]
        if total_s >= work.target[rides] or total_s >= bound_s:
            continue
        if _is_dominated(labels, labels.reached_head[stop], row, time_s, walked_m):
            continue
        for k in range(rides, len(work.target)):
            work.target[k] = min(work.target[k], total_s)
        labels.target_row[rides] = row


@kernel
def _walk_to_stops(net, work, labels, begin, end, max_before_m, rides):
    """Walk to nearby stops from the labels in rows ``begin`` to ``end``; return the new number of labels."""
    count = end
    for row in range(begin, end):
        stop, time_s, walked_m = np.uint32(labels.row[row, STOP]), labels.row[row, TIME_S], labels.row[row, WALKED_M]
        # Another transfer needs at least one more ride.
        if not can_improve(work, stop, time_s, rides + max(1, work.rides_after[stop])):
            continue
        if _is_dominated(labels, labels.reached_head[stop], row, time_s, walked_m):
            continue
        if net.change_s[stop] >= 0:
            count = _push_ready(work, labels, count, row, stop, time_s + net.change_s[stop], walked_m, rides)
        for path in range(net.paths.first[stop], net.paths.first[stop + 1]):
            total_m = walked_m + net.paths.metres[path]
            if total_m <= max_before_m:
                to_stop, ready_s = net.paths.stop[path], time_s + net.paths.seconds[path]
                count = _push_ready(work, labels, count, row, to_stop, ready_s, total_m, rides)
    return count


@kernel
def _push_ready(work, labels, count, parent, stop, ready_s, walked_m, rides):
    """Push a label for boarding at a stop, unless it is pruned; return the new number of labels."""
    if not can_improve(work, stop, ready_s, rides + work.rides_from[stop]):
        return count
    if _is_dominated(labels, labels.ready_head[stop], NO_LABEL, ready_s, walked_m):
        return count
    return _push(labels, count, labels.ready_head, stop, ready_s, walked_m, parent, NO_LABEL, NO_LABEL, 0)


@kernel
def _write_labels(query, work, labels, out):
    """Follow the best label for each number of rides back to the origin, and write its journey."""
    journey_count, leg_count = 0, 0
    for rides in range(1, query.max_rides + 1):
        row = labels.target_row[rides]
        if row == NO_LABEL:
            continue
        if journey_count == len(out.journey) or leg_count + rides > len(out.leg):
            return BUFFER_FULL
        out.journey[journey_count, 0] = query.earliest_s
        out.journey[journey_count, 1] = labels.row[row, TIME_S] + work.egress_s[labels.row[row, STOP]]
        out.journey[journey_count, 2] = rides
        out.journey[journey_count, 3] = leg_count
        for k in range(rides, 0, -1):
            leg = leg_count + k - 1
            out.leg[leg, 0] = labels.row[row, PATTERN]
            out.leg[leg, 1] = labels.row[row, INSTANCE]
            out.leg[leg, 2] = labels.row[row, POSITIONS] // POSITIONS_BASE
            out.leg[leg, 3] = labels.row[row, POSITIONS] % POSITIONS_BASE
            row = labels.row[labels.row[row, PARENT], PARENT]
        journey_count += 1
        leg_count += rides
    return journey_count
