"""Find the next departure after an empty board, and the nearest service at a journey's origin or destination."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import count, filterfalse, islice

import numpy as np

from fingerpost.transit.embedded.departures import StopDepartures
from fingerpost.transit.embedded.snapshot import Snapshot
from fingerpost.transit.engine.raptor.journeys import BoardDeparture
from fingerpost.transit.engine.timetable.columns import list_ranges, mark_rows
from fingerpost.transit.engine.timetable.service_days import find_days, find_service_day_start, find_services
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING, Bool, Int64, Timetable
from fingerpost.transit.model.provenance import ServiceDays, ServiceState
from fingerpost.transit.port import DepartureQuery, ServiceGap
from fingerpost.transit.rules.times import to_local_date


class StopCalls:
    """All stop times at the given stops where riders can board and later alight, on any service day.

    With ``of_arrivals``, all stop times where riders can alight after boarding earlier.
    """

    def __init__(self, timetable: Timetable, stops: Sequence[int], *, of_arrivals: bool = False) -> None:
        self._timetable = timetable
        is_wanted = mark_rows(timetable.stop_count, list(stops))
        forbidden = NO_ALIGHTING if of_arrivals else NO_BOARDING
        calls = np.flatnonzero(is_wanted[timetable.stop_time_stop])
        calls = calls[timetable.stop_time_flags[calls] & forbidden == 0]
        trips = np.searchsorted(timetable.trip_first_stop_time, calls, "right") - 1
        is_usable = _can_ride(timetable, calls, trips, of_arrivals=of_arrivals)
        calls, trips = calls[is_usable], trips[is_usable]
        # Pair each trip departure with the stop times of its trip.
        serves_stops = mark_rows(len(timetable.trip_service), trips)
        trip_departures = np.flatnonzero(serves_stops[timetable.trip_departure_trip])
        trip_of_departure = timetable.trip_departure_trip[trip_departures]
        first = np.searchsorted(trips, trip_of_departure, "left")
        pair, row = list_ranges(first, np.searchsorted(trips, trip_of_departure, "right") - first)
        self._trip_departure, self._stop_time = trip_departures[pair], calls[row]
        self._service = timetable.trip_service[trip_of_departure[pair]]
        times_s = timetable.stop_time_arrival_s if of_arrivals else timetable.stop_time_departure_s
        shift_s = timetable.trip_departure_shift_s[self._trip_departure].astype(np.int64)
        self._offset_s = shift_s + times_s[self._stop_time]
        # The calls on a date can belong to this many earlier service days.
        self.days_back = 1 + timedelta(seconds=int(self._offset_s.max(initial=0))).days

    def find_days(self) -> ServiceDays | None:
        services = np.unique(self._service)
        return find_days(self._timetable, services) if len(services) else None

    def list_after(self, instant: int, days: Iterable[date]) -> Iterator[BoardDeparture]:
        """Yield the calls after an instant on the given service days, in chronological order."""
        time, pair, ordinal = self._list_times(days)
        later_rows = np.flatnonzero(time > instant)
        for index in later_rows[np.argsort(time[later_rows], kind="stable")]:
            yield BoardDeparture(
                trip_departure=int(self._trip_departure[pair[index]]),
                service_day=date.fromordinal(int(ordinal[index])),
                stop_time=int(self._stop_time[pair[index]]),
                departure=int(time[index]),
            )

    def find_nearest(self, instant: int, days: Iterable[date], *, is_before: bool) -> int | None:
        """Return the first time at or after an instant, or the last one at or before it, on the given service days."""
        time, _, _ = self._list_times(days)
        time = time[time <= instant] if is_before else time[time >= instant]
        return int(time.max() if is_before else time.min()) if len(time) else None

    def find_limit_day(self, limit_day: date | None, zone: str, *, is_before: bool = False) -> date | None:
        """Return the date of the last call by ``limit_day`` or, if ``is_before``, of the first call since then."""
        if limit_day is None:
            return None
        step = _DAY if is_before else -_DAY
        time, _, _ = self._list_times(limit_day + step * number for number in range(self.days_back + 1))
        return to_local_date(int(time.min() if is_before else time.max()), zone)

    def _list_times(self, days: Iterable[date]) -> tuple[Int64, Int64, Int64]:
        """Return the times of calls (Unix seconds) on the given days, with each call's array index and day ordinal."""
        table, feed = self._timetable, self._timetable.service_feed[self._service]
        time, pair, ordinal = ([np.zeros(0, np.int64)] for _ in range(3))
        for day in days:
            starts = np.array([find_service_day_start(day, feed.zone) for feed in table.feeds], np.int64)
            running = np.flatnonzero(find_services(table, day)[self._service])
            time.append(starts[feed[running]] + self._offset_s[running])
            pair.append(running)
            ordinal.append(np.full(len(running), day.toordinal()))
        return np.concatenate(time), np.concatenate(pair), np.concatenate(ordinal)


def _can_ride(timetable: Timetable, calls: Int64, trips: Int64, *, of_arrivals: bool) -> Bool:
    """Mark the calls with a later call for alighting or, with ``of_arrivals``, an earlier call for boarding."""
    forbidden, in_seat = (NO_ALIGHTING, timetable.in_seat_from)
    first, limit = calls + 1, timetable.trip_first_stop_time[trips + 1]
    if of_arrivals:
        forbidden, in_seat = (NO_BOARDING, timetable.in_seat_to)
        first, limit = timetable.trip_first_stop_time[trips], calls
    is_joined = mark_rows(len(timetable.trip_service), timetable.trip_departure_trip[in_seat])
    found: Bool = first < limit
    is_open = is_joined[trips] | (timetable.stop_time_flags[first if of_arrivals else limit - 1] & forbidden == 0)
    doubtful = np.flatnonzero(found & ~is_open)
    owner, call = list_ranges(first[doubtful], (limit - first)[doubtful])
    can_ride = mark_rows(len(doubtful), owner[timetable.stop_time_flags[call] & forbidden == 0])
    found[doubtful] = can_ride
    return found


# If the next departure is within this period after the window, report its time; otherwise, report only its day.
_LOOK_AHEAD_S = 24 * 3600
# Stop searching after this many service days or departures, because a stop may be closed for months.
_MAX_DAYS, _MAX_DEPARTURES = 8, 1000
_DAY = timedelta(days=1)


def find_gap(snapshot: Snapshot, stops: Sequence[int], zone: str, query: DepartureQuery) -> ServiceGap:
    end = query.instant + query.window_s
    # Without realtime data, the first departure is always usable.
    later = replace(query, instant=end + 1, window_s=_LOOK_AHEAD_S, wanted=int(snapshot.live is snapshot.planned))
    board = StopDepartures(snapshot, stops, zone, later)
    rows, _ = board.list_rows()
    first = next((row.call for row in rows if not row.is_cancelled), None)
    if first is not None:
        return ServiceGap(next_departure=first.departure)
    calls_at_stops = StopCalls(snapshot.timetable, stops)
    days = calls_at_stops.find_days()
    search_start = board.last + 1
    added = board.find_first_added(search_start)
    days_back = calls_at_stops.days_back
    service_days = () if days is None else _iterate_days(days, to_local_date(end, zone) - days_back * _DAY)
    calls = calls_at_stops.list_after(end, islice(service_days, _MAX_DAYS - 1 + days_back))
    cancelled_until = None
    for number, call in enumerate(filterfalse(snapshot.is_deleted, calls)):
        day = to_local_date(call.departure, zone)
        if number > _MAX_DEPARTURES and cancelled_until is not None and day > cancelled_until:
            break
        departure = board.find_time(call)
        if board.is_cancelled(call):
            cancelled_until = day
        elif departure >= search_start:
            added = departure if added is None else min(added, departure)
            break
    last_day = None if days is None else calls_at_stops.find_limit_day(days.last_day, zone)
    if added is not None:
        return ServiceGap(next_day=to_local_date(added, zone), last_day=last_day)
    return ServiceGap(last_day=last_day, cancelled_until=cancelled_until)


def find_endpoint_service(
    snapshot: Snapshot, stops: Sequence[int], zone: str, instant: int, *, of_arrivals: bool, is_before: bool
) -> ServiceGap:
    """Find the nearest departure from stops, or arrival at them, before or after an instant.

    Only the search for later departures uses realtime data.
    """
    if not (of_arrivals or is_before):
        return find_gap(snapshot, stops, zone, DepartureQuery(stop_ids=(), instant=instant, window_s=-1, wanted=1))
    calls = StopCalls(snapshot.timetable, stops, of_arrivals=of_arrivals)
    days = calls.find_days()
    day = to_local_date(instant, zone)
    gap = ServiceGap(of_arrivals=of_arrivals, is_before=is_before)
    if days is None:
        return gap
    step = -_DAY if is_before else _DAY
    first = -1 if is_before else -calls.days_back
    searched_days = (day + step * number for number in range(first, _MAX_DAYS + calls.days_back))
    nearest = calls.find_nearest(instant, searched_days, is_before=is_before)
    if nearest is not None:
        return replace(gap, next_departure=nearest)
    limit_day = days.first_day if is_before else days.last_day
    next_unseen_day = day + step * _MAX_DAYS
    if limit_day is None or (limit_day > next_unseen_day if is_before else limit_day < next_unseen_day):
        return replace(gap, last_day=calls.find_limit_day(limit_day, zone, is_before=is_before))
    later_days = (next_unseen_day + step * number for number in count())
    next_day = next(day for day in later_days if days.state_on(day) is ServiceState.IN_SERVICE)
    return replace(gap, next_day=calls.find_limit_day(next_day, zone, is_before=not is_before))


def _iterate_days(days: ServiceDays, day: date) -> Iterator[date]:
    next_day = days.find_next_day(day)
    while next_day is not None:
        yield next_day
        next_day = days.find_next_day(next_day + _DAY)
