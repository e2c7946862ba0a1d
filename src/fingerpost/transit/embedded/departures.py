"""List the departures from stops for departure boards, with realtime data and alerts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fingerpost.transit.embedded.display_names import DisplayNames
from fingerpost.transit.embedded.overlay_alerts import RideSelector, Span
from fingerpost.transit.embedded.snapshot import Snapshot
from fingerpost.transit.engine.raptor.journeys import BoardDeparture, list_board_departures
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from fingerpost.transit.engine.timetable.service_days import local_day
from fingerpost.transit.engine.timetable.timetable import BY_ARRANGEMENT, INTERPOLATED, NO_ALIGHTING, NO_BOARDING
from fingerpost.transit.model.itinerary import Departure
from fingerpost.transit.port import DepartureQuery


class StopDeparture(NamedTuple):
    """A departure on a board; ``is_cancelled`` is true if riders cannot board it as scheduled."""

    call: BoardDeparture
    is_cancelled: bool = False


class StopDepartures:
    def __init__(self, snapshot: Snapshot, stops: Sequence[int], zone: str, query: DepartureQuery) -> None:
        self._snapshot, self._stops, self._query = snapshot, frozenset(stops), query
        self._day = local_day(query.instant, zone)
        self.last = query.instant + query.window_s

    @cached_property
    def _station_stops(self) -> frozenset[int]:
        parents = self._snapshot.timetable.stop_parent
        stations = np.unique(parents[list(self._stops)])
        return self._stops.union(np.flatnonzero(np.isin(parents, stations[stations >= 0])).tolist())

    def list_expected(self) -> tuple[list[StopDeparture], int]:
        """Return the expected and the cancelled departures in the window, and their number.

        A departure moved to another platform of the station appears on the boards of both platforms.
        """
        snapshot = self._snapshot
        calls, count = self._list(snapshot.live, self._stops, self._query.wanted)
        if snapshot.live is snapshot.planned:
            return [StopDeparture(call) for call in calls], count
        planned, _ = self._list(snapshot.planned, self._stops, None)
        cancelled = [
            StopDeparture(call, is_cancelled=True)
            for call in planned
            if self.is_shown(call) and self.is_cancelled(call)
        ]
        moved = self._list_moved()
        found = [*map(StopDeparture, (*calls, *moved)), *cancelled]
        return sorted(found, key=lambda row: row.call.departure), count + len(moved) + len(cancelled)

    def list_by_schedule(self) -> tuple[list[StopDeparture], int]:
        snapshot = self._snapshot
        calls, count = self._list(snapshot.planned, self._stops, self._query.wanted)
        if snapshot.live is snapshot.planned:
            return [StopDeparture(call) for call in calls], count
        shown = [(call, self.is_cancelled(call)) for call in calls if self.is_shown(call)]
        found = [
            StopDeparture(call if is_cancelled else _apply_delay(snapshot, call), is_cancelled)
            for call, is_cancelled in shown
            if is_cancelled or not self._is_stranded(call)
        ]
        return found, count - (len(calls) - len(found))

    def find_first(self) -> int | None:
        """Return the time of the first departure in the window that riders can take, or None."""
        snapshot = self._snapshot
        is_plain = snapshot.live is snapshot.planned
        if self._query.by_schedule:
            planned, _ = self._list(snapshot.planned, self._stops, 1 if is_plain else None)
            taken = (
                call.departure
                for call in planned
                if self.is_shown(call) and not (self.is_cancelled(call) or self._is_stranded(call))
            )
            return next(taken, None)
        calls, _ = self._list(snapshot.live, self._stops, 1)
        moved = [] if is_plain else self._list_moved()
        return min((call.departure for call in (*calls, *moved)), default=None)

    def find_added_from(self, instant: int) -> int | None:
        """Return the time of the first departure of an added trip at or after an instant, or None."""
        if self._query.by_schedule:
            return None
        calls = (
            BoardDeparture(
                trip_departure=-1 - row, service_day=added.service_day, stop_time=at, departure=int(added.departure[at])
            )
            for row, added in enumerate(self._snapshot.overlay.added)
            for at in np.flatnonzero(added.departure >= instant).tolist()
            if int(added.stop[at]) in self._stops and not (added.is_skipped[at] or added.flags[at] & NO_BOARDING)
        )
        return min((call.departure for call in calls if not self.is_cancelled(call)), default=None)

    def find_time(self, call: BoardDeparture) -> int:
        return call.departure if self._query.by_schedule else _apply_delay(self._snapshot, call).departure

    def _list_moved(self) -> list[BoardDeparture]:
        others = self._station_stops - self._stops
        elsewhere, _ = self._list(self._snapshot.live, others, None) if others else ([], 0)
        return [call for call in elsewhere if self._find_planned_stop(call) in self._stops]

    def _list(
        self, timetables: SearchTimetables, stops: frozenset[int], wanted: int | None
    ) -> tuple[list[BoardDeparture], int]:
        timetable, query = self._snapshot.timetable, self._query
        day_timetable = timetables.get_search_timetable(self._day, is_reverse=False, step_free=False)
        return list_board_departures(timetable, day_timetable, list(stops), query.instant, query.window_s, wanted)

    def is_shown(self, call: BoardDeparture) -> bool:
        return not self._snapshot.is_deleted(call.trip_departure, call.service_day)

    def is_cancelled(self, call: BoardDeparture) -> bool:
        """Return whether the trip is cancelled, the stop is closed, or riders cannot alight later.

        For a replaced trip, its replacement is checked.
        """
        snapshot = self._snapshot
        if call.trip_departure >= 0:
            update = snapshot.find_update(call.trip_departure, call.service_day)
            if update is None and not snapshot.has_closures:
                return False
            position = snapshot.get_position(call.trip_departure, call.stop_time)
            if update is not None and not update.is_usable(position, NO_BOARDING):
                replacing = snapshot.replacements.find_departure(call)
                return replacing is None or self.is_cancelled(replacing)
            call = _apply_delay(snapshot, call)
        selector = snapshot.get_selector(call.trip_departure, call.service_day)
        remaining = _list_remaining_stops(snapshot, call)
        here = next(remaining)
        return (
            here.stop not in self._station_stops
            or snapshot.is_closed(here.stop, call.departure, selector)
            or not (_can_alight(snapshot, remaining, selector) or _continues_in_seat(snapshot, call))
        )

    def _is_stranded(self, call: BoardDeparture) -> bool:
        """Return whether riders cannot alight because realtime data broke the in-seat transfer.

        Boards omit such a departure instead of showing it as cancelled (decision 0314).
        """
        snapshot = self._snapshot
        call = _apply_delay(snapshot, call)
        if not _has_in_seat_transfer(snapshot, call):
            return False
        remaining = _list_remaining_stops(snapshot, call)
        here = next(remaining)
        if _can_alight(snapshot, remaining, snapshot.get_selector(call.trip_departure, call.service_day)):
            return False
        timetable = snapshot.live.get_search_timetable(self._day, is_reverse=False, step_free=False)
        leaving, _ = list_board_departures(snapshot.timetable, timetable, [here.stop], call.departure, 0)
        return call not in leaving

    def _find_planned_stop(self, call: BoardDeparture) -> int:
        stop_time: int | None = call.stop_time
        if call.trip_departure < 0:
            stop_time = self._snapshot.replacements.find_scheduled_stop_time(call.trip_departure, call.stop_time)
        return -1 if stop_time is None else int(self._snapshot.timetable.stop_time_stop[stop_time])


class BoardRows(NamedTuple):
    """The departures to show, their total number, and whether to search for the next one."""

    departures: list[Departure]
    found_count: int
    is_empty: bool


def list_rows(
    snapshot: Snapshot, names: DisplayNames, stops: Sequence[int], zone: str, query: DepartureQuery
) -> BoardRows:
    """Return the rows of a timetable, or the first rows of a board, including ties so that callers may reorder them."""
    board = StopDepartures(snapshot, stops, zone, query)
    calls, count = board.list_by_schedule() if query.by_schedule else board.list_expected()
    # A timetable, unlike a board, lists no cancelled departures.
    is_cancelled = query.by_schedule and len(calls) == count and all(call.is_cancelled for call in calls)
    if calls and not query.by_schedule:
        last = calls[min(query.wanted, len(calls)) - 1].call.departure
        calls = [call for call in calls if call.call.departure <= last]
    departures = [_build_departure(snapshot, names, call, query.language) for call in calls]
    return BoardRows(departures, count, is_cancelled or not count)


class _ExpectedStop(NamedTuple):
    """A stop (row), its expected arrival (Unix seconds), and whether riders may alight."""

    stop: int
    arrival: int
    may_alight: bool


def _apply_delay(snapshot: Snapshot, call: BoardDeparture) -> BoardDeparture:
    replacing = snapshot.replacements.find_departure(call)
    if replacing is not None:
        return replacing
    update = snapshot.find_update(call.trip_departure, call.service_day)
    if update is None:
        return call
    delay_s = int(update.departure_delay_s[snapshot.get_position(call.trip_departure, call.stop_time)])
    return replace(call, departure=call.departure + delay_s)


def _list_remaining_stops(snapshot: Snapshot, call: BoardDeparture) -> Iterator[_ExpectedStop]:
    if call.trip_departure < 0:
        added = snapshot.get_added(call.trip_departure)
        for at in range(call.stop_time, len(added.stop)):
            may_alight = not (added.is_skipped[at] or added.flags[at] & NO_ALIGHTING)
            yield _ExpectedStop(int(added.stop[at]), int(added.arrival[at]), may_alight)
        return
    table, trip_departure = snapshot.timetable, call.trip_departure
    update = snapshot.find_update(trip_departure, call.service_day)
    end = int(table.trip_first_stop_time[table.trip_departure_trip[trip_departure] + 1])
    for stop_time in range(call.stop_time, end):
        position = snapshot.get_position(trip_departure, stop_time)
        arrival = snapshot.find_scheduled_times(trip_departure, call.service_day, stop_time).arrival
        stop, flags = int(table.stop_time_stop[stop_time]), int(table.stop_time_flags[stop_time])
        if update is None:
            yield _ExpectedStop(stop, arrival, not flags & NO_ALIGHTING)
            continue
        stop = stop if update.stop is None else int(update.stop[position])
        is_stated = update.flags is not None
        may_alight = update.is_usable(position, NO_ALIGHTING) and (is_stated or not flags & NO_ALIGHTING)
        yield _ExpectedStop(stop, arrival + int(update.arrival_delay_s[position]), may_alight)


def _can_alight(snapshot: Snapshot, remaining: Iterator[_ExpectedStop], selector: RideSelector) -> bool:
    return any(stop.may_alight and not snapshot.is_closed(stop.stop, stop.arrival, selector) for stop in remaining)


def _has_in_seat_transfer(snapshot: Snapshot, call: BoardDeparture) -> bool:
    rides, trip_departure = snapshot.timetable.in_seat_from, call.trip_departure
    at = int(np.searchsorted(rides, trip_departure))
    return trip_departure >= 0 and at < len(rides) and int(rides[at]) == trip_departure


def _continues_in_seat(snapshot: Snapshot, call: BoardDeparture) -> bool:
    if not _has_in_seat_transfer(snapshot, call):
        return False
    update = snapshot.find_update(call.trip_departure, call.service_day)
    return update is None or not update.is_skipped[-1]


def _build_departure(snapshot: Snapshot, names: DisplayNames, shown: StopDeparture, language: str) -> Departure:
    call = shown.call
    departure = _apply_update(snapshot, names, shown, _build_scheduled(snapshot, names, call))
    if not snapshot.overlay.alerts:
        return departure
    selector = snapshot.get_selector(call.trip_departure, call.service_day)
    there = Span(*sorted((departure.scheduled, departure.expected)))
    stop = snapshot.find_stop_row(call.trip_departure, call.service_day, call.stop_time)
    alerts = snapshot.alerts.list_ride_alerts(selector, there, ((stop, there),), language)
    return replace(departure, alerts=alerts)


def _build_scheduled(snapshot: Snapshot, names: DisplayNames, call: BoardDeparture) -> Departure:
    table = snapshot.timetable
    ride_fields: dict[str, Any]
    if call.trip_departure < 0:
        added = snapshot.get_added(call.trip_departure)
        ride_names, row = names.get_added_names(added), int(added.stop[call.stop_time])
        replaced = snapshot.replacements.find_scheduled(call.trip_departure, call.stop_time)
        scheduled = call.departure if replaced is None else replaced.departure
        ride_fields = {"departure_delay_s": call.departure - scheduled, "last_realtime_update": added.updated}
    else:
        ride_names = names.get_ride_names(int(table.trip_departure_trip[call.trip_departure]), call.stop_time)
        row, flags = int(table.stop_time_stop[call.stop_time]), names.get_flags(call.stop_time)
        scheduled = snapshot.find_scheduled_times(call.trip_departure, call.service_day, call.stop_time).departure
        ride_fields = {
            "headway_s": names.get_headway_s(call.trip_departure),
            "by_arrangement": bool(flags & BY_ARRANGEMENT),
            "is_interpolated": bool(flags & INTERPOLATED),
        }
    stop = names.get_stop_point(row)
    return Departure(
        line=ride_names.line,
        mode=ride_names.mode,
        destination=ride_names.headsign,
        scheduled=scheduled,
        stop_id=stop.id or "",
        trip_id=ride_names.trip_id,
        service_day=call.service_day,
        platform=stop.platform,
        long_name=ride_names.long_name,
        colors=ride_names.colors,
        **ride_fields,
    )


def _apply_update(snapshot: Snapshot, names: DisplayNames, shown: StopDeparture, planned: Departure) -> Departure:
    call = shown.call
    update = snapshot.find_update(call.trip_departure, call.service_day)
    if shown.is_cancelled:
        return replace(planned, cancelled=True, last_realtime_update=None if update is None else update.updated)
    if update is None:
        return planned
    position = snapshot.get_position(call.trip_departure, call.stop_time)
    if update.stop is not None:
        stop = names.get_stop_point(int(update.stop[position]))
        planned = replace(planned, stop_id=stop.id or "", platform=stop.platform)
    # Updates to other stop times may have propagated.
    if not update.is_known[position] and call.departure == planned.scheduled:
        return planned
    return replace(
        planned,
        departure_delay_s=call.departure - planned.scheduled,
        last_realtime_update=update.updated,
    )
