"""``calendar.txt`` and ``calendar_dates.txt``: the dates on which each service runs."""

from datetime import date, timedelta
from typing import NamedTuple

from fingerpost.errors import FeedUnusable
from fingerpost.transit.gtfs.archive import Archive
from fingerpost.transit.gtfs.findings import Reason
from fingerpost.transit.gtfs.table import Table, find_day

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ADDED, _REMOVED = "1", "2"

# A timetable is made for months. Dates outside these years are slips of the pen, and longer ranges mean "for good".
_YEARS = range(1990, 2200)
LONGEST_RANGE_DAYS = 3 * 366


class Services(NamedTuple):
    """Services of one feed; ``row_of`` maps a service id to its row.

    ``places`` are the (table, line) where each is first named.
    """

    days: list[set[date]]
    row_of: dict[str, int]
    places: list[tuple[str, int]]

    def row(self, service_id: str, table: Table, line: int) -> int:
        """Return the row of a service, adding it if it is new."""
        row = self.row_of.setdefault(service_id, len(self.days))
        if row == len(self.days):
            self.days.append(set())
            self.places.append((table.name, line))
        return row


def read_services(archive: Archive) -> Services:
    """Read the dates of every service, exceptions applied.

    A range that is longer than LONGEST_RANGE_DAYS ends there. A row that cannot be read is left out and counted.

    Raises:
        FeedUnusable: the feed has neither of the two tables.
    """
    weekly = archive.find_table("calendar.txt", "service_id", *_WEEKDAYS, "start_date", "end_date")
    exceptions = archive.find_table("calendar_dates.txt", "service_id", "date", "exception_type")
    if weekly is None and exceptions is None:
        raise FeedUnusable(
            f"{archive.name} holds neither calendar.txt nor calendar_dates.txt, so no day of service is known. "
            "Check that this is a GTFS feed, and ask its publisher for a complete one."
        )
    services = Services([], {}, [])
    if weekly is not None:
        _read_weekly(weekly, services)
    if exceptions is not None:
        _read_exceptions(exceptions, services)
    for days, (table_name, line) in zip(services.days, services.places, strict=True):
        if not days:
            archive.findings.add(Reason.SERVICE_WITHOUT_DAYS, table_name, line)
    return services


def _read_weekly(table: Table, services: Services) -> None:
    for line, (service_id, start_text, end_text, *marks) in table.rows(
        "service_id", "start_date", "end_date", *_WEEKDAYS
    ):
        if not service_id or service_id in services.row_of:
            table.note(Reason.ID_REPEATED if service_id else Reason.ID_MISSING, line, "service_id")
            continue
        start, end = _find_day(start_text), _find_day(end_text)
        days = services.days[services.row(service_id, table, line)]
        if start is None or end is None:
            column = "start_date" if start is None else "end_date"
            table.note(Reason.CALENDAR_ROW_UNREADABLE, line, column)
            continue
        if end < start:
            table.note(Reason.CALENDAR_RUNS_BACKWARDS, line, "end_date")
            continue
        if (end - start).days >= LONGEST_RANGE_DAYS:
            table.note(Reason.CALENDAR_SHORTENED, line, "end_date")
            end = start + timedelta(days=LONGEST_RANGE_DAYS - 1)
        runs_on = [_mark(table, line, *mark) for mark in zip(_WEEKDAYS, marks, strict=True)]
        span = (start + timedelta(days=n) for n in range((end - start).days + 1))
        days.update(day for day in span if runs_on[day.weekday()])


def _read_exceptions(table: Table, services: Services) -> None:
    for line, (service_id, day_text, type_text) in table.rows("service_id", "date", "exception_type"):
        if not service_id:
            table.note(Reason.ID_MISSING, line, "service_id")
            continue
        days = services.days[services.row(service_id, table, line)]
        day = _find_day(day_text)
        if day is None:
            table.note(Reason.CALENDAR_ROW_UNREADABLE, line, "date")
        elif type_text == _ADDED:
            days.add(day)
        elif type_text == _REMOVED:
            days.discard(day)
        else:
            table.note(Reason.CALENDAR_ROW_UNREADABLE, line, "exception_type")


def _find_day(text: str) -> date | None:
    day = find_day(text)
    return day if day is not None and day.year in _YEARS else None


def _mark(table: Table, line: int, column: str, text: str) -> bool:
    """Return whether a weekday is marked; what is no mark counts as none."""
    if text not in {"0", "1"}:
        table.note(Reason.VALUE_UNREADABLE_ASSUMED, line, column)
    return text == "1"
