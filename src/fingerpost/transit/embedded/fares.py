"""Compute the fares for itineraries from the GTFS fares in their feeds."""

from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property
from itertools import groupby
from operator import itemgetter

from fingerpost.transit.embedded.ride_geometry import TimetableRide
from fingerpost.transit.engine.timetable.timetable import Timetable
from fingerpost.transit.fares.book import FareBook, FareRide, FareUnknown, Price, format_amount
from fingerpost.transit.fares.prices import price_by_legs, price_by_tickets
from fingerpost.transit.model.itinerary import Fare, Itinerary, Leg


class NetworkFares:
    def __init__(self, timetable: Timetable, name: str) -> None:
        self._timetable = timetable
        self._name = name

    def price(self, itinerary: Itinerary) -> Fare | None:
        """Return the total fare at scheduled times, or why it is unknown; None if there are no rides."""
        if not itinerary.rides:
            return None
        if not any(self._books):
            return Fare(unknown=f"{self._name} publishes no fares")
        if any(leg.stays_seated for leg in itinerary.rides):
            return Fare(unknown="the feed does not say whether an in-seat transfer requires a second fare")
        try:
            rides = [self._build_ride(leg) for leg in itinerary.rides]
            parts = [(feed, [ride for _, ride in part]) for feed, part in groupby(rides, key=itemgetter(0))]
            if len({feed for feed, _ in parts}) < len(parts):
                raise FareUnknown("it is unknown whether a fare is still valid after a ride priced by another feed")
            return _add_prices([self._price_in_feed(feed, part) for feed, part in parts])
        except FareUnknown as reason:
            return Fare(unknown=str(reason))

    @cached_property
    def _books(self) -> list[FareBook | None]:
        return [FareBook.from_json(text) if text else None for text in self._timetable.feed_fares]

    def _price_in_feed(self, feed: int, rides: Sequence[FareRide]) -> Price:
        book, name = self._books[feed], self._timetable.feeds[feed].name
        if book is None:
            raise FareUnknown(f"{name} publishes no fares")
        if book.problem:
            raise FareUnknown(f"{name}: {book.problem}")
        try:
            return price_by_legs(book, rides) if book.leg_rules else price_by_tickets(book, rides)
        except FareUnknown as reason:
            raise FareUnknown(f"{name}: {reason}") from None

    def _build_ride(self, leg: Leg) -> tuple[int, FareRide]:
        table, handle = self._timetable, leg.handle
        if not isinstance(handle, TimetableRide) or handle.route < 0:
            raise FareUnknown(f"the route of line {leg.line} is unknown")
        route = handle.route
        feed, agency = int(table.route_feed[route]), int(table.route_agency[route])
        return feed, FareRide(
            line=leg.line or "",
            route_id=table.route_local_id[route],
            agency_id=table.feeds[feed].agency_ids[agency] if agency >= 0 else "",
            stop_ids=tuple(table.stop_local_id[stop] for stop in handle.path.stops),
            departure=leg.departure_scheduled,
            arrival=leg.arrival_scheduled,
        )


def _add_prices(prices: Sequence[Price]) -> Fare:
    currencies = {price.currency for price in prices}
    if len(currencies) > 1:
        raise FareUnknown(f"its parts are priced in {' and '.join(sorted(currencies))}")
    currency = currencies.pop()
    return Fare(
        amount=format_amount(sum((price.amount for price in prices), Decimal(0)), currency),
        currency=currency,
        tickets=tuple(ticket for price in prices for ticket in price.tickets),
    )
