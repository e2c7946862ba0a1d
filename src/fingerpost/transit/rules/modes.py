"""Map GTFS route types to modes, and modes to the names in each tool contract (rule A9)."""

from typing import Literal, cast

from fingerpost.transit.model.itinerary import Mode

TripMode = Literal["BUS", "TRAM", "METRO", "RAIL", "FERRY", "WALK", "BIKE", "SCOOTER", "OTHER"]
"""The mode names in plan_trip, get_departures and find_stops."""

TimetableMode = Literal["WALK", "BUS", "TRAM", "RAIL", "SUBWAY", "FERRY", "COACH", "UNKNOWN"]
"""The mode names in the lookup contract."""

_TRIP_MODES = {**{mode: mode.value for mode in Mode}, Mode.COACH: "BUS"}
_TIMETABLE_MODES = {Mode.METRO: "SUBWAY", **dict.fromkeys((Mode.BIKE, Mode.SCOOTER, Mode.OTHER), "UNKNOWN")}
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


def to_mode(route_type: int) -> Mode:
    return _MODES.get(route_type, Mode.OTHER)


def to_trip_mode(mode: Mode) -> TripMode:
    return cast("TripMode", _TRIP_MODES[mode])


def to_timetable_mode(mode: Mode) -> TimetableMode:
    return cast("TimetableMode", _TIMETABLE_MODES.get(mode, mode.value))


def format_ride(mode: str, line: str | None) -> str:
    return f"{mode} {line}" if line else mode
