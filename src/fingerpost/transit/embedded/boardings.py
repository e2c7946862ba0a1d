"""Find the next departure after the window of an empty board, and the service at the ends of a journey."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import count, islice
from typing import NamedTuple

import numpy as np

from fingerpost.transit.embedded.departures import StopDepartures
from fingerpost.transit.embedded.snapshot import Snapshot
from fingerpost.transit.engine.raptor.board import BoardDeparture
from fingerpost.transit.engine.timetable.columns import list_ranges, mark_rows
from fingerpost.transit.engine.timetable.service_days import find_days, find_service_day_start, find_services, local_day
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING, Bool, Int64, Timetable
from fingerpost.transit.model.provenance import ServiceDays, ServiceState
from fingerpost.transit.port import DepartureQuery, ServiceGap


class StopCalls:
    """The stop times, on all service days, at which riders can board at the given stops and alight later.

    With ``of_arrivals``, those at which they can alight after boarding earlier.
    """

    def __init__(self, timetable: Timetable, stops: Sequence[int], *, of_arrivals: bool = False) -> None:
        self._timetable, self._of_arrivals = timetable, of_arrivals
        is_wanted = mark_rows(timetable.stop_count, list(stops))
        forbidden = NO_ALIGHTING if of_arrivals else NO_BOARDING
        calls = np.flatnonzero(is_wanted[timetable.stop_time_stop] & (timetable.stop_time_flags & forbidden == 0))
        trips = np.searchsorted(timetable.trip_first_stop_time, calls, "right") - 1
        is_usable = (_can_board_earlier if of_arrivals else _can_alight_later)(timetable, calls, trips)
        self._stop_times, self._trips = calls[is_usable], trips[is_usable]

    def find_days(self) -> ServiceDays | None:
        services = np.unique(self._timetable.trip_service[self._trips])
        return find_days(self._timetable, services) if len(services) else None

    def list_after(self, instant: int, days: Iterable[date]) -> Iterator[BoardDeparture]:
        """Return the calls after an instant on the given service days, in chronological order."""
        found = self._list_times(days)
        later = found.time > instant
        time, row, ordinal = found.time[later], found.row[later], found.ordinal[later]
        for at in np.argsort(time, kind="stable"):
            yield BoardDeparture(
                trip_departure=int(found.trip_departure[row[at]]),
                service_day=date.fromordinal(int(ordinal[at])),
                stop_time=int(found.stop_time[row[at]]),
                departure=int(time[at]),
            )

    def find_nearest(self, instant: int, days: Iterable[date], *, is_before: bool) -> int | None:
        """Return the first time at or after an instant, or the last one at or before it, on the given service days."""
        time = self._list_times(days).time
        time = time[time <= instant] if is_before else time[time >= instant]
        return int(time.max() if is_before else time.min()) if len(time) else None

    def _list_times(self, days: Iterable[date]) -> "_CallTimes":
        table = self._timetable
        serves_stops = mark_rows(len(table.trip_service), self._trips)
        trip_departures = np.flatnonzero(serves_stops[table.trip_departure_trip])
        trips = table.trip_departure_trip[trip_departures]
        first = np.searchsorted(self._trips, trips, "left")
        trip_index, place = list_ranges(first, np.searchsorted(self._trips, trips, "right") - first)
        # Pair each trip departure with the stop times of its trip.
        trip_departure, stop_time = trip_departures[trip_index], self._stop_times[place]
        service = table.trip_service[table.trip_departure_trip[trip_departure]]
        feed = table.service_feed[service]
        times_s = table.stop_time_arrival_s if self._of_arrivals else table.stop_time_departure_s
        since_start_s = table.trip_departure_shift_s[trip_departure].astype(np.int64) + times_s[stop_time]
        time, row, ordinal = ([np.zeros(0, np.int64)] for _ in range(3))
        for day in days:
            starts = np.array([find_service_day_start(day, feed.zone) for feed in table.feeds], np.int64)
            running = np.flatnonzero(find_services(table, day)[service])
            time.append(starts[feed[running]] + since_start_s[running])
            row.append(running)
            ordinal.append(np.full(len(running), day.toordinal()))
        return _CallTimes(trip_departure, stop_time, *map(np.concatenate, (time, row, ordinal)))


class _CallTimes(NamedTuple):
    """Pairs of a trip departure and a stop time; and times (Unix seconds), each with its pair's row and its day."""

    trip_departure: Int64
    stop_time: Int64
    time: Int64
    row: Int64
    ordinal: Int64


def _can_alight_later(timetable: Timetable, calls: Int64, trips: Int64) -> Bool:
    forbids_alighting = timetable.stop_time_flags & NO_ALIGHTING != 0
    ends = timetable.trip_first_stop_time[trips + 1]
    continues_in_seat = mark_rows(len(timetable.trip_service), timetable.trip_departure_trip[timetable.in_seat_from])
    is_boardable = calls + 1 < ends
    for at in np.flatnonzero(is_boardable & forbids_alighting[ends - 1] & ~continues_in_seat[trips]):
        is_boardable[at] = not forbids_alighting[calls[at] + 1 : ends[at]].all()
    found: Bool = is_boardable
    return found


def _can_board_earlier(timetable: Timetable, calls: Int64, trips: Int64) -> Bool:
    forbids_boarding = timetable.stop_time_flags & NO_BOARDING != 0
    starts = timetable.trip_first_stop_time[trips]
    begins_in_seat = mark_rows(len(timetable.trip_service), timetable.trip_departure_trip[timetable.in_seat_to])
    is_usable = calls > starts
    for at in np.flatnonzero(is_usable & forbids_boarding[starts] & ~begins_in_seat[trips]):
        is_usable[at] = not forbids_boarding[starts[at] : calls[at]].all()
    found: Bool = is_usable
    return found


# Report the time of the next departure if it is within a day after the window; after that, only its day.
_LOOK_AHEAD_S = 24 * 3600
# Stop searching after this many service days or departures, because a stop may be closed for months.
_MAX_DAYS, _MAX_DEPARTURES = 8, 1000
_DAY = timedelta(days=1)


def find_gap(snapshot: Snapshot, stops: Sequence[int], zone: str, query: DepartureQuery) -> ServiceGap:
    end = query.instant + query.window_s
    following = StopDepartures(snapshot, stops, zone, replace(query, instant=end + 1, window_s=_LOOK_AHEAD_S))
    first = following.find_first()
    if first is not None:
        return ServiceGap(next_departure=first)
    calls_at_stops = StopCalls(snapshot.timetable, stops)
    days = calls_at_stops.find_days()
    beyond = following.last + 1
    added = following.find_added_from(beyond)
    since = local_day(end, zone) - _DAY  # Trips from the previous evening may run past midnight.
    calls = () if days is None else calls_at_stops.list_after(end, islice(_iterate_days(days, since), _MAX_DAYS))
    last_cancelled = None
    for number, call in enumerate(filter(following.is_shown, calls)):
        if (
            number > _MAX_DEPARTURES
            and last_cancelled is not None
            and local_day(call.departure, zone) > local_day(last_cancelled, zone)
        ):
            break
        leaves = following.find_time(call)
        if following.is_cancelled(call):
            last_cancelled = call.departure
        elif leaves >= beyond:
            added = leaves if added is None else min(added, leaves)
            break
    last_day = None if days is None else days.last_day
    if added is not None:
        return ServiceGap(next_day=local_day(added, zone), last_day=last_day)
    return ServiceGap(
        last_day=last_day, cancelled_until=None if last_cancelled is None else local_day(last_cancelled, zone)
    )


def find_end_service(
    snapshot: Snapshot, stops: Sequence[int], zone: str, instant: int, *, of_arrivals: bool, is_before: bool
) -> ServiceGap:
    """Return the next departures from stops, or arrivals at them, or the last ones before an instant.

    Only the next departures include realtime data.
    """
    if not (of_arrivals or is_before):
        return find_gap(snapshot, stops, zone, DepartureQuery(stop_ids=(), instant=instant, window_s=-1, wanted=1))
    calls = StopCalls(snapshot.timetable, stops, of_arrivals=of_arrivals)
    days, day = calls.find_days(), local_day(instant, zone)
    gap = ServiceGap(of_arrivals=of_arrivals, is_before=is_before)
    if days is None:
        return gap
    step = -_DAY if is_before else _DAY
    nearest = calls.find_nearest(instant, (day + step * at for at in range(-1, _MAX_DAYS)), is_before=is_before)
    if nearest is not None:
        return replace(gap, next_departure=nearest)
    edge = days.first_day if is_before else days.last_day
    beyond = day + step * _MAX_DAYS
    if edge is None or (edge > beyond if is_before else edge < beyond):
        return replace(gap, last_day=edge)
    others = (beyond + step * at for at in count())
    return replace(gap, next_day=next(other for other in others if days.state_on(other) is ServiceState.IN_SERVICE))


def _iterate_days(days: ServiceDays, day: date) -> Iterator[date]:
    next_day = days.find_next_day(day)
    while next_day is not None:
        yield next_day
        next_day = days.find_next_day(next_day + _DAY)
