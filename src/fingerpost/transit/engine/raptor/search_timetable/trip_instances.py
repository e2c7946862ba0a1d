"""Trip instances (a trip on a service day) and their stop times as columns, before they are grouped into patterns.

Realtime data cancels, delays and adds trip instances, and closes stops according to alerts.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

import numpy as np

from fingerpost.transit.engine.timetable.columns import join_rows, list_ranges, list_starts, mark_rows
from fingerpost.transit.engine.timetable.overlay import Overlay
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
_COPIED_AT_ONCE = 4_096
_USED_SHARE = 0.9


class StopTimes(NamedTuple):
    """Stop times in seconds from the start of the search timetable's day.

    Only the flags NO_BOARDING and NO_ALIGHTING are used.
    """

    stop: Int32
    flags: UInt8
    arrival_s: Int32
    departure_s: Int32


class TripInstances(NamedTuple):
    """Trip instances; the stop times of instance i are rows ``begin[i] .. begin[i] + length[i]``.

    ``shift_s[i]`` is added to their times, so that all instances of a trip can share its rows. ``trip_departure`` is a
    row of the timetable's trip departures, or -1 - i for the i-th added ride of an overlay. ``day`` is the service day
    (date.toordinal).
    """

    trip_departure: Int64
    day: Int32
    begin: Int64
    length: Int64
    shift_s: Int32
    stop_times: StopTimes

    @property
    def start_s(self) -> Int32:
        return self.stop_times.departure_s[self.begin] + self.shift_s

    @property
    def end_s(self) -> Int32:
        end_s: Int32 = self.stop_times.arrival_s[self.begin + self.length - 1] + self.shift_s
        return end_s

    def take(self, chosen: Int64 | Bool) -> "TripInstances":
        return TripInstances._make([*(column[chosen] for column in self[:-1]), self.stop_times])

    def append(self, other: "TripInstances") -> "TripInstances":
        """Return these instances followed by the others; their stop times are stored in the same order."""
        begin = np.concatenate([self.begin, len(self.stop_times.stop) + other.begin])
        joined = (np.concatenate([a, b]) for a, b in zip(self[:-1], other[:-1], strict=True))
        return TripInstances._make([*joined, join_rows(self.stop_times, other.stop_times)])._replace(begin=begin)

    def list_rows(self, chosen: Int64) -> Int64:
        return list_ranges(self.begin[chosen], self.length[chosen])[1]

    def copy_columns(self, chosen: Int64, names: Sequence[str] = StopTimes._fields) -> dict[str, Any]:
        """Copy the stop times of the chosen instances, consecutively and with their shifts applied."""
        first = list_starts(self.length[chosen])
        columns = {name: np.empty(first[-1], getattr(self.stop_times, name).dtype) for name in names}
        # Copy in blocks, because all row numbers at once would need more memory than the columns.
        for begin in range(0, len(chosen), _COPIED_AT_ONCE):
            part = chosen[begin : begin + _COPIED_AT_ONCE]
            copied = slice(first[begin], first[begin + len(part)])
            rows = self.list_rows(part)
            for name, column in columns.items():
                column[copied] = getattr(self.stop_times, name)[rows]
                if name in ("arrival_s", "departure_s"):
                    column[copied] += np.repeat(self.shift_s[part], self.length[part])
        return columns

    def unshare_all(self) -> "TripInstances":
        """Copy the stop times so that each instance has its own consecutive rows, with its shift applied."""
        rows = StopTimes(**self.copy_columns(np.arange(len(self.day))))
        return self._replace(begin=list_starts(self.length)[:-1], shift_s=np.zeros_like(self.shift_s), stop_times=rows)

    def compact(self) -> "TripInstances":
        """Drop unused stop times, unless there are few."""
        return self.unshare_all() if self.length.sum() < _USED_SHARE * len(self.stop_times.stop) else self


def gather_trip_instances(timetable: Timetable, day: date, start: int, since_s: int, until_s: int) -> TripInstances:
    """Return the trip instances that run within [since_s, until_s] of a day that begins at ``start`` (Unix seconds)."""
    first_stop_time, last_stop_time = timetable.trip_first_stop_time[:-1], timetable.trip_first_stop_time[1:] - 1
    trip_departure = np.flatnonzero((last_stop_time > first_stop_time)[timetable.trip_departure_trip])
    trip = timetable.trip_departure_trip[trip_departure]
    shift_s, service = timetable.trip_departure_shift_s[trip_departure], timetable.trip_service[trip]
    start_s = timetable.stop_time_departure_s[first_stop_time[trip]] + shift_s
    end_s = timetable.stop_time_arrival_s[last_stop_time[trip]] + shift_s
    longest_s = int(end_s.max(initial=0))
    selected = []
    current = day + timedelta(days=since_s // DAY_S - longest_s // DAY_S - 1)
    while current <= day + timedelta(days=until_s // DAY_S):
        active = find_services(timetable, current)
        for feed_index, feed in enumerate(timetable.feeds):
            day_shift_s = find_service_day_start(current, feed.zone) - start
            chosen = np.flatnonzero(
                (active[service] == 1)
                & (timetable.service_feed[service] == feed_index)
                & (start_s + day_shift_s <= until_s)
                & (end_s + day_shift_s >= since_s)
            )
            selected.append((chosen, shift_s[chosen] + day_shift_s, np.full(len(chosen), current.toordinal())))
        current += timedelta(days=1)
    chosen, shift_s, ordinal = (np.concatenate(column) for column in zip(*selected, strict=True))
    begin = first_stop_time[trip[chosen]]
    return TripInstances(
        trip_departure=trip_departure[chosen],
        day=ordinal.astype(np.int32),
        begin=begin,
        length=last_stop_time[trip[chosen]] + 1 - begin,
        shift_s=shift_s.astype(np.int32),
        stop_times=StopTimes(
            timetable.stop_time_stop,
            timetable.stop_time_flags,
            timetable.stop_time_arrival_s,
            timetable.stop_time_departure_s,
        ),
    )


def drop_inaccessible(timetable: Timetable, instances: TripInstances) -> TripInstances:
    trip = timetable.trip_departure_trip[np.maximum(instances.trip_departure, 0)]
    accessible = instances.take((timetable.trip_wheelchair[trip] != WHEELCHAIR_NO) | (instances.trip_departure < 0))
    is_inaccessible = timetable.stop_wheelchair == WHEELCHAIR_NO
    stop_times = accessible.stop_times
    closed = np.uint8(NO_BOARDING | NO_ALIGHTING)
    flags = np.where(is_inaccessible[stop_times.stop], closed, stop_times.flags)
    return accessible._replace(stop_times=stop_times._replace(flags=flags))


def reverse_in_time(instances: TripInstances) -> TripInstances:
    """Reverse the instances in time: last stop first, boarding and alighting swapped."""
    instances = instances.compact()
    last_first = StopTimes._make(column[::-1] for column in instances.stop_times)
    swapped = (last_first.flags & NO_BOARDING) * 2 + (last_first.flags & NO_ALIGHTING) // 2
    return instances._replace(
        begin=len(swapped) - instances.begin - instances.length,
        shift_s=-instances.shift_s,
        stop_times=StopTimes(
            last_first.stop.copy(), swapped.astype(np.uint8), -last_first.departure_s, -last_first.arrival_s
        ),
    )


# Larger than any day ordinal; the key of a ride is trip departure * ORDINALS + day.
ORDINALS = 1 << 22
# Trips from earlier days are ignored if they are delayed by more than this.
MAX_DELAY_S = 12 * 3600


def apply_overlay(instances: TripInstances, overlay: Overlay, start: int, since_s: int) -> TripInstances:
    """Apply an overlay to a day beginning at ``start`` (Unix seconds); drop rides that end before ``since_s``."""
    update_by_key = {departure * ORDINALS + day: update for (departure, day), update in overlay.rides.items()}
    own_keys = instances.trip_departure * ORDINALS + instances.day
    updated = np.flatnonzero(np.isin(own_keys, np.array(list(update_by_key), np.int64)))
    updates = [update_by_key[key] for key in own_keys[updated].tolist()]
    if updates:
        instances = instances.unshare_all()
        row, stop_times = instances.list_rows(updated), instances.stop_times
        stop_times.arrival_s[row] += np.concatenate([update.arrival_delay_s for update in updates])
        stop_times.departure_s[row] += np.concatenate([update.departure_delay_s for update in updates])
        for begin, update in zip(instances.begin[updated].tolist(), updates, strict=True):
            own_rows = slice(begin, begin + len(update.is_skipped))
            if update.stop is not None:
                stop_times.stop[own_rows] = update.stop
            if update.flags is not None:
                stop_times.flags[own_rows] = update.flags
        is_skipped = np.concatenate([update.is_skipped for update in updates])
        stop_times.flags[row[is_skipped]] = NO_BOARDING | NO_ALIGHTING
    is_running = instances.end_s >= since_s
    is_running[updated] &= np.array([not update.is_cancelled for update in updates], np.bool_)
    return _append_added(instances.take(is_running), overlay, start)


def _append_added(instances: TripInstances, overlay: Overlay, start: int) -> TripInstances:
    added = overlay.added
    if not added:
        return instances
    length = np.array([len(ride.stop) for ride in added], np.int64)
    closed_flags = np.uint8(NO_BOARDING | NO_ALIGHTING)
    stop_times = StopTimes(
        np.concatenate([ride.stop for ride in added]),
        np.concatenate([(ride.flags & closed_flags) | (ride.is_skipped * closed_flags) for ride in added]),
        np.concatenate([(ride.arrival - start).astype(np.int32) for ride in added]),
        np.concatenate([(ride.departure - start).astype(np.int32) for ride in added]),
    )
    numbers, no_shift = -1 - np.arange(len(added), dtype=np.int64), np.zeros(len(added), np.int32)
    day = np.array([ride.service_day.toordinal() for ride in added], np.int32)
    begin = list_starts(length)[:-1]
    return instances.compact().append(TripInstances(numbers, day, begin, length, no_shift, stop_times))


def close_stops(
    timetable: Timetable, instances: TripInstances, overlay: Overlay, start: int, *, step_free: bool
) -> TripInstances:
    """Forbid boarding and alighting at stops that are closed at the expected time; return the instances.

    ``start`` is the start of the day in Unix seconds. ``step_free`` also closes stops with broken lifts.
    """
    alerts = overlay.list_closing(step_free=step_free)
    if not alerts:
        return instances
    is_affected = mark_rows(timetable.stop_count, sorted({stop for alert in alerts for stop in alert.list_stops()}))
    cumulative = np.concatenate([[0], np.cumsum(is_affected[instances.stop_times.stop])])
    affected = np.flatnonzero(cumulative[instances.begin + instances.length] > cumulative[instances.begin])
    if not len(affected):
        return instances
    closed = instances.unshare_all()
    stop_times = closed.stop_times
    row, stop = closed.list_rows(affected), stop_times.stop[closed.list_rows(affected)]
    keys = zip(closed.trip_departure[affected].tolist(), closed.day[affected].tolist(), strict=True)
    selectors = [overlay.get_selector(timetable, key) for key in keys]
    ride = np.repeat(np.arange(len(affected)), closed.length[affected])
    for alert in alerts:
        candidates = np.flatnonzero(np.isin(stop, list(alert.list_stops())))
        served = zip(stop[candidates].tolist(), ride[candidates].tolist(), strict=True)
        is_closed = [alert.closes_stop(served_stop, selectors[served_ride]) for served_stop, served_ride in served]
        own_rows = row[candidates[np.array(is_closed, np.bool_)]]
        for seconds, flag in ((stop_times.arrival_s, NO_ALIGHTING), (stop_times.departure_s, NO_BOARDING)):
            is_in_force = [alert.is_in_force(start + second) for second in seconds[own_rows].tolist()]
            stop_times.flags[own_rows[np.array(is_in_force, np.bool_)]] |= flag
    return closed
