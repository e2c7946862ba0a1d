"""Collect GTFS-Realtime trip updates, select the newest for each ride, and compute each ride's realtime data."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

import numpy as np
from google.transit.gtfs_realtime_pb2 import TripDescriptor, TripUpdate

from fingerpost.transit.engine.gtfs.csv.field_values import parse_time_s
from fingerpost.transit.engine.gtfs.realtime.messages import EntityOutcome, to_text
from fingerpost.transit.engine.gtfs.realtime.stop_time_updates import (
    NO_DELAY,
    PlannedRides,
    StopTimeUpdates,
    apply_stop_time_updates,
    read_pickup_drop_off,
)
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex, TripMatch, TripMatcher
from fingerpost.transit.engine.timetable.overlay import AddedRide, RideKey, RideUpdate

# Stop times of added trips outside this range around the start of the service day are errors.
_EARLIEST_S, _LATEST_S = -12 * 3600, 5 * 86_400
_MIN_STOP_TIMES = 2
# Rides are read in blocks of this size, because the columns of all rides at once would need more memory.
_RIDES_AT_ONCE = 500
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


class _AddedKey(NamedTuple):
    """The key of an added ride: trip id, feed row, service day as an ordinal, and start time as received."""

    trip_id: str
    feed: int
    day: int
    start_time: str


class TripUpdates:
    def __init__(self, index: RealtimeIndex, outcomes: list[EntityOutcome]) -> None:
        self.timetable, self.index, self.outcomes = index.timetable, index, outcomes
        self._matched: dict[RideKey, tuple[ReceivedUpdate, TripMatch]] = {}
        self._added: defaultdict[str, dict[_AddedKey, tuple[ReceivedUpdate, AddedRide]]] = defaultdict(dict)
        # Cancellations of unknown rides, applied to the added rides at the end.
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
        if key in self._matched and not self._supersede(self._matched[key][0], received):
            return EntityOutcome.SUPERSEDED
        self._matched[key] = received, match
        return _CANCELLING.get(trip.schedule_relationship, EntityOutcome.TRIP_UPDATED)

    def _supersede(self, earlier: ReceivedUpdate, received: ReceivedUpdate) -> bool:
        """Mark ``earlier`` as superseded and return True, unless its timestamp is newer."""
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
        name = self.index.feed_names[feed]
        routes = matcher.scope.routes.get(trip.route_id, ())
        row = next((row for row in rows if self.index.feed_names[self.index.trip_feed[row]] == name), -1)
        route = next((row for row in routes if self.index.feed_names[self.index.route_feed[row]] == name), -1)
        if route < 0 <= row:
            route = self.index.trip_route[row]
        if day is None:
            day = matcher.today
        ride = self._build_ride(received, feed, day, row, route, {})
        if ride is None:
            return EntityOutcome.ADDED_UNPLACED
        key = _AddedKey(to_text(trip.trip_id), feed, day, to_text(trip.start_time))
        added = self._added[key.trip_id]
        if key in added and not self._supersede(added[key][0], received):
            return EntityOutcome.SUPERSEDED
        added[key] = received, ride
        return EntityOutcome.TRIP_ADDED_IN_PART if _is_partial(ride, update) else EntityOutcome.TRIP_ADDED

    def _find_feed(self, update: TripUpdate, matcher: TripMatcher, rows: Sequence[int]) -> int | None:
        """Determine the feed of an added ride from its route, trip or stops; None if unclear."""
        routes = matcher.scope.routes.get(update.trip.route_id, ())
        feeds = {self.index.route_feed[row] for row in routes} or {self.index.trip_feed[row] for row in rows}
        feeds = feeds or set(matcher.scope.feeds)
        if len(feeds) > 1:
            stop_ids = {stop_time.stop_id for stop_time in update.stop_time_update if stop_time.stop_id}
            feeds = {feed for feed in feeds if stop_ids and stop_ids <= self.index.get_feed_stops(feed).keys()}
        return feeds.pop() if len(feeds) == 1 else None

    def finish(self) -> tuple[dict[RideKey, RideUpdate], tuple[AddedRide, ...]]:
        rides: dict[RideKey, RideUpdate] = {}
        for cancellation in self._cancellations:
            self._cancel_added(cancellation)
        rides_by_key = {key: ride for added in self._added.values() for key, (_, ride) in added.items()}
        self._added_rides = {key: (-1 - row, key.day) for row, key in enumerate(rides_by_key)}
        added_rides = list(rides_by_key.values())
        delayed: list[tuple[RideKey, ReceivedUpdate, TripMatch]] = []
        for key, (received, match) in self._matched.items():
            relationship = received.update.trip.schedule_relationship
            if relationship in _CANCELLING:
                rides[key] = self._cancel(received, match, is_deleted=relationship == TripDescriptor.DELETED)
            elif relationship == TripDescriptor.REPLACEMENT:
                if (ride := self._replace(received, match)) is not None:
                    rides[key] = self._cancel(received, match, is_deleted=False)
                    added_rides.append(ride)
            else:
                delayed.append((key, received, match))
        for begin in range(0, len(delayed), _RIDES_AT_ONCE):
            rides.update(self._delay(delayed[begin : begin + _RIDES_AT_ONCE]))
        return rides, tuple(added_rides)

    def find_added_rides(self, trip: TripDescriptor, matcher: TripMatcher) -> list[RideKey] | EntityOutcome:
        """Return the added rides that match a descriptor; call this only after ``finish``."""
        keys = self._find_added_keys(trip, matcher)
        return keys if isinstance(keys, EntityOutcome) else [self._added_rides[key] for key in keys]

    def _find_added_keys(self, trip: TripDescriptor, matcher: TripMatcher) -> list[_AddedKey] | EntityOutcome:
        day = matcher.read_day(trip.start_date)
        start_time = to_text(trip.start_time)
        keys = [
            key
            for key in (self._added.get(to_text(trip.trip_id), ()) if trip.trip_id else ())
            if key.feed in matcher.scope.feeds
            and day in (None, key.day)
            and (not start_time or not key.start_time or parse_time_s(start_time) == parse_time_s(key.start_time))
        ]
        if len({self.index.feed_names[key.feed] for key in keys}) > 1:
            return matcher.report_shared_id(trip.trip_id)
        return keys

    def _cancel_added(self, received: ReceivedUpdate) -> None:
        """Drop the added ride that a newer update cancels, because the timetable cannot show it as cancelled."""
        trip = received.update.trip
        keys = self._find_added_keys(trip, received.matcher)
        if isinstance(keys, EntityOutcome) or len(keys) != 1:
            return
        added = self._added[keys[0].trip_id]
        earlier, _ = added[keys[0]]
        if (earlier.updated, earlier.slot) < (received.updated, received.slot):
            del added[keys[0]]
            self.outcomes[earlier.slot] = EntityOutcome.SUPERSEDED
            self.outcomes[received.slot] = _CANCELLING[trip.schedule_relationship]

    def _delay(self, entries: Sequence[tuple[RideKey, ReceivedUpdate, TripMatch]]) -> dict[RideKey, RideUpdate]:
        """Return the realtime data of rides that are neither cancelled nor replaced; set the outcomes of updates."""
        keys, all_received, matches = zip(*entries, strict=True)
        trip_updates = [received.update for received in all_received]
        feeds = [self.index.trip_feed[match.trip] for match in matches]
        starts = np.array([self.index.day_start(feed, match.day) for feed, match in zip(feeds, matches, strict=True)])
        starts += self.timetable.trip_departure_shift_s[[match.trip_departure for match in matches]]
        start_offset_s = np.array([match.start_offset_s for match in matches])
        trip_delay_s = np.array([update.delay if update.HasField("delay") else NO_DELAY for update in trip_updates])
        rides, is_partial = apply_stop_time_updates(
            self.timetable,
            PlannedRides.read(self.timetable, [match.trip for match in matches], starts),
            StopTimeUpdates.read(zip(trip_updates, map(self.index.get_feed_stops, feeds), strict=True)),
            trip_delay_s,
            start_offset_s,
            [received.updated for received in all_received],
        )
        for row, received in enumerate(all_received):
            if rides[row] is None:
                self.outcomes[received.slot] = _explain_missing_times(received.update)
            elif is_partial[row]:
                self.outcomes[received.slot] = EntityOutcome.TRIP_UPDATED_IN_PART
        return {key: ride for key, ride in zip(keys, rides, strict=True) if ride is not None}

    def _cancel(self, received: ReceivedUpdate, match: TripMatch, *, is_deleted: bool) -> RideUpdate:
        count = len(self.timetable.stop_time_stop[self.timetable.list_stop_times(match.trip)])
        no_delay_s, no_marks = np.zeros(count, np.int32), np.zeros(count, np.bool_)
        return RideUpdate(
            is_cancelled=True,
            is_deleted=is_deleted,
            arrival_delay_s=no_delay_s,
            departure_delay_s=no_delay_s,
            is_known=no_marks,
            is_skipped=no_marks,
            updated=received.updated,
        )

    def _replace(self, received: ReceivedUpdate, match: TripMatch) -> AddedRide | None:
        rows = self.timetable.list_stop_times(match.trip)
        stops, flags = self.timetable.stop_time_stop[rows].tolist(), self.timetable.stop_time_flags[rows].tolist()
        planned_flags = dict(zip(stops, flags, strict=True))
        feed, route = self.index.trip_feed[match.trip], self.index.trip_route[match.trip]
        ride = self._build_ride(received, feed, match.day, match.trip, route, planned_flags)
        if ride is None:
            self.outcomes[received.slot] = EntityOutcome.REPLACEMENT_UNPLACED
            return None
        self.outcomes[received.slot] = (
            EntityOutcome.TRIP_REPLACED_IN_PART if _is_partial(ride, received.update) else EntityOutcome.TRIP_REPLACED
        )
        return replace(ride, replaces=(match.trip_departure, match.day))

    def _build_ride(
        self, received: ReceivedUpdate, feed: int, day: int, trip: int, route: int, planned_flags: Mapping[int, int]
    ) -> AddedRide | None:
        """Return an added ride, or None if fewer than two of its stop times have a known stop and a time.

        ``planned_flags`` are the replaced trip's flags, keyed by stop; they apply to updates without flags. Times that
        decrease are raised to the preceding time.
        """
        update, stops, day_start = received.update, self.index.get_feed_stops(feed), self.index.day_start(feed, day)
        earliest, latest = day_start + _EARLIEST_S, day_start + _LATEST_S
        stop_times: list[tuple[int, int, int, int, bool]] = []
        for stop_time in update.stop_time_update:
            stop = stops.get(stop_time.stop_time_properties.assigned_stop_id or stop_time.stop_id)
            given = (_find_time(stop_time.arrival), _find_time(stop_time.departure))
            times = [time for time in given if time is not None]
            if stop is not None and times and earliest <= min(times) and max(times) < latest:
                stated_flags, set_flags = read_pickup_drop_off(stop_time.stop_time_properties)
                flags = planned_flags.get(stop, 0) & ~stated_flags | set_flags
                is_skipped = stop_time.schedule_relationship == TripUpdate.StopTimeUpdate.SKIPPED
                stop_times.append((stop, times[0], times[-1], flags, is_skipped))
        if sum(not is_skipped for *_, is_skipped in stop_times) < _MIN_STOP_TIMES:
            return None
        stop_rows, arrivals, departures, flag_values, skipped = zip(*stop_times, strict=True)
        ordered_times = np.maximum.accumulate(np.column_stack([arrivals, departures]).astype(np.int64).ravel())
        headsign = to_text(update.trip_properties.trip_headsign)
        if not headsign and trip >= 0 and self.timetable.trip_headsign[trip] >= 0:
            headsign = self.timetable.headsign[int(self.timetable.trip_headsign[trip])]
        return AddedRide(
            trip_id=to_text(update.trip.trip_id),
            service_day=date.fromordinal(day),
            route=route,
            trip=trip,
            headsign=headsign,
            stop=np.array(stop_rows, np.int32),
            arrival=ordered_times[0::2],
            departure=ordered_times[1::2],
            flags=np.array(flag_values, np.uint8),
            is_skipped=np.array(skipped, np.bool_),
            updated=received.updated,
        )


def _is_partial(ride: AddedRide, update: TripUpdate) -> bool:
    return len(ride.stop) < len(update.stop_time_update)


def _find_time(event: TripUpdate.StopTimeEvent) -> int | None:
    if event.time:
        return event.time
    return event.scheduled_time + event.delay if event.scheduled_time else None


def _explain_missing_times(update: TripUpdate) -> EntityOutcome:
    if update.HasField("delay"):
        return EntityOutcome.DELAY_OUT_OF_RANGE
    return EntityOutcome.CALLS_UNMATCHED if update.stop_time_update else EntityOutcome.WITHOUT_TIMES
