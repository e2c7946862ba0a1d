"""Transfer-point optimisation: where to board and alight, for given trips."""

import numpy as np

from fingerpost.transit.engine.raptor.kernel import NO_ALIGHTING, NO_BOARDING, UNREACHED
from fingerpost.transit.kernel_mode import allocating, entry, looping


@entry
@allocating
def optimise_transfer_points(net, query, work, found, journey_count):
    """Choose the stops to board and alight at with the least walking, without changing the trips of a journey.

    Writes all walked metres, and the exact departure and arrival. ``work`` must still hold the egress of the query.
    """
    access_s = np.full(len(net.change_s), UNREACHED, np.int32)
    access_m = np.full(len(net.change_s), UNREACHED, np.int32)
    for row in range(len(query.access_stop)):
        stop = query.access_stop[row]
        if query.access_s[row] < access_s[stop]:
            access_s[stop] = query.access_s[row]
            access_m[stop] = query.access_m[row]
    for journey in range(journey_count):
        rides = found.journey[journey, 2]
        legs = found.leg[found.journey[journey, 3] : found.journey[journey, 3] + rides]
        _cost_of_access(net, work, legs, access_s, access_m, found.journey[journey, 0])
        for ride in range(1, rides):
            _cost_of_change(net, query, work, legs, ride)
        _choose(net, work, found.journey[journey], legs, access_s)


@looping
def _stop_time(net, pattern, instance, position):
    length = net.pattern_first[pattern + 1] - net.pattern_first[pattern]
    return net.stop_time_base[pattern] + instance * length + position


@looping
def _cost_of_access(net, work, legs, access_s, access_m, leave_s):
    """Metres walked to board the first ride at each position."""
    pattern, instance = legs[0, 0], legs[0, 1]
    first = net.pattern_first[pattern]
    length = net.pattern_first[pattern + 1] - first
    for position in range(length):
        work.transfer_cost_m[0, position] = UNREACHED
        stop = net.position_stop[first + position]
        if net.position_flags[first + position] & NO_BOARDING or access_s[stop] == UNREACHED:
            continue
        departure_s = net.departure_s[_stop_time(net, pattern, instance, position)]
        if departure_s - access_s[stop] >= leave_s:
            work.transfer_cost_m[0, position] = access_m[stop]


@looping
def _cost_of_change(net, query, work, legs, ride):
    """Metres walked to board a later ride at each position, and where the ride before was left."""
    pattern, instance = legs[ride, 0], legs[ride, 1]
    for position in range(net.pattern_first[pattern + 1] - net.pattern_first[pattern]):
        work.transfer_cost_m[ride, position] = UNREACHED
    before, before_instance = legs[ride - 1, 0], legs[ride - 1, 1]
    before_first = net.pattern_first[before]
    cheapest_m = UNREACHED
    for alight in range(net.pattern_first[before + 1] - before_first):
        stop = net.position_stop[before_first + alight]
        if cheapest_m != UNREACHED and not net.position_flags[before_first + alight] & NO_ALIGHTING:
            arrival_s = net.arrival_s[_stop_time(net, before, before_instance, alight)]
            if net.change_s[stop] >= 0:
                _offer(net, work, ride, pattern, instance, stop, arrival_s + net.change_s[stop], cheapest_m, 0, alight)
            for path in range(net.foot_first[stop], net.foot_first[stop + 1]):
                if net.foot_m[path] <= query.max_walk_m:
                    _offer(
                        net, work, ride, pattern, instance, net.foot_to[path], arrival_s + net.foot_s[path],
                        cheapest_m, net.foot_m[path], alight,
                    )  # fmt: skip
        cheapest_m = min(cheapest_m, work.transfer_cost_m[ride - 1, alight])


@looping
def _offer(net, work, ride, pattern, instance, stop, ready_s, before_m, foot_m, alight):
    """Board a ride at a stop if that is in time and cheaper than before."""
    for pair in range(net.stop_first[stop], net.stop_first[stop + 1]):
        if net.stop_pattern[pair] != pattern:
            continue
        position = net.stop_position[pair]
        if net.position_flags[net.pattern_first[pattern] + position] & NO_BOARDING:
            continue
        departure_s = net.departure_s[_stop_time(net, pattern, instance, position)]
        if departure_s >= ready_s and before_m + foot_m < work.transfer_cost_m[ride, position]:
            work.transfer_cost_m[ride, position] = before_m + foot_m
            work.transfer_before[ride, position] = alight
            work.transfer_foot[ride, position] = foot_m


@looping
def _choose(net, work, journey, legs, access_s):
    """Choose the cheapest stop to alight at last, then go back ride by ride, and write the journey."""
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
                arrival_s = net.arrival_s[_stop_time(net, pattern, instance, position)]
                total_s = arrival_s + work.egress_s[stop]
            if total_s <= journey[1]:
                cost_m = cheapest_m + work.egress_m[stop]
                if cost_m < best_m or (cost_m == best_m and total_s < best_total_s):
                    best_m, best_total_s, alight = cost_m, total_s, position
        cheapest_m = min(cheapest_m, work.transfer_cost_m[rides - 1, position])
    journey[1] = best_total_s
    journey[5] = work.egress_m[net.position_stop[first + alight]]
    for ride in range(rides - 1, -1, -1):
        board = 0
        for position in range(alight):
            if work.transfer_cost_m[ride, position] <= work.transfer_cost_m[ride, board]:
                board = position
        legs[ride, 2] = board
        legs[ride, 3] = alight
        if ride > 0:
            legs[ride, 4] = work.transfer_foot[ride, board]
            alight = work.transfer_before[ride, board]
        else:
            stop = net.position_stop[net.pattern_first[legs[0, 0]] + board]
            departure_s = net.departure_s[_stop_time(net, legs[0, 0], legs[0, 1], board)]
            legs[0, 4] = work.transfer_cost_m[0, board]
            journey[4] = work.transfer_cost_m[0, board]
            journey[0] = departure_s - access_s[stop]
