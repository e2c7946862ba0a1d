"""One moment of a network: its timetable, what real time says of it, and the slices of both.

A snapshot never changes; a newer one replaces it by one assignment, so a question sees one from start to end.
"""

from collections.abc import Iterator
from datetime import date

from fingerpost.transit.raptor.slices import Slices
from fingerpost.transit.timetable.overlay import AddedRide, Alert, Overlay, RideUpdate
from fingerpost.transit.timetable.service_days import service_day_start
from fingerpost.transit.timetable.timetable import Timetable


class Snapshot:
    """The timetable and an overlay. ``planned`` are the timetable's slices, ``live`` those of what really runs."""

    def __init__(self, timetable: Timetable, overlay: Overlay, planned: Slices) -> None:
        self.timetable = timetable
        self.overlay = overlay
        self.planned = planned
        self.live = planned if overlay.is_empty else Slices(timetable, overlay)

    def find_update(self, run: int, service_day: date) -> RideUpdate | None:
        """Return what is known of a ride of the timetable, or None."""
        return self.overlay.rides.get((run, service_day.toordinal()))

    def get_added(self, run: int) -> AddedRide:
        """Return the added ride that a negative run stands for."""
        return self.overlay.added[-1 - run]

    def scheduled(self, run: int, service_day: date, event_s: int) -> int:
        """Return the instant (Unix seconds) that the timetable gives for a time of a run."""
        table = self.timetable
        feed = table.feeds[int(table.service_feed[table.trip_service[table.run_trip[run]]])]
        return service_day_start(service_day, feed.zone) + int(table.run_shift_s[run]) + event_s

    def position(self, run: int, event: int) -> int:
        """Return where an event stands among the calls of its trip."""
        return event - int(self.timetable.trip_first_event[self.timetable.run_trip[run]])

    def alerts_for(self, instant: int, *, route: int, trip: int, stops: tuple[int, ...]) -> Iterator[Alert]:
        """Yield the alerts in force that touch a ride between two stops; rows, -1 where unknown."""
        table = self.timetable
        feed = int(table.route_feed[route]) if route >= 0 else -1
        kind = int(table.route_type[route]) if route >= 0 else -1
        places = {stop for stop in stops if stop >= 0} | {int(table.stop_parent[stop]) for stop in stops if stop >= 0}
        for alert in self.overlay.alerts:
            if alert.is_in_force(instant) and (
                feed in alert.feeds
                or route in alert.routes
                or kind in alert.route_types
                or trip in alert.trips
                or not places.isdisjoint(alert.stops)
                or any((route, stop) in alert.route_stops for stop in places)
            ):
                yield alert
