"""One moment of a network: its timetable, what real time says of it, and the slices of both.

A snapshot never changes; a newer one replaces it by one assignment, so a question sees one from start to end.
"""

from datetime import date

from fingerpost.transit.raptor.search_timetable.cache import SearchTimetables
from fingerpost.transit.timetable.overlay import INACCESSIBLE, AddedRide, Alert, Overlay, RideKey, RideUpdate
from fingerpost.transit.timetable.service_days import service_day_start
from fingerpost.transit.timetable.timetable import Timetable


class Snapshot:
    """The timetable and an overlay. ``planned`` are the timetable's slices, ``live`` those of what really runs.

    ``realtime_updated`` is when the stalest real time in use was said (Unix seconds), None where there is none.
    """

    def __init__(
        self, timetable: Timetable, overlay: Overlay, planned: SearchTimetables, realtime_updated: int | None = None
    ) -> None:
        self.realtime_updated = realtime_updated
        self.timetable = timetable
        self.overlay = overlay
        self.planned = planned
        self._lift_alerts = [alert for alert in overlay.alerts if alert.effect == INACCESSIBLE]
        self.live = planned if overlay.is_empty else SearchTimetables(timetable, overlay)

    def find_update(self, run: int, service_day: date) -> RideUpdate | None:
        """Return what is known of a ride of the timetable, or None."""
        return self.overlay.rides.get((run, service_day.toordinal()))

    def get_added(self, run: int) -> AddedRide:
        """Return the added ride that a negative run stands for."""
        return self.overlay.added[-1 - run]

    def scheduled(self, run: int, service_day: date, event_s: int) -> int:
        """Return the instant (Unix seconds) that the timetable gives for a time of a run."""
        table = self.timetable
        feed = table.feeds[int(table.service_feed[table.trip_service[table.trip_departure_trip[run]]])]
        return service_day_start(service_day, feed.zone) + int(table.trip_departure_shift_s[run]) + event_s

    def position(self, run: int, event: int) -> int:
        """Return where an event stands among the calls of its trip."""
        return event - int(self.timetable.trip_first_stop_time[self.timetable.trip_departure_trip[run]])

    def list_alerts(
        self, instant: int, *, route: int, trip: int = -1, ride: RideKey | None = None, stops: tuple[int, ...] = ()
    ) -> list[Alert]:
        """Return the alerts in force that explain trouble of a ride between stops, the nearest to it first.

        Rows, -1 where unknown. A lift that is out of order delays no train and is left out.
        """
        table = self.timetable
        feed = int(table.route_feed[route]) if route >= 0 else -1
        kind = int(table.route_type[route]) if route >= 0 else -1
        places = {stop for stop in stops if stop >= 0} | {int(table.stop_parent[stop]) for stop in stops if stop >= 0}

        def distance(alert: Alert) -> int | None:
            nearness = (
                ride in alert.rides or any((ride, stop) in alert.ride_stops for stop in places),
                trip in alert.trips or any((trip, stop) in alert.trip_stops for stop in places),
                any((route, stop) in alert.route_stops for stop in places),
                route in alert.routes,
                not places.isdisjoint(alert.stops),
                feed in alert.feeds or kind in alert.route_types,
            )
            return nearness.index(True) if any(nearness) else None

        found = [
            (far, alert)
            for alert in self.overlay.alerts
            if alert.effect != INACCESSIBLE and alert.is_in_force(instant) and (far := distance(alert)) is not None
        ]
        return [alert for _, alert in sorted(found, key=lambda each: each[0])]

    def is_inaccessible(self, stop: int, instant: int) -> bool:
        """Whether an alert says that a stop cannot be used without steps at an instant: its lift is out of order."""
        return any(stop in alert.stops and alert.is_in_force(instant) for alert in self._lift_alerts)
