"""What a fare depends on, of one ride; and what a trip costs, or why that is not known."""

from decimal import Decimal
from typing import NamedTuple


class FareRide(NamedTuple):
    """One ride by the ids of its feed. Times are the timetable's, in Unix seconds; stops are all calls in order."""

    line: str
    route_id: str
    agency_id: str
    stop_ids: tuple[str, ...]
    departure: int
    arrival: int


class Price(NamedTuple):
    """What is paid, and for what: the ids of tickets or fare products, in the order in which they are needed."""

    amount: Decimal
    currency: str
    tickets: tuple[str, ...]


class FareUnknown(Exception):
    """What a trip costs cannot be said; the message says why, as a clause."""
