"""Trip instances (a trip on a service day) and their stop times as columns, before they are grouped into patterns."""

from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np

from fingerpost.transit.engine.timetable.columns import list_ranges, list_starts
from fingerpost.transit.engine.timetable.service_days import find_service_day_start, find_services
from fingerpost.transit.engine.timetable.timetable import (
    NO_ALIGHTING,
    NO_BOARDING,
    WHEELCHAIR_NO,
    Bool,
    Int32,
    Int64,
    Timetable,
    UInt8,
)

DAY_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class TripInstances:
    """Trip instances and their stop times, in seconds from the start of the search timetable's day.

    The stop times of instance i are rows ``begin[i] .. begin[i] + length[i]`` of the columns, shifted by
    ``shift_s[i]``, so that the instances of a trip share its rows. Only the flags NO_BOARDING and NO_ALIGHTING are
    used. ``trip_departure`` is a row of the timetable's trip departures, or -1 - i for the i-th added ride of an
    overlay. ``day`` is the service day (date.toordinal).
    """

    trip_departure: Int64
    day: Int32
    begin: Int64
    length: Int64
    shift_s: Int32
    stop: Int32
    flags: UInt8
    arrival_s: Int32
    departure_s: Int32

    @property
    def count(self) -> int:
        return len(self.trip_departure)

    @property
    def begins_s(self) -> Int32:
        begins_s: Int32 = self.departure_s[self.begin] + self.shift_s
        return begins_s

    @property
    def ends_s(self) -> Int32:
        ends_s: Int32 = self.arrival_s[self.begin + self.length - 1] + self.shift_s
        return ends_s

    def take(self, chosen: Int64 | Bool) -> "TripInstances":
        return replace(
            self,
            trip_departure=self.trip_departure[chosen],
            day=self.day[chosen],
            begin=self.begin[chosen],
            length=self.length[chosen],
            shift_s=self.shift_s[chosen],
        )

    def list_rows(self, chosen: Int64) -> Int64:
        return list_ranges(self.begin[chosen], self.length[chosen])[1]

    def unshare_all(self) -> "TripInstances":
        """Copy the stop times so that each instance has its own rows, consecutive and unshifted."""
        row = list_ranges(self.begin, self.length)[1]
        later_s = np.repeat(self.shift_s, self.length)
        return replace(
            self,
            begin=list_starts(self.length)[:-1],
            shift_s=np.zeros(self.count, np.int32),
            stop=self.stop[row],
            flags=self.flags[row],
            arrival_s=self.arrival_s[row] + later_s,
            departure_s=self.departure_s[row] + later_s,
        )

    def compact(self) -> "TripInstances":
        return self.unshare_all() if self.length.sum() < len(self.stop) else self

    def unshare_rows(self, chosen: Int64) -> "TripInstances":
        """Copy the stop times of the chosen instances so that they can be changed in place."""
        rows = self.take(chosen).unshare_all()
        begin, shift_s = self.begin.copy(), self.shift_s.copy()
        begin[chosen], shift_s[chosen] = rows.begin + len(self.stop), 0
        return replace(
            self.append_rows(rows.stop, rows.flags, rows.arrival_s, rows.departure_s), begin=begin, shift_s=shift_s
        )

    def append_rows(self, stop: Int32, flags: UInt8, arrival_s: Int32, departure_s: Int32) -> "TripInstances":
        return replace(
            self,
            stop=np.concatenate([self.stop, stop]),
            flags=np.concatenate([self.flags, flags]),
            arrival_s=np.concatenate([self.arrival_s, arrival_s]),
            departure_s=np.concatenate([self.departure_s, departure_s]),
        )


def gather_trip_instances(timetable: Timetable, day: date, start: int, since_s: int, until_s: int) -> TripInstances:
    """Return the trip instances that run in [since_s, until_s] of a day, which begins at the Unix second ``start``."""
    first_stop_time, last_stop_time = timetable.trip_first_stop_time[:-1], timetable.trip_first_stop_time[1:] - 1
    has_ride = last_stop_time > first_stop_time
    trip = timetable.trip_departure_trip
    begins_s = np.zeros(len(has_ride), np.int64)
    ends_s = np.zeros(len(has_ride), np.int64)
    begins_s[has_ride] = timetable.stop_time_departure_s[first_stop_time[has_ride]]
    ends_s[has_ride] = timetable.stop_time_arrival_s[last_stop_time[has_ride]]
    departure_begins_s = begins_s[trip] + timetable.trip_departure_shift_s
    departure_ends_s = ends_s[trip] + timetable.trip_departure_shift_s
    longest_s = int(departure_ends_s.max(initial=0))
    selected = []
    current = day + timedelta(days=since_s // DAY_S - longest_s // DAY_S - 1)
    while current <= day + timedelta(days=until_s // DAY_S):
        active = find_services(timetable, current)
        for feed_index, feed in enumerate(timetable.feeds):
            day_shift_s = find_service_day_start(current, feed.zone) - start
            chosen = np.flatnonzero(
                (active[timetable.trip_service[trip]] == 1)
                & (timetable.service_feed[timetable.trip_service[trip]] == feed_index)
                & has_ride[trip]
                & (departure_begins_s + day_shift_s <= until_s)
                & (departure_ends_s + day_shift_s >= since_s)
            )
            shift_s = timetable.trip_departure_shift_s[chosen] + np.int64(day_shift_s)
            selected.append((chosen, shift_s, np.full(len(chosen), current.toordinal())))
        current += timedelta(days=1)
    trip_departure, shift_s, ordinal = (np.concatenate(column) for column in zip(*selected, strict=True))
    begin = first_stop_time[trip[trip_departure]]
    return TripInstances(
        trip_departure=trip_departure,
        day=ordinal.astype(np.int32),
        begin=begin,
        length=last_stop_time[trip[trip_departure]] + 1 - begin,
        shift_s=shift_s.astype(np.int32),
        stop=timetable.stop_time_stop,
        flags=timetable.stop_time_flags,
        arrival_s=timetable.stop_time_arrival_s,
        departure_s=timetable.stop_time_departure_s,
    )


def drop_inaccessible(timetable: Timetable, instances: TripInstances) -> TripInstances:
    trip = timetable.trip_departure_trip[np.maximum(instances.trip_departure, 0)]
    accessible = instances.take((timetable.trip_wheelchair[trip] != WHEELCHAIR_NO) | (instances.trip_departure < 0))
    is_inaccessible = timetable.stop_wheelchair == WHEELCHAIR_NO
    closed = np.uint8(NO_BOARDING | NO_ALIGHTING)
    return replace(accessible, flags=np.where(is_inaccessible[accessible.stop], closed, accessible.flags))


def reverse_in_time(instances: TripInstances) -> TripInstances:
    """Reverse the instances in time: last stop first, boarding and alighting swapped."""
    instances = instances.compact()
    flags = instances.flags[::-1]
    return replace(
        instances,
        begin=len(instances.stop) - instances.begin - instances.length,
        shift_s=-instances.shift_s,
        stop=instances.stop[::-1].copy(),
        flags=((flags & NO_BOARDING) * 2 + (flags & NO_ALIGHTING) // 2).astype(np.uint8),
        arrival_s=-instances.departure_s[::-1],
        departure_s=-instances.arrival_s[::-1],
    )
