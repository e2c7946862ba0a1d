"""Read GTFS-Realtime stop time updates into columns, and match them to the stop times of their trips.

A *pair* holds a value for the arrival and one for the departure.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from google.transit.gtfs_realtime_pb2 import TripUpdate

from fingerpost.transit.engine.timetable.columns import list_ranges, list_starts
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING, Int32, Int64, Timetable, UInt8

StopTimeProperties = TripUpdate.StopTimeUpdate.StopTimeProperties
_NOT_AVAILABLE = StopTimeProperties.NONE

# Marks a missing number.
NONE = -(1 << 62)
# Mark a missing stop id, and a stop id that is not in the feed.
NO_STOP, UNKNOWN_STOP = -1, -2

SCHEDULED, SKIPPED, NO_DATA, UNSCHEDULED = range(4)


class StopTimeUpdateColumns(NamedTuple):
    """Stop time updates for rides; those for ride i are rows ``first[i] .. first[i + 1]``.

    ``times`` are pairs of Unix seconds, NONE if missing; ``delays_s`` apply only if the time is missing.
    ``sequence`` is -1 if missing. ``cleared_flags`` and ``set_flags`` are the flags NO_BOARDING and NO_ALIGHTING that
    the update clears or sets.
    """

    first: Int64
    ride: Int64
    sequence: Int64
    stop: Int32
    relationship: Int32
    times: Int64
    delays_s: Int64
    new_stop: Int32
    cleared_flags: UInt8
    set_flags: UInt8


def read_stop_time_updates(trips: Iterable[tuple[TripUpdate, Mapping[str, int]]]) -> StopTimeUpdateColumns:
    counts: list[int] = []
    sequences: list[int] = []
    stops: list[int] = []
    relationships: list[int] = []
    times: list[int] = []
    # Rare values: delays without times, by their position in ``times``, and new stops and flags, by row.
    delays_s: dict[int, int] = {}
    new_stops: dict[int, int] = {}
    flags: dict[int, tuple[int, int]] = {}
    # One plain loop is faster than a comprehension for each field.
    for update, stop_rows in trips:
        stop_times = update.stop_time_update
        counts.append(len(stop_times))
        find_stop = stop_rows.get
        for stop_time_update in stop_times:
            if stop_time_update.HasField("stop_time_properties"):
                properties = stop_time_update.stop_time_properties
                flags[len(stops)] = read_pickup_drop_off(properties)
                if properties.assigned_stop_id:
                    new_stops[len(stops)] = find_stop(properties.assigned_stop_id, UNKNOWN_STOP)
            sequence = stop_time_update.stop_sequence
            if not sequence and not stop_time_update.HasField("stop_sequence"):
                sequence = -1
            sequences.append(sequence)
            stop_id = stop_time_update.stop_id
            stops.append(find_stop(stop_id, UNKNOWN_STOP) if stop_id else NO_STOP)
            relationships.append(stop_time_update.schedule_relationship)
            arrival, departure = stop_time_update.arrival, stop_time_update.departure
            arrival_time, departure_time = arrival.time, departure.time
            if not arrival_time and arrival.HasField("delay"):
                delays_s[len(times)] = arrival.delay
            if not departure_time and departure.HasField("delay"):
                delays_s[len(times) + 1] = departure.delay
            times += (arrival_time or NONE, departure_time or NONE)
    cleared_flags, set_flags = scatter((len(stops), 2), [*flags], [*flags.values()] or np.zeros((0, 2)), np.uint8(0)).T
    return StopTimeUpdateColumns(
        first=list_starts(counts),
        ride=np.repeat(np.arange(len(counts)), counts),
        sequence=np.array(sequences, np.int64),
        stop=np.array(stops, np.int32),
        relationship=np.array(relationships, np.int32),
        times=np.array(times, np.int64).reshape(-1, 2),
        delays_s=scatter(len(times), [*delays_s], [*delays_s.values()], np.int64(NONE)).reshape(-1, 2),
        new_stop=scatter(len(stops), [*new_stops], [*new_stops.values()], np.int32(NO_STOP)),
        cleared_flags=cleared_flags,
        set_flags=set_flags,
    )


def scatter(
    shape: int | tuple[int, ...], rows: npt.ArrayLike, values: npt.ArrayLike, default: np.generic
) -> npt.NDArray[Any]:
    """Return an array of the same type as ``default``, with values in the given rows and ``default`` in all others."""
    column = np.full(shape, default)
    column[np.asarray(rows, np.int64)] = values
    return column


def read_pickup_drop_off(properties: StopTimeProperties) -> tuple[int, int]:
    """Return the flags NO_BOARDING and NO_ALIGHTING that the properties clear, and those that they set."""
    cleared_flags = set_flags = 0
    # Types 2 and 3 (must be arranged) count as boardable.
    for name, flag in (("pickup_type", NO_BOARDING), ("drop_off_type", NO_ALIGHTING)):
        if properties.HasField(name):
            if getattr(properties, name) == _NOT_AVAILABLE:
                set_flags |= flag
            else:
                cleared_flags |= flag
    return cleared_flags, set_flags


# Factor that combines a ride, and a stop or sequence number, into one number.
_RIDE_FACTOR = 1 << 32


class Rides(NamedTuple):
    """Rides and their planned stop times; those of ride i are rows ``first[i] .. first[i + 1]``.

    ``times`` are pairs of Unix seconds.
    """

    trip: Int64
    first: Int64
    ride: Int64
    sequence: Int32
    stop: Int32
    times: Int64
    flags: UInt8

    @classmethod
    def gather(cls, timetable: Timetable, trip: list[int], starts: Int64) -> "Rides":
        trips = np.array(trip, np.int64)
        begin = timetable.trip_first_stop_time[trips]
        length = timetable.trip_first_stop_time[trips + 1] - begin
        ride, row = list_ranges(begin, length)
        times_s = np.column_stack([timetable.stop_time_arrival_s[row], timetable.stop_time_departure_s[row]])
        return cls(
            trip=trips,
            first=list_starts(length),
            ride=ride,
            sequence=timetable.stop_time_sequence[row],
            stop=timetable.stop_time_stop[row],
            times=times_s + starts[ride, None],
            flags=timetable.stop_time_flags[row],
        )


def match_stop_times(timetable: Timetable, rides: Rides, updates: StopTimeUpdateColumns) -> tuple[Int64, Int32]:
    """Return the stop time (a row of ``rides``, or -1) and the new stop (or NO_STOP) of each update.

    If two updates match the same stop time, the first one is used.
    """
    key, update_key = rides.ride * _RIDE_FACTOR + rides.sequence, updates.ride * _RIDE_FACTOR + updates.sequence
    row = np.minimum(np.searchsorted(key, update_key), len(key) - 1)
    stop_time: Int64 = np.where(key[row] == update_key, row, -1)
    stop = updates.new_stop.copy()
    _resolve_differences(timetable, rides, updates, stop_time, stop)
    _match_by_stop(timetable, rides, updates, stop_time, stop)
    matched = np.flatnonzero(stop_time >= 0)
    _, first = np.unique(stop_time[matched], return_index=True)
    stop_time[np.delete(matched, first)] = -1
    return stop_time, stop


def _resolve_differences(
    timetable: Timetable, rides: Rides, updates: StopTimeUpdateColumns, stop_time: Int64, stop: Int32
) -> None:
    """Resolve stops that contradict the sequence: accept the station, store a new platform, reject other stops."""
    parent = timetable.stop_parent
    is_different = (stop_time >= 0) & (updates.stop != NO_STOP) & (rides.stop[stop_time] != updates.stop)
    rows = np.flatnonzero(is_different)
    planned, given = rides.stop[stop_time[rows]], updates.stop[rows]
    is_in_feed = given >= 0
    is_station = is_in_feed & (parent[planned] == given)
    is_platform = is_in_feed & ~is_station & (parent[planned] >= 0) & (parent[planned] == parent[np.maximum(given, 0)])
    moved = rows[is_platform]
    stop[moved] = np.where(stop[moved] == NO_STOP, updates.stop[moved], stop[moved])
    stop_time[rows[~is_station & ~is_platform]] = -1


def _match_by_stop(
    timetable: Timetable, rides: Rides, updates: StopTimeUpdateColumns, stop_time: Int64, stop: Int32
) -> None:
    """Fill in the stop times and new stops for updates that have only a stop id."""
    rows = np.flatnonzero((stop_time < 0) & (updates.stop >= 0))
    if not len(rows):
        return
    key = rides.ride * _RIDE_FACTOR + rides.stop
    order = np.argsort(key, kind="stable")
    update_key = updates.ride[rows] * _RIDE_FACTOR + updates.stop[rows]
    low, high = (np.searchsorted(key, update_key, side, sorter=order) for side in ("left", "right"))
    is_single = high - low == 1
    stop_time[rows[is_single]] = order[low[is_single]]
    for index in np.flatnonzero(~is_single).tolist():
        row = int(rows[index])
        candidates = order[low[index] : high[index]]
        has_moved = not len(candidates)
        if has_moved:
            # The update may name another platform of the same station.
            station, begin = int(timetable.stop_parent[updates.stop[row]]), int(rides.first[updates.ride[row]])
            ride_stops = rides.stop[begin : rides.first[updates.ride[row] + 1]]
            candidates = np.flatnonzero((timetable.stop_parent[ride_stops] == station) & (station >= 0)) + begin
        stop_time[row] = _choose_candidate(rides, updates, row, candidates, stop_time)
        if stop_time[row] >= 0 and has_moved and stop[row] == NO_STOP:
            stop[row] = updates.stop[row]


def _choose_candidate(
    rides: Rides, updates: StopTimeUpdateColumns, row: int, candidates: Int64, stop_time: Int64
) -> int:
    """Return the only candidate between the previous and next matches, or the nearest in time, or -1."""
    ride = updates.ride[row]
    previous = stop_time[updates.first[ride] : row]
    following = stop_time[row + 1 : updates.first[ride + 1]]
    low = int(previous.max(initial=-1))
    high = int(following[following >= 0].min(initial=len(rides.stop)))
    eligible = candidates[(candidates > low) & (candidates < high)]
    if len(eligible) == 1:
        return int(eligible[0])
    for side, given in enumerate(updates.times[row].tolist()):
        if given != NONE and len(eligible):
            return int(eligible[np.argmin(np.abs(rides.times[eligible, side] - given))])
    return -1
