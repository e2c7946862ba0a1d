"""Apply the stop time updates of GTFS-Realtime trip updates to the planned stop times of their rides.

A delay applies to later stop times until the next update or NO_DATA, even across SKIPPED stops; the trip's own delay
applies until the first update (GTFS-Realtime reference, TripUpdate.delay and StopTimeUpdate.ScheduleRelationship).
Times override delays. Times and delays are pairs: one for the arrival, and one for the departure.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from google.transit.gtfs_realtime_pb2 import TripUpdate

from fingerpost.transit.engine.timetable.columns import list_ranges, list_starts, mark_rows
from fingerpost.transit.engine.timetable.overlay import RideUpdate
from fingerpost.transit.engine.timetable.timetable import (
    NO_ALIGHTING,
    NO_BOARDING,
    Bool,
    Int32,
    Int64,
    Timetable,
    UInt8,
)

StopTimeUpdate = TripUpdate.StopTimeUpdate
StopTimeProperties = StopTimeUpdate.StopTimeProperties

# Longer delays are treated as errors, such as a wrong date.
MAX_DELAY_S = 12 * 3600
# Marks a missing delay; larger than any delay or time.
NO_DELAY = 1 << 40
# Mark a missing stop id, and a stop id that is not in the feed.
_NO_STOP, _UNKNOWN_STOP = -1, -2
# Larger than any stop sequence and any row of a stop.
_KEY_BASE = 1 << 32


class PlannedRides(NamedTuple):
    """The scheduled stop times of rides, in Unix seconds; those of ride i are rows ``first[i] .. first[i + 1]``."""

    first: Int64
    ride: Int64
    sequence: Int32
    stop: Int32
    flags: UInt8
    times: Int64

    @classmethod
    def read(cls, timetable: Timetable, trips: Sequence[int], starts: Int64) -> "PlannedRides":
        begin = timetable.trip_first_stop_time[trips]
        length = timetable.trip_first_stop_time[1:][trips] - begin
        ride, rows = list_ranges(begin, length)
        times_s = np.column_stack([timetable.stop_time_arrival_s[rows], timetable.stop_time_departure_s[rows]])
        sequence, stop = timetable.stop_time_sequence[rows], timetable.stop_time_stop[rows]
        flags = timetable.stop_time_flags[rows]
        return cls(list_starts(length), ride, sequence, stop, flags, times_s + starts[ride, None])


class StopTimeUpdates(NamedTuple):
    """The stop time updates of rides. A missing sequence is -1, a missing time 0, and a missing delay NO_DELAY.

    ``changes`` holds the few updates with properties, keyed by row: the new stop, and the stated and the set flags.
    """

    ride: Int64
    sequence: Int64
    stop: Int64
    relationship: Int64
    times: Int64
    delays_s: Int64
    changes: Mapping[int, tuple[int, int, int]]

    @classmethod
    def read(cls, rides: Iterable[tuple[TripUpdate, Mapping[str, int]]]) -> "StopTimeUpdates":
        """Read the updates of each ride, given with the rows of the stops in its feed."""
        ends: list[int] = []
        values: list[int] = []
        changes: dict[int, tuple[int, int, int]] = {}
        for trip_update, stop_rows in rides:
            # Reading the fields takes longer than everything that follows, so each is read once.
            for row, update in enumerate(trip_update.stop_time_update, len(values) // 7):
                if update.HasField("stop_time_properties"):
                    new_stop_id = update.stop_time_properties.assigned_stop_id
                    new_stop = stop_rows.get(new_stop_id, _UNKNOWN_STOP) if new_stop_id else _NO_STOP
                    changes[row] = new_stop, *read_pickup_drop_off(update.stop_time_properties)
                stop_id, arrival, departure = update.stop_id, update.arrival, update.departure
                arrives_at, departs_at = arrival.time, departure.time
                values += (
                    update.stop_sequence or (0 if update.HasField("stop_sequence") else -1),
                    stop_rows.get(stop_id, _UNKNOWN_STOP) if stop_id else _NO_STOP,
                    update.schedule_relationship,
                    arrives_at,
                    departs_at,
                    0 if arrives_at else arrival.delay or (0 if arrival.HasField("delay") else NO_DELAY),
                    0 if departs_at else departure.delay or (0 if departure.HasField("delay") else NO_DELAY),
                )
            ends.append(len(values) // 7)
        columns = np.array(values, np.int64).reshape(-1, 7)
        ride = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        return cls(ride, columns[:, 0], columns[:, 1], columns[:, 2], columns[:, 3:5], columns[:, 5:], changes)


def read_pickup_drop_off(properties: StopTimeProperties) -> tuple[int, int]:
    """Return which of the flags NO_BOARDING and NO_ALIGHTING the properties state, and which of those are set."""
    stated_flags = set_flags = 0
    for name, flag in (("pickup_type", NO_BOARDING), ("drop_off_type", NO_ALIGHTING)):
        if properties.HasField(name):
            stated_flags |= flag
            # Types 2 and 3 (must be arranged) count as boardable.
            set_flags |= flag * (getattr(properties, name) == StopTimeProperties.NONE)
    return stated_flags, set_flags


def apply_stop_time_updates(
    timetable: Timetable,
    planned: PlannedRides,
    updates: StopTimeUpdates,
    trip_delay_s: Int64,
    start_offset_s: Int64,
    updated: Sequence[int],
) -> tuple[list[RideUpdate | None], Bool]:
    """Return the realtime data of each ride (None if there is none), and mark the rides with dropped updates.

    ``trip_delay_s`` are the delays of whole trips (or NO_DELAY). ``start_offset_s`` is added to all delays (see
    ``TripMatch``). ``updated`` are the timestamps of the rides' data.
    """
    stop_time, new_stop = _match_stop_times(timetable, planned, updates)
    # Subtracting absurd times must not overflow.
    delays_s = np.clip(updates.times, -NO_DELAY, NO_DELAY) - planned.times[stop_time]
    is_delay = updates.times == 0
    delays_s[is_delay] = (updates.delays_s + start_offset_s[updates.ride, None])[is_delay]
    delays_s[is_delay & (updates.delays_s == NO_DELAY)] = NO_DELAY
    is_skip = updates.relationship == StopTimeUpdate.SKIPPED
    is_no_data = updates.relationship == StopTimeUpdate.NO_DATA
    has_times = ~(is_skip | is_no_data)
    is_absurd = ((np.abs(delays_s) > MAX_DELAY_S) & (delays_s != NO_DELAY)).any(axis=1) & has_times
    is_used = (stop_time >= 0) & ~is_absurd
    has_unused = mark_rows(len(updated), updates.ride[~is_used | (new_stop == _UNKNOWN_STOP)])
    is_timed = is_used & has_times
    stated_s = np.full_like(planned.times, NO_DELAY)
    stated_s[stop_time[is_timed]] = delays_s[is_timed]
    is_moved = is_used & (new_stop >= 0)
    stop = planned.stop.copy()
    stop[stop_time[is_moved]] = new_stop[is_moved]
    is_skipped, has_no_data, is_changed = (
        mark_rows(len(stop), stop_time[is_used & marks]) for marks in (is_skip, is_no_data, is_moved)
    )
    flags = planned.flags.copy()
    for row, (_, stated_flags, set_flags) in updates.changes.items():
        if is_used[row]:
            flags[stop_time[row]] = int(flags[stop_time[row]]) & ~stated_flags | set_flags
            is_changed[stop_time[row]] |= stated_flags != 0
    has_unused |= (np.abs(trip_delay_s) > MAX_DELAY_S) & (trip_delay_s != NO_DELAY)
    trip_delay_s = np.where(np.abs(trip_delay_s) > MAX_DELAY_S, NO_DELAY, trip_delay_s + start_offset_s)
    delays_s = _propagate(planned, stated_s, has_no_data, trip_delay_s)
    is_known = delays_s[:, 0] != NO_DELAY
    delays_s[~is_known] = 0
    arrival_delay_s, departure_delay_s = _order_times(planned, delays_s, stated_s != NO_DELAY)
    is_stated = is_known | is_skipped | has_no_data | is_changed
    has_data, has_new_stop, has_new_flags = (
        mark_rows(len(updated), planned.ride[marks]).tolist()
        for marks in (is_stated, stop != planned.stop, flags != planned.flags)
    )
    is_known |= is_skipped
    rides = [
        RideUpdate(
            is_cancelled=False,
            arrival_delay_s=arrival_delay_s[begin:end],
            departure_delay_s=departure_delay_s[begin:end],
            is_known=is_known[begin:end],
            is_skipped=is_skipped[begin:end],
            updated=updated[ride],
            stop=stop[begin:end] if has_new_stop[ride] else None,
            flags=flags[begin:end] if has_new_flags[ride] else None,
        )
        if has_data[ride]
        else None
        for ride, (begin, end) in enumerate(pairwise(planned.first.tolist()))
    ]
    return rides, has_unused


def _propagate(planned: PlannedRides, stated_s: Int64, has_no_data: Bool, trip_delay_s: Int64) -> Int64:
    """Return the delays at all stop times, NO_DELAY if unknown."""
    first = planned.first[:-1]
    arrival_s, departure_s = stated_s.T
    departure_s = np.where(departure_s == NO_DELAY, arrival_s, departure_s)
    has_update = (departure_s != NO_DELAY) | has_no_data
    departure_s[first] = np.where(has_update[first], departure_s[first], trip_delay_s)
    has_update[first] = True
    last_update = np.maximum.accumulate(np.where(has_update, np.arange(len(has_update)), 0))
    departure_s = departure_s[last_update]
    # A train arrives with the delay with which it left the stop before.
    carried_s = np.roll(departure_s, 1)
    carried_s[first] = trip_delay_s
    carried_s = np.where(has_no_data | (carried_s == NO_DELAY), departure_s, carried_s)
    return np.column_stack([np.where(arrival_s == NO_DELAY, carried_s, arrival_s), departure_s])


def _order_times(planned: PlannedRides, delays_s: Int64, is_stated: Bool) -> Int32:
    """Return the arrival and departure delays as rows, adjusted so that times never decrease (decision 0310)."""
    # The rides are moved far apart, so that all of them can be ordered at once.
    planned_times = planned.times + planned.ride[:, None] * NO_DELAY
    times, is_stated = (planned_times + delays_s).ravel(), is_stated.ravel()
    if (times[1:] < times[:-1]).any():
        times[is_stated] = np.maximum.accumulate(times[is_stated])
        # No time exceeds the next stated one.
        ceilings = np.where(is_stated, times, times.max())[::-1]
        times = np.maximum.accumulate(np.minimum(times, np.minimum.accumulate(ceilings)[::-1]))
    return np.ascontiguousarray((times.reshape(-1, 2) - planned_times).T, np.int32)


def _match_stop_times(timetable: Timetable, planned: PlannedRides, updates: StopTimeUpdates) -> tuple[Int64, Int64]:
    """Return each update's stop time (a row of ``planned``, -1 if none) and its new stop (negative if none).

    If two updates match the same stop time, the first one is used.
    """
    given, parents = updates.stop, timetable.stop_parent
    new_stop = np.full_like(given, _NO_STOP)
    new_stop[[*updates.changes]] = [stop for stop, *_ in updates.changes.values()]
    # If several stop times have the same sequence, use the first.
    key = planned.ride * _KEY_BASE + planned.sequence
    wanted = updates.ride * _KEY_BASE + updates.sequence
    row = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    stop_time: Int64 = np.where(key[row] == wanted, row, -1)
    # The update may name the station, or another platform of the station.
    rows = np.flatnonzero((stop_time >= 0) & (given != _NO_STOP) & (given != planned.stop[stop_time]))
    stop, station = given[rows], parents[planned.stop[stop_time[rows]]]
    is_platform = (stop >= 0) & (station >= 0) & (station == parents.take(stop, mode="clip")) & (station != stop)
    stop_time[rows[~is_platform & (station != stop)]] = -1
    moved = rows[is_platform & (new_stop[rows] == _NO_STOP)]
    new_stop[moved] = given[moved]
    unmatched = np.flatnonzero((stop_time < 0) & (given >= 0))
    if len(unmatched):
        stop_time, new_stop = _match_by_stop(timetable, planned, updates, unmatched, stop_time, new_stop)
    # The last value assigned to a row remains, so the updates are assigned in reverse.
    rows = np.flatnonzero(stop_time >= 0)[::-1]
    first_row = np.zeros(len(key), np.int64)
    first_row[stop_time[rows]] = rows
    stop_time[rows[first_row[stop_time[rows]] != rows]] = -1
    return stop_time, new_stop


def _match_by_stop(
    timetable: Timetable,
    planned: PlannedRides,
    updates: StopTimeUpdates,
    rows: Int64,
    stop_time: Int64,
    new_stop: Int64,
) -> tuple[Int64, Int64]:
    """Match more updates (rows) by their stops: first where a ride serves a stop once, then between these matches.

    Return the stop times and new stops of all updates.
    """
    stop_time, new_stop = stop_time.copy(), new_stop.copy()
    parents = timetable.stop_parent
    key = planned.ride * _KEY_BASE + planned.stop
    wanted = updates.ride[rows] * _KEY_BASE + updates.stop[rows]
    order = np.argsort(key, kind="stable")
    low, high = (np.searchsorted(key, wanted, side, sorter=order) for side in ("left", "right"))
    is_single = high - low == 1
    stop_time[rows[is_single]] = order[low[is_single]]
    # A ride's stop times follow those of the rides before it, so matches of other rides do not limit it.
    previous_match = np.maximum.accumulate(stop_time)
    next_match = np.minimum.accumulate(np.where(stop_time < 0, len(key), stop_time)[::-1])[::-1]
    latest = -1
    for row, begin, end in zip(*(column[~is_single].tolist() for column in (rows, low, high)), strict=True):
        candidates, stop, ride = order[begin:end], updates.stop[row], updates.ride[row]
        if begin == end and parents[stop] >= 0:
            # The update may name another platform of the station.
            stations = parents[planned.stop[planned.first[ride] : planned.first[ride + 1]]]
            candidates = planned.first[ride] + np.flatnonzero(stations == parents[stop])
        is_between = (candidates > max(latest, previous_match[row])) & (candidates < next_match[row])
        candidates = candidates[is_between]
        # Of several candidates, the nearest in time is used.
        side, time = next(((side, time) for side, time in enumerate(updates.times[row].tolist()) if time), (0, None))
        if len(candidates) > 1 and time is not None:
            distances_s = [abs(planned_time - time) for planned_time in planned.times[candidates, side].tolist()]
            candidates = candidates[[distances_s.index(min(distances_s))]]
        if len(candidates) == 1:
            stop_time[row] = latest = candidates[0]
            if begin == end and new_stop[row] == _NO_STOP:
                new_stop[row] = stop
    return stop_time, new_stop
