"""Waits before a trip that are so long that the rider must be told."""

from collections.abc import Iterable

from fingerpost.transit.model.itinerary import Itinerary
from fingerpost.transit.rules.instants import print_instant

LONG_WAIT_S = 8 * 3600


def find_long_wait(found: Iterable[Itinerary], since: int, zone: str) -> str | None:
    """Return when the first of all usable itineraries that were found leaves, None where that is soon or there is none.

    ``since`` is when the rider would leave, in Unix seconds. What only the limit cut off counts too: it can be had.
    """
    first = min((each.departure for each in found if not each.is_unusable), default=since)
    if first - since <= LONG_WAIT_S:
        return None
    return f"Nothing that can be used leaves soon: the first trip found leaves at {print_instant(first, zone)}."
