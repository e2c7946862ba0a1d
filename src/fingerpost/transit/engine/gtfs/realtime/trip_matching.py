"""Match the trip descriptors in GTFS-Realtime messages to trips in the timetable."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from google.transit.gtfs_realtime_pb2 import TripDescriptor

from fingerpost.runtime.grouping import group_by_key
from fingerpost.transit.engine.gtfs.csv.field_values import parse_day, parse_time_s
from fingerpost.transit.engine.gtfs.realtime.messages import EntityOutcome, to_text
from fingerpost.transit.engine.gtfs.realtime.stop_time_updates import StopTimeUpdate
from fingerpost.transit.engine.timetable.columns import group_rows
from fingerpost.transit.engine.timetable.service_days import find_service_day_start, find_services
from fingerpost.transit.engine.timetable.timetable import Timetable
from fingerpost.transit.rules.times import to_local_date


class Scope(NamedTuple):
    """The feeds (rows) that a message may refer to, and the rows of their trips and routes, keyed by id."""

    feeds: tuple[int, ...]
    feed_names: tuple[str, ...]
    trips: Mapping[str, tuple[int, ...]]
    routes: Mapping[str, tuple[int, ...]]


class RealtimeIndex:
    def __init__(self, timetable: Timetable) -> None:
        self.timetable = timetable
        self.trip_feed: list[int] = timetable.route_feed[timetable.trip_route].tolist()
        self.route_feed: list[int] = timetable.route_feed.tolist()
        self.feed_names = [feed.name for feed in timetable.feeds]
        self.trip_route: list[int] = timetable.trip_route.tolist()
        self.trip_service: list[int] = timetable.trip_service.tolist()
        self.trip_departure_first: list[int] = np.searchsorted(
            timetable.trip_departure_trip, np.arange(len(self.trip_feed) + 1)
        ).tolist()
        self.scope = cache(self._build_scope)
        self.get_stops_by_id = cache(self._map_stops_by_id)
        self.day_start = cache(
            lambda feed, day: find_service_day_start(date.fromordinal(day), self.timetable.feeds[feed].zone)
        )
        self._active_services = cache(lambda day: find_services(self.timetable, date.fromordinal(day)).tobytes())

    def group_by_feed_name(self, rows: Iterable[int], feeds: Sequence[int]) -> Mapping[str, set[int]]:
        groups = group_by_key((self.feed_names[feeds[row]], row) for row in rows)
        return {name: set(grouped) for name, grouped in groups.items()}

    @cached_property
    def children(self) -> Mapping[int, Sequence[int]]:
        """The child rows of each stop: platforms of a station, boarding areas of a platform."""
        parents = self.timetable.stop_parent.tolist()
        return group_rows(parents, [row for row, parent in enumerate(parents) if parent >= 0])

    @cached_property
    def trips_by_route(self) -> Mapping[int, Sequence[int]]:
        return group_rows(self.trip_route, range(len(self.trip_route)))

    @cached_property
    def route_directions(self) -> set[tuple[int, int]]:
        """The routes with the directions of their trips, -1 if a trip states none."""
        return set(zip(self.trip_route, self.timetable.trip_direction.tolist(), strict=True))

    @cached_property
    def single_start_s(self) -> Sequence[int]:
        """The departure time (seconds of the service day) of each trip with one exact departure; -1 for others."""
        table = self.timetable
        count = np.diff(self.trip_departure_first)
        exact = np.flatnonzero((count[table.trip_departure_trip] == 1) & (table.trip_departure_headway_s == 0))
        trips = table.trip_departure_trip[exact]
        starts_s = np.full(len(self.trip_route), -1, np.int64)
        starts_s[trips] = (
            table.stop_time_departure_s[table.trip_first_stop_time[trips]] + table.trip_departure_shift_s[exact]
        )
        return starts_s.tolist()

    def _build_scope(self, feed_name: str | None) -> Scope:
        """Return the scope of the feeds with the given name, ignoring case, or of all feeds if the name is None."""
        folded_name = None if feed_name is None else feed_name.casefold()
        feeds = tuple(row for row, name in enumerate(self.feed_names) if folded_name in (None, name.casefold()))
        trips, routes = (
            np.flatnonzero(np.isin(feed_rows, feeds)).tolist() for feed_rows in (self.trip_feed, self.route_feed)
        )
        return Scope(
            feeds,
            tuple(dict.fromkeys(self.feed_names[feed] for feed in feeds)),
            group_rows(list(self.timetable.trip_local_id), trips),
            group_rows(list(self.timetable.route_local_id), routes),
        )

    def get_feed_stops(self, feed: int) -> Mapping[str, int]:
        """Return {stop id: row} for a feed and all feeds with the same name (rule A8)."""
        return self.get_stops_by_id(self.feed_names[feed])

    def _map_stops_by_id(self, name: str) -> Mapping[str, int]:
        has_name = np.array([feed_name == name for feed_name in self.feed_names], np.bool_)
        rows = np.flatnonzero(has_name[self.timetable.stop_feed]).tolist()
        return {self.timetable.stop_local_id[row]: row for row in rows}

    def list_stop_subtree(self, stop: int) -> frozenset[int]:
        return frozenset({stop}).union(*(self.list_stop_subtree(child) for child in self.children.get(stop, ())))

    def is_running(self, trip: int, day: int) -> bool:
        return self._active_services(day)[self.trip_service[trip]] != 0


# Service days farther from today than this are errors.
_MAX_DAYS_AWAY = 366
_DAY_S = 86_400


class TripMatch(NamedTuple):
    """A matched ride: rows of its trip and trip departure, and its service day as an ordinal.

    For a headway-based ride, ``start_offset_s`` is its start time minus the time of the trip departure.
    """

    trip: int
    trip_departure: int
    day: int
    start_offset_s: int = 0


class TripMatcher:
    def __init__(self, index: RealtimeIndex, scope: Scope, now: int) -> None:
        self.index = index
        self.scope = scope
        self.now = now
        # Ids that were not resolved, because several FEEDs share them.
        self.shared_ids: set[str] = set()
        zone = index.timetable.feeds[scope.feeds[0]].zone if scope.feeds else "UTC"
        self.today = to_local_date(now, zone).toordinal()

    def match(self, trip: TripDescriptor, stop_times: Sequence[StopTimeUpdate] = ()) -> TripMatch | EntityOutcome:
        """Return the matched ride, or why there is none; a missing day or trip id is inferred from ``stop_times``."""
        day = self.read_day(trip.start_date)
        if isinstance(day, EntityOutcome):
            return day
        if not trip.trip_id:
            return self._match_by_route(trip, self.today if day is None else day, stop_times)
        rows = self.find_trips(trip)
        if isinstance(rows, EntityOutcome):
            return rows
        results = [self._match_row(row, trip, day, stop_times) for row in rows]
        if len(results) == 1:
            return results[0]
        matches = [match for match in results if not isinstance(match, EntityOutcome)]
        if len(matches) > 1:
            if len(self.index.group_by_feed_name((match.trip for match in matches), self.index.trip_feed)) == 1:
                return EntityOutcome.TRIP_AMBIGUOUS
            return self.report_shared_id(trip.trip_id)
        return matches[0] if matches else results[0]

    def find_trips(self, trip: TripDescriptor) -> tuple[int, ...] | EntityOutcome:
        """Return the trips (rows) with a descriptor's trip id and route, or why there are none."""
        rows = self.scope.trips.get(trip.trip_id)
        if rows is None:
            return EntityOutcome.TRIP_UNKNOWN
        routes = self.scope.routes.get(trip.route_id) if trip.route_id else None
        if routes is None:
            return rows
        trip_route = self.index.trip_route
        if len(rows) == 1:
            return rows if trip_route[rows[0]] in routes else EntityOutcome.ROUTE_DIFFERS
        return tuple(row for row in rows if trip_route[row] in routes) or EntityOutcome.ROUTE_DIFFERS

    def report_shared_id(self, shared_id: str | bytes) -> EntityOutcome:
        """Record an id that several FEEDs use, and return the outcome for its entity."""
        self.shared_ids.add(to_text(shared_id))
        return EntityOutcome.ID_SHARED

    def read_day(self, text: str) -> int | EntityOutcome | None:
        if not text:
            return None
        day = parse_day(to_text(text))
        if day is None:
            return EntityOutcome.START_DATE_INVALID
        is_far = abs(day.toordinal() - self.today) > _MAX_DAYS_AWAY
        return EntityOutcome.START_DATE_FAR if is_far else day.toordinal()

    def _match_row(
        self, row: int, trip: TripDescriptor, day: int | None, stop_times: Sequence[StopTimeUpdate]
    ) -> TripMatch | EntityOutcome:
        index = self.index
        begin, end = index.trip_departure_first[row], index.trip_departure_first[row + 1]
        is_single = end - begin == 1
        trip_departure, start_offset_s = begin if is_single else -1, 0
        if not is_single and not trip.start_time:
            return EntityOutcome.START_TIME_MISSING
        if trip.start_time and not (is_single and not index.timetable.trip_departure_headway_s[trip_departure]):
            choice = self._choose_trip_departure(row, parse_time_s(to_text(trip.start_time)))
            if isinstance(choice, EntityOutcome):
                return choice
            trip_departure, start_offset_s = choice
        if day is None:
            instants = (stop_time.arrival.time or stop_time.departure.time for stop_time in stop_times)
            day = self._find_nearest_day(row, trip_departure, next(filter(None, instants), None))
            if day is None:
                return EntityOutcome.NOT_RUNNING
        elif not index.is_running(row, day):
            return EntityOutcome.NOT_RUNNING
        return TripMatch(row, trip_departure, day, start_offset_s)

    def _choose_trip_departure(self, row: int, start_s: int | None) -> tuple[int, int] | EntityOutcome:
        """Return the trip departure nearest to a start time, and the offset from it (0 unless headway-based)."""
        table = self.index.timetable
        trip_departures = range(self.index.trip_departure_first[row], self.index.trip_departure_first[row + 1])
        # A row in frequencies.txt may leave a trip without departures.
        if start_s is None or not trip_departures:
            return EntityOutcome.START_TIME_UNKNOWN
        target_s = start_s - int(table.stop_time_departure_s[table.trip_first_stop_time[row]])
        shifts_s = table.trip_departure_shift_s
        trip_departure = min(trip_departures, key=lambda row: (abs(int(shifts_s[row]) - target_s), row))
        offset_s = target_s - int(shifts_s[trip_departure])
        if 2 * abs(offset_s) > int(table.trip_departure_headway_s[trip_departure]):
            return EntityOutcome.START_TIME_UNKNOWN
        return trip_departure, offset_s

    def _find_nearest_day(self, row: int, trip_departure: int, instant: int | None) -> int | None:
        table = self.index.timetable
        feed = self.index.trip_feed[row]
        shift_s = int(table.trip_departure_shift_s[trip_departure])
        begin_s = int(table.stop_time_departure_s[table.trip_first_stop_time[row]]) + shift_s
        end_s = int(table.stop_time_arrival_s[table.trip_first_stop_time[row + 1] - 1]) + shift_s
        instant = self.now if instant is None or abs(instant - self.now) > _MAX_DAYS_AWAY * _DAY_S else instant
        anchor = to_local_date(instant, table.feeds[feed].zone).toordinal()
        days = [day for day in range(anchor + 1, anchor - 2 - end_s // _DAY_S, -1) if self.index.is_running(row, day)]

        def distance_s(day: int) -> int:
            start = self.index.day_start(feed, day)
            return max(start + begin_s - instant, instant - start - end_s, 0)

        # This returns the later of two equally near days, because the days are in descending order.
        return min(days, key=distance_s, default=None)

    def _match_by_route(
        self, trip: TripDescriptor, day: int, stop_times: Sequence[StopTimeUpdate]
    ) -> TripMatch | EntityOutcome:
        if not trip.route_id or not trip.start_time:
            return EntityOutcome.TRIP_NOT_NAMED
        start_s = parse_time_s(to_text(trip.start_time))
        if start_s is None:
            return EntityOutcome.START_TIME_UNKNOWN
        results: list[TripMatch] = []
        single_start_s = self.index.single_start_s
        for route in self.scope.routes.get(trip.route_id, ()):
            for row in self.index.trips_by_route.get(route, ()):
                if single_start_s[row] not in (-1, start_s) or not self.index.is_running(row, day):
                    continue
                direction = int(self.index.timetable.trip_direction[row])
                if trip.HasField("direction_id") and direction not in (-1, trip.direction_id):
                    continue
                choice = self._choose_trip_departure(row, start_s)
                if not isinstance(choice, EntityOutcome):
                    results.append(TripMatch(row, choice[0], day, choice[1]))
        if len(results) > 1:
            stops = {stop_time.stop_id for stop_time in stop_times if stop_time.stop_id}
            results = [match for match in results if stops and self._serves(match.trip, stops)]
            return results[0] if len(results) == 1 else EntityOutcome.TRIP_AMBIGUOUS
        return results[0] if results else EntityOutcome.TRIP_UNKNOWN

    def _serves(self, trip: int, stop_ids: Iterable[str]) -> bool:
        table = self.index.timetable
        rows = table.stop_time_stop[table.list_stop_times(trip)].tolist()
        return {table.stop_local_id[row] for row in rows}.issuperset(stop_ids)
