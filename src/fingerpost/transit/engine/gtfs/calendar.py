"""Read GTFS ``calendar.txt`` and ``calendar_dates.txt``: the dates on which each service runs."""

from dataclasses import dataclass, field

import numpy as np

from fingerpost.errors import FeedUnusable
from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.field_values import parse_day
from fingerpost.transit.engine.gtfs.csv.findings import Reason
from fingerpost.transit.engine.gtfs.csv.table import Table
from fingerpost.transit.engine.timetable.columns import NO_INT32
from fingerpost.transit.engine.timetable.timetable import Int32

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ADDED, _REMOVED = "1", "2"

# The maximum product of services and calendar days; ten thousand services over five years use a tenth of it.
MAX_SERVICE_DAYS = 200_000_000


@dataclass(slots=True)
class _Service:
    """A service being read: its dates from calendar.txt, and its exceptions (True: added, False: removed)."""

    place: tuple[str, int]
    weekly: Int32 = field(default_factory=NO_INT32.copy)
    exceptions: dict[int, bool] = field(default_factory=dict)

    def to_days(self) -> Int32:
        added = [day for day, is_added in self.exceptions.items() if is_added]
        removed = [day for day, is_added in self.exceptions.items() if not is_added]
        return np.setdiff1d(np.union1d(self.weekly, added), removed).astype(np.int32)


def read_services(archive: Archive) -> tuple[list[str], list[Int32]]:
    """Return the service ids, and each service's sorted day ordinals."""
    weekly = archive.find_table("calendar.txt", "service_id", *_WEEKDAYS, "start_date", "end_date")
    exceptions = archive.find_table("calendar_dates.txt", "service_id", "date", "exception_type")
    if weekly is None and exceptions is None:
        raise FeedUnusable(
            f"{archive.name} has neither calendar.txt nor calendar_dates.txt, so its service days are unknown",
            hint="Check that this is a GTFS feed, and ask its publisher for a complete one",
        )
    services: dict[str, _Service] = {}
    if weekly is not None:
        _read_weekly(weekly, services)
    if exceptions is not None:
        _read_exceptions(exceptions, services)
    places = [service.place for service in services.values()]
    days = _shorten_calendar(archive, [service.to_days() for service in services.values()], places)
    for service_days, place in zip(days, places, strict=True):
        if not len(service_days):
            archive.findings.add(Reason.SERVICE_WITHOUT_DAYS, *place)
    return list(services), days


def _read_weekly(table: Table, services: dict[str, _Service]) -> None:
    columns = ("service_id", "start_date", "end_date", *_WEEKDAYS)
    for line, (service_id, start_text, end_text, *marks) in table.read_rows(*columns):
        if not service_id or service_id in services:
            table.note(Reason.ID_REPEATED if service_id else Reason.ID_MISSING, line, "service_id")
            continue
        start, end = parse_day(start_text), parse_day(end_text)
        service = services[service_id] = _Service((table.name, line))
        if start is None or end is None or end < start:
            table.note(Reason.CALENDAR_ROW_UNREADABLE, line, "start_date" if start is None else "end_date")
        else:
            for weekday, mark in zip(_WEEKDAYS, marks, strict=True):
                if mark not in {"0", "1"}:
                    table.note(Reason.VALUE_UNREADABLE_ASSUMED, line, weekday)
            span = np.arange(start.toordinal(), end.toordinal() + 1, dtype=np.int32)
            service.weekly = span[np.array([mark == "1" for mark in marks])[(span + 6) % 7]]


def _read_exceptions(table: Table, services: dict[str, _Service]) -> None:
    for line, (service_id, day_text, type_text) in table.read_rows("service_id", "date", "exception_type"):
        if not service_id:
            table.note(Reason.ID_MISSING, line, "service_id")
            continue
        service = services.get(service_id) or services.setdefault(service_id, _Service((table.name, line)))
        day = parse_day(day_text)
        if day is None or type_text not in {_ADDED, _REMOVED}:
            table.note(Reason.CALENDAR_ROW_UNREADABLE, line, "date" if day is None else "exception_type")
        else:
            service.exceptions[day.toordinal()] = type_text == _ADDED


def _shorten_calendar(archive: Archive, days: list[Int32], places: list[tuple[str, int]]) -> list[Int32]:
    """Shorten the calendar to fit MAX_SERVICE_DAYS, starting on the day by which half of the services have begun."""
    non_empty = [dates for dates in days if len(dates)]
    max_days = MAX_SERVICE_DAYS // max(len(days), 1)
    if not non_empty or max(dates[-1] for dates in non_empty) - min(dates[0] for dates in non_empty) < max_days:
        return days
    begin = sorted(int(dates[0]) for dates in non_empty)[len(non_empty) // 2]
    shortened = [dates[(dates >= begin) & (dates < begin + max_days)] for dates in days]
    for before, after, place in zip(days, shortened, places, strict=True):
        if len(after) < len(before):
            archive.findings.add(Reason.CALENDAR_RANGE_SHORTENED, *place)
    return shortened
