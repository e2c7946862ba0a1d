"""The first rows of a board, for sources that are asked for more than is shown (rule B14)."""

from fingerpost.transit.model import Departure


def keep_first(rows: list[Departure], wanted: int) -> list[Departure]:
    """Return the first of sorted rows, and any that is expected at the same second as the last of them."""
    if len(rows) <= wanted or wanted < 1:
        return rows
    last = rows[wanted - 1].expected
    return [row for row in rows if row.expected <= last]
