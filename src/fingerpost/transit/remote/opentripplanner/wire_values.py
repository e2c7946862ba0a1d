"""Read OpenTripPlanner's durations, service days and modes, and write its instants."""

import re
from datetime import date, datetime, tzinfo
from functools import lru_cache
from math import isfinite
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from fingerpost.transit.model.itinerary import Access, Mode
from fingerpost.transit.rules.modes import mode_of

_DURATION = re.compile(
    r"(?P<sign>[-+]?)P(?:(?P<days>[-+]?\d+)D)?"
    r"(?:T(?:(?P<hours>[-+]?\d+)H)?(?:(?P<minutes>[-+]?\d+)M)?(?:(?P<seconds>[-+]?\d+(?:\.\d+)?)S)?)?"
)
_UNIT_S = {"days": 86_400, "hours": 3600, "minutes": 60, "seconds": 1}
LONGEST_S = 30 * 86_400
"""No delay and no service day is longer."""
_HALF_DAY_S = 12 * 3600


@lru_cache(maxsize=2048)
def read_duration_s(text: str) -> int:
    """Return the seconds of an ISO 8601 duration; its sign may stand before the P, or before each number.

    Raises:
        ValueError: it is none.
    """
    match = _DURATION.fullmatch(text)
    parts = {unit: match[unit] for unit in _UNIT_S if match[unit] is not None} if match else {}
    if match is None or not parts:
        raise ValueError("no ISO 8601 duration")
    seconds = sum(float(number) * _UNIT_S[unit] for unit, number in parts.items())
    if not isfinite(seconds):
        raise ValueError("no ISO 8601 duration that can be counted")
    return round(-seconds if match["sign"] == "-" else seconds)


@lru_cache(maxsize=512)
def read_day(text: str) -> date:
    """Return a service date, written YYYY-MM-DD by the server and YYYYMMDD in its documentation.

    Raises:
        ValueError: it is neither.
    """
    return date.fromisoformat(text)


def find_service_day(service_day_s: int, zone: tzinfo) -> date:
    """Return the day whose service begins at an instant: noon minus twelve hours, so 23:00 or 01:00 on some days."""
    return datetime.fromtimestamp(service_day_s + _HALF_DAY_S, zone).date()


def print_offset_time(instant: int, zone: tzinfo) -> str:
    return datetime.fromtimestamp(instant, zone).isoformat(timespec="seconds")


def _read(reader: Any) -> BeforeValidator:
    return BeforeValidator(lambda value: reader(value) if isinstance(value, str) else value)


DurationS = Annotated[int, Field(ge=-LONGEST_S, le=LONGEST_S), _read(read_duration_s)]
"""Seconds, from an ISO 8601 duration."""

Day = Annotated[date, _read(read_day)]
"""A service date."""


_MODES = {
    "WALK": Mode.WALK,
    "BICYCLE": Mode.BIKE,
    "SCOOTER": Mode.SCOOTER,
    "BUS": Mode.BUS,
    "TROLLEYBUS": Mode.BUS,
    "COACH": Mode.COACH,
    "TRAM": Mode.TRAM,
    "CABLE_CAR": Mode.TRAM,
    "SUBWAY": Mode.METRO,
    "RAIL": Mode.RAIL,
    "FERRY": Mode.FERRY,
}
_ACCESS = {"POSSIBLE": Access.YES, "NOT_POSSIBLE": Access.NO}


def read_mode(name: str | None, route_type: int | None = None) -> Mode:
    """Return the mode of a leg or a route: its GTFS route type decides, else the server's word."""
    if route_type is not None:
        return mode_of(route_type)
    return _MODES.get(name or "", Mode.OTHER)


def read_access(word: str | None) -> Access:
    return _ACCESS.get(word or "", Access.UNKNOWN)
