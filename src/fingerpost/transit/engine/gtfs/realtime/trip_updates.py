"""Collect GTFS-Realtime trip updates, choose the newest of each ride, and compute the realtime of all rides."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

import numpy as np
from google.transit.gtfs_realtime_pb2 import TripDescriptor, TripUpdate

from fingerpost.transit.engine.gtfs.csv.table import find_time_s
from fingerpost.transit.engine.gtfs.realtime.added_trips import (
    AddedKey,
    AddedKeys,
    PlacedStopTimes,
    place_stop_times,
    read_original,
)
from fingerpost.transit.engine.gtfs.realtime.delays import FURTHEST_S, Delays, compute_delays
from fingerpost.transit.engine.gtfs.realtime.messages import plain_text
from fingerpost.transit.engine.gtfs.realtime.outcomes import EntityOutcome, Tally
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
# Outcomes of a trip id that may be an added ride's.
_MAYBE_ADDED = (EntityOutcome.TRIP_UNKNOWN, EntityOutcome.NOT_RUNNING, EntityOutcome.START_TIME_UNKNOWN)


class ReceivedUpdate(NamedTuple):
    """A trip update, the matcher of its message, its timestamp (Unix seconds), and the position of its outcome."""

    update: TripUpdate
    matcher: TripMatcher
    updated: int
    slot: int


class RideClaim(NamedTuple):
    """A trip update matched to a ride whose stop times count from ``start``; ``added`` is the key of a copy."""

    received: ReceivedUpdate
    match: TripMatch
    feed: int
    start: int
    added: AddedKey | None = None


class _Placed(NamedTuple):
    received: ReceivedUpdate
    ride: AddedRide


class TripUpdates:
    def __init__(self, timetable: Timetable, index: RealtimeIndex, tally: Tally) -> None:
        self.timetable, self.index, self.tally = timetable, index, tally
        self._claims: dict[RideKey, RideClaim] = {}
        # Added trips, which have their stop times already, and duplicated ones, which are claims.
        self._added: dict[AddedKey, _Placed | RideClaim] = {}
        # Updates of unknown trips, until all added trips are known.
        self._waiting: list[ReceivedUpdate] = []
        self._added_keys = AddedKeys(())
        self._added_rides: dict[AddedKey, list[RideKey]] = {}

    def add(self, received: ReceivedUpdate) -> EntityOutcome:
        """Add an update; its outcome is preliminary, because a later update of the same ride may supersede it."""
        trip = received.update.trip
        if trip.schedule_relationship in _ADDING:
            return self._add_new(received)
        match = received.matcher.match(trip, received.update.stop_time_update)
        if isinstance(match, EntityOutcome):
            if match in _MAYBE_ADDED and trip.trip_id:
                self._waiting.append(received)
            return match
        if trip.schedule_relationship == TripDescriptor.DUPLICATED:
            return self._duplicate(received, match)
        key = (match.trip_departure, match.day)
        earlier = self._claims.get(key)
        if earlier is not None:
            if earlier.received.updated > received.updated:
                return EntityOutcome.SUPERSEDED
            self._supersede(earlier.received)
        feed, shift_s = self.index.trip_feed[match.trip], self.timetable.trip_departure_shift_s[match.trip_departure]
        self._claims[key] = RideClaim(received, match, feed, self.index.day_start(feed, match.day) + int(shift_s))
        return _CANCELLING.get(trip.schedule_relationship, EntityOutcome.TRIP_UPDATED)

    def _duplicate(self, received: ReceivedUpdate, match: TripMatch) -> EntityOutcome:
        update, properties = received.update, received.update.trip_properties
        day = received.matcher.read_day(properties.start_date)
        if isinstance(day, EntityOutcome):
            return day
        start_s = find_time_s(plain_text(properties.start_time))
        if start_s is None:
            return EntityOutcome.COPY_WITHOUT_START
        day = match.day if day is None else day
        feed = self.index.trip_feed[match.trip]
        first_s = int(self.timetable.stop_time_departure_s[self.timetable.trip_first_stop_time[match.trip]])
        trip_id = plain_text(properties.trip_id) or plain_text(update.trip.trip_id)
        key = AddedKey(feed, trip_id, day, plain_text(properties.start_time))
        if self._is_outdated(key, received):
            return EntityOutcome.SUPERSEDED
        start = self.index.day_start(feed, day) + start_s - first_s
        self._put_newest(key, RideClaim(received, match._replace(day=day, late_s=0), feed, start, key))
        return EntityOutcome.TRIP_DUPLICATED

    def _add_new(self, received: ReceivedUpdate) -> EntityOutcome:
        update, matcher = received.update, received.matcher
        trip = update.trip
        day = matcher.read_day(trip.start_date)
        if isinstance(day, EntityOutcome):
            return day
        rows = matcher.scope.trips.get(trip.trip_id, ())
        feed = self._feed_of(update, matcher, rows)
        if feed is None:
            return EntityOutcome.FEED_UNCLEAR
        name, routes = self.index.feed_names[feed], matcher.scope.routes.get(trip.route_id, ())
        row = next((row for row in rows if self.index.feed_names[self.index.trip_feed[row]] == name), -1)
        route = next((row for row in routes if self.index.feed_names[self.index.route_feed[row]] == name), -1)
        if route < 0 <= row:
            route = self.index.trip_route[row]
        if day is None:
            day = matcher.today
        key = AddedKey(feed, plain_text(trip.trip_id), day, plain_text(trip.start_time))
        if self._is_outdated(key, received):
            return EntityOutcome.SUPERSEDED
        day_start = self.index.day_start(feed, day)
        stop_times = place_stop_times(update, self.index.stops_of(feed), day_start, {}, self.tally.stop_times)
        if stop_times is None:
            return EntityOutcome.ADDED_UNPLACED
        self._put_newest(key, _Placed(received, self._new_ride(received, stop_times, row, route, day)))
        return EntityOutcome.TRIP_ADDED

    def _feed_of(self, update: TripUpdate, matcher: TripMatcher, rows: Sequence[int]) -> int | None:
        """Return the feed of an added ride: its route's, its trip's, the only one, or the only one with its stops."""
        scope = matcher.scope
        routes = scope.routes.get(update.trip.route_id, ())
        feeds = {self.index.route_feed[row] for row in routes} or {self.index.trip_feed[row] for row in rows}
        feeds = feeds or set(scope.feeds)
        if len(feeds) > 1:
            stop_ids = {stop_time.stop_id for stop_time in update.stop_time_update if stop_time.stop_id}
            feeds = {feed for feed in feeds if stop_ids and stop_ids <= self.index.stops_of(feed).keys()}
        return feeds.pop() if len(feeds) == 1 else None

    def _supersede(self, received: ReceivedUpdate) -> None:
        self.tally.entities[received.slot] = EntityOutcome.SUPERSEDED

    def _is_outdated(self, key: AddedKey, received: ReceivedUpdate) -> bool:
        earlier = self._added.get(key)
        return earlier is not None and earlier.received.updated > received.updated

    def _put_newest(self, key: AddedKey, added: _Placed | RideClaim) -> None:
        earlier = self._added.get(key)
        if earlier is not None:
            self._supersede(earlier.received)
        self._added[key] = added

    def finish(self) -> tuple[dict[RideKey, RideUpdate], tuple[AddedRide, ...]]:
        rides: dict[RideKey, RideUpdate] = {}
        added: list[AddedRide] = []
        moving: list[RideClaim] = []
        if self._waiting and self._added:
            for added_key, received in self._choose_newest().items():
                self.tally.entities[received.slot] = self._apply_to_added(added_key, received)
        for added_key, update in self._added.items():
            if isinstance(update, RideClaim):
                moving.append(update)
            else:
                self._put_added(added, added_key, update.ride)
        for key, claim in self._claims.items():
            relationship = claim.received.update.trip.schedule_relationship
            if relationship in _CANCELLING:
                rides[key] = self._cancelled(claim, is_deleted=relationship == TripDescriptor.DELETED)
            elif relationship == TripDescriptor.REPLACEMENT:
                rides[key] = self._cancelled(claim, is_deleted=False)
                added += self._replaced(claim)
            else:
                moving.append(claim)
        if moving:
            self._move(moving, rides, added)
        self._added_keys = AddedKeys(self._added_rides)
        return rides, tuple(added)

    def find_added(self, trip: TripDescriptor, matcher: TripMatcher) -> list[RideKey] | EntityOutcome:
        """Return the added rides that a descriptor means; none before ``finish``."""
        keys = self._added_keys.find(trip, matcher)
        return keys if isinstance(keys, EntityOutcome) else [ride for key in keys for ride in self._added_rides[key]]

    def _choose_newest(self) -> dict[AddedKey, ReceivedUpdate]:
        keys = AddedKeys(self._added)
        newest: dict[AddedKey, ReceivedUpdate] = {}
        for received in self._waiting:
            found = keys.find(received.update.trip, received.matcher)
            if isinstance(found, EntityOutcome):
                self.tally.entities[received.slot] = found
            elif len(found) > 1:
                self.tally.entities[received.slot] = EntityOutcome.TRIP_AMBIGUOUS
            elif found:
                earlier = newest.get(found[0])
                if earlier is not None and earlier.updated > received.updated:
                    self._supersede(received)
                    continue
                if earlier is not None:
                    self._supersede(earlier)
                newest[found[0]] = received
        return newest

    def _apply_to_added(self, key: AddedKey, received: ReceivedUpdate) -> EntityOutcome:
        """Cancel an added ride or move a copy if the update is newer; return the update's outcome.

        A cancelled ride is dropped, because there is no timetable by which it could be shown as cancelled.
        """
        added, relationship = self._added[key], received.update.trip.schedule_relationship
        cancelling = _CANCELLING.get(relationship)
        if cancelling is None and not (isinstance(added, RideClaim) and relationship == TripDescriptor.SCHEDULED):
            return self.tally.entities[received.slot]
        if (added.received.updated, added.received.slot) > (received.updated, received.slot):
            return EntityOutcome.SUPERSEDED
        if isinstance(added, RideClaim) and cancelling is None:
            # The headsign comes from the copy.
            update = TripUpdate(trip_properties=added.received.update.trip_properties)
            update.MergeFrom(received.update)
            self._added[key] = added._replace(received=received._replace(update=update))
            return EntityOutcome.TRIP_UPDATED
        self._supersede(added.received)
        del self._added[key]
        return cancelling or EntityOutcome.TRIP_CANCELLED

    def _put_added(self, added: list[AddedRide], key: AddedKey, ride: AddedRide) -> None:
        self._added_rides.setdefault(key, []).append((-1 - len(added), key.day))
        added.append(ride)

    def _move(self, claims: Sequence[RideClaim], rides: dict[RideKey, RideUpdate], added: list[AddedRide]) -> None:
        planned = Rides.gather(
            self.timetable, [claim.match.trip for claim in claims], [claim.start for claim in claims]
        )
        updates = read_stop_time_updates((claim.received.update, self.index.stops_of(claim.feed)) for claim in claims)
        late_s = np.array([claim.match.late_s for claim in claims], np.int64)
        trip_delay_s = np.array([_trip_delay_s(claim) for claim in claims], np.int64)
        matched = match_stop_times(self.timetable, planned, updates, self.tally.stop_times)
        delays = compute_delays(planned, updates, matched, late_s, trip_delay_s, self.tally.stop_times)
        first, has_realtime = planned.first.tolist(), delays.has_realtime.tolist()
        moved, with_flags = (
            np.logical_or.reduceat(marks, planned.first[:-1]).tolist()
            for marks in (delays.stop != planned.stop, delays.flags != planned.flags)
        )
        for row, claim in enumerate(claims):
            rows = slice(first[row], first[row + 1])
            if claim.added is not None:
                self._put_added(added, claim.added, self._copied(claim, claim.added.trip_id, planned, delays, rows))
            elif has_realtime[row]:
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
            if not has_realtime[row] and self.tally.entities[claim.received.slot] == EntityOutcome.TRIP_UPDATED:
                self.tally.entities[claim.received.slot] = _find_silence(claim.received.update)

    def _cancelled(self, claim: RideClaim, *, is_deleted: bool) -> RideUpdate:
        count = len(self.timetable.stop_time_stop[self.timetable.list_stop_times(claim.match.trip)])
        none, no = np.zeros(count, np.int32), np.zeros(count, np.bool_)
        return RideUpdate(
            is_cancelled=True,
            is_deleted=is_deleted,
            arrival_delay_s=none,
            departure_delay_s=none,
            is_known=no,
            is_skipped=no,
            updated=claim.received.updated,
        )

    def _replaced(self, claim: RideClaim) -> Iterator[AddedRide]:
        received, match = claim.received, claim.match
        stop_times = place_stop_times(
            received.update,
            self.index.stops_of(claim.feed),
            self.index.day_start(claim.feed, match.day),
            read_original(self.timetable, match.trip, claim.start + match.late_s),
            self.tally.stop_times,
        )
        if stop_times is None:
            self.tally.entities[received.slot] = EntityOutcome.REPLACEMENT_UNPLACED
            return
        self.tally.entities[received.slot] = EntityOutcome.TRIP_REPLACED
        added = self._new_ride(received, stop_times, match.trip, self.index.trip_route[match.trip], match.day)
        yield replace(added, replaces=(match.trip_departure, match.day))

    def _copied(self, claim: RideClaim, trip_id: str, planned: Rides, delays: Delays, rows: slice) -> AddedRide:
        match = claim.match
        stop_times = PlacedStopTimes(
            stop=delays.stop[rows],
            arrival=planned.arrival[rows] + delays.arrival_delay_s[rows],
            departure=planned.departure[rows] + delays.departure_delay_s[rows],
            flags=delays.flags[rows],
            is_skipped=delays.is_skipped[rows],
        )
        ride = self._new_ride(claim.received, stop_times, match.trip, self.index.trip_route[match.trip], match.day)
        return replace(ride, trip_id=trip_id) if trip_id else ride

    def _new_ride(
        self, received: ReceivedUpdate, stop_times: PlacedStopTimes, trip: int, route: int, day: int
    ) -> AddedRide:
        headsign = plain_text(received.update.trip_properties.trip_headsign)
        if not headsign and trip >= 0 and self.timetable.trip_headsign[trip] >= 0:
            headsign = self.timetable.headsign[int(self.timetable.trip_headsign[trip])]
        return AddedRide(
            trip_id=plain_text(received.update.trip.trip_id),
            service_day=date.fromordinal(day),
            route=route,
            trip=trip,
            headsign=headsign,
            updated=received.updated,
            **stop_times._asdict(),
        )


def _trip_delay_s(claim: RideClaim) -> int:
    update = claim.received.update
    if not update.HasField("delay") or abs(update.delay) > FURTHEST_S:
        return NONE
    return update.delay + claim.match.late_s


def _find_silence(update: TripUpdate) -> EntityOutcome:
    if update.HasField("delay"):
        return EntityOutcome.DELAY_OUT_OF_RANGE
    return EntityOutcome.CALLS_UNMATCHED if update.stop_time_update else EntityOutcome.WITHOUT_TIMES
