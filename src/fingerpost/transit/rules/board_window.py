"""Cut the rows of a board to its window and to the number wanted (rule B14).

A board goes by expected times, or with ``by_schedule`` by those of the timetable (rule D3).
"""

from collections.abc import Iterable

from fingerpost.transit.model.itinerary import Departure

# A server's window is of expected times: for the timetable's own, rides are asked for that run so early or so late.
EARLIEST_S = 600
LATEST_S = 2 * 3600


def list_within(rows: Iterable[Departure], first: int, last: int, *, by_schedule: bool = False) -> list[Departure]:
    """Return the departures from ``first`` to ``last``, both included, ordered by time and line."""
    within = (row for row in rows if first <= _time_of(row, by_schedule) <= last)
    return sorted(within, key=lambda row: (_time_of(row, by_schedule), row.line))


def keep_first(rows: list[Departure], wanted: int, *, by_schedule: bool = False) -> list[Departure]:
    """Return the first of sorted rows, and any that leaves at the same second as the last of them."""
    if len(rows) <= wanted or wanted < 1:
        return rows
    last = _time_of(rows[wanted - 1], by_schedule)
    return [row for row in rows if _time_of(row, by_schedule) <= last]


def _time_of(row: Departure, by_schedule: bool) -> int:
    return row.scheduled if by_schedule else row.expected
