"""List departures for departure boards, with realtime data and alerts."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fingerpost.transit.embedded.display_names import DisplayNames
from fingerpost.transit.embedded.snapshot import Snapshot, Span
from fingerpost.transit.engine.raptor.journeys import BoardDeparture, list_board_departures
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING
from fingerpost.transit.model.itinerary import Departure
from fingerpost.transit.port import DepartureQuery
from fingerpost.transit.rules.times import to_local_date


class StopDeparture(NamedTuple):
    """A departure on a board; ``is_cancelled`` is true if riders cannot board it as scheduled."""

    call: BoardDeparture
    is_cancelled: bool = False


class StopDepartures:
    """Departures from stops; if ``may_build`` is false, a missing search timetable raises NotBuilt."""

    def __init__(
        self, snapshot: Snapshot, stops: Sequence[int], zone: str, query: DepartureQuery, *, may_build: bool = True
    ) -> None:
        self._snapshot, self._stops, self._query = snapshot, frozenset(stops), query
        self._options: dict[str, Any] = {"is_reverse": False, "step_free": False, "may_build": may_build}
        self._day = to_local_date(query.instant, zone)
        self.last = query.instant + query.window_s

    @cached_property
    def _station_stops(self) -> frozenset[int]:
        parents = self._snapshot.timetable.stop_parent
        stations = np.unique(parents[list(self._stops)])
        return self._stops.union(np.flatnonzero(np.isin(parents, stations[stations >= 0])).tolist())

    def list_rows(self) -> tuple[list[StopDeparture], int]:
        """Return the departures in the window, including cancelled ones, and their total number.

        The times are expected times unless the query is by schedule; a departure that is expected at another platform
        of the station appears on the boards of both platforms.
        """
        snapshot, query = self._snapshot, self._query
        calls, count = self._list(snapshot.planned if query.by_schedule else snapshot.live, self._stops, query.wanted)
        if snapshot.live is snapshot.planned:
            return [StopDeparture(call) for call in calls], count
        planned = calls if query.by_schedule else self._list(snapshot.planned, self._stops, None)[0]
        rows = [StopDeparture(call, self.is_cancelled(call)) for call in planned if not snapshot.is_deleted(call)]
        if query.by_schedule:
            found = [row for row in rows if row.is_cancelled or not self._is_stranded(row.call)]
            return found, count - (len(calls) - len(found))
        cancelled = [row for row in rows if row.is_cancelled]
        moved = self._list_moved()
        found = [*map(StopDeparture, (*calls, *moved)), *cancelled]
        return sorted(found, key=lambda row: row.call.departure), count + len(moved) + len(cancelled)

    def find_first_added(self, instant: int) -> int | None:
        """Return the time of the first departure of an added trip at or after an instant, or None."""
        if self._query.by_schedule:
            return None
        calls = (
            BoardDeparture(
                trip_departure=-1 - row, service_day=added.service_day, stop_time=i, departure=int(added.departure[i])
            )
            for row, added in enumerate(self._snapshot.overlay.added)
            for i in np.flatnonzero(added.departure >= instant).tolist()
            if int(added.stop[i]) in self._stops
        )
        return min((call.departure for call in calls if not self.is_cancelled(call)), default=None)

    def find_time(self, call: BoardDeparture) -> int:
        return call.departure if self._query.by_schedule else _apply_delay(self._snapshot, call).departure

    def _list_moved(self) -> list[BoardDeparture]:
        others = self._station_stops - self._stops
        other_calls, _ = self._list(self._snapshot.live, others, None) if others else ([], 0)
        find_planned_stop = self._snapshot.find_planned_stop
        return [call for call in other_calls if find_planned_stop(call, call.stop_time) in self._stops]

    def _list(
        self, timetables: SearchTimetables, stops: frozenset[int], wanted: int | None
    ) -> tuple[list[BoardDeparture], int]:
        timetable, query = self._snapshot.timetable, self._query
        day_timetable = timetables.get_search_timetable(self._day, **self._options)
        return list_board_departures(timetable, day_timetable, list(stops), query.instant, query.window_s, wanted)

    def is_cancelled(self, call: BoardDeparture) -> bool:
        """Return whether the trip is cancelled, the stop is closed, or riders cannot alight later.

        If the trip was replaced, check its replacement instead.
        """
        snapshot = self._snapshot
        ride_call = snapshot.find_call(call, call.stop_time, NO_BOARDING)
        if ride_call.updated is None and not snapshot.has_closures:
            return False
        if not ride_call.is_usable:
            replacement = snapshot.replacements.find_departure(call)
            return replacement is None or self.is_cancelled(replacement)
        is_closed = snapshot.is_closed(ride_call.stop, ride_call.departure, snapshot.get_selector(call))
        if is_closed or ride_call.stop not in self._station_stops:
            return True
        update = snapshot.find_update(call)
        continues_in_seat = _has_in_seat_transfer(snapshot, call) and not (update and update.is_skipped[-1])
        return not (continues_in_seat or _can_alight(snapshot, call))

    def _is_stranded(self, call: BoardDeparture) -> bool:
        """Return whether an update broke the in-seat transfer, so that riders who board here cannot alight later.

        Boards omit these departures instead of showing them as cancelled (decision 0314).
        """
        snapshot = self._snapshot
        call = _apply_delay(snapshot, call)
        if not _has_in_seat_transfer(snapshot, call) or _can_alight(snapshot, call):
            return False
        stop = snapshot.find_call(call, call.stop_time).stop
        timetable = snapshot.live.get_search_timetable(self._day, **self._options)
        departures, _ = list_board_departures(snapshot.timetable, timetable, [stop], call.departure, 0)
        return call not in departures


def list_rows(
    snapshot: Snapshot, names: DisplayNames, stops: Sequence[int], zone: str, query: DepartureQuery, *, may_build: bool
) -> tuple[list[Departure], int]:
    """Return the first rows of a board, and the number of departures in its window.

    Rows that tie with the last wanted row are included, because callers reorder them.
    """
    board = StopDepartures(snapshot, stops, zone, query, may_build=may_build)
    rows, count = board.list_rows()
    if rows and not query.by_schedule:
        last = rows[min(query.wanted, len(rows)) - 1].call.departure
        rows = [row for row in rows if row.call.departure <= last]
    return [snapshot.call_cached(_build_departure, names, row, query.language) for row in rows], count


def _apply_delay(snapshot: Snapshot, call: BoardDeparture) -> BoardDeparture:
    replacement = snapshot.replacements.find_departure(call)
    return replacement or call._replace(departure=snapshot.find_call(call, call.stop_time).departure)


def _can_alight(snapshot: Snapshot, call: BoardDeparture) -> bool:
    """Return whether riders can alight at a later stop."""
    if call.trip_departure < 0:
        end = len(snapshot.overlay.get_added(call.trip_departure).stop)
    else:
        table = snapshot.timetable
        end = int(table.trip_first_stop_time[table.trip_departure_trip[call.trip_departure] + 1])
    selector = snapshot.get_selector(call)
    remaining = (snapshot.find_call(call, position, NO_ALIGHTING) for position in range(call.stop_time + 1, end))
    return any(stop.is_usable and not snapshot.is_closed(stop.stop, stop.arrival, selector) for stop in remaining)


def _has_in_seat_transfer(snapshot: Snapshot, call: BoardDeparture) -> bool:
    rides, trip_departure = snapshot.timetable.in_seat_from, call.trip_departure
    index = int(np.searchsorted(rides, trip_departure))
    return trip_departure >= 0 and index < len(rides) and int(rides[index]) == trip_departure


def _build_departure(snapshot: Snapshot, names: DisplayNames, row: StopDeparture, language: str) -> Departure:
    is_cancelled, table = row.is_cancelled, snapshot.timetable
    call = (None if is_cancelled else snapshot.replacements.find_departure(row.call)) or row.call
    ride_call = snapshot.find_call(call, call.stop_time)
    ride_fields: dict[str, Any] = {}
    if call.trip_departure < 0:
        ride_names = names.get_added_names(snapshot.overlay.get_added(call.trip_departure))
    else:
        ride_names = names.get_ride_names(table.trip_departure_trip.item(call.trip_departure), call.stop_time)
        ride_fields = names.get_service_fields(call.trip_departure, call.stop_time)
    stop = names.get_stop_point(table.stop_time_stop.item(call.stop_time) if is_cancelled else ride_call.stop)
    delay_s = None if is_cancelled else ride_call.departure_delay_s
    scheduled = ride_call.scheduled.departure
    if snapshot.overlay.alerts:
        span = Span(*sorted((scheduled, scheduled + (delay_s or 0))))
        selector = snapshot.get_selector(call)
        ride_fields["alerts"] = snapshot.alerts.list_ride_alerts(selector, span, ((ride_call.stop, span),), language)
    return Departure(
        line=ride_names.line,
        mode=ride_names.mode,
        destination=ride_names.headsign,
        scheduled=scheduled,
        stop_id=stop.id or "",
        trip_id=ride_names.trip_id,
        service_day=call.service_day,
        departure_delay_s=delay_s,
        cancelled=is_cancelled,
        platform=stop.platform,
        last_realtime_update=ride_call.updated if is_cancelled or delay_s is not None else None,
        long_name=ride_names.long_name,
        colors=ride_names.colors,
        **ride_fields,
    )
