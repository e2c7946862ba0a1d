"""The search for the best journeys within a limit to walking.

``search_walk_limited`` is the multicriteria form of RAPTOR (Delling, Pajor, Werneck: "Round-Based Public Transit
Routing", Transportation Science 49(3), 2015, section 4.3) with walked metres as the further criterion.
It looks ahead with lower bounds, which ``bounding`` has put into the workspace before.
"""

import numpy as np

from fingerpost.transit.raptor.kernel.compiling import (
    NO_ALIGHTING,
    NO_BOARDING,
    UNREACHED,
    allocating,
    looping,
)

# These four stand in ``searching`` too: a kernel calls none of another file (decision 0003). A test holds them equal.


@looping
def _least_s(work, stop, time_s):
    """Return when the goal can be reached at the earliest from a stop at a time: in time, or past the horizon."""
    return min(time_s + work.bound_s[stop], max(time_s, work.horizon_s[0]))


@looping
def _is_hopeful(work, stop, time_s, rides):
    """Whether from a stop, at a time, a goal that needs so many rides in all can still be improved."""
    return rides < len(work.goal) and _least_s(work, stop, time_s) < work.goal[rides]


@looping
def _first_vehicle(net, chain, position, ready_s, below):
    """Return the first vehicle of a chain, before number ``below``, that leaves a position at or after a time.

    ``below`` itself where there is none.
    """
    length = net.chain_first[chain + 1] - net.chain_first[chain]
    base = net.event_base[chain] + position
    low, high = 0, below
    while low < high:
        middle = (low + high) >> 1
        if net.departure_s[base + middle * length] >= ready_s:
            high = middle
        else:
            low = middle + 1
    return low


@looping
def _enqueue(work, count, chain, position):
    """Note that a chain must be scanned from a position, or from before it; return the new number of such chains."""
    known = work.queue_position[chain]
    work.queue_last[chain] = max(work.queue_last[chain], position)
    if known < 0:
        work.queue[count] = chain
        work.queue_position[chain] = position
        return count + 1
    if position < known:
        work.queue_position[chain] = position
    return count


@looping
def _is_dominated(head, label, stop, time_s, walked_m):
    """Whether a label at a stop is as early and has walked as little."""
    row = head[stop]
    while row >= 0:
        if label[row, 1] <= time_s and label[row, 2] <= walked_m:
            return True
        row = label[row, 7]
    return False


@allocating
def _push(label, count, head, stop, time_s, walked_m, parent, chain, vehicle, places):
    """Add a label to a stop's list; return the (perhaps grown) labels and their new number."""
    if count == len(label):
        grown = np.empty((2 * count, 8), np.int32)
        grown[:count] = label
        label = grown
    label[count, 0] = stop
    label[count, 1] = time_s
    label[count, 2] = walked_m
    label[count, 3] = parent
    label[count, 4] = chain
    label[count, 5] = vehicle
    label[count, 6] = places
    label[count, 7] = head[stop]
    head[stop] = count
    return label, count + 1


@allocating
def search_walk_limited(net, ask, known_s, work, found):
    """Find, leaving at ``earliest_s``, the earliest arrival for each number of rides with at most ``max_walk_m``.

    Only arrivals before ``known_s``, by number of rides, are looked for.
    Exact: every way is kept that is not beaten in both time and walking.
    Slower than ``search_window``, which it helps out where the sum of walking decides.
    Returns the number of journeys, -1 where ``found`` is too small.
    """
    work.goal[:] = known_s
    stops = len(net.change_s)
    # label rows: stop, time_s, walked_m, parent row, chain, vehicle, board * 2**15 + alight, next row of the stop
    label = np.empty((1024, 8), np.int32)
    count = 0
    ready_head = np.full(stops, -1, np.int32)
    reached_head = np.full(stops, -1, np.int32)
    goal_row = np.full(ask.max_rides + 1, -1, np.int32)
    bound_s = min(ask.latest_s + 1, ask.earliest_s + ask.direct_s)
    # What may be walked before the last stop: the way from there to the goal is not less than the least.
    before_m = np.int64(-1)
    for egress_m in ask.egress_m:
        before_m = max(before_m, ask.max_walk_m - egress_m)

    for row in range(len(ask.access_stop)):
        stop = ask.access_stop[row]
        time_s = np.int32(ask.earliest_s + ask.access_s[row])
        walked_m = ask.access_m[row]
        if walked_m > before_m or not _is_hopeful(work, stop, time_s, work.rides_from[stop]):
            continue
        if not _is_dominated(ready_head, label, stop, time_s, walked_m):
            label, count = _push(label, count, ready_head, stop, time_s, walked_m, -1, -1, -1, 0)
    begin = 0
    for rides in range(1, ask.max_rides + 1):
        end = count
        queue_count = _enqueue_boarded(net, work, label, begin, end)
        label, count = _ride_chains(
            net, work, label, count, begin, queue_count, ready_head, reached_head, bound_s, rides
        )
        reached_end = count
        for row in range(end, reached_end):
            stop, time_s, walked_m = label[row, 0], label[row, 1], label[row, 2]
            if work.egress_s[stop] != UNREACHED and walked_m + work.egress_m[stop] <= ask.max_walk_m:
                total_s = time_s + work.egress_s[stop]
                if total_s < work.goal[rides] and total_s < bound_s and not _is_beaten_since(reached_head, label, row):
                    for k in range(rides, len(work.goal)):
                        work.goal[k] = min(work.goal[k], total_s)
                    goal_row[rides] = row
        for row in range(end, reached_end):
            stop, time_s, walked_m = label[row, 0], label[row, 1], label[row, 2]
            # Who goes on from here takes one ride more at least.
            if not _is_hopeful(work, stop, time_s, rides + max(1, work.rides_after[stop])):
                continue
            if _is_beaten_since(reached_head, label, row):
                continue
            if net.change_s[stop] >= 0:
                ready_s = time_s + net.change_s[stop]
                if _is_hopeful(work, stop, ready_s, rides + work.rides_from[stop]) and not _is_dominated(
                    ready_head, label, stop, ready_s, walked_m
                ):
                    label, count = _push(label, count, ready_head, stop, ready_s, walked_m, row, -1, -1, 0)
            for path in range(net.foot_first[stop], net.foot_first[stop + 1]):
                there = net.foot_to[path]
                ready_s = time_s + net.foot_s[path]
                total_m = walked_m + net.foot_m[path]
                if total_m > before_m:
                    continue
                if _is_hopeful(work, there, ready_s, rides + work.rides_from[there]) and not _is_dominated(
                    ready_head, label, there, ready_s, total_m
                ):
                    label, count = _push(label, count, ready_head, there, ready_s, total_m, row, -1, -1, 0)
        begin = reached_end
    return _write_labels(ask, work, label, goal_row, found)


@looping
def _is_beaten_since(head, label, row):
    """Whether a later label at the stop of a label is as early and has walked as little."""
    other = head[label[row, 0]]
    while other > row:
        if label[other, 1] <= label[row, 1] and label[other, 2] <= label[row, 2]:
            return True
        other = label[other, 7]
    return False


@looping
def _enqueue_boarded(net, work, label, begin, end):
    """Note the chains that can be boarded with the labels of a round; return how many there are."""
    queue_count = 0
    for row in range(begin, end):
        stop = label[row, 0]
        if label[row, 4] < 0 and not work.is_marked[0, stop]:
            work.is_marked[0, stop] = True
            for pair in range(net.stop_first[stop], net.stop_first[stop + 1]):
                queue_count = _enqueue(work, queue_count, net.stop_chain[pair], net.stop_position[pair])
    for row in range(begin, end):
        work.is_marked[0, label[row, 0]] = False
    return queue_count


@allocating
def _ride_chains(net, work, label, count, since, queue_count, ready_head, reached_head, bound_s, rides):
    """Ride each chain of the queue once, with all who are worth it aboard; note where that leads.

    Boarded is with the labels from row ``since`` on. Worth it is who sits in an earlier vehicle than everybody who
    has walked as little.
    """
    # vehicle, walked_m, row of the label that boarded, position of it
    aboard = np.empty((64, 4), np.int32)
    for index in range(queue_count):
        chain = work.queue[index]
        begin, last = work.queue_position[chain], work.queue_last[chain]
        work.queue_position[chain] = work.queue_last[chain] = -1
        first = net.chain_first[chain]
        length = net.chain_first[chain + 1] - first
        vehicles = net.vehicle_first[chain + 1] - net.vehicle_first[chain]
        riders = 0
        for position in range(begin, length):
            if riders == 0 and position > last:
                break
            stop = net.position_stop[first + position]
            flags = net.position_flags[first + position]
            stay = 0
            for rider in range(riders):
                vehicle, walked_m = aboard[rider, 0], aboard[rider, 1]
                arrival_s = net.arrival_s[net.event_base[chain] + vehicle * length + position]
                if arrival_s >= bound_s or arrival_s >= work.goal[rides]:
                    continue
                for field in range(4):
                    aboard[stay, field] = aboard[rider, field]
                stay += 1
                if (
                    flags & NO_ALIGHTING
                    or not _is_hopeful(work, stop, arrival_s, rides + work.rides_after[stop])
                    or _is_dominated(reached_head, label, stop, arrival_s, walked_m)
                ):
                    continue
                parent, places = aboard[stay - 1, 2], aboard[stay - 1, 3] * 32768 + position
                label, count = _push(
                    label, count, reached_head, stop, arrival_s, walked_m, parent, chain, vehicle, places
                )
            riders = stay
            if flags & NO_BOARDING or position == length - 1:
                continue
            row = ready_head[stop]
            while row >= since:
                if riders == len(aboard):
                    grown = np.empty((2 * riders, 4), np.int32)
                    grown[:riders] = aboard
                    aboard = grown
                riders = _take_aboard(net, chain, position, vehicles, label, row, aboard, riders)
                row = label[row, 7]
    return label, count


@looping
def _take_aboard(net, chain, position, vehicles, label, row, aboard, riders):
    """Let a label board the first vehicle it can, if that is worth it, for those it beats; return how many ride."""
    walked_m = label[row, 2]
    below = vehicles
    for rider in range(riders):
        if aboard[rider, 1] <= walked_m:
            below = min(below, aboard[rider, 0])
    vehicle = _first_vehicle(net, chain, position, label[row, 1], below)
    if vehicle == below:
        return riders
    stay = 0
    for rider in range(riders):
        if aboard[rider, 0] < vehicle or aboard[rider, 1] < walked_m:
            for field in range(4):
                aboard[stay, field] = aboard[rider, field]
            stay += 1
    aboard[stay, 0], aboard[stay, 1], aboard[stay, 2], aboard[stay, 3] = vehicle, walked_m, row, position
    return stay + 1


@allocating
def _write_labels(ask, work, label, goal_row, found):
    """Follow the best label of each number of rides back to the start."""
    journey_count, leg_count = 0, 0
    for rides in range(1, ask.max_rides + 1):
        row = goal_row[rides]
        if row < 0:
            continue
        if journey_count == len(found.journey) or leg_count + rides > len(found.leg):
            return -1
        found.journey[journey_count, 0] = ask.earliest_s
        found.journey[journey_count, 1] = label[row, 1] + work.egress_s[label[row, 0]]
        found.journey[journey_count, 2] = rides
        found.journey[journey_count, 3] = leg_count
        for k in range(rides, 0, -1):
            leg = leg_count + k - 1
            found.leg[leg, 0] = label[row, 4]
            found.leg[leg, 1] = label[row, 5]
            found.leg[leg, 2] = label[row, 6] // 32768
            found.leg[leg, 3] = label[row, 6] % 32768
            row = label[label[row, 3], 3]
        journey_count += 1
        leg_count += rides
    return journey_count
