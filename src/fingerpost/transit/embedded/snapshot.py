"""An immutable snapshot of a network for one query: timetable, realtime overlay and search timetables.

It also selects the alerts for rides and stops, and matches the stop times of realtime replacement trips to those of the
scheduled trips.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from fingerpost.runtime.grouping import group_by_key
from fingerpost.transit.engine.raptor.journeys import BoardDeparture, Ride
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from fingerpost.transit.engine.timetable.overlay import ALWAYS, Overlay, RideKey, RideSelector, RideUpdate, Selector
from fingerpost.transit.engine.timetable.service_days import find_service_day_start
from fingerpost.transit.engine.timetable.timetable import ENTRANCE, NO_ALIGHTING, NO_BOARDING, NODE, Timetable
from fingerpost.transit.model.itinerary import ServiceAlert
from fingerpost.transit.model.place import choose_language

_CACHE_SIZE = 4
# Boards show the same rows repeatedly.
_CACHED_ROWS = 10_000


class ScheduledTimes(NamedTuple):
    """The scheduled arrival and departure for a stop time, in Unix seconds."""

    arrival: int
    departure: int


class RideCall(NamedTuple):
    """A ride's call at a stop (row), with realtime data applied.

    Delays are None without realtime data; ``updated`` is the time of the ride's realtime data (Unix seconds).
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


class Span(NamedTuple):
    """A time interval that includes both ends, in Unix seconds."""

    begin: int
    end: int


# Ranks of alerts, most specific first. Alerts for an agency or mode are stored as alerts for its routes.
_RIDE, _TRIP, _ROUTE_STOP, _STOP, _ROUTE = range(5)


class OverlayAlerts:
    def __init__(self, timetable: Timetable, overlay: Overlay) -> None:
        self._timetable = timetable
        self._alerts = overlay.alerts
        self._localize = lru_cache(maxsize=None)(self._new_service_alert)
        selectors = ({*map(self._move_to_station, alert.selectors)} for alert in overlay.alerts)
        self._by_selector = group_by_key((selector, row) for row, group in enumerate(selectors) for selector in group)

    def list_ride_alerts(
        self, ride: RideSelector, span: Span, stops: Sequence[tuple[int, Span]], language: str
    ) -> tuple[ServiceAlert, ...]:
        """Return the alerts for a ride and for its boarding and alighting stops, most specific first.

        ``span`` lasts from boarding to alighting; ``stops`` has each stop's row and time span.
        """
        matches: dict[int, tuple[int, tuple[int, int]]] = {}

        def add_alerts(rank: int, selector: Selector, span: Span) -> None:
            for row in self._by_selector.get(selector, ()):
                period = self._alerts[row].find_period(*span)
                if period is not None and rank < matches.get(row, (_ROUTE + 1, ALWAYS))[0]:
                    matches[row] = (rank, period)

        route, _, trip, key = ride
        add_alerts(_RIDE, ("ride", key), span)
        add_alerts(_TRIP, ("trip", trip), span)
        add_alerts(_TRIP, ("direction", ride[:2]), span)
        for stop, stop_span in stops:
            add_alerts(_RIDE, ("ride", key, stop), stop_span)
            add_alerts(_TRIP, ("trip", trip, stop), stop_span)
            add_alerts(_TRIP, ("direction", ride[:2], stop), stop_span)
            add_alerts(_ROUTE_STOP, ("route", route, stop), stop_span)
            for place in self._list_places(stop):
                add_alerts(_STOP, ("stop", place), stop_span)
        add_alerts(_ROUTE, ("route", route), span)
        order = sorted(matches, key=lambda row: (matches[row][0], row))
        return tuple(self._localize(row, language, matches[row][1]) for row in order)

    def list_stop_alerts(self, stops: Iterable[int], span: Span, language: str) -> tuple[ServiceAlert, ...]:
        rows = {
            row
            for stop in stops
            for place in self._list_places(stop)
            for row in self._by_selector.get(("stop", place), ())
        }
        periods = ((row, self._alerts[row].find_period(*span)) for row in sorted(rows))
        return tuple(self._localize(row, language, period) for row, period in periods if period is not None)

    def _move_to_station(self, selector: Selector) -> Selector:
        """Replace an entrance or pathway node with its station, because trips do not serve such nodes."""
        kind, row, *_ = selector
        if kind != "stop" or int(self._timetable.stop_kind[row]) not in (ENTRANCE, NODE):
            return selector
        parent = int(self._timetable.stop_parent[row])
        return ("stop", parent) if parent >= 0 else selector

    def _list_places(self, stop: int) -> tuple[int, ...]:
        parent = int(self._timetable.stop_parent[stop]) if stop >= 0 else -1
        return (stop,) if parent < 0 else (stop, parent)

    def _new_service_alert(self, row: int, language: str, period: tuple[int, int]) -> ServiceAlert:
        alert, (since, until) = self._alerts[row], period
        return ServiceAlert(
            id=alert.id,
            header=_choose_text(alert.headers, language) or "",
            text=_choose_text(alert.descriptions, language) or "",
            effect=alert.effect,
            since=since if since > ALWAYS[0] else None,
            until=until if until < ALWAYS[1] else None,
            url=_choose_text(alert.urls, language),
        )


def _choose_text(texts: Mapping[str, str], language: str) -> str | None:
    """Return the text in the language that rule A7 selects or, if there is none, in any language."""
    return texts.get(choose_language(language, texts)) or next(iter(texts.values()), None)


class Snapshot:
    """A timetable with its scheduled (``planned``) and realtime (``live``) search timetables, which may be the same.

    Broken lifts affect only ``live_step_free``.
    """

    def __init__(self, timetable: Timetable, overlay: Overlay, planned: SearchTimetables) -> None:
        self.timetable = timetable
        self._replace_timetable_cached = lru_cache(maxsize=_CACHE_SIZE)(self._new_with_timetable)
        # Calls a function with this snapshot, and caches the result.
        self.call_cached: Callable[..., Any] = lru_cache(maxsize=_CACHED_ROWS)(lambda f, *args: f(self, *args))
        self.overlay = overlay
        self.planned = planned
        self._closing = {flag: overlay.list_closing(step_free=flag) for flag in (False, True)}
        self.has_closures = bool(self._closing[False])
        self.live_step_free = planned if overlay.is_empty else SearchTimetables(timetable, overlay, planned.cache)
        is_changed = bool(overlay.rides or overlay.added or self.has_closures)
        self.live = self.live_step_free if is_changed else planned

    def replace_timetable(self, timetable: Timetable) -> "Snapshot":
        """Return this snapshot with a timetable that has different footpaths."""
        return self if timetable is self.timetable else self._replace_timetable_cached(timetable)

    def _new_with_timetable(self, timetable: Timetable) -> "Snapshot":
        snapshot = Snapshot(timetable, self.overlay, self.planned)
        snapshot.live = snapshot.live_step_free = SearchTimetables(timetable, self.overlay, self.planned.cache)
        return snapshot

    @cached_property
    def alerts(self) -> OverlayAlerts:
        return OverlayAlerts(self.timetable, self.overlay)

    def find_update(self, ride: Ride | BoardDeparture) -> RideUpdate | None:
        # Do not build a key without realtime data, because this runs for every ride and row.
        rides = self.overlay.rides
        return rides.get((ride.trip_departure, ride.service_day.toordinal())) if rides else None

    def can_disrupt(self, ride: Ride) -> bool:
        """Return whether realtime data may disrupt a scheduled ride; true for all rides after in-seat transfers."""
        if self.has_closures or ride.stays_seated or self.find_update(ride) is not None:
            return True
        return bool(self.overlay.added) and self.replacements.find_ride(ride) is not None

    def is_deleted(self, ride: Ride | BoardDeparture) -> bool:
        update = self.find_update(ride)
        return update is not None and update.is_deleted

    @cached_property
    def replacements(self) -> "Replacements":
        return Replacements(self.timetable, self.overlay)

    def find_scheduled_times(self, trip_departure: int, service_day: date, stop_time: int) -> ScheduledTimes:
        table = self.timetable
        service = table.trip_service.item(table.trip_departure_trip.item(trip_departure))
        feed = table.feeds[table.service_feed.item(service)]
        start = find_service_day_start(service_day, feed.zone) + table.trip_departure_shift_s.item(trip_departure)
        arrival_s, departure_s = table.stop_time_arrival_s.item(stop_time), table.stop_time_departure_s.item(stop_time)
        return ScheduledTimes(start + arrival_s, start + departure_s)

    def find_call(self, ride: Ride | BoardDeparture, stop_time: int, forbidden: int = 0) -> RideCall:
        """Return a stop time with realtime data; it is unusable if skipped or if a ``forbidden`` flag is set."""
        if ride.trip_departure < 0:
            added = self.overlay.get_added(ride.trip_departure)
            arrival, departure = int(added.arrival[stop_time]), int(added.departure[stop_time])
            scheduled, planned = ScheduledTimes(arrival, departure), added.replaces
            replaced_row = self.replacements.find_scheduled_stop_time(ride.trip_departure, stop_time)
            if planned is not None and replaced_row is not None:
                scheduled = self.find_scheduled_times(planned[0], date.fromordinal(planned[1]), replaced_row)
            is_usable = not (added.is_skipped[stop_time] or added.flags[stop_time] & forbidden)
            delays_s = arrival - scheduled.arrival, departure - scheduled.departure
            return RideCall(int(added.stop[stop_time]), scheduled, is_usable, *delays_s, added.updated)
        table = self.timetable
        update = self.find_update(ride)
        stop, is_usable = table.stop_time_stop.item(stop_time), not table.stop_time_flags.item(stop_time) & forbidden
        scheduled = self.find_scheduled_times(ride.trip_departure, ride.service_day, stop_time)
        if update is None:
            return RideCall(stop, scheduled, is_usable)
        position = stop_time - table.find_first_stop_time(ride.trip_departure)
        is_usable = (is_usable or update.flags is not None) and update.is_usable(position, forbidden)
        # A delay without an update was propagated from another stop time.
        arrival_s, departure_s = (
            int(delays_s[position]) if update.is_known[position] or delays_s[position] else None
            for delays_s in (update.arrival_delay_s, update.departure_delay_s)
        )
        stop = stop if update.stop is None else int(update.stop[position])
        return RideCall(stop, scheduled, is_usable, arrival_s, departure_s, update.updated)

    def find_planned_stop(self, ride: Ride | BoardDeparture, stop_time: int) -> int:
        """Return the scheduled stop (row) of a stop time, or -1 if an added trip's stop time has none."""
        planned: int | None = stop_time
        if ride.trip_departure < 0:
            planned = self.replacements.find_scheduled_stop_time(ride.trip_departure, stop_time)
        return -1 if planned is None else int(self.timetable.stop_time_stop[planned])

    def get_selector(self, ride: Ride | BoardDeparture) -> RideSelector:
        return self.overlay.get_selector(self.timetable, (ride.trip_departure, ride.service_day.toordinal()))

    def is_closed(self, stop: int, instant: int, selector: RideSelector, *, step_free: bool = False) -> bool:
        """Return whether alerts close a stop (row) for a ride; with ``step_free``, broken lifts count as closures."""
        closing = self._closing[step_free]
        return any(alert.closes_stop(stop, selector) and alert.is_in_force(instant) for alert in closing)


class Replacements:
    """The replacement trips in an overlay, keyed by the trips that they replace.

    Stop times match if they serve the same stop or station in the same order.
    """

    def __init__(self, timetable: Timetable, overlay: Overlay) -> None:
        self._timetable, self._overlay = timetable, overlay
        self._rows = {ride.replaces: -1 - i for i, ride in enumerate(overlay.added) if ride.replaces is not None}
        self._find_matches = lru_cache(maxsize=None)(self._match)

    def find_ride(self, ride: Ride) -> Ride | None:
        """Return the replacement ride between the same stops, or None; it has no in-seat transfer."""
        key = (ride.trip_departure, ride.service_day.toordinal())
        trip_departure = self._rows.get(key)
        if trip_departure is None:
            return None
        matches = self._find_matches(key)
        added = self._overlay.get_added(trip_departure)
        board, alight = matches.get(ride.board_stop_time), matches.get(ride.alight_stop_time)
        if board is None or alight is None or added.flags[board] & NO_BOARDING or added.flags[alight] & NO_ALIGHTING:
            return None
        return ride._replace(
            trip_departure=trip_departure,
            board_stop_time=board,
            alight_stop_time=alight,
            departure=int(added.departure[board]),
            arrival=int(added.arrival[alight]),
            stays_seated=False,
        )

    def find_departure(self, call: BoardDeparture) -> BoardDeparture | None:
        """Return the replacement's departure from the same stop, or None if riders cannot board there."""
        key = (call.trip_departure, call.service_day.toordinal())
        trip_departure = self._rows.get(key)
        position = None if trip_departure is None else self._find_matches(key).get(call.stop_time)
        if trip_departure is None or position is None:
            return None
        added = self._overlay.get_added(trip_departure)
        if added.flags[position] & NO_BOARDING:
            return None
        departure = int(added.departure[position])
        return call._replace(trip_departure=trip_departure, stop_time=position, departure=departure)

    def find_scheduled_stop_time(self, trip_departure: int, position: int) -> int | None:
        """Return the scheduled stop time (row) that an added trip's stop time replaces, or None if the stop is new."""
        key = self._overlay.get_added(trip_departure).replaces
        if key is None:
            return None
        return next((row for row, matched in self._find_matches(key).items() if matched == position), None)

    def _match(self, key: RideKey) -> dict[int, int]:
        table = self._timetable
        added = self._overlay.get_added(self._rows[key])
        trip = int(table.trip_departure_trip[key[0]])
        rows = range(int(table.trip_first_stop_time[trip]), int(table.trip_first_stop_time[trip + 1]))
        served = [position for position in range(len(added.stop)) if not added.is_skipped[position]]
        stations = np.where(table.stop_parent < 0, np.arange(table.stop_count), table.stop_parent)
        scheduled, expected = stations[table.stop_time_stop[rows]].tolist(), stations[added.stop[served]].tolist()
        blocks = SequenceMatcher(None, scheduled, expected, autojunk=False).get_matching_blocks()
        return {rows[block.a + i]: served[block.b + i] for block in blocks for i in range(block.size)}
