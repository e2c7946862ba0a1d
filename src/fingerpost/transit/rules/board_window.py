"""Select the departures of a board: those in its window, and the first of them (rule B14).

Times are the expected ones, or with ``by_schedule`` those of the timetable (rule D3).
"""

from collections.abc import Iterable

from fingerpost.transit.model.itinerary import Departure

# Servers select by expected times, so a board by schedule also requests rides that run this early or late.
EARLIEST_S = 600
LATEST_S = 2 * 3600


def list_within(rows: Iterable[Departure], first: int, last: int, *, by_schedule: bool = False) -> list[Departure]:
    within = (row for row in rows if first <= _time_of(row, by_schedule) <= last)
    return sorted(within, key=lambda row: (_time_of(row, by_schedule), row.line))


def keep_first(rows: list[Departure], wanted: int, *, by_schedule: bool = False) -> list[Departure]:
    """Return the first of sorted rows, and any that depart in the same second as the last of them."""
    if len(rows) <= wanted or wanted < 1:
        return rows
    last = _time_of(rows[wanted - 1], by_schedule)
    return [row for row in rows if _time_of(row, by_schedule) <= last]


def _time_of(row: Departure, by_schedule: bool) -> int:
    return row.scheduled if by_schedule else row.expected
