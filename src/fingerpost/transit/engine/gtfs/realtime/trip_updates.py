"""Collects trip updates, keeps the newest for each ride, and works out all rides at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

import numpy as np
from google.transit.gtfs_realtime_pb2 import TripDescriptor, TripUpdate

from fingerpost.transit.engine.gtfs.csv import find_time_s
from fingerpost.transit.engine.gtfs.realtime.added_trips import (
    AddedKey,
    AddedKeys,
    PlacedStopTimes,
    ReceivedUpdate,
    choose_newest,
    place_stop_times,
    read_original,
)
from fingerpost.transit.engine.gtfs.realtime.delays import FURTHEST_S, Delays, work_out_delays
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

_CANCELLING = {
    TripDescriptor.CANCELED: EntityOutcome.TRIP_CANCELLED,
    TripDescriptor.DELETED: EntityOutcome.TRIP_DELETED,
}


@dataclass(slots=True)
class RideClaim:
    """A trip update matched to one ride.

    ``start`` is the Unix second from which the ride's stop times count, ``slot`` where its outcome is kept.
    ``added`` names the ride that a duplicated trip becomes.
    """

    update: TripUpdate
    match: TripMatch
    feed: int
    start: int
    updated: int
    slot: int
    added: AddedKey | None = None


class _Placed(NamedTuple):
    ride: AddedRide
    updated: int
    slot: int


class TripUpdates:
    def __init__(self, timetable: Timetable, index: RealtimeIndex, tally: Tally) -> None:
        self.timetable, self.index, self.tally = timetable, index, tally
        self._claims: dict[RideKey, RideClaim] = {}
        # Those that are placed already, and the copies, which are claims.
        self._added: dict[AddedKey, _Placed | RideClaim] = {}
        self._words: list[ReceivedUpdate] = []
        self._added_keys = AddedKeys(())
        self._added_rides: dict[AddedKey, list[RideKey]] = {}

    def claim(self, received: ReceivedUpdate, match: TripMatch) -> EntityOutcome:
        """Add an update of a ride of the timetable; the outcome is preliminary."""
        key = (match.trip_departure, match.day)
        earlier = self._claims.get(key)
        if earlier is not None:
            if earlier.updated > received.updated:
                return EntityOutcome.SUPERSEDED
            self.tally.entities[earlier.slot] = EntityOutcome.SUPERSEDED
        feed, shift_s = self.index.trip_feed[match.trip], self.timetable.trip_departure_shift_s[match.trip_departure]
        start = self.index.day_start(feed, match.day) + int(shift_s)
        self._claims[key] = RideClaim(received.update, match, feed, start, received.updated, received.slot)
        return _CANCELLING.get(received.update.trip.schedule_relationship, EntityOutcome.TRIP_UPDATED)

    def duplicate(self, received: ReceivedUpdate, match: TripMatch) -> EntityOutcome:
        """Add a duplicated trip, which departs at another time; the outcome is preliminary."""
        update, matcher, updated, slot = received
        properties = update.trip_properties
        day = matcher.read_day(properties.start_date)
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
        start = self.index.day_start(feed, day) + start_s - first_s
        claim = RideClaim(update, match._replace(day=day, late_s=0), feed, start, updated, slot, key)
        if self._is_outdated(key, updated):
            return EntityOutcome.SUPERSEDED
        self._keep_added(key, claim)
        return EntityOutcome.TRIP_DUPLICATED

    def add(self, received: ReceivedUpdate) -> EntityOutcome:
        update, matcher, updated, slot = received
        trip = update.trip
        day = matcher.read_day(trip.start_date)
        if isinstance(day, EntityOutcome):
            return day
        rows = matcher.scope.trips.get(trip.trip_id, ())
        feed = self._feed_of(update, matcher, rows)
        if feed is None:
            return EntityOutcome.FEED_UNCLEAR
        name, routes = self.index.feed_names[feed], matcher.scope.routes.get(trip.route_id, ())
        rows = tuple(row for row in rows if self.index.feed_names[self.index.trip_feed[row]] == name)
        routes = tuple(row for row in routes if self.index.feed_names[self.index.route_feed[row]] == name)
        if day is None:
            day = matcher.today
        key = AddedKey(feed, plain_text(trip.trip_id), day, plain_text(trip.start_time))
        if self._is_outdated(key, updated):
            return EntityOutcome.SUPERSEDED
        day_start = self.index.day_start(feed, day)
        stop_times = place_stop_times(update, self.index.stops_of(feed), day_start, {}, self.tally.stop_times)
        if stop_times is None:
            return EntityOutcome.ADDED_UNPLACED
        row = rows[0] if rows else -1
        route = routes[0] if routes else self.index.trip_route[row] if rows else -1
        ride = self._new_ride(update, stop_times, row, route, date.fromordinal(day), updated)
        self._keep_added(key, _Placed(ride, updated, slot))
        return EntityOutcome.TRIP_ADDED

    def wait(self, word: ReceivedUpdate) -> None:
        """Store an update of an unknown ride until all added rides are known."""
        self._words.append(word)

    def _is_outdated(self, key: AddedKey, updated: int) -> bool:
        earlier = self._added.get(key)
        return earlier is not None and earlier.updated > updated

    def _keep_added(self, key: AddedKey, added: "_Placed | RideClaim") -> None:
        earlier = self._added.get(key)
        if earlier is not None:
            self.tally.entities[earlier.slot] = EntityOutcome.SUPERSEDED
        self._added[key] = added

    def settle(self) -> tuple[dict[RideKey, RideUpdate], tuple[AddedRide, ...]]:
        rides: dict[RideKey, RideUpdate] = {}
        added: list[AddedRide] = []
        moving: list[RideClaim] = []
        if self._words and self._added:
            newest = choose_newest(self._words, AddedKeys(self._added), self.tally.entities)
            for added_key, word in newest.items():
                self.tally.entities[word.slot] = self._apply_word(added_key, word)
        for added_key, each in self._added.items():
            if isinstance(each, RideClaim):
                moving.append(each)
            else:
                self._put_added(added, added_key, each.ride)
        for key, claim in self._claims.items():
            relationship = claim.update.trip.schedule_relationship
            if relationship in _CANCELLING:
                rides[key] = self._cancelled(claim, is_deleted=relationship == TripDescriptor.DELETED)
            elif relationship == TripDescriptor.REPLACEMENT:
                rides[key] = self._cancelled(claim, is_deleted=False)
                added += self._replaced(claim)
            else:
                moving.append(claim)
        if moving:
            self._settle_moving(moving, rides, added)
        self._added_keys = AddedKeys(self._added_rides)
        return rides, tuple(added)

    def find_added(self, trip: TripDescriptor, matcher: TripMatcher) -> list[RideKey] | EntityOutcome:
        """Return the added rides, once they are settled, that a descriptor means."""
        keys = self._added_keys.find(trip, matcher)
        return keys if isinstance(keys, EntityOutcome) else [ride for key in keys for ride in self._added_rides[key]]

    def _apply_word(self, key: AddedKey, word: ReceivedUpdate) -> EntityOutcome:
        """Cancel an added ride or move a copy if the update is newer; return the update's outcome.

        A cancelled ride is dropped, because there is no timetable by which it could be shown as cancelled.
        """
        said, relationship = self._added[key], word.update.trip.schedule_relationship
        cancelling = _CANCELLING.get(relationship)
        if cancelling is None and not (isinstance(said, RideClaim) and relationship == TripDescriptor.SCHEDULED):
            return self.tally.entities[word.slot]
        if (said.updated, said.slot) > (word.updated, word.slot):
            return EntityOutcome.SUPERSEDED
        if isinstance(said, RideClaim) and cancelling is None:
            # The headsign comes from the copy.
            update = TripUpdate(trip_properties=said.update.trip_properties)
            update.MergeFrom(word.update)
            self._added[key] = replace(said, update=update, updated=word.updated, slot=word.slot)
            return EntityOutcome.TRIP_UPDATED
        self.tally.entities[said.slot] = EntityOutcome.SUPERSEDED
        del self._added[key]
        return cancelling or EntityOutcome.TRIP_CANCELLED

    def _put_added(self, added: list[AddedRide], key: AddedKey, ride: AddedRide) -> None:
        self._added_rides.setdefault(key, []).append((-1 - len(added), key.day))
        added.append(ride)

    def _settle_moving(
        self, claims: Sequence[RideClaim], rides: dict[RideKey, RideUpdate], added: list[AddedRide]
    ) -> None:
        planned = Rides.gather(
            self.timetable, [claim.match.trip for claim in claims], [claim.start for claim in claims]
        )
        stop_times = read_stop_time_updates((claim.update, self.index.stops_of(claim.feed)) for claim in claims)
        late_s = np.array([claim.match.late_s for claim in claims], np.int64)
        trip_delay_s = np.array([self._trip_delay_s(claim) for claim in claims], np.int64)
        matched = match_stop_times(self.timetable, planned, stop_times)
        delays = work_out_delays(planned, stop_times, matched, late_s, trip_delay_s, self.tally.stop_times)
        first, is_told = planned.first.tolist(), delays.is_told.tolist()
        moved, with_flags = (
            np.logical_or.reduceat(marks, planned.first[:-1]).tolist()
            for marks in (delays.stop != planned.stop, delays.flags != planned.flags)
        )
        for row, claim in enumerate(claims):
            begin, end = first[row], first[row + 1]
            if claim.added is not None:
                self._put_added(added, claim.added, self._copied(claim, planned, delays, begin, end))
            elif is_told[row]:
                key = (claim.match.trip_departure, claim.match.day)
                rides[key] = _moved_ride(claim, delays, begin, end, moved[row], with_flags[row])
            if not is_told[row] and self.tally.entities[claim.slot] == EntityOutcome.TRIP_UPDATED:
                self.tally.entities[claim.slot] = _find_silence(claim)

    def _trip_delay_s(self, claim: RideClaim) -> int:
        if not claim.update.HasField("delay") or abs(claim.update.delay) > FURTHEST_S:
            return NONE
        return claim.update.delay + claim.match.late_s

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
            updated=claim.updated,
        )

    def _replaced(self, claim: RideClaim) -> Iterable[AddedRide]:
        """Return the ride that stands in for a cancelled one; none where too few of its stop times are known."""
        trip = claim.match.trip
        stop_times = place_stop_times(
            claim.update,
            self.index.stops_of(claim.feed),
            self.index.day_start(claim.feed, claim.match.day),
            read_original(self.timetable, trip, claim.start + claim.match.late_s),
            self.tally.stop_times,
        )
        if stop_times is None:
            self.tally.entities[claim.slot] = EntityOutcome.REPLACEMENT_UNPLACED
            return
        self.tally.entities[claim.slot] = EntityOutcome.TRIP_REPLACED
        route, day = self.index.trip_route[trip], date.fromordinal(claim.match.day)
        added = self._new_ride(claim.update, stop_times, trip, route, day, claim.updated)
        yield replace(added, replaces=(claim.match.trip_departure, claim.match.day))

    def _copied(self, claim: RideClaim, planned: Rides, delays: Delays, begin: int, end: int) -> AddedRide:
        assert claim.added is not None, "only copies come here"
        trip = claim.match.trip
        stop_times = PlacedStopTimes(
            stop=delays.stop[begin:end],
            arrival=planned.arrival[begin:end] + delays.arrival_delay_s[begin:end],
            departure=planned.departure[begin:end] + delays.departure_delay_s[begin:end],
            flags=delays.flags[begin:end],
            is_skipped=delays.is_skipped[begin:end],
        )
        day = date.fromordinal(claim.match.day)
        return self._new_ride(
            claim.update, stop_times, trip, self.index.trip_route[trip], day, claim.updated, claim.added.trip_id
        )

    def _new_ride(
        self,
        update: TripUpdate,
        stop_times: PlacedStopTimes,
        trip: int,
        route: int,
        day: date,
        updated: int,
        trip_id: str = "",
    ) -> AddedRide:
        headsign = plain_text(update.trip_properties.trip_headsign)
        if not headsign and trip >= 0 and self.timetable.trip_headsign[trip] >= 0:
            headsign = self.timetable.headsign[int(self.timetable.trip_headsign[trip])]
        return AddedRide(
            trip_id=trip_id or plain_text(update.trip.trip_id),
            service_day=day,
            route=route,
            trip=trip,
            headsign=headsign,
            updated=updated,
            **stop_times._asdict(),
        )

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


def _moved_ride(
    claim: RideClaim, delays: Delays, begin: int, end: int, is_moved: bool, has_other_flags: bool
) -> RideUpdate:
    return RideUpdate(
        is_cancelled=False,
        arrival_delay_s=delays.arrival_delay_s[begin:end],
        departure_delay_s=delays.departure_delay_s[begin:end],
        is_known=delays.is_known[begin:end],
        is_skipped=delays.is_skipped[begin:end],
        updated=claim.updated,
        stop=delays.stop[begin:end] if is_moved else None,
        flags=delays.flags[begin:end] if has_other_flags else None,
    )


def _find_silence(claim: RideClaim) -> EntityOutcome:
    if claim.update.HasField("delay"):
        return EntityOutcome.DELAY_OUT_OF_RANGE
    return EntityOutcome.CALLS_UNMATCHED if claim.update.stop_time_update else EntityOutcome.NOTHING_SAID
