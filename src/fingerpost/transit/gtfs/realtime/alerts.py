"""Reads service alerts and resolves their selectors (GTFS-Realtime reference, Alert)."""

from collections.abc import Iterable

from google.transit.gtfs_realtime_pb2 import Alert as AlertMessage
from google.transit.gtfs_realtime_pb2 import EntitySelector

from fingerpost.transit.gtfs.realtime.alert_texts import read_texts, read_urls
from fingerpost.transit.gtfs.realtime.index import RealtimeIndex
from fingerpost.transit.gtfs.realtime.messages import plain_text
from fingerpost.transit.gtfs.realtime.outcomes import EntityOutcome
from fingerpost.transit.gtfs.realtime.trip_matching import TripMatch, TripMatcher
from fingerpost.transit.timetable.overlay import ALWAYS, Alert, RideKey

_NEVER_ENDS = ALWAYS[1]


def read_alert(entity_id: str, message: AlertMessage, matcher: TripMatcher) -> Alert | EntityOutcome:
    """Return an alert with the selectors that are known, or why there is none.

    A selector of several fields touches what all of them name; one of which no field is known touches nothing.
    """
    touched = _Touched(matcher)
    for selector in message.informed_entity:
        touched.add(selector)
    if not touched.any:
        return EntityOutcome.ALERT_WITHOUT_SELECTOR
    periods = tuple(
        (min(period.start, _NEVER_ENDS), min(period.end, _NEVER_ENDS) or _NEVER_ENDS)
        for period in (message.impact_period or message.active_period)
    )
    return Alert(
        id=plain_text(entity_id),
        cause=AlertMessage.Cause.Name(message.cause),
        effect=AlertMessage.Effect.Name(message.effect),
        severity=AlertMessage.SeverityLevel.Name(message.severity_level),
        periods=periods,
        headers=read_texts(message.header_text),
        descriptions=read_texts(message.description_text),
        urls=read_urls(message.url),
        feeds=frozenset(touched.feeds),
        routes=frozenset(touched.routes),
        route_types=frozenset(touched.route_types),
        trips=frozenset(touched.trips),
        stops=frozenset(touched.stops),
        route_stops=frozenset(touched.route_stops),
        rides=frozenset(touched.rides),
        trip_stops=frozenset(touched.trip_stops),
        ride_stops=frozenset(touched.ride_stops),
    )


class _Touched:
    """Collects what the selectors of one alert touch."""

    def __init__(self, matcher: TripMatcher) -> None:
        self.matcher = matcher
        self.index: RealtimeIndex = matcher.index
        self.feeds: set[int] = set()
        self.routes: set[int] = set()
        self.route_types: set[int] = set()
        self.trips: set[int] = set()
        self.stops: set[int] = set()
        self.route_stops: set[tuple[int, int]] = set()
        self.rides: set[RideKey] = set()
        self.trip_stops: set[tuple[int, int]] = set()
        self.ride_stops: set[tuple[RideKey, int]] = set()

    @property
    def any(self) -> bool:
        """Whether anything is."""
        groups = (self.feeds, self.routes, self.route_types, self.trips, self.stops, self.rides)
        stop_times = (self.route_stops, self.trip_stops, self.ride_stops)
        return any(groups) or any(stop_times)

    def add(self, selector: EntitySelector) -> None:
        """Add what a selector names; nothing where any of its fields is unknown."""
        stops = self._stops(selector) if selector.stop_id else None
        if stops is not None and not stops:
            return
        if selector.HasField("trip") and selector.trip.ListFields():
            self._add_trip(selector, stops)
            return
        routes = self._routes(selector)
        if selector.HasField("direction_id") and routes is not None:
            direction = self.index.timetable.trip_direction
            trips = [trip for row in routes for trip in self.index.trips_of_route.get(row, ())]
            self._add_trips([trip for trip in trips if int(direction[trip]) in (-1, selector.direction_id)], stops)
        elif routes is not None and stops is not None:
            self.route_stops.update((route, stop) for route in routes for stop in stops)
        elif stops is not None:
            self.stops |= stops
        elif routes is not None:
            self._add_routes(selector, routes)

    def _add_routes(self, selector: EntitySelector, routes: set[int]) -> None:
        scope, table = self.matcher.scope, self.index.timetable
        if selector.route_id or (selector.agency_id and selector.HasField("route_type")):
            self.routes |= routes
        elif selector.agency_id:
            whole = {feed for feed in scope.feeds if table.feeds[feed].agency_ids == (selector.agency_id,)}
            self.feeds |= whole
            self.routes |= {route for route in routes if int(table.route_feed[route]) not in whole}
        elif routes and len(scope.feeds) == len(table.feeds):
            self.route_types.add(selector.route_type)
        else:
            self.routes |= routes

    def _add_trip(self, selector: EntitySelector, stops: frozenset[int] | None) -> None:
        trip = selector.trip
        if trip.trip_id and not trip.start_date and not trip.start_time:
            rows = self.matcher.find_trips(trip)
            if not isinstance(rows, EntityOutcome):
                self._add_trips(rows, stops)
            return
        match = self.matcher.match(trip, lambda: None, set)
        if not isinstance(match, TripMatch):
            return
        key = (match.trip_departure, match.day)
        if stops is None:
            self.rides.add(key)
        else:
            self.ride_stops.update((key, stop) for stop in stops)

    def _add_trips(self, trips: Iterable[int], stops: frozenset[int] | None) -> None:
        if stops is None:
            self.trips.update(trips)
        else:
            self.trip_stops.update((trip, stop) for trip in trips for stop in stops)

    def _stops(self, selector: EntitySelector) -> frozenset[int]:
        """Return a stop in every feed that the message may speak of, with all that is part of it."""
        rows = {self.index.stops_of(feed).get(selector.stop_id) for feed in self.matcher.scope.feeds}
        return frozenset().union(*(self.index.stops_below(row) for row in rows if row is not None))

    def _routes(self, selector: EntitySelector) -> set[int] | None:
        """Return the routes that route, type and agency all name, None where none of the three is stated."""
        table, scope = self.index.timetable, self.matcher.scope
        if not (selector.route_id or selector.agency_id or selector.HasField("route_type")):
            return None
        if selector.route_id:
            routes = set(scope.routes.get(selector.route_id, ()))
        else:
            routes = {row for rows in scope.routes.values() for row in rows}
        if selector.HasField("route_type"):
            routes = {row for row in routes if int(table.route_type[row]) == selector.route_type}
        if selector.agency_id:
            routes = {row for row in routes if self._agency_of(row) == selector.agency_id}
        return routes

    def _agency_of(self, route: int) -> str | None:
        table = self.index.timetable
        row = int(table.route_agency[route])
        return table.feeds[int(table.route_feed[route])].agency_ids[row] if row >= 0 else None
