"""An immutable snapshot of a network for one query: timetable, realtime overlay and search timetables."""

from datetime import date
from functools import cached_property, lru_cache
from typing import NamedTuple

from fingerpost.transit.embedded.overlay_alerts import OverlayAlerts, RideSelector
from fingerpost.transit.embedded.replacements import Replacements, ScheduledTimes
from fingerpost.transit.engine.raptor.journeys import BoardDeparture, Ride
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from fingerpost.transit.engine.timetable.overlay import AddedRide, Overlay, RideUpdate
from fingerpost.transit.engine.timetable.service_days import find_service_day_start
from fingerpost.transit.engine.timetable.timetable import Timetable

_CACHE_SIZE = 4


class RideCall(NamedTuple):
    """A stop time of a ride: its stop (row), which realtime data may have moved, and its times.

    Delays are None without realtime data; ``updated`` is the time of the ride's data (Unix seconds).
    """

    stop: int
    scheduled: ScheduledTimes
    is_usable: bool
    arrival_delay_s: int | None = None
    departure_delay_s: int | None = None
    updated: int | None = None

    @property
    def arrival(self) -> int:
        return self.scheduled.arrival + (self.arrival_delay_s or 0)

    @property
    def departure(self) -> int:
        return self.scheduled.departure + (self.departure_delay_s or 0)


class Snapshot:
    """The search timetables as ``planned`` and with realtime data (``live``).

    Broken lifts affect ``live_step_free`` only. ``realtime_updated`` is the time of the oldest message (Unix seconds).
    """

    def __init__(
        self, timetable: Timetable, overlay: Overlay, planned: SearchTimetables, realtime_updated: int | None = None
    ) -> None:
        self.realtime_updated = realtime_updated
        self.timetable = timetable
        self._replace_timetable_cached = lru_cache(maxsize=_CACHE_SIZE)(self._new_with_timetable)
        self.overlay = overlay
        self.planned = planned
        self._closing = {flag: overlay.list_closing(step_free=flag) for flag in (False, True)}
        self.has_closures = bool(self._closing[False])
        self.live_step_free = planned if overlay.is_empty else SearchTimetables(timetable, overlay, planned.cache)
        is_changed = bool(overlay.rides or overlay.added or self.has_closures)
        self.live = self.live_step_free if is_changed else planned

    def replace_timetable(self, timetable: Timetable) -> "Snapshot":
        """Return this snapshot with a timetable whose footpaths differ."""
        return self if timetable is self.timetable else self._replace_timetable_cached(timetable)

    def _new_with_timetable(self, timetable: Timetable) -> "Snapshot":
        snapshot = Snapshot(timetable, self.overlay, self.planned, self.realtime_updated)
        snapshot.live = snapshot.live_step_free = SearchTimetables(timetable, self.overlay, self.planned.cache)
        return snapshot

    def find_live(self, *, step_free: bool) -> SearchTimetables:
        """Return the search timetables with realtime data, or ``planned`` if it changes nothing."""
        return self.live_step_free if step_free else self.live

    def list_unbuilt(self, day: date, *, is_reverse: bool = False, step_free: bool = False) -> list[SearchTimetables]:
        timetables = dict.fromkeys((self.find_live(step_free=step_free), self.planned))
        return [kind for kind in timetables if not kind.is_ready(day, is_reverse=is_reverse, step_free=step_free)]

    @cached_property
    def alerts(self) -> OverlayAlerts:
        return OverlayAlerts(self.timetable, self.overlay)

    def find_update(self, ride: Ride | BoardDeparture) -> RideUpdate | None:
        # Most timetables have no realtime data, and every ride and row asks.
        rides = self.overlay.rides
        return rides.get((ride.trip_departure, ride.service_day.toordinal())) if rides else None

    def is_deleted(self, ride: Ride | BoardDeparture) -> bool:
        update = self.find_update(ride)
        return update is not None and update.is_deleted

    def get_added(self, trip_departure: int) -> AddedRide:
        return self.overlay.added[-1 - trip_departure]

    @cached_property
    def replacements(self) -> Replacements:
        return Replacements(self.timetable, self.overlay, self.find_scheduled_times)

    def find_scheduled_times(self, trip_departure: int, service_day: date, stop_time: int) -> ScheduledTimes:
        table = self.timetable
        service = table.trip_service.item(table.trip_departure_trip.item(trip_departure))
        feed = table.feeds[table.service_feed.item(service)]
        start = find_service_day_start(service_day, feed.zone) + table.trip_departure_shift_s.item(trip_departure)
        arrival_s, departure_s = table.stop_time_arrival_s.item(stop_time), table.stop_time_departure_s.item(stop_time)
        return ScheduledTimes(start + arrival_s, start + departure_s)

    def find_call(self, ride: Ride | BoardDeparture, stop_time: int, forbidden: int = 0) -> RideCall:
        """Return a stop time with realtime data; it is unusable if skipped, or if a ``forbidden`` flag is set."""
        if ride.trip_departure < 0:
            added = self.get_added(ride.trip_departure)
            arrival, departure = int(added.arrival[stop_time]), int(added.departure[stop_time])
            scheduled = self.replacements.find_scheduled(ride.trip_departure, stop_time)
            if scheduled is None:
                scheduled = ScheduledTimes(arrival, departure)
            is_usable = not (added.is_skipped[stop_time] or added.flags[stop_time] & forbidden)
            delays_s = arrival - scheduled.arrival, departure - scheduled.departure
            return RideCall(int(added.stop[stop_time]), scheduled, is_usable, *delays_s, added.updated)
        table, update = self.timetable, self.find_update(ride)
        stop, is_usable = int(table.stop_time_stop[stop_time]), not table.stop_time_flags[stop_time] & forbidden
        scheduled = self.find_scheduled_times(ride.trip_departure, ride.service_day, stop_time)
        if update is None:
            return RideCall(stop, scheduled, is_usable)
        at = stop_time - table.find_first_stop_time(ride.trip_departure)
        is_usable = (is_usable or update.flags is not None) and update.is_usable(at, forbidden)
        # Updates to other stop times may have propagated.
        arrival_s, departure_s = (
            int(delays_s[at]) if update.is_known[at] or delays_s[at] else None
            for delays_s in (update.arrival_delay_s, update.departure_delay_s)
        )
        stop = stop if update.stop is None else int(update.stop[at])
        return RideCall(stop, scheduled, is_usable, arrival_s, departure_s, update.updated)

    def find_planned_stop(self, ride: Ride | BoardDeparture, stop_time: int) -> int:
        """Return the stop (row) of a stop time in the timetable, -1 if an added trip has no such stop time there."""
        planned: int | None = stop_time
        if ride.trip_departure < 0:
            planned = self.replacements.find_scheduled_stop_time(ride.trip_departure, stop_time)
        return -1 if planned is None else int(self.timetable.stop_time_stop[planned])

    def get_selector(self, ride: Ride | BoardDeparture) -> RideSelector:
        key = (ride.trip_departure, ride.service_day.toordinal())
        if ride.trip_departure < 0:
            added = self.get_added(ride.trip_departure)
            return RideSelector(added.route, added.trip, added.replaces or key)
        trip = int(self.timetable.trip_departure_trip[ride.trip_departure])
        return RideSelector(int(self.timetable.trip_route[trip]), trip, key)

    def is_closed(self, stop: int, instant: int, ridden: RideSelector, *, step_free: bool = False) -> bool:
        """Return whether alerts close a stop (row) for a ride; ``step_free`` includes broken lifts."""
        route, trip, key = ridden
        return any(
            alert.closes_stop(stop, route=route, trip=trip, ride=key) and alert.is_in_force(instant)
            for alert in self._closing[step_free]
        )
