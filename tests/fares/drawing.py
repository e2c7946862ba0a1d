"""Rides to price, each drawn in one line."""

from fingerpost.transit.fares.book import FareRide

EIGHT = 1_646_000_000


def ride(line, stops, begin=0, end=10, agency=""):
    """Draw a ride of line and route ``line`` from call to call ("A1 B1"), from one minute to another."""
    return FareRide(
        line=line,
        route_id=line,
        agency_id=agency,
        stop_ids=tuple(stops.split()),
        departure=EIGHT + begin * 60,
        arrival=EIGHT + end * 60,
    )
