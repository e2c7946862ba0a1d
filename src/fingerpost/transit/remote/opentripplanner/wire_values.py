"""Read OpenTripPlanner's durations, service days and modes, and write its instants."""

import re
from datetime import date, datetime, tzinfo
from functools import lru_cache
from math import isfinite
from typing import Annotated

from pydantic import Field

from fingerpost.transit.model.itinerary import Access, Mode
from fingerpost.transit.remote.kit.answers import ModeReader, from_text

_DURATION = re.compile(
    r"(?P<sign>[-+]?)P(?:(?P<days>[-+]?\d+)D)?"
    r"(?:T(?:(?P<hours>[-+]?\d+)H)?(?:(?P<minutes>[-+]?\d+)M)?(?:(?P<seconds>[-+]?\d+(?:\.\d+)?)S)?)?"
)
_UNIT_S = {"days": 86_400, "hours": 3600, "minutes": 60, "seconds": 1}
# No delay and no service day is longer.
LONGEST_S = 30 * 86_400
_HALF_DAY_S = 12 * 3600


@lru_cache(maxsize=2048)
def read_duration_s(text: str) -> int:
    """Return the seconds of an ISO 8601 duration, whose sign may stand before the P or each number; else ValueError."""
    match = _DURATION.fullmatch(text)
    parts = {unit: match[unit] for unit in _UNIT_S if match[unit] is not None} if match else {}
    if match is None or not parts:
        raise ValueError("no ISO 8601 duration")
    seconds = sum(float(number) * _UNIT_S[unit] for unit, number in parts.items())
    if not isfinite(seconds):
        raise ValueError("no ISO 8601 duration that can be counted")
    return round(-seconds if match["sign"] == "-" else seconds)


def find_service_day(service_day_s: int, zone: tzinfo) -> date:
    """Return the day whose service begins at an instant, which is noon minus twelve hours."""
    return datetime.fromtimestamp(service_day_s + _HALF_DAY_S, zone).date()


def format_offset_time(instant: int, zone: tzinfo) -> str:
    return datetime.fromtimestamp(instant, zone).isoformat(timespec="seconds")


DurationS = Annotated[int, Field(ge=-LONGEST_S, le=LONGEST_S), from_text(read_duration_s)]
"""Seconds, from an ISO 8601 duration."""

Day = Annotated[date, from_text(lru_cache(maxsize=512)(date.fromisoformat))]
"""A service date, written YYYY-MM-DD by the server and YYYYMMDD in its documentation."""


read_mode = ModeReader(
    {
        Mode.WALK: "walk",
        Mode.BIKE: "bicycle",
        Mode.SCOOTER: "scooter",
        Mode.BUS: "bus trolleybus",
        Mode.COACH: "coach",
        Mode.TRAM: "tram cable_car",
        Mode.METRO: "subway",
        Mode.RAIL: "rail",
        Mode.FERRY: "ferry",
    }
)
_ACCESS = {"POSSIBLE": Access.YES, "NOT_POSSIBLE": Access.NO}


def read_access(word: str | None) -> Access:
    return _ACCESS.get(word or "", Access.UNKNOWN)
