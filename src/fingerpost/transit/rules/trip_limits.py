"""Keep a query's limits of walking and of transfers, where a source cannot (rule B6), and leave out what cannot be."""

from collections.abc import Iterable

from fingerpost.transit.model.itinerary import Itinerary
from fingerpost.transit.port import JourneyQuery

UNMEASURED = "The server does not say how long some walks are; they are counted as straight lines."


def is_possible(itinerary: Itinerary) -> bool:
    """Whether neither the whole nor a leg ends before it begins, by the timetable and by what is expected."""
    return itinerary.duration_s >= 0 and all(
        leg.departure_scheduled <= leg.arrival_scheduled and leg.departure_expected <= leg.arrival_expected
        for leg in itinerary.legs
    )


def say_impossible(number: int) -> list[str]:
    """Return the note on how many itineraries were left out as impossible, none where none was."""
    if not number:
        return []
    if number == 1:
        return ["1 itinerary was left out, because by the server's times it ends before it begins."]
    return [f"{number} itineraries were left out, because by the server's times they end before they begin."]


def list_kept(itineraries: Iterable[Itinerary], query: JourneyQuery) -> list[Itinerary]:
    """Return the itineraries that keep the limits of walking and of transfers."""
    return [each for each in itineraries if each.walk_m <= query.max_walk_m and each.transfers <= query.max_transfers]
