"""McRAPTOR with walking as a criterion, for journeys within a limit to walking.

``search_mcraptor`` is the multicriteria form of RAPTOR (Delling, Pajor, Werneck: "Round-Based Public Transit
Routing", Transportation Science 49(3), 2015, section 4.3) with walked metres as the further criterion.
It prunes by the destination with the lower bounds that ``lower_bounds`` has put into the workspace before.
"""

import numpy as np

from fingerpost.transit.engine.raptor.kernel import NO_ALIGHTING, NO_BOARDING, UNREACHED
from fingerpost.transit.engine.raptor.kernel.range_raptor import can_improve, enqueue, first_instance
from fingerpost.transit.kernel_mode import entry, looping

# The columns of a label. POSITIONS are where it boarded and alighted, both below the base, in one number; NEXT is the
# next label of the same stop.
STOP, TIME_S, WALKED_M, PARENT, PATTERN, INSTANCE, POSITIONS, NEXT = range(8)
POSITIONS_BASE = 1 << 15
# The columns of a rider. LABEL is the label that boarded.
IN_INSTANCE, HAS_WALKED_M, LABEL, BOARDED_AT = range(4)
NOBODY = -1
NO_ROOM = -1


@looping
def _is_dominated(labels, head, stop, time_s, walked_m):
    row = head[stop]
    while row != NOBODY:
        if labels.row[row, TIME_S] <= time_s and labels.row[row, WALKED_M] <= walked_m:
            return True
        row = labels.row[row, NEXT]
    return False


@looping
def _is_beaten_since(labels, head, row):
    """Whether a later label at the stop of a label is as early and has walked as little."""
    other = head[labels.row[row, STOP]]
    while other > row:
        is_early = labels.row[other, TIME_S] <= labels.row[row, TIME_S]
        if is_early and labels.row[other, WALKED_M] <= labels.row[row, WALKED_M]:
            return True
        other = labels.row[other, NEXT]
    return False


@looping
def _push(labels, count, head, stop, time_s, walked_m, parent, pattern, instance, positions):
    """Add a label to a stop's list; return the new number of labels, or NO_ROOM."""
    if count == len(labels.row):
        return NO_ROOM
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


@entry
@looping
def search_mcraptor(net, query, known_s, work, labels, found):
    """Find, leaving at ``earliest_s``, the earliest arrival for each number of rides with at most ``max_walk_m``.

    Only arrivals before ``known_s``, by number of rides, count. Exact: a label is dropped only if another is no worse
    in time and walking, or if it cannot improve the goal. Returns the number of journeys, or NO_ROOM.
    """
    for rides in range(len(work.goal)):
        work.goal[rides] = known_s[rides]
        labels.goal_row[rides] = NOBODY
    for stop in range(len(net.change_s)):
        labels.ready_head[stop] = labels.reached_head[stop] = NOBODY
    bound_s = min(query.latest_s + 1, query.earliest_s + query.direct_s)
    # Every journey ends with at least the shortest egress, so this much may be walked before it.
    before_m = np.int64(-1)
    for egress_m in query.egress_m:
        before_m = max(before_m, query.max_walk_m - egress_m)

    begin, end = 0, _start(query, work, labels, before_m)
    for rides in range(1, query.max_rides + 1):
        if end == NO_ROOM:
            return NO_ROOM
        queue_count = _enqueue_boarded(net, work, labels, begin, end)
        reached_end = _ride_patterns(net, work, labels, begin, end, queue_count, bound_s, rides)
        if reached_end == NO_ROOM:
            return NO_ROOM
        _walk_to_goal(query, work, labels, end, reached_end, bound_s, rides)
        begin, end = reached_end, _walk_to_stops(net, work, labels, end, reached_end, before_m, rides)
    return _write_labels(query, work, labels, found)


@looping
def _start(query, work, labels, before_m):
    count = 0
    for row in range(len(query.access_stop)):
        stop = query.access_stop[row]
        time_s = np.int32(query.earliest_s + query.access_s[row])
        walked_m = query.access_m[row]
        if walked_m > before_m or not can_improve(work, stop, time_s, work.rides_from[stop]):
            continue
        if not _is_dominated(labels, labels.ready_head, stop, time_s, walked_m):
            count = _push(labels, count, labels.ready_head, stop, time_s, walked_m, NOBODY, NOBODY, NOBODY, 0)
            if count == NO_ROOM:
                return NO_ROOM
    return count


@looping
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


@looping
def _ride_patterns(net, work, labels, first_row, count, queue_count, bound_s, rides):
    """Scan each pattern of the queue once with all its riders; push a label wherever one alights.

    Labels from row ``first_row`` on may board. Each rider is in an earlier instance than all who have walked as little.
    Returns the new number of labels, or NO_ROOM.
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
            stay = 0
            for rider in range(riders):
                instance, walked_m = labels.aboard[rider, IN_INSTANCE], labels.aboard[rider, HAS_WALKED_M]
                arrival_s = net.arrival_s[net.stop_time_base[pattern] + instance * length + position]
                if arrival_s >= bound_s or arrival_s >= work.goal[rides]:
                    continue
                if (
                    not flags & NO_ALIGHTING
                    and can_improve(work, stop, arrival_s, rides + work.rides_after[stop])
                    and not _is_dominated(labels, labels.reached_head, stop, arrival_s, walked_m)
                ):
                    positions = labels.aboard[rider, BOARDED_AT] * POSITIONS_BASE + position
                    count = _push(
                        labels, count, labels.reached_head,
                        stop, arrival_s, walked_m, labels.aboard[rider, LABEL], pattern, instance, positions,
                    )  # fmt: skip
                    if count == NO_ROOM:
                        return NO_ROOM
                # Riding on is like boarding here, so the same pruning applies.
                if flags & NO_BOARDING or can_improve(work, stop, arrival_s, rides - 1 + work.rides_from[stop]):
                    _sit(labels, rider, stay)
                    stay += 1
            riders = stay
            if flags & NO_BOARDING or position == length - 1:
                continue
            row = labels.ready_head[stop]
            while row >= first_row:
                riders = _take_aboard(net, work, labels, pattern, position, row, riders, rides)
                if riders == NO_ROOM:
                    return NO_ROOM
                row = labels.row[row, NEXT]
    return count


@looping
def _take_aboard(net, work, labels, pattern, position, row, riders, rides):
    """Board the first possible instance, unless a rider of it or an earlier one has walked as little.

    Removes the riders that the new one dominates. Returns the number of riders, or NO_ROOM.
    """
    walked_m = labels.row[row, WALKED_M]
    below = net.instance_first[pattern + 1] - net.instance_first[pattern]
    for rider in range(riders):
        if labels.aboard[rider, HAS_WALKED_M] <= walked_m:
            below = min(below, labels.aboard[rider, IN_INSTANCE])
    ready_s = labels.row[row, TIME_S]
    length = net.pattern_first[pattern + 1] - net.pattern_first[pattern]
    before = net.stop_time_base[pattern] + (below - 1) * length + position
    # Few labels can catch an earlier instance, so the next earlier one is checked before the binary search.
    if below == 0 or net.departure_s[before] < ready_s:
        return riders
    instance = first_instance(net, pattern, position, ready_s, below)
    stop = net.position_stop[net.pattern_first[pattern] + position]
    departure_s = net.departure_s[net.stop_time_base[pattern] + instance * length + position]
    if not can_improve(work, stop, departure_s, rides - 1 + work.rides_from[stop]):
        return riders
    stay = 0
    for rider in range(riders):
        if labels.aboard[rider, IN_INSTANCE] < instance or labels.aboard[rider, HAS_WALKED_M] < walked_m:
            _sit(labels, rider, stay)
            stay += 1
    if stay == len(labels.aboard):
        return NO_ROOM
    labels.aboard[stay, IN_INSTANCE], labels.aboard[stay, HAS_WALKED_M] = instance, walked_m
    labels.aboard[stay, LABEL], labels.aboard[stay, BOARDED_AT] = row, position
    return stay + 1


@looping
def _sit(labels, rider, seat):
    for column in range(labels.aboard.shape[1]):
        labels.aboard[seat, column] = labels.aboard[rider, column]


@looping
def _walk_to_goal(query, work, labels, begin, end, bound_s, rides):
    for row in range(begin, end):
        stop, time_s, walked_m = np.uint32(labels.row[row, STOP]), labels.row[row, TIME_S], labels.row[row, WALKED_M]
        if work.egress_s[stop] == UNREACHED or walked_m + work.egress_m[stop] > query.max_walk_m:
            continue
        total_s = time_s + work.egress_s[stop]
        if total_s >= work.goal[rides] or total_s >= bound_s or _is_beaten_since(labels, labels.reached_head, row):
            continue
        for k in range(rides, len(work.goal)):
            work.goal[k] = min(work.goal[k], total_s)
        labels.goal_row[rides] = row


@looping
def _walk_to_stops(net, work, labels, begin, end, before_m, rides):
    """Walk from the labels ``begin`` to ``end`` to other stops; return the new number of labels, or NO_ROOM."""
    count = end
    for row in range(begin, end):
        stop, time_s, walked_m = np.uint32(labels.row[row, STOP]), labels.row[row, TIME_S], labels.row[row, WALKED_M]
        # Going on takes at least one more ride.
        if not can_improve(work, stop, time_s, rides + max(1, work.rides_after[stop])):
            continue
        if _is_beaten_since(labels, labels.reached_head, row):
            continue
        if net.change_s[stop] >= 0:
            count = _note_ready(work, labels, count, row, stop, time_s + net.change_s[stop], walked_m, rides)
            if count == NO_ROOM:
                return NO_ROOM
        for path in range(net.foot_first[stop], net.foot_first[stop + 1]):
            total_m = walked_m + net.foot_m[path]
            if total_m <= before_m:
                there, ready_s = net.foot_to[path], time_s + net.foot_s[path]
                count = _note_ready(work, labels, count, row, there, ready_s, total_m, rides)
                if count == NO_ROOM:
                    return NO_ROOM
    return count


@looping
def _note_ready(work, labels, count, parent, stop, ready_s, walked_m, rides):
    """Push a label for boarding at a stop, unless it is pruned; return the new number of labels, or NO_ROOM."""
    if not can_improve(work, stop, ready_s, rides + work.rides_from[stop]):
        return count
    if _is_dominated(labels, labels.ready_head, stop, ready_s, walked_m):
        return count
    return _push(labels, count, labels.ready_head, stop, ready_s, walked_m, parent, NOBODY, NOBODY, 0)


@looping
def _write_labels(query, work, labels, found):
    """Follow the best label of each number of rides back to the start, and write its journey."""
    journey_count, leg_count = 0, 0
    for rides in range(1, query.max_rides + 1):
        row = labels.goal_row[rides]
        if row == NOBODY:
            continue
        if journey_count == len(found.journey) or leg_count + rides > len(found.leg):
            return NO_ROOM
        found.journey[journey_count, 0] = query.earliest_s
        found.journey[journey_count, 1] = labels.row[row, TIME_S] + work.egress_s[labels.row[row, STOP]]
        found.journey[journey_count, 2] = rides
        found.journey[journey_count, 3] = leg_count
        for k in range(rides, 0, -1):
            leg = leg_count + k - 1
            found.leg[leg, 0] = labels.row[row, PATTERN]
            found.leg[leg, 1] = labels.row[row, INSTANCE]
            found.leg[leg, 2] = labels.row[row, POSITIONS] // POSITIONS_BASE
            found.leg[leg, 3] = labels.row[row, POSITIONS] % POSITIONS_BASE
            row = labels.row[labels.row[row, PARENT], PARENT]
        journey_count += 1
        leg_count += rides
    return journey_count
