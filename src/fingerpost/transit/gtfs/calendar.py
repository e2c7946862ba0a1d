"""``calendar.txt`` and ``calendar_dates.txt``: the dates on which each service runs."""

from datetime import date, timedelta
from typing import NamedTuple

from fingerpost.errors import FeedUnusable
from fingerpost.transit.gtfs.archive import Archive
from fingerpost.transit.gtfs.findings import Findings, Reason
from fingerpost.transit.gtfs.table import Table

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ADDED, _REMOVED = 1, 2


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


def read_services(archive: Archive, findings: Findings) -> Services:
    """Read the dates of every service, exceptions applied.

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
        _read_weekly(weekly, services, findings)
    if exceptions is not None:
        _read_exceptions(exceptions, services, findings)
    return services


def _read_weekly(table: Table, services: Services, findings: Findings) -> None:
    for line, (service_id, start_text, end_text, *marks) in table.rows(
        "service_id", "start_date", "end_date", *_WEEKDAYS
    ):
        if not service_id or service_id in services.row_of:
            findings.add(Reason.ID_REPEATED if service_id else Reason.ID_MISSING, table.name, line)
            continue
        start, end = table.day(line, "start_date", start_text), table.day(line, "end_date", end_text)
        runs_on = [_mark(table, line, *mark) for mark in zip(_WEEKDAYS, marks, strict=True)]
        span = (start + timedelta(days=n) for n in range((end - start).days + 1))
        services.days[services.row(service_id, table, line)].update(day for day in span if runs_on[day.weekday()])


def _read_exceptions(table: Table, services: Services, findings: Findings) -> None:
    for line, (service_id, day_text, type_text) in table.rows("service_id", "date", "exception_type"):
        if not service_id:
            findings.add(Reason.ID_MISSING, table.name, line)
            continue
        day = table.day(line, "date", day_text)
        type_ = table.integer(line, "exception_type", type_text)
        days = services.days[services.row(service_id, table, line)]
        if type_ == _ADDED:
            days.add(day)
        elif type_ == _REMOVED:
            days.discard(day)
        else:
            raise table.fault(line, "exception_type", type_text, "1 (added) or 2 (removed)")


def _mark(table: Table, line: int, column: str, text: str) -> bool:
    if text not in {"0", "1"}:
        raise table.fault(line, column, text, "0 or 1")
    return text == "1"
