"""``calendar.txt`` and ``calendar_dates.txt``: the dates on which each service runs."""

from datetime import date

import numpy as np

from fingerpost.errors import FeedUnusable
from fingerpost.transit.engine.gtfs.csv import Archive, Findings, Reason, Table, find_day
from fingerpost.transit.engine.timetable.timetable import Int32

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ADDED, _REMOVED = "1", "2"

# Dates outside these years are errors; publishers write 2099 for "no end".
_YEARS = range(1990, 2101)
# Services times days of the calendar. Ten thousand services over five years are a tenth of it.
MOST_SERVICE_DAYS = 200_000_000


class Services:
    """Services of one feed.

    Attributes:
        row_of: maps a service id to its row.
        days: for each row the ordinals (date.toordinal) of its days, in order.
        places: for each row the (table, line) where it is first named.
        weekly, exceptions: while tables are read, of each row the days of its range, and whether it runs on others.
    """

    def __init__(self) -> None:
        self.row_of: dict[str, int] = {}
        self.days: list[Int32] = []
        self.places: list[tuple[str, int]] = []
        self.weekly: list[Int32] = []
        self.exceptions: list[dict[int, bool]] = []

    def row(self, service_id: str, table: Table, line: int) -> int:
        row = self.row_of.setdefault(service_id, len(self.places))
        if row == len(self.places):
            self.places.append((table.name, line))
            self.weekly.append(np.zeros(0, np.int32))
            self.exceptions.append({})
        return row

    def settle(self, findings: Findings) -> None:
        for weekly, exceptions in zip(self.weekly, self.exceptions, strict=True):
            added = np.array([day for day, runs in exceptions.items() if runs], np.int32)
            removed = np.array([day for day, runs in exceptions.items() if not runs], np.int32)
            self.days.append(np.setdiff1d(np.union1d(weekly, added), removed).astype(np.int32))
        self._shorten(findings)
        for days, (table_name, line) in zip(self.days, self.places, strict=True):
            if not len(days):
                findings.add(Reason.SERVICE_WITHOUT_DAYS, table_name, line)

    def _shorten(self, findings: Findings) -> None:
        """Limit services times days: a calendar that is too long begins when half of the services have begun."""
        running = [days for days in self.days if len(days)]
        if not running:
            return
        first, last = min(int(days[0]) for days in running), max(int(days[-1]) for days in running)
        most_days = MOST_SERVICE_DAYS // len(self.days)
        if last - first < most_days:
            return
        begin = sorted(int(days[0]) for days in running)[len(running) // 2]
        for row, days in enumerate(self.days):
            kept = days[(days >= begin) & (days < begin + most_days)]
            if len(kept) < len(days):
                findings.add(Reason.CALENDAR_RANGE_SHORTENED, *self.places[row])
            self.days[row] = kept


def read_services(archive: Archive) -> Services:
    """Read the dates of every service, exceptions applied. Rows that cannot be parsed are skipped and counted."""
    weekly = archive.find_table("calendar.txt", "service_id", *_WEEKDAYS, "start_date", "end_date")
    exceptions = archive.find_table("calendar_dates.txt", "service_id", "date", "exception_type")
    if weekly is None and exceptions is None:
        raise FeedUnusable(
            f"{archive.name} holds neither calendar.txt nor calendar_dates.txt, so no day of service is known. "
            "Check that this is a GTFS feed, and ask its publisher for a complete one."
        )
    services = Services()
    if weekly is not None:
        _read_weekly(weekly, services)
    if exceptions is not None:
        _read_exceptions(exceptions, services)
    services.settle(archive.findings)
    return services


def _read_weekly(table: Table, services: Services) -> None:
    for line, (service_id, start_text, end_text, *marks) in table.rows(
        "service_id", "start_date", "end_date", *_WEEKDAYS
    ):
        if not service_id or service_id in services.row_of:
            table.note(Reason.ID_REPEATED if service_id else Reason.ID_MISSING, line, "service_id")
            continue
        start, end = _find_day(start_text), _find_day(end_text)
        row = services.row(service_id, table, line)
        if start is None or end is None:
            column = "start_date" if start is None else "end_date"
            table.note(Reason.CALENDAR_ROW_UNREADABLE, line, column)
        elif end < start:
            table.note(Reason.CALENDAR_RUNS_BACKWARDS, line, "end_date")
        else:
            runs_on = [_mark(table, line, *mark) for mark in zip(_WEEKDAYS, marks, strict=True)]
            span = np.arange(start.toordinal(), end.toordinal() + 1, dtype=np.int32)
            services.weekly[row] = span[np.array(runs_on)[(span + 6) % 7]]


def _read_exceptions(table: Table, services: Services) -> None:
    for line, (service_id, day_text, type_text) in table.rows("service_id", "date", "exception_type"):
        if not service_id:
            table.note(Reason.ID_MISSING, line, "service_id")
            continue
        row = services.row(service_id, table, line)
        day = _find_day(day_text)
        if day is None:
            table.note(Reason.CALENDAR_ROW_UNREADABLE, line, "date")
        elif type_text in {_ADDED, _REMOVED}:
            services.exceptions[row][day.toordinal()] = type_text == _ADDED
        else:
            table.note(Reason.CALENDAR_ROW_UNREADABLE, line, "exception_type")


def _find_day(text: str) -> date | None:
    day = find_day(text)
    return day if day is not None and day.year in _YEARS else None


def _mark(table: Table, line: int, column: str, text: str) -> bool:
    if text not in {"0", "1"}:
        table.note(Reason.VALUE_UNREADABLE_ASSUMED, line, column)
    return text == "1"
