"""Ids of itineraries, and their ranking by the presets of the lookup contract (rule D3)."""

import hashlib
import json
from enum import StrEnum

from fingerpost.transit.model.itinerary import Itinerary, Optimize, StopPoint
from fingerpost.transit.rules.instants import print_utc
from fingerpost.transit.rules.modes import timetable_word


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


def route_id(itinerary: Itinerary) -> str:
    """Return the SHA-256 of the canonical JSON of legs and times (rule D3); names and their language do not count."""
    legs = [
        {
            "mode": timetable_word(leg.mode),
            "line": leg.line or "",
            "from": _canonical(leg.start),
            "to": _canonical(leg.end),
            "departureTime": print_utc(leg.departure),
            "arrivalTime": print_utc(leg.arrival),
        }
        for leg in itinerary.legs
    ]
    text = json.dumps(legs, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(point: StopPoint) -> str:
    return point.id or f"{point.coordinate.lat:.6f},{point.coordinate.lon:.6f}"
