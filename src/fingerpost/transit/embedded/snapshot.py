"""A snapshot of a network: its timetable, a realtime overlay, and the search timetables of both.

A snapshot never changes, so a query sees one state of the network from start to end.
"""

from datetime import date
from functools import cached_property, lru_cache

from fingerpost.transit.embedded.overlay_alerts import OverlayAlerts, Ridden
from fingerpost.transit.embedded.replacements import Replacements, Scheduled
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from fingerpost.transit.engine.timetable.overlay import AddedRide, Overlay, RideUpdate
from fingerpost.transit.engine.timetable.service_days import service_day_start
from fingerpost.transit.engine.timetable.timetable import Timetable

_KEPT = 4


class Snapshot:
    """The search timetables as ``planned`` and as they are expected to run (``live``).

    Lifts out of order count in ``live_step_free`` only. ``realtime_updated`` is the time of the oldest realtime message
    in use (Unix seconds), None without realtime data.
    """

    def __init__(
        self, timetable: Timetable, overlay: Overlay, planned: SearchTimetables, realtime_updated: int | None = None
    ) -> None:
        self.realtime_updated = realtime_updated
        self.timetable = timetable
        self._with_timetable = lru_cache(maxsize=_KEPT)(self._new_with_timetable)
        self.overlay = overlay
        self.planned = planned
        self._closing = {flag: overlay.list_closing(step_free=flag) for flag in (False, True)}
        self.has_closures = bool(self._closing[False])
        self.live_step_free = planned if overlay.is_empty else SearchTimetables(timetable, overlay, planned.cache)
        is_changed = bool(overlay.rides or overlay.added or self.has_closures)
        self.live = self.live_step_free if is_changed else planned

    def with_timetable(self, timetable: Timetable) -> "Snapshot":
        """Return the snapshot with a timetable that has other footpaths; ``planned`` stays."""
        return self if timetable is self.timetable else self._with_timetable(timetable)

    def _new_with_timetable(self, timetable: Timetable) -> "Snapshot":
        snapshot = Snapshot(timetable, self.overlay, self.planned, self.realtime_updated)
        snapshot.live = snapshot.live_step_free = SearchTimetables(timetable, self.overlay, self.planned.cache)
        return snapshot

    def find_live(self, *, step_free: bool) -> SearchTimetables:
        """Return the expected search timetables; ``planned`` itself if nothing changes for the rider."""
        return self.live_step_free if step_free else self.live

    def list_unbuilt(self, day: date, *, mirrored: bool = False, step_free: bool = False) -> list[SearchTimetables]:
        timetables = dict.fromkeys((self.find_live(step_free=step_free), self.planned))
        return [kind for kind in timetables if not kind.is_ready(day, mirrored=mirrored, step_free=step_free)]

    @cached_property
    def alerts(self) -> OverlayAlerts:
        return OverlayAlerts(self.timetable, self.overlay)

    def find_update(self, trip_departure: int, service_day: date) -> RideUpdate | None:
        return self.overlay.rides.get((trip_departure, service_day.toordinal()))

    def is_deleted(self, trip_departure: int, service_day: date) -> bool:
        update = self.find_update(trip_departure, service_day)
        return update is not None and update.is_deleted

    def get_added(self, trip_departure: int) -> AddedRide:
        return self.overlay.added[-1 - trip_departure]

    @cached_property
    def replacements(self) -> Replacements:
        return Replacements(self.timetable, self.overlay, self.scheduled)

    def scheduled(self, trip_departure: int, service_day: date, stop_time: int) -> Scheduled:
        table = self.timetable
        feed = table.feeds[int(table.service_feed[table.trip_service[table.trip_departure_trip[trip_departure]]])]
        start = service_day_start(service_day, feed.zone) + int(table.trip_departure_shift_s[trip_departure])
        arrival_s, departure_s = table.stop_time_arrival_s[stop_time], table.stop_time_departure_s[stop_time]
        return Scheduled(start + int(arrival_s), start + int(departure_s))

    def position(self, trip_departure: int, stop_time: int) -> int:
        return stop_time - int(self.timetable.trip_first_stop_time[self.timetable.trip_departure_trip[trip_departure]])

    def stop_of(self, trip_departure: int, service_day: date, stop_time: int) -> int:
        """Return the stop (row) of a ride's stop time, which realtime data may have moved to another platform."""
        if trip_departure < 0:
            return int(self.get_added(trip_departure).stop[stop_time])
        update = self.find_update(trip_departure, service_day)
        if update is not None and update.stop is not None:
            return int(update.stop[self.position(trip_departure, stop_time)])
        return int(self.timetable.stop_time_stop[stop_time])

    def find_ridden(self, trip_departure: int, service_day: date) -> Ridden:
        if trip_departure < 0:
            added = self.get_added(trip_departure)
            return Ridden(added.route, added.trip, added.replaces or (trip_departure, service_day.toordinal()))
        trip = int(self.timetable.trip_departure_trip[trip_departure])
        return Ridden(int(self.timetable.trip_route[trip]), trip, (trip_departure, service_day.toordinal()))

    def is_closed(self, stop: int, instant: int, ridden: Ridden, *, step_free: bool = False) -> bool:
        """Whether alerts close a stop (row) to a ride at an instant; ``step_free`` counts broken lifts as well."""
        route, trip, key = ridden
        return any(
            alert.closes_stop(stop, route=route, trip=trip, ride=key) and alert.is_in_force(instant)
            for alert in self._closing[step_free]
        )
