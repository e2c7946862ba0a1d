"""Group trip instances into patterns: instances that serve the same stops and never overtake one another."""

import numpy as np

from fingerpost.transit.engine.raptor.kernel import MAX_HOP_S, NO_ALIGHTING, NO_BOARDING, SPAN_S
from fingerpost.transit.kernel_mode import allocating_kernel, entry, kernel

# The search needs only these two flags.
_PICKUP_DROP_OFF = NO_BOARDING | NO_ALIGHTING


@entry
@kernel
def hash_stop_sequences(begin, length, stop, flags, out):
    """Hash the stops and the pickup and drop-off flags of each trip instance (FNV-1a); collisions are harmless."""
    for instance in range(len(begin)):
        value = np.uint64(1469598103934665603)
        for row in range(begin[instance], begin[instance] + length[instance]):
            value = (value ^ np.uint64(stop[row] * 4 + (flags[row] & _PICKUP_DROP_OFF))) * np.uint64(1099511628211)
            value ^= value >> np.uint64(29)
        out[instance] = value


@entry
@allocating_kernel
def assign_patterns(order, group, begin, length, shift_s, stop, flags, arrival, departure, instance_pattern):
    """Assign each trip instance to the first pattern of its group that it fits; return the number of patterns.

    An instance fits if the last one in the pattern has the same stops, pickup flags and drop-off flags, and is never
    later.
    """
    pattern_count = 0
    last = np.empty(len(order), np.int64)
    group_begin = 0
    for index in range(len(order)):
        instance = order[index]
        if index == 0 or group[instance] != group[order[index - 1]]:
            group_begin = pattern_count
        base = begin[instance]
        chosen = -1
        for pattern in range(group_begin, pattern_count):
            last_begin = begin[last[pattern]]
            later_s = shift_s[instance] - shift_s[last[pattern]]
            fits = length[last[pattern]] == length[instance]
            i = 0
            while fits and i < length[instance]:
                fits = (
                    stop[base + i] == stop[last_begin + i]
                    and (flags[base + i] ^ flags[last_begin + i]) & _PICKUP_DROP_OFF == 0
                    and arrival[base + i] + later_s >= arrival[last_begin + i]
                    and departure[base + i] + later_s >= departure[last_begin + i]
                )
                i += 1
            if fits:
                chosen = pattern
                break
        if chosen < 0:
            chosen = pattern_count
            pattern_count += 1
        last[chosen] = instance
        instance_pattern[instance] = chosen
    return pattern_count


@entry
@kernel
def find_shortest_hops(
    pattern_first, instance_first, stop_time_base, arrival_s, departure_s, spans_since_s, position_hop, out
):
    """Lower ``out`` (spans, hops) to the duration of the shortest ride of each hop that leaves in each span.

    ``position_hop`` is the hop that ends at each position of a pattern except the first.
    """
    last = len(out) - 1
    for pattern in range(len(stop_time_base)):
        first = pattern_first[pattern]
        length = pattern_first[pattern + 1] - first
        for position in range(1, length):
            hop = position_hop[first + position]
            for row in range(instance_first[pattern + 1] - instance_first[pattern]):
                stop_time = stop_time_base[pattern] + row * length + position
                leave_s = departure_s[stop_time - 1]
                span = min(last, max(0, (leave_s - spans_since_s) // SPAN_S))
                ride_s = min(MAX_HOP_S, max(0, arrival_s[stop_time] - leave_s))
                if ride_s < out[span, hop]:
                    out[span, hop] = ride_s
