"""Compute the fingerprints, ids and sort keys of itineraries for plan_trip and planRoute."""

import hashlib
import json
from functools import lru_cache
from typing import Literal
from urllib.parse import quote

from fingerpost.transit.model.itinerary import Itinerary, LegOutline, Optimize, StopPoint
from fingerpost.transit.rules.modes import to_timetable_mode, to_trip_mode
from fingerpost.transit.rules.times import format_utc

# Itineraries with identical legs that start in the same slot of this many seconds are duplicates.
SLOT_S = 120


def compute_fingerprint(itinerary: Itinerary) -> str:
    """Return ``sha1:`` plus the SHA-1 of ``mode|line|from|to~...|start``, each part percent-encoded (rule B7)."""
    start = itinerary.departure_scheduled
    text = "~".join(map(_encode_leg, itinerary.outline)) + "|" + format_utc(start - start % SLOT_S)
    return "sha1:" + hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


@lru_cache(maxsize=16_384)
def _encode_leg(leg: LegOutline) -> str:
    mode, *names = leg
    return "|".join(quote(part, safe="").replace("~", "%7E") for part in (to_trip_mode(mode), *names))


# The cost of a transfer, in seconds of arrival time; a second of walking costs one second.
CHANGE_COST_S = 300

SortKey = tuple[int, int, int, int, str]


def build_sort_key(itinerary: Itinerary, name: str, optimize: Optimize, *, arrive_by: bool) -> SortKey:
    """Return the sort key for rule B8; ``name`` is the fingerprint."""
    time, other = itinerary.arrival, -itinerary.departure
    if arrive_by:
        time, other = other, time
    changes = itinerary.transfers
    if optimize is Optimize.SHORTEST_TIME:
        first = time
    elif optimize is Optimize.FEW_TRANSFERS:
        first = changes
    else:
        first = time + CHANGE_COST_S * changes + itinerary.walk_s
    return first, time, changes, other, name


JourneyPreset = Literal["FASTEST", "FEWEST_TRANSFERS", "LEAST_WALK"]

OPTIMIZE: dict[JourneyPreset, Optimize] = {
    "FASTEST": Optimize.SHORTEST_TIME,
    "FEWEST_TRANSFERS": Optimize.FEW_TRANSFERS,
    "LEAST_WALK": Optimize.BALANCED,
}
"""The optimization for each preset; no source minimizes walking."""


def build_route_sort_key(itinerary: Itinerary, preset: JourneyPreset, *, arrive_by: bool) -> tuple[float, SortKey]:
    """Return the sort key for rule D3: the preset's criterion, followed by the sort key of plan_trip."""
    is_least_walk = preset == "LEAST_WALK"
    optimize = Optimize.SHORTEST_TIME if is_least_walk else OPTIMIZE[preset]
    name = compute_route_id(itinerary)
    return itinerary.walk_m if is_least_walk else 0, build_sort_key(itinerary, name, optimize, arrive_by=arrive_by)


def compute_route_id(itinerary: Itinerary) -> str:
    """Return the SHA-256 of the canonical JSON of the legs and times, without names (rule D3)."""
    legs = [
        {
            "mode": to_timetable_mode(leg.mode),
            "line": leg.line or "",
            "from": _format_point(leg.start),
            "to": _format_point(leg.end),
            "departureTime": format_utc(leg.departure),
            "arrivalTime": format_utc(leg.arrival),
        }
        for leg in itinerary.legs
    ]
    text = json.dumps(legs, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _format_point(point: StopPoint) -> str:
    return point.id or f"{point.coordinate.lat:.6f},{point.coordinate.lon:.6f}"
