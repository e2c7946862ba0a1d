"""An immutable snapshot of a network for one query: timetable, realtime overlay and search timetables."""

from datetime import date
from functools import cached_property, lru_cache

from fingerpost.transit.embedded.overlay_alerts import OverlayAlerts, RideSelector
from fingerpost.transit.embedded.replacements import Replacements, ScheduledTimes
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from fingerpost.transit.engine.timetable.overlay import AddedRide, Overlay, RideUpdate
from fingerpost.transit.engine.timetable.service_days import find_service_day_start
from fingerpost.transit.engine.timetable.timetable import Timetable

_CACHE_SIZE = 4


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

    def find_update(self, trip_departure: int, service_day: date) -> RideUpdate | None:
        # Most timetables have no realtime data, and every ride and row asks.
        rides = self.overlay.rides
        return rides.get((trip_departure, service_day.toordinal())) if rides else None

    def is_deleted(self, trip_departure: int, service_day: date) -> bool:
        update = self.find_update(trip_departure, service_day)
        return update is not None and update.is_deleted

    def get_added(self, trip_departure: int) -> AddedRide:
        return self.overlay.added[-1 - trip_departure]

    @cached_property
    def replacements(self) -> Replacements:
        return Replacements(self.timetable, self.overlay, self.find_scheduled_times)

    def find_scheduled_times(self, trip_departure: int, service_day: date, stop_time: int) -> ScheduledTimes:
        table = self.timetable
        feed = table.feeds[int(table.service_feed[table.trip_service[table.trip_departure_trip[trip_departure]]])]
        start = find_service_day_start(service_day, feed.zone) + int(table.trip_departure_shift_s[trip_departure])
        arrival_s, departure_s = table.stop_time_arrival_s[stop_time], table.stop_time_departure_s[stop_time]
        return ScheduledTimes(start + int(arrival_s), start + int(departure_s))

    def get_position(self, trip_departure: int, stop_time: int) -> int:
        return stop_time - int(self.timetable.trip_first_stop_time[self.timetable.trip_departure_trip[trip_departure]])

    def find_stop_row(self, trip_departure: int, service_day: date, stop_time: int) -> int:
        """Return the stop (row) of a stop time; realtime data may move it to another platform."""
        if trip_departure < 0:
            return int(self.get_added(trip_departure).stop[stop_time])
        update = self.find_update(trip_departure, service_day)
        if update is not None and update.stop is not None:
            return int(update.stop[self.get_position(trip_departure, stop_time)])
        return int(self.timetable.stop_time_stop[stop_time])

    def get_selector(self, trip_departure: int, service_day: date) -> RideSelector:
        if trip_departure < 0:
            added = self.get_added(trip_departure)
            return RideSelector(added.route, added.trip, added.replaces or (trip_departure, service_day.toordinal()))
        trip = int(self.timetable.trip_departure_trip[trip_departure])
        return RideSelector(int(self.timetable.trip_route[trip]), trip, (trip_departure, service_day.toordinal()))

    def is_closed(self, stop: int, instant: int, ridden: RideSelector, *, step_free: bool = False) -> bool:
        """Return whether alerts close a stop (row) for a ride; ``step_free`` includes broken lifts."""
        route, trip, key = ridden
        return any(
            alert.closes_stop(stop, route=route, trip=trip, ride=key) and alert.is_in_force(instant)
            for alert in self._closing[step_free]
        )
