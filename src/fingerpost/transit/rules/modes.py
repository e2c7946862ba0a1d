"""Map GTFS route types to modes, and modes to each contract's names (rule A9)."""

from typing import Literal, cast

from fingerpost.transit.model.itinerary import Mode

TripWord = Literal["BUS", "TRAM", "METRO", "RAIL", "FERRY", "WALK", "BIKE", "SCOOTER", "OTHER"]
"""A mode in the plan_trip and get_departures contracts, and in find_stops."""

TimetableWord = Literal["WALK", "BUS", "TRAM", "RAIL", "SUBWAY", "FERRY", "COACH", "UNKNOWN"]
"""A mode in the lookup contract."""

# A coach is a bus there, every other mode has the word of ours.
_TRIP_WORDS = {**{mode: mode.value for mode in Mode}, Mode.COACH: "BUS"}
_TIMETABLE_WORDS = {Mode.METRO: "SUBWAY", **dict.fromkeys((Mode.BIKE, Mode.SCOOTER, Mode.OTHER), "UNKNOWN")}
_MODES = {
    route_type: mode
    for mode, route_types in {
        Mode.TRAM: (0, 5, *range(900, 1000)),
        Mode.METRO: (1, *range(400, 405)),
        Mode.RAIL: (2, *range(100, 118)),
        Mode.BUS: (3, 11, *range(700, 801)),
        Mode.COACH: range(200, 210),
        Mode.FERRY: (4, *range(1000, 1100), 1200),
    }.items()
    for route_type in route_types
}


def mode_of(route_type: int) -> Mode:
    return _MODES.get(route_type, Mode.OTHER)


def trip_word(mode: Mode) -> TripWord:
    return cast("TripWord", _TRIP_WORDS[mode])


def timetable_word(mode: Mode) -> TimetableWord:
    return cast("TimetableWord", _TIMETABLE_WORDS.get(mode, mode.value))


def name_ride(mode: str, line: str | None) -> str:
    return f"{mode} {line}" if line else mode
