"""The facts of a ride that its fare depends on, and the price of a trip or why it is unknown."""

from decimal import Decimal
from typing import NamedTuple


class FareRide(NamedTuple):
    """One ride by the ids of its feed. Times are the timetable's, in Unix seconds; ``stops`` are all stops in order."""

    line: str
    route_id: str
    agency_id: str
    stop_ids: tuple[str, ...]
    departure: int
    arrival: int


class Price(NamedTuple):
    """A price, and the ids of its tickets or fare products in the order in which they are needed."""

    amount: Decimal
    currency: str
    tickets: tuple[str, ...]


class FareUnknown(Exception):
    """The price of a trip is unknown; the message says why, as a clause."""
