"""Why two planners' best arrivals differ: the same rides, with the other's walks and the other's slack.

Rides are fixed; what differs is how long walks take, and how long a change must be beyond its walk.
"""

from collections.abc import Awaitable, Callable
from enum import StrEnum

from fingerpost.transit.model.itinerary import Itinerary, StopPoint

WalkS = Callable[[StopPoint, StopPoint], Awaitable[float | None]]
"""Seconds of a walk by somebody's measure, None where it is too far; a stop is walked to where it is linked."""


class Cause(StrEnum):
    """What a difference in arrival is put down to."""

    EQUAL = "equal"
    STREETS = "streets"
    SLACK = "slack"
    COST = "cost"
    FAULT = "fault"


async def find_arrival(itinerary: Itinerary, start: int, walk_s: WalkS, slack_s: float) -> float | None:
    """Return when the rides of an itinerary arrive by a measure of walks, None where one is missed or too far."""
    now, here = float(start), itinerary.legs[0].start
    for number, ride in enumerate(itinerary.rides):
        walked_s = 0.0 if ride.start.coordinate == here.coordinate else await walk_s(here, ride.start)
        if walked_s is None or now + walked_s + (slack_s if number else 0.0) > ride.departure_scheduled:
            return None
        now, here = float(ride.arrival_scheduled), ride.end
    end = itinerary.legs[-1].end
    walked_s = 0.0 if end.coordinate == here.coordinate else await walk_s(here, end)
    return None if walked_s is None else now + walked_s


async def explain(
    better: Itinerary, worse_arrival: int, start: int, walk_s: WalkS, slack_s: float, tolerance_s: int
) -> Cause:
    """Return why the other planner did not find what arrives better: by its walks, by its slack, or by a fault."""
    by_walks = await find_arrival(better, start, walk_s, 0.0)
    if by_walks is None or by_walks >= worse_arrival - tolerance_s:
        return Cause.STREETS
    by_slack = await find_arrival(better, start, walk_s, slack_s)
    if by_slack is None or by_slack >= worse_arrival - tolerance_s:
        return Cause.SLACK
    return Cause.FAULT
