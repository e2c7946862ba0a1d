"""Range RAPTOR: the best journeys in a departure window.

``search_window`` is rRAPTOR (Delling, Pajor, Werneck: "Round-Based Public Transit Routing", Transportation
Science 49(3), 2015, sections 3 and 4.2) over patterns of trips that do not overtake one another.
It uses target pruning (the target is the destination) with the lower bounds computed by ``lower_bounds``.
It skips trips that were reached before, as Trip-Based routing does (Witt: "Trip-Based Public Transit Routing",
ESA 2015). ``mcraptor`` finds the journeys within a limit on total walking.
"""

import numpy as np

from fingerpost.transit.engine.raptor.kernel import NO_ALIGHTING, NO_BOARDING, UNREACHED
from fingerpost.transit.kernel_mode import allocating_kernel, entry, kernel

# More than the number of departures in any window.
_MAX_DEPARTURES = np.int64(1 << 32)


@kernel
def bound_arrival(work, stop, time_s):
    """Return a lower bound on the arrival at the target from a stop at ``time_s``, which may be past the horizon."""
    return min(time_s + work.bound_s[stop], max(time_s, work.horizon_s[0]))


@kernel
def can_improve(work, stop, time_s, rides):
    """Whether a journey with ``rides`` rides can improve the earliest known arrival (target pruning)."""
    return rides < len(work.target) and bound_arrival(work, stop, time_s) < work.target[rides]


@kernel
def find_first_instance(net, pattern, position, ready_s, limit):
    """Return the first instance before ``limit`` that leaves a position at or after a time, or ``limit``."""
    length = net.pattern_first[pattern + 1] - net.pattern_first[pattern]
    base = net.stop_time_base[pattern] + position
    low, high = 0, limit
    while low < high:
        middle = (low + high) >> 1
        if net.departure_s[base + middle * length] >= ready_s:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def _can_board(net, row, end):
    """Whether riders may board at a position row, and alight before the row ``end``."""
    if net.position_flags[row] & NO_BOARDING:
        return False
    for position in range(row + 1, end):  # noqa: SIM110  (numba cannot compile generators)
        if not net.position_flags[position] & NO_ALIGHTING:
            return True
    return False


@entry
@allocating_kernel
def list_departures(net, stops, walks_s, since_s, until_s):
    """Return all rides that can begin in a time span, as unordered (leave_s, pattern, instance, position, row).

    A walk of ``walks_s[row]`` leads to ``stops[row]``; ``leave_s`` is the departure minus the walk.
    """
    limit = 0
    for stop in stops:
        for pattern in net.stop_pattern[net.stop_first[stop] : net.stop_first[stop + 1]]:
            limit += net.instance_first[pattern + 1] - net.instance_first[pattern]
    count = 0
    out = np.empty((limit, 5), np.int32)
    for row in range(len(stops)):
        stop = stops[row]
        for pair in range(net.stop_first[stop], net.stop_first[stop + 1]):
            pattern = net.stop_pattern[pair]
            position = net.stop_position[pair]
            first = net.pattern_first[pattern]
            length = net.pattern_first[pattern + 1] - first
            if not _can_board(net, first + position, first + length):
                continue
            instances = net.instance_first[pattern + 1] - net.instance_first[pattern]
            for instance in range(
                find_first_instance(net, pattern, position, since_s + walks_s[row], instances), instances
            ):
                leave_s = net.departure_s[net.stop_time_base[pattern] + instance * length + position] - walks_s[row]
                if leave_s > until_s:
                    break
                out[count, 0] = leave_s
                out[count, 1] = pattern
                out[count, 2] = instance
                out[count, 3] = position
                out[count, 4] = row
                count += 1
    return out[:count]


@kernel
def _lower(table, rides, stop, value_s):
    """Lower a stop's values for ``rides`` or more rides, so that they never increase with the number of rides."""
    for k in range(rides, table.shape[0]):
        if table[k, stop] <= value_s:
            break
        table[k, stop] = value_s


@kernel
def _mark(work, side, count, stop):
    if not work.is_marked[side, stop]:
        work.is_marked[side, stop] = True
        work.marked[side, count] = stop
        return count + 1
    return count


@kernel
def enqueue(work, count, pattern, position):
    """Queue a pattern to scan from a position, or keep an earlier queued position; return the length of the queue."""
    queued_from = work.queue_position[pattern]
    work.queue_last[pattern] = max(work.queue_last[pattern], position)
    if queued_from < 0:
        work.queue[count] = pattern
        work.queue_position[pattern] = position
        return count + 1
    if position < queued_from:
        work.queue_position[pattern] = position
    return count


@kernel
def _scan(net, work, rides, side, pattern, bound_s, touched_count):
    """Scan a queued pattern, boarding at marked stops; return the new number of stops reached.

    Skip the part of a trip that a previous search reached with no more rides, because it leads nowhere new
    (reached-trip pruning).
    """
    begin, last = work.queue_position[pattern], work.queue_last[pattern]
    work.queue_position[pattern] = work.queue_last[pattern] = -1
    reached, reached_from = work.reached_instance[rides, pattern], work.reached_from[rides, pattern]
    first = net.pattern_first[pattern]
    length = net.pattern_first[pattern + 1] - first
    instances = net.instance_first[pattern + 1] - net.instance_first[pattern]
    # Only instances before ``instance`` can be an improvement. ``boarded_at`` is -1 until a rider boards;
    # ``caught_at`` is the position where the instance was caught, even if the ride was pruned.
    instance = reached if begin > reached_from else instances
    boarded_at, caught_at = -1, -1
    for position in range(begin, length):
        if boarded_at < 0 and position > last:
            break
        stop = net.position_stop[first + position]
        flags = net.position_flags[first + position]
        stop_time = net.stop_time_base[pattern] + instance * length + position
        if boarded_at >= 0 and not flags & NO_ALIGHTING:
            arrival_s = net.arrival_s[stop_time]
            if (
                arrival_s < work.arrived[rides, stop]
                and bound_arrival(work, stop, arrival_s) < bound_s
                and can_improve(work, stop, arrival_s, rides + work.rides_after[stop])
            ):
                _lower(work.arrived, rides, stop, arrival_s)
                work.ride_pattern[rides, stop] = pattern
                work.ride_instance[rides, stop] = instance
                work.ride_board[rides, stop] = boarded_at
                work.ride_alight[rides, stop] = position
                if not work.is_touched[stop]:
                    work.is_touched[stop] = True
                    work.touched[touched_count] = stop
                    touched_count += 1
        if position == reached_from and instance >= reached:
            # Beyond this position, only instances before ``reached`` can improve an arrival.
            caught_at = caught_at if instance == reached else -1
            instance, boarded_at = reached, -1
        if flags & NO_BOARDING or position == length - 1:
            continue
        # Riding on is like boarding here, so the same pruning applies.
        min_rides = rides - 1 + work.rides_from[stop]
        if boarded_at >= 0 and not can_improve(work, stop, net.departure_s[stop_time], min_rides):
            boarded_at = -1
        if work.is_marked[side, stop]:
            ready_s = work.ready[rides - 1, stop]
            previous_departure = net.stop_time_base[pattern] + (instance - 1) * length + position
            # An earlier instance can rarely be caught, so check the previous one before searching.
            if instance == instances or (instance > 0 and net.departure_s[previous_departure] >= ready_s):
                caught = find_first_instance(net, pattern, position, ready_s, instance)
                if caught < instance:
                    instance, caught_at = caught, position
                    departure_s = net.departure_s[net.stop_time_base[pattern] + instance * length + position]
                    boarded_at = position if can_improve(work, stop, departure_s, min_rides) else -1
    if caught_at >= 0:
        _record_reached(work, rides, pattern, instance, caught_at)
    return touched_count


@kernel
def _record_reached(work, rides, pattern, instance, position):
    """Mark this and later instances as already reached after a position, for ``rides`` or more rides."""
    for k in range(rides, len(work.target)):
        if k > rides and work.reached_instance[k, pattern] <= instance:
            break
        work.reached_instance[k, pattern] = instance
        work.reached_from[k, pattern] = position


@kernel
def _walk_from_stops(net, query, work, rides, side, touched_count, bound_s):
    """Walk from the stops reached in this round to the target and nearby stops; return the number of marked stops."""
    marked_count = 0
    for index in range(touched_count):
        stop = work.touched[index]
        work.is_touched[stop] = False
        arrival_s = work.arrived[rides, stop]
        if work.egress_s[stop] != UNREACHED:
            total_s = arrival_s + work.egress_s[stop]
            if total_s < work.target[rides] and total_s < bound_s:
                for k in range(rides, len(work.target)):
                    work.target[k] = min(work.target[k], total_s)
                work.target_stop[rides] = stop
                work.is_improved[rides] = True
    for index in range(touched_count):
        stop = work.touched[index]
        arrival_s = work.arrived[rides, stop]
        # The target may have improved in the meantime, and another transfer needs at least one more ride.
        if not can_improve(work, stop, arrival_s, rides + max(1, work.rides_after[stop])):
            continue
        if net.change_s[stop] >= 0:
            marked_count = _lower_ready(work, rides, side, marked_count, stop, stop, arrival_s + net.change_s[stop])
        for path in range(net.paths.first[stop], net.paths.first[stop + 1]):
            if net.paths.metres[path] <= query.max_walk_m:
                to_stop = net.paths.stop[path]
                marked_count = _lower_ready(
                    work, rides, side, marked_count, stop, to_stop, arrival_s + net.paths.seconds[path]
                )
    return marked_count


@kernel
def _lower_ready(work, rides, side, count, origin, stop, ready_s):
    """Lower the earliest boarding time at a stop, unless pruned; return the number of marked stops."""
    if ready_s < work.ready[rides, stop] and can_improve(work, stop, ready_s, rides + work.rides_from[stop]):
        _lower(work.ready, rides, stop, ready_s)
        work.ready_from[rides, stop] = origin
        return _mark(work, side, count, stop)
    return count


@kernel
def _run_rounds(net, query, work, leave_s, marked_count, queue_count):
    bound_s = min(query.latest_s + 1, leave_s + query.direct_s)
    for rides in range(1, query.max_rides + 1):
        side = (rides - 1) & 1
        # The caller may already have queued the patterns to board in the first round.
        if queue_count == 0:
            for index in range(marked_count):
                stop = work.marked[side, index]
                for pair in range(net.stop_first[stop], net.stop_first[stop + 1]):
                    queue_count = enqueue(work, queue_count, net.stop_pattern[pair], net.stop_position[pair])
        touched_count = 0
        for index in range(queue_count):
            touched_count = _scan(net, work, rides, side, work.queue[index], bound_s, touched_count)
        queue_count = 0
        for index in range(marked_count):
            work.is_marked[side, work.marked[side, index]] = False
        marked_count = _walk_from_stops(net, query, work, rides, 1 - side, touched_count, bound_s)
        # After the last round, no stop is marked.
        if marked_count == 0:
            return


@kernel
def _write_journeys(net, query, work, leave_s, out, journey_count, leg_count):
    """Trace each improved arrival back to the origin and write its journey; return the journey and leg counts."""
    for rides in range(1, query.max_rides + 1):
        if not work.is_improved[rides]:
            continue
        work.is_improved[rides] = False
        if journey_count == len(out.journey) or leg_count + rides > len(out.leg):
            return -1, leg_count
        stop = work.target_stop[rides]
        out.journey[journey_count, 0] = leave_s
        out.journey[journey_count, 1] = work.arrived[rides, stop] + work.egress_s[stop]
        out.journey[journey_count, 2] = rides
        out.journey[journey_count, 3] = leg_count
        for k in range(rides, 0, -1):
            row = leg_count + k - 1
            pattern = work.ride_pattern[k, stop]
            out.leg[row, 0] = pattern
            out.leg[row, 1] = work.ride_instance[k, stop]
            out.leg[row, 2] = work.ride_board[k, stop]
            out.leg[row, 3] = work.ride_alight[k, stop]
            board_stop = net.position_stop[net.pattern_first[pattern] + work.ride_board[k, stop]]
            stop = work.ready_from[k - 1, board_stop]
        journey_count += 1
        leg_count += rides
    return journey_count, leg_count


@allocating_kernel
def search_window(net, query, reach_s, work, out):
    """Find the Pareto-optimal journeys in the window (later departure, earlier arrival, fewer rides).

    Returns the number of journeys, or -1 if ``out`` is too small.
    """
    is_useful = work.rides_from[query.access.stop] <= query.max_rides
    stops, walks_s = query.access.stop[is_useful], query.access.seconds[is_useful]
    begin_s = max(query.earliest_s, query.window_begin_s)
    boardings = list_departures(net, stops, walks_s, begin_s, query.window_end_s - 1)
    order = np.empty(len(boardings), np.int64)
    _sort_latest_first(boardings, order)
    return _search_departures(net, query, reach_s, work, out, stops, walks_s, boardings, order)


@kernel
def _sort_latest_first(boardings, order):
    """Sort the rows stably by descending ``leave_s``, without np.argsort, which numba takes a second to compile."""
    for row in range(len(order)):
        order[row] = row - boardings[row, 0] * _MAX_DEPARTURES
    # Shellsort.
    gap = len(order)
    while gap > 1:
        gap = max(1, 4 * gap // 9)
        for row in range(gap, len(order)):
            key, slot = order[row], row
            while slot >= gap and order[slot - gap] > key:
                order[slot] = order[slot - gap]
                slot -= gap
            order[slot] = key
    for row in range(len(order)):
        order[row] &= _MAX_DEPARTURES - 1


@kernel
def _search_window_end(net, query, reach_s, work):
    """Search from the end of the window, first only for journeys within ``reach_s``: a close target prunes more.

    If there may be longer journeys with fewer rides, the search is repeated, and finds the others again.
    """
    limit_s = min(query.latest_s + 1, query.window_end_s + reach_s)
    work.target[:] = limit_s
    while True:
        for table in (work.arrived, work.ready, work.reached_instance, work.reached_from):
            table[:] = UNREACHED
        work.is_improved[:] = False
        marked_count, fewest = 0, query.max_rides
        for row in range(len(query.access.stop)):
            stop, ready_s = np.uint32(query.access.stop[row]), query.window_end_s + query.access.seconds[row]
            marked_count = _lower_ready(work, 0, 0, marked_count, -1, stop, ready_s)
            fewest = min(fewest, work.rides_from[stop])
        _run_rounds(net, query, work, query.window_end_s, marked_count, 0)
        if work.target[fewest] < limit_s or limit_s > query.latest_s:
            return
        for rides in range(len(work.target)):
            work.target[rides] = work.target[rides] + 1 if work.target[rides] < limit_s else query.latest_s + 1
        limit_s = query.latest_s + 1


@kernel
def _search_departures(net, query, reach_s, work, out, stops, walks_s, boardings, order):
    """Search from the end of the window, then from each departure within it, latest first.

    Labels persist between searches (self-pruning), so later departures prune earlier ones.
    """
    _search_window_end(net, query, reach_s, work)
    journey_count, leg_count = _write_journeys(net, query, work, query.window_end_s, out, 0, 0)
    begin = 0
    while begin < len(order) and journey_count >= 0:
        leave_s = boardings[order[begin], 0]
        end = begin
        marked_count, queue_count = 0, 0
        while end < len(order) and boardings[order[end], 0] == leave_s:
            row = boardings[order[end], 4]
            stop = np.uint32(stops[row])
            marked_count = _lower_ready(work, 0, 0, marked_count, -1, stop, leave_s + walks_s[row])
            if work.is_marked[0, stop]:
                pattern, position = np.uint32(boardings[order[end], 1]), boardings[order[end], 3]
                queue_count = enqueue(work, queue_count, pattern, position)
            end += 1
        _run_rounds(net, query, work, leave_s, marked_count, queue_count)
        journey_count, leg_count = _write_journeys(net, query, work, leave_s, out, journey_count, leg_count)
        begin = end
    return journey_count
