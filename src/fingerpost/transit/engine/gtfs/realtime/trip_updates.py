"""Collect GTFS-Realtime trip updates, select the newest for each ride, and compute all realtime data."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

import numpy as np
from google.transit.gtfs_realtime_pb2 import TripDescriptor, TripUpdate

from fingerpost.transit.engine.gtfs.csv.table import find_time_s
from fingerpost.transit.engine.gtfs.realtime.added_trips import PlacedStopTimes, place_stop_times
from fingerpost.transit.engine.gtfs.realtime.delays import MAX_DELAY_S, compute_delays
from fingerpost.transit.engine.gtfs.realtime.messages import to_text
from fingerpost.transit.engine.gtfs.realtime.outcomes import EntityOutcome
from fingerpost.transit.engine.gtfs.realtime.stop_time_updates import (
    NONE,
    Rides,
    match_stop_times,
    read_stop_time_updates,
)
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex, TripMatch, TripMatcher
from fingerpost.transit.engine.timetable.overlay import AddedRide, RideKey, RideUpdate
from fingerpost.transit.engine.timetable.timetable import Timetable

_ADDING = frozenset({TripDescriptor.ADDED, TripDescriptor.NEW})
_CANCELLING = {
    TripDescriptor.CANCELED: EntityOutcome.TRIP_CANCELLED,
    TripDescriptor.DELETED: EntityOutcome.TRIP_DELETED,
}


class ReceivedUpdate(NamedTuple):
    """A trip update, the matcher of its message, its timestamp (Unix seconds), and the index of its outcome."""

    update: TripUpdate
    matcher: TripMatcher
    updated: int
    slot: int


class MatchedUpdate(NamedTuple):
    """A trip update matched to a ride, whose stop times are relative to ``start`` (Unix seconds)."""

    received: ReceivedUpdate
    match: TripMatch
    feed: int
    start: int


class _AddedKey(NamedTuple):
    """Identifies an added ride: feed row, service day as an ordinal, trip id and start time as received."""

    trip_id: str
    feed: int
    day: int
    start_time: str


class _Added(NamedTuple):
    received: ReceivedUpdate
    ride: AddedRide


class TripUpdates:
    def __init__(self, timetable: Timetable, index: RealtimeIndex, outcomes: list[EntityOutcome]) -> None:
        self.timetable, self.index, self.outcomes = timetable, index, outcomes
        self._claims: dict[RideKey, MatchedUpdate] = {}
        self._added: defaultdict[str, dict[_AddedKey, _Added]] = defaultdict(dict)
        # Cancellations of unknown rides, checked against the added rides at the end.
        self._cancellations: list[ReceivedUpdate] = []
        self._added_rides: dict[_AddedKey, RideKey] = {}

    def add(self, received: ReceivedUpdate) -> EntityOutcome:
        """Add an update and return its outcome, which a later update for the same ride may supersede."""
        trip = received.update.trip
        if trip.schedule_relationship in _ADDING:
            return self._add_new(received)
        if trip.schedule_relationship == TripDescriptor.DUPLICATED:
            return EntityOutcome.KIND_NOT_READ
        match = received.matcher.match(trip, received.update.stop_time_update)
        if isinstance(match, EntityOutcome):
            if trip.schedule_relationship in _CANCELLING:
                self._cancellations.append(received)
            return match
        key = (match.trip_departure, match.day)
        earlier = self._claims.get(key)
        if earlier is not None and not self._supersede(earlier.received, received):
            return EntityOutcome.SUPERSEDED
        feed, shift_s = self.index.trip_feed[match.trip], self.timetable.trip_departure_shift_s[match.trip_departure]
        self._claims[key] = MatchedUpdate(received, match, feed, self.index.day_start(feed, match.day) + int(shift_s))
        return _CANCELLING.get(trip.schedule_relationship, EntityOutcome.TRIP_UPDATED)

    def _supersede(self, earlier: ReceivedUpdate, received: ReceivedUpdate) -> bool:
        """Mark the earlier update as superseded, or return False if its timestamp is newer."""
        if earlier.updated > received.updated:
            return False
        self.outcomes[earlier.slot] = EntityOutcome.SUPERSEDED
        return True

    def _add_new(self, received: ReceivedUpdate) -> EntityOutcome:
        update, matcher = received.update, received.matcher
        trip = update.trip
        day = matcher.read_day(trip.start_date)
        if isinstance(day, EntityOutcome):
            return day
        rows = matcher.scope.trips.get(trip.trip_id, ())
        feed = self._find_feed(update, matcher, rows)
        if feed is None:
            return EntityOutcome.FEED_UNCLEAR
        name, routes = self.index.feed_names[feed], matcher.scope.routes.get(trip.route_id, ())
        row = next((row for row in rows if self.index.feed_names[self.index.trip_feed[row]] == name), -1)
        route = next((row for row in routes if self.index.feed_names[self.index.route_feed[row]] == name), -1)
        if route < 0 <= row:
            route = self.index.trip_route[row]
        if day is None:
            day = matcher.today
        stop_times = place_stop_times(update, self.index.get_feed_stops(feed), self.index.day_start(feed, day), {})
        if stop_times is None:
            return EntityOutcome.ADDED_UNPLACED
        key = _AddedKey(to_text(trip.trip_id), feed, day, to_text(trip.start_time))
        added = self._added[key.trip_id]
        if key in added and not self._supersede(added[key].received, received):
            return EntityOutcome.SUPERSEDED
        added[key] = _Added(received, self._build_ride(received, stop_times, row, route, day))
        return EntityOutcome.TRIP_ADDED

    def _find_feed(self, update: TripUpdate, matcher: TripMatcher, rows: Sequence[int]) -> int | None:
        """Determine the feed of an added ride from its route, trip or stops; None if unclear."""
        scope = matcher.scope
        routes = scope.routes.get(update.trip.route_id, ())
        feeds = {self.index.route_feed[row] for row in routes} or {self.index.trip_feed[row] for row in rows}
        feeds = feeds or set(scope.feeds)
        if len(feeds) > 1:
            stop_ids = {stop_time.stop_id for stop_time in update.stop_time_update if stop_time.stop_id}
            feeds = {feed for feed in feeds if stop_ids and stop_ids <= self.index.get_feed_stops(feed).keys()}
        return feeds.pop() if len(feeds) == 1 else None

    def finish(self) -> tuple[dict[RideKey, RideUpdate], tuple[AddedRide, ...]]:
        rides: dict[RideKey, RideUpdate] = {}
        delayed: list[MatchedUpdate] = []
        for cancellation in self._cancellations:
            self._cancel_added(cancellation)
        placed = {key: ride for of_trip in self._added.values() for key, (_, ride) in of_trip.items()}
        self._added_rides = {key: (-1 - row, key.day) for row, key in enumerate(placed)}
        added = list(placed.values())
        for key, claim in self._claims.items():
            relationship = claim.received.update.trip.schedule_relationship
            if relationship in _CANCELLING:
                rides[key] = self._cancel(claim, is_deleted=relationship == TripDescriptor.DELETED)
            elif relationship == TripDescriptor.REPLACEMENT:
                ride = self._replace(claim)
                if ride is not None:
                    rides[key] = self._cancel(claim, is_deleted=False)
                    added.append(ride)
            else:
                delayed.append(claim)
        if delayed:
            self._apply_delays(delayed, rides)
        return rides, tuple(added)

    def find_added(self, trip: TripDescriptor, matcher: TripMatcher) -> list[RideKey] | EntityOutcome:
        """Return the added rides that match a descriptor; only after ``finish``."""
        keys = self._find_added_keys(trip, matcher)
        return keys if isinstance(keys, EntityOutcome) else [self._added_rides[key] for key in keys]

    def _find_added_keys(self, trip: TripDescriptor, matcher: TripMatcher) -> list[_AddedKey] | EntityOutcome:
        day, start_time = matcher.read_day(trip.start_date), to_text(trip.start_time)
        keys = [
            key
            for key in (self._added.get(to_text(trip.trip_id), ()) if trip.trip_id else ())
            if key.feed in matcher.scope.feeds
            and day in (None, key.day)
            and (not start_time or not key.start_time or find_time_s(start_time) == find_time_s(key.start_time))
        ]
        if len({self.index.feed_names[key.feed] for key in keys}) > 1:
            return matcher.report_shared_id(trip.trip_id)
        return keys

    def _cancel_added(self, received: ReceivedUpdate) -> None:
        """Drop an added ride that a newer update cancels, because the timetable cannot show it as cancelled."""
        outcome = self._find_added_keys(received.update.trip, received.matcher)
        if not outcome:
            return
        if not isinstance(outcome, EntityOutcome):
            key, *more_keys = outcome
            earlier = self._added[key.trip_id][key].received
            if more_keys:
                outcome = EntityOutcome.TRIP_AMBIGUOUS
            elif (earlier.updated, earlier.slot) > (received.updated, received.slot):
                outcome = EntityOutcome.SUPERSEDED
            else:
                del self._added[key.trip_id][key]
                self.outcomes[earlier.slot] = EntityOutcome.SUPERSEDED
                outcome = _CANCELLING[received.update.trip.schedule_relationship]
        self.outcomes[received.slot] = outcome

    def _apply_delays(self, claims: Sequence[MatchedUpdate], rides: dict[RideKey, RideUpdate]) -> None:
        planned = Rides.gather(
            self.timetable, [claim.match.trip for claim in claims], [claim.start for claim in claims]
        )
        updates = read_stop_time_updates(
            (claim.received.update, self.index.get_feed_stops(claim.feed)) for claim in claims
        )
        late_s = np.array([claim.match.late_s for claim in claims], np.int64)
        trip_delay_s = np.array([_get_trip_delay_s(claim) for claim in claims], np.int64)
        matched = match_stop_times(self.timetable, planned, updates)
        delays = compute_delays(planned, updates, matched, late_s, trip_delay_s)
        first, has_realtime = planned.first.tolist(), delays.has_realtime.tolist()
        moved, with_flags = (
            np.logical_or.reduceat(marks, planned.first[:-1]).tolist()
            for marks in (delays.stop != planned.stop, delays.flags != planned.flags)
        )
        for row, claim in enumerate(claims):
            rows = slice(first[row], first[row + 1])
            if has_realtime[row]:
                rides[claim.match.trip_departure, claim.match.day] = RideUpdate(
                    is_cancelled=False,
                    arrival_delay_s=delays.arrival_delay_s[rows],
                    departure_delay_s=delays.departure_delay_s[rows],
                    is_known=delays.is_known[rows],
                    is_skipped=delays.is_skipped[rows],
                    updated=claim.received.updated,
                    stop=delays.stop[rows] if moved[row] else None,
                    flags=delays.flags[rows] if with_flags[row] else None,
                )
            elif self.outcomes[claim.received.slot] == EntityOutcome.TRIP_UPDATED:
                self.outcomes[claim.received.slot] = _explain_no_times(claim.received.update)

    def _cancel(self, claim: MatchedUpdate, *, is_deleted: bool) -> RideUpdate:
        count = len(self.timetable.stop_time_stop[self.timetable.list_stop_times(claim.match.trip)])
        no_delay_s, no_marks = np.zeros(count, np.int32), np.zeros(count, np.bool_)
        return RideUpdate(
            is_cancelled=True,
            is_deleted=is_deleted,
            arrival_delay_s=no_delay_s,
            departure_delay_s=no_delay_s,
            is_known=no_marks,
            is_skipped=no_marks,
            updated=claim.received.updated,
        )

    def _replace(self, claim: MatchedUpdate) -> AddedRide | None:
        received, match = claim.received, claim.match
        rows = self.timetable.list_stop_times(match.trip)
        stops, flags = self.timetable.stop_time_stop[rows].tolist(), self.timetable.stop_time_flags[rows].tolist()
        stop_times = place_stop_times(
            received.update,
            self.index.get_feed_stops(claim.feed),
            self.index.day_start(claim.feed, match.day),
            dict(zip(stops, flags, strict=True)),
        )
        if stop_times is None:
            self.outcomes[received.slot] = EntityOutcome.REPLACEMENT_UNPLACED
            return None
        self.outcomes[received.slot] = EntityOutcome.TRIP_REPLACED
        added = self._build_ride(received, stop_times, match.trip, self.index.trip_route[match.trip], match.day)
        return replace(added, replaces=(match.trip_departure, match.day))

    def _build_ride(
        self, received: ReceivedUpdate, stop_times: PlacedStopTimes, trip: int, route: int, day: int
    ) -> AddedRide:
        headsign = to_text(received.update.trip_properties.trip_headsign)
        if not headsign and trip >= 0 and self.timetable.trip_headsign[trip] >= 0:
            headsign = self.timetable.headsign[int(self.timetable.trip_headsign[trip])]
        return AddedRide(
            trip_id=to_text(received.update.trip.trip_id),
            service_day=date.fromordinal(day),
            route=route,
            trip=trip,
            headsign=headsign,
            updated=received.updated,
            **stop_times._asdict(),
        )


def _get_trip_delay_s(claim: MatchedUpdate) -> int:
    update = claim.received.update
    if not update.HasField("delay") or abs(update.delay) > MAX_DELAY_S:
        return NONE
    return update.delay + claim.match.late_s


def _explain_no_times(update: TripUpdate) -> EntityOutcome:
    if update.HasField("delay"):
        return EntityOutcome.DELAY_OUT_OF_RANGE
    return EntityOutcome.CALLS_UNMATCHED if update.stop_time_update else EntityOutcome.WITHOUT_TIMES
