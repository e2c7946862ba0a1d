"""Ranking of itineraries by the lookup contract's presets (rule D3)."""

from enum import StrEnum

from fingerpost.transit.model import Itinerary, Optimize


class JourneyPreset(StrEnum):
    """What a rider wants most (lookup contract)."""

    FASTEST = "FASTEST"
    FEWEST_TRANSFERS = "FEWEST_TRANSFERS"
    LEAST_WALK = "LEAST_WALK"


OPTIMIZE = {
    JourneyPreset.FASTEST: Optimize.SHORTEST_TIME,
    JourneyPreset.FEWEST_TRANSFERS: Optimize.FEW_TRANSFERS,
    JourneyPreset.LEAST_WALK: Optimize.BALANCED,
}
"""What a source is asked to optimise for each preset; no source knows the least walk."""

RouteKey = tuple[int, int, int, int, str]


def route_key(itinerary: Itinerary, preset: JourneyPreset, walk_m: int, name: str) -> RouteKey:
    """Return a key by which the better itinerary sorts first.

    After what the preset asks for: the end, the changes, the duration; ``name``, the itinerary's id, last.
    ``walk_m`` is the walking that is shown.
    """
    first = {
        JourneyPreset.FASTEST: 0,
        JourneyPreset.FEWEST_TRANSFERS: itinerary.transfers,
        JourneyPreset.LEAST_WALK: walk_m,
    }[preset]
    return first, itinerary.arrival, itinerary.transfers, itinerary.duration_s, name
