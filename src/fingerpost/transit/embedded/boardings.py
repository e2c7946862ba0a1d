"""Where a timetable lets riders board some stops, on whatever day: for days on which nothing is built yet."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta

import numpy as np

from fingerpost.transit.engine.raptor.arrays import Bool
from fingerpost.transit.engine.raptor.board import BoardDeparture
from fingerpost.transit.engine.timetable.service_days import service_day_start, services_on
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING, Int64, Timetable
from fingerpost.transit.model.coverage import ServiceDays, find_service_days


class Boardings:
    """The stop times at which riders board at some stops and are let out behind, on every day of the timetable."""

    def __init__(self, timetable: Timetable, stops: Sequence[int]) -> None:
        self._timetable = timetable
        is_wanted = np.zeros(timetable.stop_count, np.bool_)
        is_wanted[list(stops)] = True
        calls = np.flatnonzero(is_wanted[timetable.stop_time_stop] & (timetable.stop_time_flags & NO_BOARDING == 0))
        trips = np.searchsorted(timetable.trip_first_stop_time, calls, "right") - 1
        leads = _lead_on(timetable, calls, trips)
        self._calls, self._trips = calls[leads], trips[leads]

    def find_days(self) -> ServiceDays | None:
        """Return the service days on which there are any, None where none ever are."""
        table = self._timetable
        services = np.unique(table.trip_service[self._trips])
        if not len(services):
            return None
        if table.service_every_day[services].any():
            return ServiceDays()
        offsets = np.flatnonzero(table.service_runs_on[services].any(axis=0))
        return find_service_days(table.calendar_start + timedelta(days=int(offset)) for offset in offsets)

    def list_after(self, instant: int, days: Iterable[date]) -> Iterator[BoardDeparture]:
        """Yield the departures of some service days that leave after an instant, in the timetable's order."""
        table = self._timetable
        run, call = self._list_runs()
        service = table.trip_service[table.trip_departure_trip[run]]
        feed = table.service_feed[service]
        since_start_s = table.trip_departure_shift_s[run].astype(np.int64) + table.stop_time_departure_s[call]
        found = []
        for day in days:
            starts = np.array([service_day_start(day, each.zone) for each in table.feeds], np.int64)
            row = np.flatnonzero(services_on(table, day)[service])
            departure = starts[feed[row]] + since_start_s[row]
            later = departure > instant
            found.append((np.full(np.count_nonzero(later), day.toordinal()), row[later], departure[later]))
        if not found:
            return
        ordinal, row, departure = (np.concatenate(column) for column in zip(*found, strict=True))
        for at in np.argsort(departure, kind="stable"):
            yield BoardDeparture(
                trip_departure=int(run[row[at]]),
                service_day=date.fromordinal(int(ordinal[at])),
                stop_time=int(call[row[at]]),
                departure=int(departure[at]),
            )

    def _list_runs(self) -> tuple[Int64, Int64]:
        """Return each stop time with each trip departure of its trip (rows)."""
        table = self._timetable
        is_own = np.zeros(len(table.trip_service), np.bool_)
        is_own[self._trips] = True
        runs = np.flatnonzero(is_own[table.trip_departure_trip])
        trips = table.trip_departure_trip[runs]
        first = np.searchsorted(self._trips, trips, "left")
        count = np.searchsorted(self._trips, trips, "right") - first
        of_run = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        return np.repeat(runs, count), self._calls[np.repeat(first, count) + of_run]


def _lead_on(timetable: Timetable, calls: Int64, trips: Int64) -> Bool:
    """Return, for each stop time, whether its trip lets riders out behind it, or may keep them seated into another."""
    is_shut = timetable.stop_time_flags & NO_ALIGHTING != 0
    ends = timetable.trip_first_stop_time[trips + 1]
    goes_on = np.zeros(len(timetable.trip_service), np.bool_)
    goes_on[timetable.trip_departure_trip[timetable.in_seat_from]] = True
    leads = calls + 1 < ends
    for at in np.flatnonzero(leads & is_shut[ends - 1] & ~goes_on[trips]):
        leads[at] = not is_shut[calls[at] + 1 : ends[at]].all()
    found: Bool = leads
    return found
