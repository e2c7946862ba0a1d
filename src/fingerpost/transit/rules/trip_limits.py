"""Keep a query's limits of walking and of transfers, where a source cannot (rule B6)."""

from collections.abc import Iterable

from fingerpost.transit.model import Itinerary
from fingerpost.transit.port import JourneyQuery


def list_kept(itineraries: Iterable[Itinerary], query: JourneyQuery) -> list[Itinerary]:
    """Return the itineraries that keep the limits of walking and of transfers."""
    return [each for each in itineraries if each.walk_m <= query.max_walk_m and each.transfers <= query.max_transfers]
