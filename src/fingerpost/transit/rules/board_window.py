"""Select the first departures in a board's window, by expected or scheduled time (rules B14, D3)."""

from collections.abc import Iterable

from fingerpost.transit.model.itinerary import Departure

# Servers filter by expected time, so a query by schedule adds margins for early and late trips.
EARLIEST_S = 600
LATEST_S = 2 * 3600


def list_in_window(rows: Iterable[Departure], first: int, last: int, *, by_schedule: bool = False) -> list[Departure]:
    within = (row for row in rows if first <= _get_time(row, by_schedule) <= last)
    return sorted(within, key=lambda row: (_get_time(row, by_schedule), row.line))


def take_first(rows: list[Departure], wanted: int, *, by_schedule: bool = False) -> list[Departure]:
    """Return the first of the sorted rows, plus any that depart in the same second as the last of them."""
    if len(rows) <= wanted or wanted < 1:
        return rows
    last = _get_time(rows[wanted - 1], by_schedule)
    return [row for row in rows if _get_time(row, by_schedule) <= last]


def _get_time(row: Departure, by_schedule: bool) -> int:
    return row.scheduled if by_schedule else row.expected
