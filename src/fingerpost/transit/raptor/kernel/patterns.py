"""Building a slice: vehicles that call at the same stops become chains in which none overtakes another."""

import numpy as np

from fingerpost.transit.raptor.kernel.compiling import (
    LONGEST_HOP_S,
    NO_ALIGHTING,
    NO_BOARDING,
    SPAN_S,
    allocating,
    looping,
)

# Flags tell more than which doors open, and the rest is nothing to the search.
_DOORS = NO_BOARDING | NO_ALIGHTING


@looping
def gather_calls(
    begin, length, shift_s, stop, flags, arrival, departure, out_begin, out_stop, out_flags, out_arrival, out_departure
):
    """Copy the calls of vehicles to where each is to begin, with its shift."""
    for vehicle in range(len(begin)):
        for i in range(length[vehicle]):
            row, out = begin[vehicle] + i, out_begin[vehicle] + i
            out_stop[out] = stop[row]
            out_flags[out] = flags[row]
            out_arrival[out] = arrival[row] + shift_s[vehicle]
            out_departure[out] = departure[row] + shift_s[vehicle]


@looping
def hash_patterns(begin, length, stop, flags, out):
    """Give vehicles with the same stops and doors the same number (FNV-1a); others differ almost surely."""
    for vehicle in range(len(begin)):
        value = np.uint64(1469598103934665603)
        for row in range(begin[vehicle], begin[vehicle] + length[vehicle]):
            value = (value ^ np.uint64(stop[row] * 4 + (flags[row] & _DOORS))) * np.uint64(1099511628211)
            value ^= value >> np.uint64(29)
        out[vehicle] = value


@allocating
def split_chains(order, group, begin, length, shift_s, stop, flags, arrival, departure, chain_of):
    """Put each vehicle, in the given order, into the first chain of its group that it fits behind.

    It fits behind another that calls at the same stops with the same doors and is never later anywhere.
    Returns the number of chains; ``chain_of`` is filled in.
    """
    chain_count = 0
    last = np.empty(len(order), np.int64)
    group_begin = 0
    for index in range(len(order)):
        vehicle = order[index]
        if index == 0 or group[vehicle] != group[order[index - 1]]:
            group_begin = chain_count
        base = begin[vehicle]
        home = -1
        for chain in range(group_begin, chain_count):
            before = begin[last[chain]]
            later_s = shift_s[vehicle] - shift_s[last[chain]]
            fits = length[last[chain]] == length[vehicle]
            i = 0
            while fits and i < length[vehicle]:
                fits = (
                    stop[base + i] == stop[before + i]
                    and (flags[base + i] ^ flags[before + i]) & _DOORS == 0
                    and arrival[base + i] + later_s >= arrival[before + i]
                    and departure[base + i] + later_s >= departure[before + i]
                )
                i += 1
            if fits:
                home = chain
                break
        if home < 0:
            home = chain_count
            chain_count += 1
        last[home] = vehicle
        chain_of[vehicle] = home
    return chain_count


@allocating
def fill_chains(
    order, chain_of, begin, length, shift_s, stop, flags, arrival, departure, chains_first, vehicle_first, event_base,
    out_stop, out_flags, out_arrival, out_departure, out_vehicle,
):  # fmt: skip
    """Write the vehicles of each chain one behind the other."""
    filled = np.zeros(len(event_base), np.int64)
    for index in range(len(order)):
        vehicle = order[index]
        chain = chain_of[vehicle]
        base, calls = begin[vehicle], length[vehicle]
        row = filled[chain]
        out_vehicle[vehicle_first[chain] + row] = vehicle
        out = event_base[chain] + row * calls
        for i in range(calls):
            out_arrival[out + i] = arrival[base + i] + shift_s[vehicle]
            out_departure[out + i] = departure[base + i] + shift_s[vehicle]
        if row == 0:
            for i in range(calls):
                out_stop[chains_first[chain] + i] = stop[base + i]
                out_flags[chains_first[chain] + i] = flags[base + i] & _DOORS
        filled[chain] = row + 1


@looping
def shortest_hops(net, hop_of, out):
    """Lower ``out`` to the shortest rides, by the span of the day in which they leave and by hop.

    ``hop_of`` says for each position of a chain but its first which hop leads to it.
    """
    last = len(out) - 1
    for chain in range(len(net.event_base)):
        first = net.chain_first[chain]
        length = net.chain_first[chain + 1] - first
        for position in range(1, length):
            hop = hop_of[first + position]
            for row in range(net.vehicle_first[chain + 1] - net.vehicle_first[chain]):
                event = net.event_base[chain] + row * length + position
                leave_s = net.departure_s[event - 1]
                span = min(last, max(0, (leave_s - net.spans_since_s) // SPAN_S))
                ride_s = min(LONGEST_HOP_S, max(0, net.arrival_s[event] - leave_s))
                if ride_s < out[span, hop]:
                    out[span, hop] = ride_s


@looping
def hold_order(begin, length, vehicles, arrival, departure):
    """Let no vehicle leave before it arrives, nor arrive before it left: a later call waits for the earlier."""
    for index in range(len(vehicles)):
        vehicle = vehicles[index]
        for event in range(begin[vehicle], begin[vehicle] + length[vehicle]):
            if event > begin[vehicle] and arrival[event] < departure[event - 1]:
                arrival[event] = departure[event - 1]
            if departure[event] < arrival[event]:
                departure[event] = arrival[event]
