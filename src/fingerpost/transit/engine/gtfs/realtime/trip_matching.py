"""Matches trip descriptors to trip instances (GTFS-Realtime reference, message TripDescriptor)."""

from collections.abc import Callable, Iterable
from datetime import date
from typing import NamedTuple

from google.transit.gtfs_realtime_pb2 import TripDescriptor

from fingerpost.transit.engine.gtfs.csv import find_time_s
from fingerpost.transit.engine.gtfs.realtime.index import RealtimeIndex, Scope
from fingerpost.transit.engine.gtfs.realtime.messages import plain_text
from fingerpost.transit.engine.gtfs.realtime.outcomes import EntityOutcome
from fingerpost.transit.engine.timetable.service_days import local_day

# Real time of a day further off than this is an error.
_FURTHEST_DAYS = 366
_DAY_S = 86_400


class TripMatch(NamedTuple):
    """A matched ride: rows of its trip and trip departure, and its service day as an ordinal.

    ``late_s`` is how much later it set out than its trip departure: a trip by headway may leave at any time.
    """

    trip: int
    trip_departure: int
    day: int
    late_s: int = 0


class TripMatcher:
    """Finds the rides that the descriptors of one message mean."""

    def __init__(self, index: RealtimeIndex, scope: Scope, now: int) -> None:
        self.index = index
        self.scope = scope
        self.now = now
        # Ids that were not looked up further, because several FEEDs have them.
        self.shared_ids: set[str] = set()
        self._days: dict[str, int | None] = {}
        zone = index.timetable.feeds[scope.feeds[0]].zone if scope.feeds else "UTC"
        self.today = local_day(now, zone).toordinal()

    def match(
        self, trip: TripDescriptor, find_instant: Callable[[], int | None], named_stops: Callable[[], set[str]]
    ) -> TripMatch | EntityOutcome:
        """Return the ride, or why there is none.

        ``find_instant`` returns an instant of the ride (Unix seconds) where one is stated; it is called only
        where the start date is missing. ``named_stops`` returns the ids of its stops, and is called only
        where several trips could be meant.
        """
        day = self.read_day(trip.start_date)
        if isinstance(day, EntityOutcome):
            return day
        if not trip.trip_id:
            return self._match_by_route(trip, self.today if day is None else day, named_stops)
        rows = self.find_trips(trip)
        if isinstance(rows, EntityOutcome):
            return rows
        found = [self._match_row(row, trip, day, find_instant) for row in rows]
        if len(found) == 1:
            return found[0]
        matches = [match for match in found if not isinstance(match, EntityOutcome)]
        if len(matches) > 1:
            if len(self.index.by_feed_name((match.trip for match in matches), self.index.trip_feed)) == 1:
                return EntityOutcome.TRIP_AMBIGUOUS
            return self.refuse_shared(trip.trip_id)
        return matches[0] if matches else found[0]

    def find_trips(self, trip: TripDescriptor) -> tuple[int, ...] | EntityOutcome:
        """Return the rows that bear a trip's id and belong to its route, where a known one is named."""
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

    def refuse_shared(self, shared_id: str | bytes) -> EntityOutcome:
        """Keep an id that several FEEDs have, and return the outcome of what names it."""
        self.shared_ids.add(plain_text(shared_id))
        return EntityOutcome.ID_SHARED

    def read_day(self, text: str) -> int | EntityOutcome | None:
        """Return the ordinal of a start date, None where there is none."""
        if not text:
            return None
        if text not in self._days:
            self._days[text] = _find_day(text)
        day = self._days[text]
        if day is None or abs(day - self.today) > _FURTHEST_DAYS:
            return EntityOutcome.START_DATE_UNREADABLE
        return day

    def _match_row(
        self, row: int, trip: TripDescriptor, day: int | None, find_instant: Callable[[], int | None]
    ) -> TripMatch | EntityOutcome:
        index = self.index
        begin, end = index.trip_departure_first[row], index.trip_departure_first[row + 1]
        if end - begin == 1:
            trip_departure, late_s = int(index.trip_departure_order[begin]), 0
            if trip.start_time and int(index.timetable.trip_departure_headway_s[trip_departure]):
                chosen = self._choose_trip_departure(row, trip.start_time)
                if isinstance(chosen, EntityOutcome):
                    return chosen
                trip_departure, late_s = chosen
        elif not trip.start_time:
            return EntityOutcome.START_TIME_MISSING
        else:
            chosen = self._choose_trip_departure(row, trip.start_time)
            if isinstance(chosen, EntityOutcome):
                return chosen
            trip_departure, late_s = chosen
        if day is None:
            day = self._nearest_day(row, trip_departure, find_instant())
            if day is None:
                return EntityOutcome.NOT_RUNNING
        elif not index.is_running(row, day):
            return EntityOutcome.NOT_RUNNING
        return TripMatch(row, trip_departure, day, late_s)

    def _choose_trip_departure(self, row: int, start_time: str) -> tuple[int, int] | EntityOutcome:
        """Return the trip departure at a time, and how much later than it the trip left (by headway only)."""
        table = self.index.timetable
        start_s = find_time_s(start_time) if isinstance(start_time, str) else None
        if start_s is None:
            return EntityOutcome.START_TIME_UNKNOWN
        wanted_s = start_s - int(table.stop_time_departure_s[table.trip_first_stop_time[row]])
        trip_departures = self.index.trip_departures_of(row)
        trip_departure = min(
            trip_departures, key=lambda each: (abs(int(table.trip_departure_shift_s[each]) - wanted_s), each)
        )
        late_s = wanted_s - int(table.trip_departure_shift_s[trip_departure])
        if 2 * abs(late_s) > int(table.trip_departure_headway_s[trip_departure]):
            return EntityOutcome.START_TIME_UNKNOWN
        return trip_departure, late_s

    def _nearest_day(self, row: int, trip_departure: int, instant: int | None) -> int | None:
        """Return the day on which a ride runs nearest to an instant; of two, the later."""
        table = self.index.timetable
        feed = self.index.trip_feed[row]
        shift_s = int(table.trip_departure_shift_s[trip_departure])
        begin_s = int(table.stop_time_departure_s[table.trip_first_stop_time[row]]) + shift_s
        end_s = int(table.stop_time_arrival_s[table.trip_first_stop_time[row + 1] - 1]) + shift_s
        instant = self.now if instant is None or abs(instant - self.now) > _FURTHEST_DAYS * _DAY_S else instant
        around = local_day(instant, table.feeds[feed].zone).toordinal()
        days = [day for day in range(around + 1, around - 2 - end_s // _DAY_S, -1) if self.index.is_running(row, day)]

        def distance_s(day: int) -> int:
            start = self.index.day_start(feed, day)
            return max(start + begin_s - instant, instant - start - end_s, 0)

        return min(days, key=distance_s, default=None)

    def _match_by_route(
        self, trip: TripDescriptor, day: int, named_stops: Callable[[], set[str]]
    ) -> TripMatch | EntityOutcome:
        """Match by route, start time and, where they are stated, direction and stops."""
        routes = self.scope.routes.get(trip.route_id, ())
        if not trip.route_id or not trip.start_time:
            return EntityOutcome.TRIP_NOT_NAMED
        start_s = find_time_s(trip.start_time) if isinstance(trip.start_time, str) else None
        if start_s is None:
            return EntityOutcome.START_TIME_UNKNOWN
        found: list[TripMatch] = []
        only_start_s = self.index.only_start_s
        for route in routes:
            for row in self.index.trips_of_route.get(route, ()):
                if only_start_s[row] not in (-1, start_s) or not self.index.is_running(row, day):
                    continue
                direction = int(self.index.timetable.trip_direction[row])
                if trip.HasField("direction_id") and direction not in (-1, trip.direction_id):
                    continue
                chosen = self._choose_trip_departure(row, trip.start_time)
                if not isinstance(chosen, EntityOutcome):
                    found.append(TripMatch(row, chosen[0], day, chosen[1]))
        if len(found) > 1:
            stops = named_stops()
            found = [match for match in found if stops and self._serves(match.trip, stops)]
            return found[0] if len(found) == 1 else EntityOutcome.TRIP_AMBIGUOUS
        return found[0] if found else EntityOutcome.TRIP_UNKNOWN

    def _serves(self, trip: int, stop_ids: Iterable[str]) -> bool:
        table = self.index.timetable
        rows = table.stop_time_stop[table.trip_first_stop_time[trip] : table.trip_first_stop_time[trip + 1]].tolist()
        return {table.stop_local_id[row] for row in rows}.issuperset(stop_ids)


def _find_day(text: str) -> int | None:
    """Return the ordinal of a date written YYYYMMDD, or None."""
    try:
        if not isinstance(text, str) or len(text) != len("YYYYMMDD") or not (text.isascii() and text.isdigit()):
            return None
        return date(int(text[:4]), int(text[4:6]), int(text[6:])).toordinal()
    except ValueError:
        return None
