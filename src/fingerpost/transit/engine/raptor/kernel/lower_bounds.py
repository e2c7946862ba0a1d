"""Lower bounds for target pruning: the least time and the fewest rides from every stop to the destination.

The time bounds use the shortest rides in the relevant hours rather than in the whole day, because one fast trip at
night would weaken all bounds. The relevant hours end at the horizon; rides that leave later cannot reach the
destination before the horizon.
"""

import numpy as np

from fingerpost.transit.engine.raptor.kernel import NO_ALIGHTING, NO_BOARDING, NO_HOP, SPAN_S, UNREACHED
from fingerpost.transit.kernel_mode import allocating_kernel, kernel

# Bounds must remain valid after the window for 1.5 times the shortest travel time plus this margin.
SPARE_S = 1200

# The number of buckets in the queue, and their width in seconds; the last bucket also holds all higher costs.
BUCKETS, BUCKET_WIDTH = 8192, 8
NO_STOP, NOT_QUEUED = -1, -2


@allocating_kernel
def compute_lower_bounds(net, query, work, is_same_target):
    """Write the egress of every stop, and the lower bounds on the time and rides to the destination.

    ``is_same_target`` means that the previous search in this memory had the same destination and limits, and did
    not start from a later time. Returns the seconds after the window for which the bounds must remain valid.
    """
    if not is_same_target:
        spread_walks(query.egress, work.egress_s, work.egress_m)
        work.bound_s[:] = UNREACHED
        _bound_rides(net, query, work, np.zeros(len(net.stop_time_base), np.int32))
    is_bounded = is_same_target
    # Bounds for a longer time prune almost as well, and save a second pass for most journeys.
    reach_s = 12 * SPARE_S
    while True:
        if is_bounded:
            min_s = int(UNREACHED)
            for row in range(len(query.access.stop)):
                min_s = min(min_s, query.access.seconds[row] + work.bound_s[query.access.stop[row]])
            reach_s = 3 * min_s // 2 + SPARE_S
            # Bounds prune little if the target is reached after the horizon.
            if query.window_end_s + reach_s <= work.horizon_s[0] or work.horizon_s[0] == UNREACHED:
                return reach_s
        # Doubly linked lists: the first stop of each bucket, and each stop's next and previous stops.
        buckets = (
            np.full(BUCKETS, NO_STOP, np.int32),
            np.full(len(net.change_s), NO_STOP, np.int32),
            np.full(len(net.change_s), NOT_QUEUED, np.int32),
        )
        hop_s = _select_hops(net, query.earliest_s, query.window_end_s + reach_s, work)
        _bound_time(net, query, hop_s, work.bound_s, buckets)
        is_bounded = True


@kernel
def spread_walks(walks, seconds, metres):
    """Write the quickest walk for each stop; the seconds are UNREACHED for stops without a walk."""
    seconds[:] = UNREACHED
    for row in range(len(walks.stop)):
        stop = walks.stop[row]
        if walks.seconds[row] < seconds[stop]:
            seconds[stop], metres[stop] = walks.seconds[row], walks.metres[row]


@allocating_kernel
def _select_hops(net, since_s, until_s, work):
    """Return, by span and hop, the shortest ride that leaves in or before the span; write the horizon."""
    last = len(net.hop_s) - 1
    begin = min(last, max(0, (since_s - net.spans_since_s) // SPAN_S))
    end = min(last, max(0, (until_s - net.spans_since_s) // SPAN_S))
    work.horizon_s[0] = UNREACHED if end == last else net.spans_since_s + (end + 1) * SPAN_S
    out = net.hop_s[begin : end + 1].copy()
    for span in range(1, len(out)):
        for hop in range(out.shape[1]):
            out[span, hop] = min(out[span, hop], out[span - 1, hop])
    # Without a horizon, the minimum over all spans applies.
    return out[len(out) - 1 :] if end == last else out


@kernel
def _bound_time(net, query, hop_s, bound, buckets):
    """Find the least cost from every stop by searching from the target over hops and footpaths.

    A ride reaches the target before the horizon only if it leaves at least the remaining cost before the horizon, so
    later spans do not count; ``hop_s`` (spans, hops) holds the minimum over each span and all earlier ones.

    ``bound`` may hold values for an earlier horizon; these values are only lowered, because a later horizon adds rides.

    The algorithm is Dial's ("Algorithm 360: Shortest-Path Forest with Topological Ordering", Communications of the ACM
    12(11), 1969) with wide buckets, so a stop may be queued again if its cost falls.
    """
    for row in range(len(query.egress.stop)):
        _lower_cost(buckets, bound, np.uint32(query.egress.stop[row]), query.egress.seconds[row])
    for reached_stop in range(len(bound)):
        if bound[reached_stop] != UNREACHED:
            _lower_over_hops(net, hop_s, bound, buckets, reached_stop)
    first = buckets[0]
    for bucket in range(len(first)):
        while first[bucket] != NO_STOP:
            stop = np.uint32(first[bucket])  # an index
            _remove(buckets, bucket, stop)
            _lower_over_hops(net, hop_s, bound, buckets, stop)
            for path in range(net.arriving.first[stop], net.arriving.first[stop + 1]):
                _lower_cost(buckets, bound, net.arriving.stop[path], bound[stop] + net.arriving.seconds[path])


@kernel
def _lower_over_hops(net, hop_s, bound, buckets, stop):
    cost = bound[stop]
    row = max(0, len(hop_s) - 1 - cost // SPAN_S)
    for hop in range(net.hop_first[stop], net.hop_first[stop + 1]):
        if hop_s[row, hop] != NO_HOP:
            _lower_cost(buckets, bound, net.hop_from[hop], cost + np.int64(hop_s[row, hop]))


@kernel
def _lower_cost(buckets, bound, stop, cost):
    first, next_stop, previous_stop = buckets
    if cost >= bound[stop]:
        return
    if previous_stop[stop] != NOT_QUEUED:
        _remove(buckets, min(bound[stop] // BUCKET_WIDTH, len(first) - 1), stop)
    bound[stop] = cost
    bucket = min(cost // BUCKET_WIDTH, len(first) - 1)
    next_stop[stop], previous_stop[stop] = first[bucket], NO_STOP
    if first[bucket] != NO_STOP:
        previous_stop[first[bucket]] = stop
    first[bucket] = stop


@kernel
def _remove(buckets, bucket, stop):
    first, next_stop, previous_stop = buckets
    if previous_stop[stop] == NO_STOP:
        first[bucket] = next_stop[stop]
    else:
        next_stop[previous_stop[stop]] = next_stop[stop]
    if next_stop[stop] != NO_STOP:
        previous_stop[next_stop[stop]] = previous_stop[stop]
    previous_stop[stop] = NOT_QUEUED


@kernel
def _bound_rides(net, query, work, scanned_to):
    """Compute the least number of rides from every stop to the target.

    ``scanned_to`` must hold zeros; for each pattern, it becomes the number of positions known to lead to the target.
    """
    work.rides_from[:] = UNREACHED
    work.rides_after[:] = UNREACHED
    end = 0
    for row in range(len(query.egress.stop)):
        end = _record_rides_after(work, np.uint32(query.egress.stop[row]), 0, end)
    begin = 0
    for rides in range(1, query.max_rides + 1):
        board_count = 0
        for index in range(begin, end):
            stop = work.touched[index]
            for pair in range(net.stop_first[stop], net.stop_first[stop + 1]):
                pattern, position = net.stop_pattern[pair], net.stop_position[pair]
                if position <= scanned_to[pattern]:
                    continue
                first = net.pattern_first[pattern]
                if net.position_flags[first + position] & NO_ALIGHTING:
                    continue
                for row in range(first + scanned_to[pattern], first + position):
                    board_stop = net.position_stop[row]
                    if not net.position_flags[row] & NO_BOARDING and work.rides_from[board_stop] > rides:
                        work.rides_from[board_stop] = rides
                        work.marked[0, board_count] = board_stop
                        board_count += 1
                scanned_to[pattern] = position
        fewest = UNREACHED
        for row in range(len(query.access.stop)):
            fewest = min(fewest, work.rides_from[query.access.stop[row]])
        if fewest <= rides:
            # Stops without a bound need at least as many further rides, or one more for riders who wait there.
            for stop in range(len(net.change_s)):
                work.rides_from[stop] = min(work.rides_from[stop], rides + 1)
                work.rides_after[stop] = min(work.rides_after[stop], rides)
            return
        begin = end
        for index in range(board_count):
            stop = work.marked[0, index]
            if net.change_s[stop] >= 0:
                end = _record_rides_after(work, stop, rides, end)
            for path in range(net.arriving.first[stop], net.arriving.first[stop + 1]):
                if net.arriving.metres[path] <= query.max_walk_m:
                    end = _record_rides_after(work, net.arriving.stop[path], rides, end)


@kernel
def _record_rides_after(work, stop, rides, count):
    """Record how many rides are needed after a stop, unless known; return the number of touched stops."""
    if work.rides_after[stop] != UNREACHED:
        return count
    work.rides_after[stop] = rides
    work.touched[count] = stop
    return count + 1
