"""Optimise the transfer points of journeys: choose where to board and alight, without changing trips."""

import numpy as np

from fingerpost.transit.engine.raptor.kernel import NO_ALIGHTING, NO_BOARDING, UNREACHED
from fingerpost.transit.engine.raptor.kernel.lower_bounds import spread_walks
from fingerpost.transit.kernel_mode import allocating_kernel, kernel

# ``costs`` is indexed by ride, position in its pattern, and column. The columns are the total metres walked to board
# there, the position at which the previous ride ends, and the metres walked from there.
COST_M, ALIGHTED_AT, FOOT_M = range(3)


@allocating_kernel
def optimise_transfer_points(net, query, work, out, journey_count):
    """Choose where to board and alight with the least walking, without changing the trips of a journey.

    Writes the total metres walked, and the exact departure and arrival. ``work`` must contain the query's egress.
    """
    access_s, access_m = np.empty_like(net.change_s), np.empty_like(net.change_s)
    spread_walks(query.access, access_s, access_m)
    for journey in range(journey_count):
        rides = out.journey[journey, 2]
        legs = out.leg[out.journey[journey, 3] : out.journey[journey, 3] + rides]
        longest = 0
        for ride in range(rides):
            longest = max(longest, net.pattern_first[legs[ride, 0] + 1] - net.pattern_first[legs[ride, 0]])
        costs = np.empty((rides, longest, 3), np.int32)
        _compute_access_cost(net, costs, legs, access_s, access_m, out.journey[journey, 0])
        for ride in range(1, rides):
            _compute_transfer_cost(net, query, work, costs, legs, ride)
        _choose_stops(net, work, costs, out.journey[journey], legs, access_s)


@kernel
def _find_stop_time(net, pattern, instance, position):
    length = net.pattern_first[pattern + 1] - net.pattern_first[pattern]
    return net.stop_time_base[pattern] + instance * length + position


@kernel
def _compute_access_cost(net, costs, legs, access_s, access_m, leave_s):
    """Compute the metres walked to board the first ride at each position."""
    pattern, instance = legs[0, 0], legs[0, 1]
    first = net.pattern_first[pattern]
    length = net.pattern_first[pattern + 1] - first
    for position in range(length):
        costs[0, position, COST_M] = UNREACHED
        stop = net.position_stop[first + position]
        if net.position_flags[first + position] & NO_BOARDING or access_s[stop] == UNREACHED:
            continue
        departure_s = net.departure_s[_find_stop_time(net, pattern, instance, position)]
        if departure_s - access_s[stop] >= leave_s:
            costs[0, position, COST_M] = access_m[stop]


@kernel
def _compute_transfer_cost(net, query, work, costs, legs, ride):
    """Compute, per position, the metres walked to board a later ride and where to alight from the previous ride."""
    pattern, instance = legs[ride, 0], legs[ride, 1]
    served = net.position_stop[net.pattern_first[pattern] : net.pattern_first[pattern + 1]]
    for position in range(len(served)):
        costs[ride, position, COST_M] = UNREACHED
        work.is_touched[served[position]] = True
    previous, previous_instance = legs[ride - 1, 0], legs[ride - 1, 1]
    previous_first = net.pattern_first[previous]
    cheapest_m = UNREACHED
    for alight in range(net.pattern_first[previous + 1] - previous_first):
        stop = net.position_stop[previous_first + alight]
        if cheapest_m != UNREACHED and not net.position_flags[previous_first + alight] & NO_ALIGHTING:
            arrival_s = net.arrival_s[_find_stop_time(net, previous, previous_instance, alight)]
            if net.change_s[stop] >= 0:
                _board(net, costs, ride, pattern, instance, stop, arrival_s + net.change_s[stop], cheapest_m, 0, alight)
            for path in range(net.paths.first[stop], net.paths.first[stop + 1]):
                # Most stops in reach are not served by the pattern.
                if work.is_touched[net.paths.stop[path]] and net.paths.metres[path] <= query.max_walk_m:
                    _board(
                        net, costs, ride, pattern, instance, net.paths.stop[path], arrival_s + net.paths.seconds[path],
                        cheapest_m, net.paths.metres[path], alight,
                    )  # fmt: skip
        cheapest_m = min(cheapest_m, costs[ride - 1, alight, COST_M])
    for stop in served:
        work.is_touched[stop] = False


@kernel
def _board(net, costs, ride, pattern, instance, stop, ready_s, previous_m, foot_m, alight):
    """Lower the cost of boarding a ride at a stop if the ride can be caught there."""
    for pair in range(net.stop_first[stop], net.stop_first[stop + 1]):
        if net.stop_pattern[pair] != pattern:
            continue
        position = net.stop_position[pair]
        if net.position_flags[net.pattern_first[pattern] + position] & NO_BOARDING:
            continue
        departure_s = net.departure_s[_find_stop_time(net, pattern, instance, position)]
        if departure_s >= ready_s and previous_m + foot_m < costs[ride, position, COST_M]:
            costs[ride, position, COST_M] = previous_m + foot_m
            costs[ride, position, ALIGHTED_AT] = alight
            costs[ride, position, FOOT_M] = foot_m


@kernel
def _choose_stops(net, work, costs, journey, legs, access_s):
    """Choose the cheapest last stop, trace the rides back from it, and write the journey."""
    rides = len(legs)
    pattern, instance = legs[rides - 1, 0], legs[rides - 1, 1]
    first = net.pattern_first[pattern]
    best_m, best_total_s, alight = UNREACHED, UNREACHED, -1
    cheapest_m = UNREACHED
    for position in range(net.pattern_first[pattern + 1] - first):
        stop = net.position_stop[first + position]
        if cheapest_m != UNREACHED and not net.position_flags[first + position] & NO_ALIGHTING:
            total_s = UNREACHED
            if work.egress_s[stop] != UNREACHED:
                arrival_s = net.arrival_s[_find_stop_time(net, pattern, instance, position)]
                total_s = arrival_s + work.egress_s[stop]
            if total_s <= journey[1]:
                cost_m = cheapest_m + work.egress_m[stop]
                if cost_m < best_m or (cost_m == best_m and total_s < best_total_s):
                    best_m, best_total_s, alight = cost_m, total_s, position
        cheapest_m = min(cheapest_m, costs[rides - 1, position, COST_M])
    journey[1] = best_total_s
    journey[4] = best_m
    journey[5] = work.egress_m[net.position_stop[first + alight]]
    for ride in range(rides - 1, -1, -1):
        board = 0
        for position in range(alight):
            if costs[ride, position, COST_M] <= costs[ride, board, COST_M]:
                board = position
        legs[ride, 2] = board
        legs[ride, 3] = alight
        if ride > 0:
            legs[ride, 4] = costs[ride, board, FOOT_M]
            alight = costs[ride, board, ALIGHTED_AT]
        else:
            stop = net.position_stop[net.pattern_first[legs[0, 0]] + board]
            departure_s = net.departure_s[_find_stop_time(net, legs[0, 0], legs[0, 1], board)]
            legs[0, 4] = costs[0, board, COST_M]
            journey[0] = departure_s - access_s[stop]
