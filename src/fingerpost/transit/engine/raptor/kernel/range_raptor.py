"""Range RAPTOR: the best journeys of a departure window.

``search_window`` is rRAPTOR (Delling, Pajor, Werneck: "Round-Based Public Transit Routing", Transportation
Science 49(3), 2015, sections 3 and 4.2) over patterns of trips that do not overtake one another.
It prunes by the destination with the lower bounds that ``lower_bounds`` has put into the workspace before.
It leaves out trips that were reached before, as Trip-Based routing does (Witt: "Trip-Based Public Transit Routing",
ESA 2015).
Where the sum of walking decides, ``mcraptor`` is used as well.
"""

import numpy as np

from fingerpost.transit.engine.raptor.kernel import NO_ALIGHTING, NO_BOARDING, UNREACHED
from fingerpost.transit.kernel_mode import allocating, entry, looping


@looping
def least_s(work, stop, time_s):
    """Return the least possible arrival at the goal from a stop at a time, which may be past the horizon."""
    return min(time_s + work.bound_s[stop], max(time_s, work.horizon_s[0]))


@looping
def can_improve(work, stop, time_s, rides):
    """Whether a journey with so many rides in all could still arrive earlier than known (target pruning)."""
    return rides < len(work.goal) and least_s(work, stop, time_s) < work.goal[rides]


@looping
def first_instance(net, pattern, position, ready_s, below):
    """Return the first instance before ``below`` that leaves a position at or after a time, else ``below``."""
    length = net.pattern_first[pattern + 1] - net.pattern_first[pattern]
    base = net.stop_time_base[pattern] + position
    low, high = 0, below
    while low < high:
        middle = (low + high) >> 1
        if net.departure_s[base + middle * length] >= ready_s:
            high = middle
        else:
            low = middle + 1
    return low


@allocating
def list_boardings(net, query, work):
    """Return every (leave_s, pattern, position, access row) with which a journey in the window can begin, unordered."""
    count = 0
    out = np.empty((64, 4), np.int32)
    for row in range(len(query.access_stop)):
        stop = query.access_stop[row]
        walk_s = query.access_s[row]
        if work.rides_from[stop] > query.max_rides:
            continue
        for pair in range(net.stop_first[stop], net.stop_first[stop + 1]):
            pattern = net.stop_pattern[pair]
            position = net.stop_position[pair]
            if net.position_flags[net.pattern_first[pattern] + position] & NO_BOARDING:
                continue
            length = net.pattern_first[pattern + 1] - net.pattern_first[pattern]
            instances = net.instance_first[pattern + 1] - net.instance_first[pattern]
            instance = first_instance(net, pattern, position, query.earliest_s + walk_s, instances)
            while instance < instances:
                leave_s = net.departure_s[net.stop_time_base[pattern] + instance * length + position] - walk_s
                if leave_s >= query.window_end_s:
                    break
                if count == len(out):
                    grown = np.empty((2 * count, 4), np.int32)
                    grown[:count] = out
                    out = grown
                out[count, 0] = leave_s
                out[count, 1] = pattern
                out[count, 2] = position
                out[count, 3] = row
                count += 1
                instance += 1
    return out[:count]


@looping
def _can_be_ridden_from(net, here, end):
    """Return whether riders may board at a row of the patterns' positions, and alight before ``end``."""
    if net.position_flags[here] & NO_BOARDING:
        return False
    for position in range(here + 1, end):  # noqa: SIM110  (numba compiles no generator)
        if not net.position_flags[position] & NO_ALIGHTING:
            return True
    return False


@entry
@allocating
def list_departures(net, stops, since_s, until_s):
    """Return (instance row, position, departure_s) of every departure with pickup from some stops in a time."""
    count = 0
    out = np.empty((64, 3), np.int32)
    for stop in stops:
        for pair in range(net.stop_first[stop], net.stop_first[stop + 1]):
            pattern = net.stop_pattern[pair]
            position = net.stop_position[pair]
            first = net.pattern_first[pattern]
            length = net.pattern_first[pattern + 1] - first
            if not _can_be_ridden_from(net, first + position, first + length):
                continue
            instances = net.instance_first[pattern + 1] - net.instance_first[pattern]
            for instance in range(first_instance(net, pattern, position, since_s, instances), instances):
                departure_s = net.departure_s[net.stop_time_base[pattern] + instance * length + position]
                if departure_s > until_s:
                    break
                if count == len(out):
                    grown = np.empty((2 * count, 3), np.int32)
                    grown[:count] = out
                    out = grown
                out[count, 0] = net.instance_first[pattern] + instance
                out[count, 1] = position
                out[count, 2] = departure_s
                count += 1
    return out[:count]


@looping
def _lower(table, rides, stop, value_s):
    """Keep ``value_s`` for so many rides and more; the table never rises with the number of rides."""
    for k in range(rides, table.shape[0]):
        if table[k, stop] <= value_s:
            break
        table[k, stop] = value_s


@looping
def _mark(work, side, count, stop):
    if not work.is_marked[side, stop]:
        work.is_marked[side, stop] = True
        work.marked[side, count] = stop
        return count + 1
    return count


@looping
def enqueue(work, count, pattern, position):
    """Queue a pattern for scanning from a position, or from before it; return the new length of the queue."""
    known = work.queue_position[pattern]
    work.queue_last[pattern] = max(work.queue_last[pattern], position)
    if known < 0:
        work.queue[count] = pattern
        work.queue_position[pattern] = position
        return count + 1
    if position < known:
        work.queue_position[pattern] = position
    return count


@looping
def _scan(net, work, rides, side, pattern, bound_s, touched_count):
    """Scan a queued pattern, boarding at marked stops; return the new number of stops reached.

    Many departures catch the same trip. After the position where it was boarded before, with as many rides, it leads
    nowhere new (reached-trip pruning).
    """
    begin, last = work.queue_position[pattern], work.queue_last[pattern]
    work.queue_position[pattern] = work.queue_last[pattern] = -1
    reached, reached_from = work.reached_instance[rides, pattern], work.reached_from[rides, pattern]
    first = net.pattern_first[pattern]
    length = net.pattern_first[pattern + 1] - first
    instances = net.instance_first[pattern + 1] - net.instance_first[pattern]
    # instance: only earlier ones can lead anywhere new; boarded_at: where it was boarded, -1 while nobody rides;
    # caught_at: where it was caught, also if riding on was pruned.
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
                and least_s(work, stop, arrival_s) < bound_s
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
            # After this, ``reached`` and all behind it lead nowhere new: what matters is who catches one ahead of it.
            caught_at = caught_at if instance == reached else -1
            instance, boarded_at = reached, -1
        if flags & NO_BOARDING or position == length - 1:
            continue
        # Riding on is like boarding here: where that is pruned, whoever is aboard is pruned too.
        needed = rides - 1 + work.rides_from[stop]
        if boarded_at >= 0 and not can_improve(work, stop, net.departure_s[stop_time], needed):
            boarded_at = -1
        if work.is_marked[side, stop]:
            ready_s = work.ready[rides - 1, stop]
            before = net.stop_time_base[pattern] + (instance - 1) * length + position
            # Whoever is aboard can rarely catch an earlier instance: check the next earlier one before the search.
            if instance == instances or (instance > 0 and net.departure_s[before] >= ready_s):
                caught = first_instance(net, pattern, position, ready_s, instance)
                if caught < instance:
                    instance, caught_at = caught, position
                    departure_s = net.departure_s[net.stop_time_base[pattern] + instance * length + position]
                    boarded_at = position if can_improve(work, stop, departure_s, needed) else -1
    if caught_at >= 0:
        _note_reached(work, rides, pattern, instance, caught_at)
    return touched_count


@looping
def _note_reached(work, rides, pattern, instance, position):
    """Note that an instance and all later ones lead nowhere new after a position, with so many rides or more."""
    for k in range(rides, len(work.goal)):
        if k > rides and work.reached_instance[k, pattern] <= instance:
            break
        work.reached_instance[k, pattern] = instance
        work.reached_from[k, pattern] = position


@looping
def _walk_on(net, query, work, rides, side, touched_count, leave_s, improved):
    """From the stops reached in this round walk to the goal and to other stops; return how many can be boarded at."""
    marked_count = 0
    bound_s = min(query.latest_s + 1, leave_s + query.direct_s)
    for index in range(touched_count):
        stop = work.touched[index]
        work.is_touched[stop] = False
        arrival_s = work.arrived[rides, stop]
        if work.egress_s[stop] != UNREACHED:
            total_s = arrival_s + work.egress_s[stop]
            if total_s < work.goal[rides] and total_s < bound_s:
                for k in range(rides, len(work.goal)):
                    work.goal[k] = min(work.goal[k], total_s)
                work.goal_stop[rides] = stop
                improved[rides] = True
    for index in range(touched_count):
        stop = work.touched[index]
        arrival_s = work.arrived[rides, stop]
        # The goal may have improved since, and going on takes at least one more ride.
        if not can_improve(work, stop, arrival_s, rides + max(1, work.rides_after[stop])):
            continue
        if net.change_s[stop] >= 0:
            marked_count = _make_ready(work, rides, side, marked_count, stop, stop, arrival_s + net.change_s[stop])
        for path in range(net.foot_first[stop], net.foot_first[stop + 1]):
            if net.foot_m[path] <= query.max_walk_m:
                there = net.foot_to[path]
                marked_count = _make_ready(work, rides, side, marked_count, stop, there, arrival_s + net.foot_s[path])
    return marked_count


@looping
def _make_ready(work, rides, side, count, origin, stop, ready_s):
    """Lower the time from which a stop can be boarded at, unless pruned; return the number of marked stops."""
    if ready_s < work.ready[rides, stop] and can_improve(work, stop, ready_s, rides + work.rides_from[stop]):
        _lower(work.ready, rides, stop, ready_s)
        work.ready_from[rides, stop] = origin
        return _mark(work, side, count, stop)
    return count


@looping
def _ride_rounds(net, query, work, leave_s, marked_count, queue_count, improved):
    bound_s = min(query.latest_s + 1, leave_s + query.direct_s)
    for rides in range(1, query.max_rides + 1):
        side = (rides - 1) & 1
        if rides > 1:
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
        marked_count = _walk_on(net, query, work, rides, 1 - side, touched_count, leave_s, improved)
        if marked_count == 0:
            return
    side = query.max_rides & 1
    for index in range(marked_count):
        work.is_marked[side, work.marked[side, index]] = False


@looping
def _write_journeys(net, query, work, leave_s, improved, found, journey_count, leg_count):
    """Follow each improved goal back to the start and write the journey; return both new counts."""
    for rides in range(1, query.max_rides + 1):
        if not improved[rides]:
            continue
        improved[rides] = False
        if journey_count == len(found.journey) or leg_count + rides > len(found.leg):
            return -1, leg_count
        stop = work.goal_stop[rides]
        found.journey[journey_count, 0] = leave_s
        found.journey[journey_count, 1] = work.arrived[rides, stop] + work.egress_s[stop]
        found.journey[journey_count, 2] = rides
        found.journey[journey_count, 3] = leg_count
        for k in range(rides, 0, -1):
            row = leg_count + k - 1
            pattern = work.ride_pattern[k, stop]
            found.leg[row, 0] = pattern
            found.leg[row, 1] = work.ride_instance[k, stop]
            found.leg[row, 2] = work.ride_board[k, stop]
            found.leg[row, 3] = work.ride_alight[k, stop]
            boarded = net.position_stop[net.pattern_first[pattern] + work.ride_board[k, stop]]
            stop = work.ready_from[k - 1, boarded]
        journey_count += 1
        leg_count += rides
    return journey_count, leg_count


@entry
@allocating
def search_window(net, query, work, found):
    """Find all journeys that are best in (leave later, arrive earlier, fewer rides) and leave in the window.

    The first search is from the window's end, so that a later start prunes those in the window; then follows each start
    within, latest first. Labels stay from start to start (self-pruning).
    Returns the number of journeys, -1 if ``found`` is too small.
    """
    for table in (work.arrived, work.ready, work.reached_instance, work.reached_from):
        table[:] = UNREACHED
    work.goal[:] = UNREACHED
    improved = np.zeros(query.max_rides + 1, np.bool_)
    journey_count, leg_count = 0, 0

    marked_count, queue_count = 0, 0
    for row in range(len(query.access_stop)):
        stop = query.access_stop[row]
        ready_s = np.int32(query.window_end_s + query.access_s[row])
        if ready_s < work.ready[0, stop] and work.rides_from[stop] <= query.max_rides:
            _lower(work.ready, 0, stop, ready_s)
            work.ready_from[0, stop] = -1
            marked_count = _mark(work, 0, marked_count, stop)
    for index in range(marked_count):
        stop = work.marked[0, index]
        for pair in range(net.stop_first[stop], net.stop_first[stop + 1]):
            queue_count = enqueue(work, queue_count, net.stop_pattern[pair], net.stop_position[pair])
    _ride_rounds(net, query, work, query.window_end_s, marked_count, queue_count, improved)
    journey_count, leg_count = _write_journeys(
        net, query, work, query.window_end_s, improved, found, journey_count, leg_count
    )

    leaves = list_boardings(net, query, work)
    order = np.argsort(-leaves[:, 0], kind="mergesort")
    begin = 0
    while begin < len(order) and journey_count >= 0:
        leave_s = leaves[order[begin], 0]
        end = begin
        marked_count, queue_count = 0, 0
        while end < len(order) and leaves[order[end], 0] == leave_s:
            row = leaves[order[end], 3]
            stop = query.access_stop[row]
            ready_s = leave_s + query.access_s[row]
            if ready_s < work.ready[0, stop] and can_improve(work, stop, ready_s, work.rides_from[stop]):
                _lower(work.ready, 0, stop, ready_s)
                work.ready_from[0, stop] = -1
                marked_count = _mark(work, 0, marked_count, stop)
            if work.is_marked[0, stop]:
                queue_count = enqueue(work, queue_count, leaves[order[end], 1], leaves[order[end], 2])
            end += 1
        _ride_rounds(net, query, work, leave_s, marked_count, queue_count, improved)
        journey_count, leg_count = _write_journeys(net, query, work, leave_s, improved, found, journey_count, leg_count)
        begin = end
    return journey_count
