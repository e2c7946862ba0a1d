"""The departures of stops that riders can board, as rows of a board."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fingerpost.transit.embedded.overlay_alerts import Ridden, Span
from fingerpost.transit.embedded.snapshot import Snapshot
from fingerpost.transit.embedded.timetable_words import TimetableWords
from fingerpost.transit.engine.raptor.board import BoardDeparture, list_board_departures
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from fingerpost.transit.engine.timetable.service_days import local_day
from fingerpost.transit.engine.timetable.timetable import BY_ARRANGEMENT, INTERPOLATED, NO_ALIGHTING, NO_BOARDING
from fingerpost.transit.model.itinerary import Departure
from fingerpost.transit.port import DepartureQuery


class BoardCall(NamedTuple):
    """A departure of a board; ``is_off`` if nobody can board it, although the timetable says so."""

    call: BoardDeparture
    is_off: bool = False


class BoardCalls:
    def __init__(self, snapshot: Snapshot, stops: Sequence[int], zone: str, query: DepartureQuery) -> None:
        self._snapshot, self._stops, self._query = snapshot, frozenset(stops), query
        self._day = local_day(query.instant, zone)
        self.last = query.instant + query.window_s

    @cached_property
    def _around(self) -> frozenset[int]:
        parents = self._snapshot.timetable.stop_parent
        stations = np.unique(parents[list(self._stops)])
        return self._stops.union(np.flatnonzero(np.isin(parents, stations[stations >= 0])).tolist())

    def list_expected(self) -> tuple[list[BoardCall], int]:
        """Return the expected departures of the window, with those that are off, and how many there are.

        Departures moved to another platform of the station are on the boards of both.
        """
        snapshot = self._snapshot
        calls, count = self._list(snapshot.live, self._stops, self._query.wanted)
        if snapshot.live is snapshot.planned:
            return [BoardCall(call) for call in calls], count
        planned, _ = self._list(snapshot.planned, self._stops, None)
        off = [BoardCall(call, is_off=True) for call in planned if self.is_shown(call) and self.is_off(call)]
        moved = self._list_moved()
        found = [*map(BoardCall, (*calls, *moved)), *off]
        return sorted(found, key=lambda row: row.call.departure), count + len(moved) + len(off)

    def list_by_schedule(self) -> tuple[list[BoardCall], int]:
        snapshot = self._snapshot
        calls, count = self._list(snapshot.planned, self._stops, self._query.wanted)
        if snapshot.live is snapshot.planned:
            return [BoardCall(call) for call in calls], count
        shown = [(call, self.is_off(call)) for call in calls if self.is_shown(call)]
        found = [
            BoardCall(call if is_off else _expect(snapshot, call), is_off)
            for call, is_off in shown
            if is_off or not self._is_stranded(call)
        ]
        return found, count - (len(calls) - len(found))

    def find_first(self) -> int | None:
        """Return when the first departure of the window leaves that riders can take, None if there is none."""
        snapshot = self._snapshot
        is_plain = snapshot.live is snapshot.planned
        if self._query.by_schedule:
            planned, _ = self._list(snapshot.planned, self._stops, 1 if is_plain else None)
            taken = (
                call.departure
                for call in planned
                if self.is_shown(call) and not (self.is_off(call) or self._is_stranded(call))
            )
            return next(taken, None)
        calls, _ = self._list(snapshot.live, self._stops, 1)
        moved = [] if is_plain else self._list_moved()
        return min((call.departure for call in (*calls, *moved)), default=None)

    def find_added_from(self, instant: int) -> int | None:
        """Return when the first added ride leaves at an instant or later, None if none does."""
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
        return min((call.departure for call in calls if not self.is_off(call)), default=None)

    def find_time(self, call: BoardDeparture) -> int:
        return call.departure if self._query.by_schedule else _expect(self._snapshot, call).departure

    def _list_moved(self) -> list[BoardDeparture]:
        others = self._around - self._stops
        elsewhere, _ = self._list(self._snapshot.live, others, None) if others else ([], 0)
        return [call for call in elsewhere if self._find_planned_stop(call) in self._stops]

    def _list(
        self, timetables: SearchTimetables, stops: frozenset[int], wanted: int | None
    ) -> tuple[list[BoardDeparture], int]:
        timetable, query = self._snapshot.timetable, self._query
        day_timetable = timetables.get_search_timetable(self._day, mirrored=False, step_free=False)
        return list_board_departures(timetable, day_timetable, list(stops), query.instant, query.window_s, wanted)

    def is_shown(self, call: BoardDeparture) -> bool:
        return not self._snapshot.is_deleted(call.trip_departure, call.service_day)

    def is_off(self, call: BoardDeparture) -> bool:
        """Whether nobody can board: the trip is cancelled, the stop is closed, or nobody may alight further on.

        A replaced trip is as its replacement is there.
        """
        snapshot = self._snapshot
        if call.trip_departure >= 0:
            update = snapshot.find_update(call.trip_departure, call.service_day)
            if update is None and not snapshot.has_closures:
                return False
            position = snapshot.position(call.trip_departure, call.stop_time)
            if update is not None and not update.is_usable(position, NO_BOARDING):
                replacing = snapshot.replacements.find_departure(call)
                return replacing is None or self.is_off(replacing)
            call = _expect(snapshot, call)
        ridden = snapshot.find_ridden(call.trip_departure, call.service_day)
        remaining = _list_from(snapshot, call)
        here = next(remaining)
        return (
            here.stop not in self._around
            or snapshot.is_closed(here.stop, call.departure, ridden)
            or not (_can_alight(snapshot, remaining, ridden) or _continues_in_seat(snapshot, call))
        )

    def _is_stranded(self, call: BoardDeparture) -> bool:
        """Whether an uncancelled departure leads nowhere because realtime data broke its in-seat transfer.

        Such a departure is on no board, and not called cancelled (decision 0314).
        """
        snapshot = self._snapshot
        call = _expect(snapshot, call)
        if not _has_in_seat_transfer(snapshot, call):
            return False
        remaining = _list_from(snapshot, call)
        here = next(remaining)
        if _can_alight(snapshot, remaining, snapshot.find_ridden(call.trip_departure, call.service_day)):
            return False
        timetable = snapshot.live.get_search_timetable(self._day, mirrored=False, step_free=False)
        leaving, _ = list_board_departures(snapshot.timetable, timetable, [here.stop], call.departure, 0)
        return call not in leaving

    def _find_planned_stop(self, call: BoardDeparture) -> int:
        stop_time: int | None = call.stop_time
        if call.trip_departure < 0:
            stop_time = self._snapshot.replacements.find_scheduled_stop_time(call.trip_departure, call.stop_time)
        return -1 if stop_time is None else int(self._snapshot.timetable.stop_time_stop[stop_time])


class BoardRows(NamedTuple):
    """The departures to show, how many there are, and whether the next one must be looked for."""

    departures: list[Departure]
    found_count: int
    is_empty: bool


def list_rows(
    snapshot: Snapshot, words: TimetableWords, stops: Sequence[int], zone: str, query: DepartureQuery
) -> BoardRows:
    """Return the rows of a timetable, or the first ones of a board and all in the same second as the last of them.

    A caller may then order the rows of a board by more than time, and cut anywhere up to ``wanted``.
    """
    board = BoardCalls(snapshot, stops, zone, query)
    calls, count = board.list_by_schedule() if query.by_schedule else board.list_expected()
    # A timetable, unlike a board, lists no cancelled departures.
    is_off = query.by_schedule and len(calls) == count and all(call.is_off for call in calls)
    if calls and not query.by_schedule:
        last = calls[min(query.wanted, len(calls)) - 1].call.departure
        calls = [call for call in calls if call.call.departure <= last]
    departures = [_departure_of(snapshot, words, call, query.language) for call in calls]
    return BoardRows(departures, count, is_off or not count)


class _Expected(NamedTuple):
    """An expected stop of a ride (row, Unix second), and whether riders may alight there."""

    stop: int
    arrival: int
    may_alight: bool


def _expect(snapshot: Snapshot, call: BoardDeparture) -> BoardDeparture:
    replacing = snapshot.replacements.find_departure(call)
    if replacing is not None:
        return replacing
    update = snapshot.find_update(call.trip_departure, call.service_day)
    if update is None:
        return call
    delay_s = int(update.departure_delay_s[snapshot.position(call.trip_departure, call.stop_time)])
    return replace(call, departure=call.departure + delay_s)


def _list_from(snapshot: Snapshot, call: BoardDeparture) -> Iterator[_Expected]:
    if call.trip_departure < 0:
        added = snapshot.get_added(call.trip_departure)
        for at in range(call.stop_time, len(added.stop)):
            may_alight = not (added.is_skipped[at] or added.flags[at] & NO_ALIGHTING)
            yield _Expected(int(added.stop[at]), int(added.arrival[at]), may_alight)
        return
    table, trip_departure = snapshot.timetable, call.trip_departure
    update = snapshot.find_update(trip_departure, call.service_day)
    end = int(table.trip_first_stop_time[table.trip_departure_trip[trip_departure] + 1])
    for stop_time in range(call.stop_time, end):
        position = snapshot.position(trip_departure, stop_time)
        arrival = snapshot.scheduled(trip_departure, call.service_day, stop_time).arrival
        stop, flags = int(table.stop_time_stop[stop_time]), int(table.stop_time_flags[stop_time])
        if update is None:
            yield _Expected(stop, arrival, not flags & NO_ALIGHTING)
            continue
        stop = stop if update.stop is None else int(update.stop[position])
        is_stated = update.flags is not None
        may_alight = update.is_usable(position, NO_ALIGHTING) and (is_stated or not flags & NO_ALIGHTING)
        yield _Expected(stop, arrival + int(update.arrival_delay_s[position]), may_alight)


def _can_alight(snapshot: Snapshot, remaining: Iterator[_Expected], ridden: Ridden) -> bool:
    return any(stop.may_alight and not snapshot.is_closed(stop.stop, stop.arrival, ridden) for stop in remaining)


def _has_in_seat_transfer(snapshot: Snapshot, call: BoardDeparture) -> bool:
    rides, trip_departure = snapshot.timetable.in_seat_from, call.trip_departure
    at = int(np.searchsorted(rides, trip_departure))
    return trip_departure >= 0 and at < len(rides) and int(rides[at]) == trip_departure


def _continues_in_seat(snapshot: Snapshot, call: BoardDeparture) -> bool:
    if not _has_in_seat_transfer(snapshot, call):
        return False
    update = snapshot.find_update(call.trip_departure, call.service_day)
    return update is None or not update.is_skipped[-1]


def _departure_of(snapshot: Snapshot, words: TimetableWords, shown: BoardCall, language: str) -> Departure:
    call = shown.call
    departure = _with_update(snapshot, words, shown, _as_planned(snapshot, words, call))
    if not snapshot.overlay.alerts:
        return departure
    ridden = snapshot.find_ridden(call.trip_departure, call.service_day)
    there = Span(*sorted((departure.scheduled, departure.expected)))
    stop = snapshot.stop_of(call.trip_departure, call.service_day, call.stop_time)
    alerts = snapshot.alerts.list_of_ride(ridden, there, ((stop, there),), language)
    return replace(departure, alerts=alerts)


def _as_planned(snapshot: Snapshot, words: TimetableWords, call: BoardDeparture) -> Departure:
    table = snapshot.timetable
    own: dict[str, Any]
    if call.trip_departure < 0:
        added = snapshot.get_added(call.trip_departure)
        wording, row = words.added(added), int(added.stop[call.stop_time])
        replaced = snapshot.replacements.find_scheduled(call.trip_departure, call.stop_time)
        scheduled = call.departure if replaced is None else replaced.departure
        own = {"departure_delay_s": call.departure - scheduled, "last_realtime_update": added.updated}
    else:
        wording = words.trip(int(table.trip_departure_trip[call.trip_departure]), call.stop_time)
        row = int(table.stop_time_stop[call.stop_time])
        scheduled = snapshot.scheduled(call.trip_departure, call.service_day, call.stop_time).departure
        own = {
            "headway_s": words.headway_s(call.trip_departure),
            "by_arrangement": words.has_flag(BY_ARRANGEMENT, call.stop_time),
            "is_interpolated": words.has_flag(INTERPOLATED, call.stop_time),
        }
    stop = words.stop_point(row)
    return Departure(
        line=wording.line,
        mode=wording.mode,
        destination=wording.headsign,
        scheduled=scheduled,
        stop_id=stop.id or "",
        trip_id=wording.trip_id,
        service_day=call.service_day,
        platform=stop.platform,
        long_name=wording.long_name,
        colors=wording.colors,
        **own,
    )


def _with_update(snapshot: Snapshot, words: TimetableWords, shown: BoardCall, planned: Departure) -> Departure:
    call = shown.call
    update = snapshot.find_update(call.trip_departure, call.service_day)
    if shown.is_off:
        return replace(planned, cancelled=True, last_realtime_update=None if update is None else update.updated)
    if update is None:
        return planned
    position = snapshot.position(call.trip_departure, call.stop_time)
    if update.stop is not None:
        stop = words.stop_point(int(update.stop[position]))
        planned = replace(planned, stop_id=stop.id or "", platform=stop.platform)
    # An update of a neighbouring stop time may move a stop time without one.
    if not update.is_known[position] and call.departure == planned.scheduled:
        return planned
    return replace(
        planned,
        departure_delay_s=call.departure - planned.scheduled,
        last_realtime_update=update.updated,
    )
