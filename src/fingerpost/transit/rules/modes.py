"""Map GTFS route types to modes, and modes to each contract's names (rule A9)."""

from collections.abc import Mapping
from typing import Literal

from fingerpost.transit.model.itinerary import Mode

TripWord = Literal["BUS", "TRAM", "METRO", "RAIL", "FERRY", "WALK", "BIKE", "SCOOTER", "OTHER"]
"""A mode in the plan_trip and get_departures contracts, and in find_stops."""

TimetableWord = Literal["WALK", "BUS", "TRAM", "RAIL", "SUBWAY", "FERRY", "COACH", "UNKNOWN"]
"""A mode in the lookup contract."""

_TRIP_WORDS: Mapping[Mode, TripWord] = {
    Mode.WALK: "WALK",
    Mode.BUS: "BUS",
    Mode.COACH: "BUS",
    Mode.TRAM: "TRAM",
    Mode.METRO: "METRO",
    Mode.RAIL: "RAIL",
    Mode.FERRY: "FERRY",
    Mode.BIKE: "BIKE",
    Mode.SCOOTER: "SCOOTER",
    Mode.OTHER: "OTHER",
}
_SINGLE = {
    0: Mode.TRAM,
    1: Mode.METRO,
    2: Mode.RAIL,
    3: Mode.BUS,
    4: Mode.FERRY,
    5: Mode.TRAM,
    11: Mode.BUS,
    800: Mode.BUS,
    1200: Mode.FERRY,
}
_RANGES = (
    (range(100, 118), Mode.RAIL),
    (range(200, 210), Mode.COACH),
    (range(400, 405), Mode.METRO),
    (range(700, 800), Mode.BUS),
    (range(900, 1000), Mode.TRAM),
    (range(1000, 1100), Mode.FERRY),
)
_TIMETABLE_WORDS: Mapping[Mode, TimetableWord] = {
    Mode.WALK: "WALK",
    Mode.BUS: "BUS",
    Mode.COACH: "COACH",
    Mode.TRAM: "TRAM",
    Mode.METRO: "SUBWAY",
    Mode.RAIL: "RAIL",
    Mode.FERRY: "FERRY",
}


def mode_of(route_type: int) -> Mode:
    """Return the mode of a GTFS ``route_type``, extended values included; what has no equal is OTHER."""
    found = _SINGLE.get(route_type)
    if found is not None:
        return found
    return next((mode for types, mode in _RANGES if route_type in types), Mode.OTHER)


def trip_word(mode: Mode) -> TripWord:
    return _TRIP_WORDS[mode]


def timetable_word(mode: Mode) -> TimetableWord:
    return _TIMETABLE_WORDS.get(mode, "UNKNOWN")


_ON_FOOT_OR_WHEELS = frozenset({"WALK", "BIKE", "SCOOTER"})


def is_ride(mode: str) -> bool:
    """Return whether a leg of a trip is a ride, by its word for the mode; what has no word of its own may be one."""
    return mode not in _ON_FOOT_OR_WHEELS


def name_ride(mode: str, line: str | None) -> str:
    """Return what a ride is called: its mode, and its line where the source names one."""
    return f"{mode} {line}" if line else mode
