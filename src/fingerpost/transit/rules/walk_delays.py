"""Delays of walks, for sources that tell only when a walk is expected to be made.

A walk is as late as the ride that it belongs to, so that its scheduled times, and with them the fingerprint of the
itinerary (rule B7), stay what they are while real time comes and goes.
"""

from collections.abc import Sequence
from dataclasses import replace

from fingerpost.transit.model.itinerary import Leg


def with_walk_delays(legs: Sequence[Leg]) -> tuple[Leg, ...]:
    """Return legs whose walks have delays; their times are the expected ones before and after.

    The first walk is as late as the ride that it leads to, any other as the ride before it; the walk of a change ends
    with the next scheduled departure at the latest.
    """
    made: list[Leg] = []
    for number, leg in enumerate(legs):
        after = next((each for each in legs[number + 1 :] if each.is_transit), None)
        before = next((each for each in reversed(made) if each.is_transit), None)
        if leg.is_transit or leg.departure_delay_s is not None:
            made.append(leg)
        elif before is not None:
            made.append(_after_ride(leg, before, after))
        else:
            made.append(leg if after is None else _late_by(leg, after.departure_delay_s))
    return tuple(made)


def _late_by(walk: Leg, delay_s: int | None) -> Leg:
    if delay_s is None:
        return walk
    return replace(
        walk,
        departure_scheduled=walk.departure_scheduled - delay_s,
        arrival_scheduled=walk.arrival_scheduled - delay_s,
        departure_delay_s=delay_s,
        arrival_delay_s=delay_s,
    )


def _after_ride(walk: Leg, before: Leg, after: Leg | None) -> Leg:
    late = _late_by(walk, before.arrival_delay_s)
    if after is None:
        return late
    planned = max(late.departure_scheduled, min(late.arrival_scheduled, after.departure_scheduled))
    late_s = walk.arrival_scheduled - planned
    known = late_s != 0 or before.arrival_delay_s is not None
    return replace(late, arrival_scheduled=planned, arrival_delay_s=late_s if known else None)
