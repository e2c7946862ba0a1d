"""Find the next departure after the window of an empty board."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import islice

import numpy as np

from fingerpost.transit.embedded.departures import StopDepartures
from fingerpost.transit.embedded.snapshot import Snapshot
from fingerpost.transit.engine.raptor.board import BoardDeparture
from fingerpost.transit.engine.timetable.columns import list_ranges, mark_rows
from fingerpost.transit.engine.timetable.service_days import find_days, find_service_day_start, find_services, local_day
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING, Bool, Int64, Timetable
from fingerpost.transit.model.provenance import ServiceDays
from fingerpost.transit.port import BoardGap, DepartureQuery


class Boardings:
    """The stop times where riders can board at some stops and alight later, on all service days."""

    def __init__(self, timetable: Timetable, stops: Sequence[int]) -> None:
        self._timetable = timetable
        is_wanted = mark_rows(timetable.stop_count, list(stops))
        calls = np.flatnonzero(is_wanted[timetable.stop_time_stop] & (timetable.stop_time_flags & NO_BOARDING == 0))
        trips = np.searchsorted(timetable.trip_first_stop_time, calls, "right") - 1
        is_boardable = _can_alight_later(timetable, calls, trips)
        self._stop_times, self._trips = calls[is_boardable], trips[is_boardable]

    def find_days(self) -> ServiceDays | None:
        services = np.unique(self._timetable.trip_service[self._trips])
        return find_days(self._timetable, services) if len(services) else None

    def list_after(self, instant: int, days: Iterable[date]) -> Iterator[BoardDeparture]:
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
        since_start_s = (
            table.trip_departure_shift_s[trip_departure].astype(np.int64) + table.stop_time_departure_s[stop_time]
        )
        found = []
        for day in days:
            starts = np.array([find_service_day_start(day, feed.zone) for feed in table.feeds], np.int64)
            row = np.flatnonzero(find_services(table, day)[service])
            departure = starts[feed[row]] + since_start_s[row]
            later = departure > instant
            found.append((np.full(np.count_nonzero(later), day.toordinal()), row[later], departure[later]))
        if not found:
            return
        ordinal, row, departure = (np.concatenate(column) for column in zip(*found, strict=True))
        for at in np.argsort(departure, kind="stable"):
            yield BoardDeparture(
                trip_departure=int(trip_departure[row[at]]),
                service_day=date.fromordinal(int(ordinal[at])),
                stop_time=int(stop_time[row[at]]),
                departure=int(departure[at]),
            )


def _can_alight_later(timetable: Timetable, calls: Int64, trips: Int64) -> Bool:
    forbids_alighting = timetable.stop_time_flags & NO_ALIGHTING != 0
    ends = timetable.trip_first_stop_time[trips + 1]
    continues_in_seat = mark_rows(len(timetable.trip_service), timetable.trip_departure_trip[timetable.in_seat_from])
    is_boardable = calls + 1 < ends
    for at in np.flatnonzero(is_boardable & forbids_alighting[ends - 1] & ~continues_in_seat[trips]):
        is_boardable[at] = not forbids_alighting[calls[at] + 1 : ends[at]].all()
    found: Bool = is_boardable
    return found


# Report the time of the next departure within a day after the window, later only its day.
_LOOK_AHEAD_S = 24 * 3600
# Stop searching after this many service days or departures, because a stop may be closed for months.
_MAX_DAYS, _MAX_DEPARTURES = 8, 1000
_DAY = timedelta(days=1)


def find_gap(snapshot: Snapshot, stops: Sequence[int], zone: str, query: DepartureQuery) -> BoardGap:
    end = query.instant + query.window_s
    following = StopDepartures(snapshot, stops, zone, replace(query, instant=end + 1, window_s=_LOOK_AHEAD_S))
    first = following.find_first()
    if first is not None:
        return BoardGap(next_departure=first)
    boardings = Boardings(snapshot.timetable, stops)
    days = boardings.find_days()
    beyond = following.last + 1
    added = following.find_added_from(beyond)
    since = local_day(end, zone) - _DAY  # Trips of the evening before run past midnight.
    calls = () if days is None else boardings.list_after(end, islice(_iterate_days(days, since), _MAX_DAYS))
    last_cancelled = None
    for count, call in enumerate(filter(following.is_shown, calls)):
        if (
            count > _MAX_DEPARTURES
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
        return BoardGap(next_day=local_day(added, zone), last_day=last_day)
    return BoardGap(
        last_day=last_day, cancelled_until=None if last_cancelled is None else local_day(last_cancelled, zone)
    )


def _iterate_days(days: ServiceDays, day: date) -> Iterator[date]:
    next_day = days.find_next_day(day)
    while next_day is not None:
        yield next_day
        next_day = days.find_next_day(next_day + _DAY)
