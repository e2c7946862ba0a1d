"""Find the services that run on a service day, and the instant at which the day begins.

A service day begins at noon minus 12 h in the feed's zone, which is midnight unless the clocks change that day
(GTFS Schedule reference, "Time").
"""

from datetime import date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np

from fingerpost.transit.engine.timetable.timetable import Bool, Int32, Timetable, UInt8
from fingerpost.transit.model.provenance import ServiceDays, find_service_days

HALF_DAY_S = 12 * 3600


@lru_cache(maxsize=4096)
def find_service_day_start(day: date, zone: str) -> int:
    noon = datetime.combine(day, time(12), ZoneInfo(zone))
    return int(noon.timestamp()) - HALF_DAY_S


@lru_cache(maxsize=4096)
def find_midnight(day: date, zone: str) -> int:
    """Return the start of a calendar day (Unix seconds); if the clocks go back, the service day begins later."""
    return int(datetime.combine(day, time(0), ZoneInfo(zone)).timestamp())


def find_services(timetable: Timetable, day: date) -> UInt8:
    offset = (day - timetable.calendar_start).days
    is_active: UInt8 = timetable.service_every_day.copy()
    if 0 <= offset < timetable.service_runs_on.shape[1]:
        is_active |= timetable.service_runs_on[:, offset]
    return is_active


def find_days(timetable: Timetable, services: Bool | Int32 | slice) -> ServiceDays:
    """Return the days on which any of the given services runs."""
    if timetable.service_every_day[services].any():
        return ServiceDays()
    offsets = np.flatnonzero(timetable.service_runs_on[services].any(axis=0))
    return find_service_days(timetable.calendar_start + timedelta(days=int(offset)) for offset in offsets)


def find_covered_days(timetable: Timetable) -> tuple[date, date] | None:
    """Return the first and last day with any service, or None if the timetable is valid every day."""
    days = find_days(timetable, slice(None))
    return None if days.first_day is None or days.last_day is None else (days.first_day, days.last_day)
