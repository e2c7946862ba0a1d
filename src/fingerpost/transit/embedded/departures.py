"""Departures of stops: calls of trips that riders can board, as rows of a board."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fingerpost.transit.embedded.overlay_alerts import Ridden, Span
from fingerpost.transit.embedded.snapshot import Snapshot
from fingerpost.transit.embedded.timetable_words import TimetableWords
from fingerpost.transit.engine.raptor.board import BoardDeparture, list_board_departures
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from fingerpost.transit.engine.timetable.service_days import local_day
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING
from fingerpost.transit.model.itinerary import Departure
from fingerpost.transit.port import DepartureQuery


class BoardCall(NamedTuple):
    """A call on a board, and whether nobody boards there though the timetable says so."""

    call: BoardDeparture
    is_off: bool


class BoardCalls:
    """The calls at a board's stops in a window of time, by the timetable and by what is expected."""

    def __init__(self, snapshot: Snapshot, stops: Sequence[int], zone: str, query: DepartureQuery) -> None:
        self._snapshot, self._stops, self._query = snapshot, frozenset(stops), query
        self._day = local_day(query.instant, zone)
        self.last = query.instant + query.window_s

    @cached_property
    def _beside(self) -> list[int]:
        """The other platforms of the stops' stations; only what is moved in real time asks for them."""
        parents = self._snapshot.timetable.stop_parent
        stations = np.unique(parents[list(self._stops)])
        around = np.flatnonzero(np.isin(parents, stations[stations >= 0]))
        return sorted(set(around.tolist()) - self._stops)

    @cached_property
    def _around(self) -> frozenset[int]:
        return self._stops.union(self._beside)

    def list_expected(self, wanted: int) -> tuple[list[BoardCall], int]:
        """Return what leaves in the window as expected, with what was to leave and does not, and how many they are.

        What leaves from another platform of the station than planned is on the boards of both.
        """
        snapshot = self._snapshot
        calls, count = self._list(snapshot.live, self._stops, wanted)
        if snapshot.live is snapshot.planned:
            return [BoardCall(call, is_off=False) for call in calls], count
        planned, _ = self._list(snapshot.planned, self._stops, None)
        off = [BoardCall(call, is_off=True) for call in planned if self.is_told(call) and self.is_off(call)]
        moved = self._list_moved()
        found = [*(BoardCall(call, is_off=False) for call in (*calls, *moved)), *off]
        return sorted(found, key=lambda each: each.call.departure), count + len(moved) + len(off)

    def list_by_schedule(self, wanted: int) -> tuple[list[BoardCall], int]:
        """Return what the timetable has in the window, each as it is expected, and how many they are."""
        snapshot = self._snapshot
        calls, count = self._list(snapshot.planned, self._stops, wanted)
        if snapshot.live is snapshot.planned:
            return [BoardCall(call, is_off=False) for call in calls], count
        told = [(call, self.is_off(call)) for call in calls if self.is_told(call)]
        found = [
            BoardCall(call if is_off else _expect(snapshot, call), is_off)
            for call, is_off in told
            if is_off or not self._is_stranded(call)
        ]
        return found, count - (len(calls) - len(found))

    def find_first(self) -> int | None:
        """Return when the first ride of the window leaves that can be taken, None where none can."""
        snapshot = self._snapshot
        is_plain = snapshot.live is snapshot.planned
        if self._query.by_schedule:
            planned, _ = self._list(snapshot.planned, self._stops, 1 if is_plain else None)
            return next((call.departure for call in planned if self._can_be_taken(call)), None)
        calls, _ = self._list(snapshot.live, self._stops, 1)
        moved = [] if is_plain else self._list_moved()
        return min((call.departure for call in (*calls, *moved)), default=None)

    def find_added_from(self, instant: int) -> int | None:
        """Return when the first ride leaves, at an instant or later, that no timetable has; None where none does."""
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

    def _can_be_taken(self, call: BoardDeparture) -> bool:
        return self.is_told(call) and not (self.is_off(call) or self._is_stranded(call))

    def find_time(self, call: BoardDeparture) -> int:
        """Return when a call of the timetable leaves, by the times that the board goes by."""
        return call.departure if self._query.by_schedule else _expect(self._snapshot, call).departure

    def _list_moved(self) -> list[BoardDeparture]:
        """Return what leaves from another platform of the station than planned."""
        elsewhere, _ = self._list(self._snapshot.live, self._beside, None) if self._beside else ([], 0)
        return [call for call in elsewhere if self._find_planned_stop(call) in self._stops]

    def _list(
        self, timetables: SearchTimetables, stops: Sequence[int] | frozenset[int], wanted: int | None
    ) -> tuple[list[BoardDeparture], int]:
        timetable, query = self._snapshot.timetable, self._query
        day_timetable = timetables.get_search_timetable(self._day, mirrored=False, step_free=False)
        return list_board_departures(timetable, day_timetable, list(stops), query.instant, query.window_s, wanted)

    def is_told(self, call: BoardDeparture) -> bool:
        return not self._snapshot.is_deleted(call.trip_departure, call.service_day)

    def is_off(self, call: BoardDeparture) -> bool:
        """Whether nobody boards at a call: for its trip, because its stop is closed then, or as it leads nowhere.

        A trip that is replaced is as its replacement is there.
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
        behind = _list_from(snapshot, call)
        here = next(behind)
        return (
            here.stop not in self._around
            or snapshot.is_closed(here.stop, call.departure, ridden)
            or not (_lets_out(snapshot, behind, ridden) or _goes_on(snapshot, call))
        )

    def _is_stranded(self, call: BoardDeparture) -> bool:
        """Whether a call of the timetable that is not off leads nowhere, as real time broke its in-seat transfer.

        The search knows; what it does not have is on no board, and not called cancelled (decision 0314).
        """
        snapshot = self._snapshot
        call = _expect(snapshot, call)
        if not _has_seam(snapshot, call):
            return False
        behind = _list_from(snapshot, call)
        here = next(behind)
        if _lets_out(snapshot, behind, snapshot.find_ridden(call.trip_departure, call.service_day)):
            return False
        timetable = snapshot.live.get_search_timetable(self._day, mirrored=False, step_free=False)
        leaving, _ = list_board_departures(snapshot.timetable, timetable, [here.stop], call.departure, 0)
        return call not in leaving

    def _find_planned_stop(self, call: BoardDeparture) -> int:
        """Return the stop (row) where a call was planned, -1 where nothing was."""
        stop_time: int | None = call.stop_time
        if call.trip_departure < 0:
            stop_time = self._snapshot.replacements.find_kept(call.trip_departure, call.stop_time)
        return -1 if stop_time is None else int(self._snapshot.timetable.stop_time_stop[stop_time])


def keep_first(calls: Sequence[BoardCall], wanted: int) -> list[BoardCall]:
    """Return the first of calls that are in order, with all that leave at the same second as the last of them.

    Who orders those by something else than time may then cut anywhere up to ``wanted`` and have the true beginning.
    """
    last = calls[min(wanted, len(calls)) - 1].call.departure if calls else 0
    return [each for each in calls if each.call.departure <= last]


class _Expected(NamedTuple):
    """A stop of a ride as it is expected (row, Unix second), and whether riders are let out there."""

    stop: int
    arrival: int
    is_left: bool


def _expect(snapshot: Snapshot, call: BoardDeparture) -> BoardDeparture:
    """Return a call of the timetable at its expected time, of a ride that was replaced that of the replacement."""
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
            is_left = not (added.is_skipped[at] or added.flags[at] & NO_ALIGHTING)
            yield _Expected(int(added.stop[at]), int(added.arrival[at]), is_left)
        return
    table, run = snapshot.timetable, call.trip_departure
    update = snapshot.find_update(run, call.service_day)
    end = int(table.trip_first_stop_time[table.trip_departure_trip[run] + 1])
    for event in range(call.stop_time, end):
        position = snapshot.position(run, event)
        arrival = snapshot.scheduled(run, call.service_day, event).arrival
        stop, flags = int(table.stop_time_stop[event]), int(table.stop_time_flags[event])
        if update is None:
            yield _Expected(stop, arrival, not flags & NO_ALIGHTING)
            continue
        stop = stop if update.stop is None else int(update.stop[position])
        is_stated = update.flags is not None
        is_left = update.is_usable(position, NO_ALIGHTING) and (is_stated or not flags & NO_ALIGHTING)
        yield _Expected(stop, arrival + int(update.arrival_delay_s[position]), is_left)


def _lets_out(snapshot: Snapshot, behind: Iterator[_Expected], ridden: Ridden) -> bool:
    return any(each.is_left and not snapshot.is_closed(each.stop, each.arrival, ridden) for each in behind)


def _has_seam(snapshot: Snapshot, call: BoardDeparture) -> bool:
    """Whether the timetable lets riders stay seated behind the end of a call's ride."""
    seams, run = snapshot.timetable.in_seat_from, call.trip_departure
    at = int(np.searchsorted(seams, run))
    return run >= 0 and at < len(seams) and int(seams[at]) == run


def _goes_on(snapshot: Snapshot, call: BoardDeparture) -> bool:
    """Whether who boards a ride of the timetable may stay seated behind its end."""
    if not _has_seam(snapshot, call):
        return False
    update = snapshot.find_update(call.trip_departure, call.service_day)
    return update is None or not update.is_skipped[-1]


def departure_of(snapshot: Snapshot, words: TimetableWords, shown: BoardCall, language: str) -> Departure:
    """Return a call as a departure with the alerts that touch it; ``language`` is the rider's."""
    call = shown.call
    departure = _departure_of(snapshot, words, shown)
    if not snapshot.overlay.alerts:
        return departure
    ridden = snapshot.find_ridden(call.trip_departure, call.service_day)
    there = Span(*sorted((departure.scheduled, departure.expected)))
    stop = snapshot.stop_of(call.trip_departure, call.service_day, call.stop_time)
    alerts = snapshot.alerts.list_of_ride(ridden, there, ((stop, there),), language)
    return replace(departure, alerts=alerts)


def _departure_of(snapshot: Snapshot, words: TimetableWords, shown: BoardCall) -> Departure:
    """Return a call as a departure; times are the timetable's, with the delay beside them."""
    call = shown.call
    if call.trip_departure < 0:
        return _added(snapshot, words, call)
    table = snapshot.timetable
    wording = words.trip(int(table.trip_departure_trip[call.trip_departure]), call.stop_time)
    stop = words.stop_point(int(table.stop_time_stop[call.stop_time]))
    planned = Departure(
        line=wording.line,
        mode=wording.mode,
        destination=wording.headsign,
        scheduled=snapshot.scheduled(call.trip_departure, call.service_day, call.stop_time).departure,
        stop_id=stop.id or "",
        trip_id=wording.trip_id,
        service_day=call.service_day,
        platform=stop.platform,
        headway_s=words.headway_s(call.trip_departure),
        by_arrangement=words.is_by_arrangement(call.stop_time),
        long_name=wording.long_name,
        colors=wording.colors,
    )
    return planned if snapshot.live is snapshot.planned else _with_update(snapshot, words, shown, planned)


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
    # A call of which nothing is told may still be moved by what is told of its neighbours.
    if not update.is_known[position] and call.departure == planned.scheduled:
        return planned
    return replace(
        planned,
        departure_delay_s=call.departure - planned.scheduled,
        last_realtime_update=update.updated,
    )


def _added(snapshot: Snapshot, words: TimetableWords, call: BoardDeparture) -> Departure:
    added = snapshot.get_added(call.trip_departure)
    wording = words.added(added)
    stop = words.stop_point(int(added.stop[call.stop_time]))
    planned = snapshot.replacements.find_scheduled(call.trip_departure, call.stop_time)
    scheduled = call.departure if planned is None else planned.departure
    return Departure(
        line=wording.line,
        mode=wording.mode,
        destination=wording.headsign,
        scheduled=scheduled,
        stop_id=stop.id or "",
        trip_id=wording.trip_id,
        service_day=added.service_day,
        departure_delay_s=call.departure - scheduled,
        platform=stop.platform,
        last_realtime_update=added.updated,
        colors=wording.colors,
    )
