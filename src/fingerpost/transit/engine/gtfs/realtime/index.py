"""Looks up rows of the timetable by the ids in GTFS-Realtime."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cached_property

import numpy as np

from fingerpost.transit.engine.timetable.service_days import service_day_start, services_on
from fingerpost.transit.engine.timetable.timetable import Int64, Timetable


class Scope:
    """The feeds that one message may speak of.

    Attributes:
        feeds: rows of the timetable's feeds.
        feed_names: their FEEDs, each once.
        trips: trip id to rows, several where feeds share an id.
        routes: route id to rows.
    """

    def __init__(self, index: "RealtimeIndex", feeds: tuple[int, ...]) -> None:
        self.feeds = feeds
        self.feed_names = tuple(dict.fromkeys(index.timetable.feeds[feed].name for feed in feeds))
        trips = np.flatnonzero(np.isin(index.trip_feed, feeds)).tolist()
        routes = np.flatnonzero(np.isin(index.timetable.route_feed, feeds)).tolist()
        self.trips = _rows_by_id(index.trip_ids, trips)
        self.routes = _rows_by_id(list(index.timetable.route_local_id), routes)


class RealtimeIndex:
    """Look-ups of one timetable, built once and shared by all readings of it."""

    def __init__(self, timetable: Timetable) -> None:
        self.timetable = timetable
        feed_of_trip = timetable.route_feed[timetable.trip_route]
        self.trip_feed: list[int] = feed_of_trip.tolist()
        self.feed_names = [feed.name for feed in timetable.feeds]
        self.trip_route: list[int] = timetable.trip_route.tolist()
        self.trip_service: list[int] = timetable.trip_service.tolist()
        self.trip_departure_order: Int64 = np.argsort(timetable.trip_departure_trip, kind="stable")
        trip_count = len(timetable.trip_local_id)
        self.trip_departure_first: list[int] = np.searchsorted(
            timetable.trip_departure_trip[self.trip_departure_order], np.arange(trip_count + 1)
        ).tolist()
        self._scopes: dict[tuple[int, ...], Scope] = {}
        self._stops: dict[str, dict[str, int]] = {}
        self._running: dict[int, bytes] = {}
        self._day_starts: dict[tuple[int, str], int] = {}

    @cached_property
    def trip_ids(self) -> list[str]:
        """The trips' own ids."""
        return list(self.timetable.trip_local_id)

    def by_feed_name(self, rows: Iterable[int], feeds: Sequence[int]) -> Mapping[str, set[int]]:
        """Return rows by the FEED that each belongs to; ``feeds`` has the feed of every row."""
        found: dict[str, set[int]] = {}
        for row in rows:
            found.setdefault(self.feed_names[feeds[row]], set()).add(row)
        return found

    @cached_property
    def route_feed(self) -> list[int]:
        """The routes' feeds."""
        feeds: list[int] = self.timetable.route_feed.tolist()
        return feeds

    @cached_property
    def children(self) -> Mapping[int, Sequence[int]]:
        """The rows below each stop that has any: platforms of a station, boarding areas of a platform."""
        below: dict[int, list[int]] = {}
        for row, parent in enumerate(self.timetable.stop_parent.tolist()):
            if parent >= 0:
                below.setdefault(parent, []).append(row)
        return below

    @cached_property
    def trips_of_route(self) -> Mapping[int, Sequence[int]]:
        """The trips of each route."""
        trips: dict[int, list[int]] = {}
        for trip, route in enumerate(self.trip_route):
            trips.setdefault(route, []).append(trip)
        return trips

    @cached_property
    def only_start_s(self) -> Sequence[int]:
        """For each trip with one exact departure when that leaves, in seconds of the service day; -1 for all others."""
        table = self.timetable
        count = np.bincount(table.trip_departure_trip, minlength=len(self.trip_route))
        exact = np.flatnonzero((count[table.trip_departure_trip] == 1) & (table.trip_departure_headway_s == 0))
        trips = table.trip_departure_trip[exact]
        starts_s = np.full(len(self.trip_route), -1, np.int64)
        starts_s[trips] = (
            table.stop_time_departure_s[table.trip_first_stop_time[trips]] + table.trip_departure_shift_s[exact]
        )
        listed: list[int] = starts_s.tolist()
        return listed

    def scope(self, feed_name: str | None) -> Scope:
        """Return the feeds of a name, in either case of letters; all feeds where there is no name."""
        feeds = tuple(
            row
            for row, feed in enumerate(self.timetable.feeds)
            if feed_name is None or feed.name.casefold() == feed_name.casefold()
        )
        if feeds not in self._scopes:
            self._scopes[feeds] = Scope(self, feeds)
        return self._scopes[feeds]

    def stops_of(self, feed: int) -> Mapping[str, int]:
        """Return stop id to row for one feed, and for the feeds that bear its name (rule A8)."""
        return self.stops_of_name(self.feed_names[feed])

    def stops_of_name(self, name: str) -> Mapping[str, int]:
        """Return stop id to row for a FEED."""
        table = self.timetable
        if name not in self._stops:
            alike = np.array([other.name == name for other in table.feeds], np.bool_)
            rows = np.flatnonzero(alike[table.stop_feed]).tolist()
            self._stops[name] = {table.stop_local_id[row]: row for row in rows}
        return self._stops[name]

    def stops_below(self, stop: int) -> frozenset[int]:
        """Return a stop and all that is part of it."""
        found = {stop}
        waiting = [stop]
        while waiting:
            new = [child for child in self.children.get(waiting.pop(), ()) if child not in found]
            found.update(new)
            waiting += new
        return frozenset(found)

    def trip_departures_of(self, trip: int) -> list[int]:
        """Return the departures of a trip."""
        trip_departures: list[int] = self.trip_departure_order[
            self.trip_departure_first[trip] : self.trip_departure_first[trip + 1]
        ].tolist()
        return trip_departures

    def is_running(self, trip: int, day: int) -> bool:
        """Whether a trip's service runs on a day (date.toordinal)."""
        running = self._running.get(day)
        if running is None:
            running = self._running[day] = services_on(self.timetable, date.fromordinal(day)).tobytes()
        return running[self.trip_service[trip]] != 0

    def day_start(self, feed: int, day: int) -> int:
        """Return the Unix second at which a service day (date.toordinal) of a feed begins."""
        zone = self.timetable.feeds[feed].zone
        start = self._day_starts.get((day, zone))
        if start is None:
            start = self._day_starts[day, zone] = service_day_start(date.fromordinal(day), zone)
        return start


def _rows_by_id(ids: Sequence[str], rows: Sequence[int]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for row in rows:
        found[ids[row]] = (*found.get(ids[row], ()), row)
    return found
