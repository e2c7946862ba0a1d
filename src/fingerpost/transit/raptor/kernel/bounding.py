"""Looking ahead: from the goal backwards, how much time, how many rides and how much walking are needed at least.

Time is bounded by the shortest rides of the hours in question, not of the whole day: one late vehicle that catches up
would else spoil the bound of its street for all others. How far the hours reach is the horizon: what rides leave
after it cannot bring anyone to the goal before it.
"""

import numpy as np

from fingerpost.transit.raptor.kernel.compiling import (
    NO_ALIGHTING,
    NO_BOARDING,
    NO_HOP,
    SPAN_S,
    STOP_LIMIT,
    UNREACHED,
    allocating,
    looping,
)

# How much longer than the window the first bounds hold.
FIRST_REACH_S = 2 * 3600


@allocating
def look_ahead(net, ask, work):
    """Forget the last search; note from where the goal can be walked to, and bound the ways there."""
    work.arrived[:] = UNREACHED
    work.ready[:] = UNREACHED
    work.goal[:] = UNREACHED
    work.egress_s[:] = UNREACHED
    for row in range(len(ask.egress_stop)):
        stop = ask.egress_stop[row]
        if ask.egress_s[row] < work.egress_s[stop]:
            work.egress_s[stop] = ask.egress_s[row]
            work.egress_m[stop] = ask.egress_m[row]
    reach_s = FIRST_REACH_S
    while True:
        hop_s = _hops_until(net, ask.earliest_s, ask.window_end_s + reach_s, work)
        _bound_least(net, ask.egress_stop, ask.egress_s, hop_s, net.walk_s, work.bound_s)
        least_s = int(UNREACHED)
        for row in range(len(ask.access_stop)):
            least_s = min(least_s, ask.access_s[row] + work.bound_s[ask.access_stop[row]])
        if work.horizon_s[0] == UNREACHED or ask.window_end_s + 2 * least_s <= work.horizon_s[0]:
            break
        # Bounds prune little once the goal lies past the horizon.
        reach_s = 3 * least_s
    _bound_rides(net, ask, work)


@allocating
def _hops_until(net, since_s, until_s, work):
    """Return the shortest ride of every hop, of those that leave in a time, UNREACHED for none; note the horizon."""
    last = net.hop_s.shape[1] - 1
    begin = min(last, max(0, (since_s - net.spans_since_s) // SPAN_S))
    end = min(last, max(0, (until_s - net.spans_since_s) // SPAN_S))
    work.horizon_s[0] = UNREACHED if end == last else net.spans_since_s + (end + 1) * SPAN_S
    out = np.empty(len(net.hop_from), np.int32)
    for hop in range(len(out)):
        least = NO_HOP
        for span in range(begin, end + 1):
            least = min(least, net.hop_s[hop, span])
        out[hop] = UNREACHED if least == NO_HOP else np.int32(least)
    return out


@allocating
def look_ahead_on_foot(net, ask, work):
    """Bound the walking, which only the walk-limited search needs."""
    no_cost = np.zeros(len(net.hop_from), np.int32)
    _bound_least(net, ask.egress_stop, ask.egress_m, no_cost, net.walk_m, work.bound_m)


@looping
def _sift(heap, size, value):
    """Put a value into a heap of so many values."""
    at = size
    while at > 0 and heap[(at - 1) >> 1] > value:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = value


@looping
def _pop(heap, size):
    """Take the least value out of a heap of so many values."""
    least, value = heap[0], heap[size - 1]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size - 1:
            break
        if child + 1 < size - 1 and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value
    return least


@allocating
def _bound_least(net, egress_stop, egress_cost, hop_cost, walk_cost, bound):
    """Dijkstra from the goal backwards over hops and footpaths: the least that any way costs from every stop."""
    bound[:] = UNREACHED
    heap = np.empty(len(egress_stop) + len(net.hop_from) + len(net.walk_from) + 1, np.int64)
    size = 0
    for row in range(len(egress_stop)):
        stop = egress_stop[row]
        if egress_cost[row] < bound[stop]:
            bound[stop] = egress_cost[row]
            _sift(heap, size, np.int64(egress_cost[row]) * STOP_LIMIT + stop)
            size += 1
    while size > 0:
        least = _pop(heap, size)
        size -= 1
        stop, cost = least % STOP_LIMIT, least // STOP_LIMIT
        if cost > bound[stop]:
            continue
        for hop in range(net.hop_first[stop], net.hop_first[stop + 1]):
            before, total = net.hop_from[hop], cost + hop_cost[hop]
            if total < bound[before]:
                bound[before] = total
                _sift(heap, size, total * STOP_LIMIT + before)
                size += 1
        for path in range(net.walk_first[stop], net.walk_first[stop + 1]):
            before, total = net.walk_from[path], cost + walk_cost[path]
            if total < bound[before]:
                bound[before] = total
                _sift(heap, size, total * STOP_LIMIT + before)
                size += 1


@looping
def _bound_rides(net, ask, work):
    """Count, from the goal backwards, how many rides are needed at least from every stop."""
    work.rides_from[:] = UNREACHED
    work.rides_after[:] = UNREACHED
    for row in range(len(ask.egress_stop)):
        work.rides_after[ask.egress_stop[row]] = 0
    for rides in range(1, ask.max_rides + 1):
        is_news = False
        for chain in range(len(net.event_base)):
            first, last = net.chain_first[chain], net.chain_first[chain + 1] - 1
            leads_on = False
            for row in range(last, first - 1, -1):
                stop, flags = net.position_stop[row], net.position_flags[row]
                if leads_on and not flags & NO_BOARDING and work.rides_from[stop] > rides:
                    work.rides_from[stop] = rides
                    is_news = True
                if not flags & NO_ALIGHTING and work.rides_after[stop] < rides:
                    leads_on = True
        if not is_news:
            return
        for stop in range(len(net.change_s)):
            if net.change_s[stop] >= 0:
                work.rides_after[stop] = min(work.rides_after[stop], work.rides_from[stop])
            for path in range(net.foot_first[stop], net.foot_first[stop + 1]):
                if net.foot_m[path] <= ask.max_walk_m:
                    work.rides_after[stop] = min(work.rides_after[stop], work.rides_from[net.foot_to[path]])
