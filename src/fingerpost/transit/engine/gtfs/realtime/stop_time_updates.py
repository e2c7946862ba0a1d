"""Read GTFS-Realtime stop time updates into columns, and match them to the stop times of their trips."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

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
_DEFAULTS: Mapping[str, np.generic] = {
    "arrival_delay_s": np.int64(NONE),
    "departure_delay_s": np.int64(NONE),
    "new_stop": np.int32(NO_STOP),
    "cleared_flags": np.uint8(0),
    "set_flags": np.uint8(0),
}

SCHEDULED, SKIPPED, NO_DATA, UNSCHEDULED = range(4)


@dataclass(frozen=True, slots=True, kw_only=True)
class StopTimeUpdateColumns:
    """Stop time updates for rides; those for ride i are rows ``first[i] .. first[i + 1]``.

    ``arrival`` and ``departure`` are Unix seconds, NONE if missing; ``*_delay_s`` apply only if the time is missing.
    ``sequence`` is -1 if missing. ``cleared_flags`` and ``set_flags`` are the flags NO_BOARDING and NO_ALIGHTING that
    the update clears or sets.
    """

    first: Int64
    ride: Int64
    sequence: Int64
    stop: Int32
    relationship: Int32
    arrival: Int64
    arrival_delay_s: Int64
    departure: Int64
    departure_delay_s: Int64
    new_stop: Int32
    cleared_flags: UInt8
    set_flags: UInt8


def read_stop_time_updates(trips: Iterable[tuple[TripUpdate, Mapping[str, int]]]) -> StopTimeUpdateColumns:
    counts: list[int] = []
    sequences: list[int] = []
    stops: list[int] = []
    relationships: list[int] = []
    arrivals: list[int] = []
    departures: list[int] = []
    # Rare fields, keyed by row: delays without times, new stops, pickup and drop-off types.
    rare: defaultdict[str, dict[int, int]] = defaultdict(dict)
    row = 0
    # One plain loop is faster than a comprehension for each field.
    for update, stop_rows in trips:
        stop_times = update.stop_time_update
        counts.append(len(stop_times))
        find_stop = stop_rows.get
        for stop_time_update in stop_times:
            sequence = stop_time_update.stop_sequence
            if not sequence and not stop_time_update.HasField("stop_sequence"):
                sequence = -1
            sequences.append(sequence)
            stop_id = stop_time_update.stop_id
            stops.append(find_stop(stop_id, UNKNOWN_STOP) if stop_id else NO_STOP)
            relationships.append(stop_time_update.schedule_relationship)
            event = stop_time_update.arrival
            time = event.time
            arrivals.append(time)
            if not time and event.HasField("delay"):
                rare["arrival_delay_s"][row] = event.delay
            event = stop_time_update.departure
            time = event.time
            departures.append(time)
            if not time and event.HasField("delay"):
                rare["departure_delay_s"][row] = event.delay
            if stop_time_update.HasField("stop_time_properties"):
                properties = stop_time_update.stop_time_properties
                rare["cleared_flags"][row], rare["set_flags"][row] = read_pickup_drop_off(properties)
                if properties.assigned_stop_id:
                    rare["new_stop"][row] = find_stop(properties.assigned_stop_id, UNKNOWN_STOP)
            row += 1
    return StopTimeUpdateColumns(
        first=list_starts(counts),
        ride=np.repeat(np.arange(len(counts)), counts),
        sequence=np.array(sequences, np.int64),
        stop=np.array(stops, np.int32),
        relationship=np.array(relationships, np.int32),
        arrival=_mark_missing(arrivals),
        departure=_mark_missing(departures),
        **{name: scatter(row, [*rare[name]], [*rare[name].values()], default) for name, default in _DEFAULTS.items()},
    )


def scatter(count: int, rows: npt.ArrayLike, values: npt.ArrayLike, default: np.generic) -> npt.NDArray[Any]:
    """Return a column of the same type as ``default``, with values in the given rows and ``default`` in all others."""
    column = np.full(count, default)
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


def _mark_missing(times: list[int]) -> Int64:
    column = np.array(times, np.int64)
    column[column == 0] = NONE
    return column


# Factor that combines a ride and a stop into one number.
_RIDE_FACTOR = 1 << 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Rides:
    """Rides and their planned stop times, in Unix seconds; those of ride i are rows ``first[i] .. first[i + 1]``."""

    trip: Int64
    first: Int64
    ride: Int64
    sequence: Int32
    stop: Int32
    arrival: Int64
    departure: Int64
    flags: UInt8

    @classmethod
    def gather(cls, timetable: Timetable, trip: list[int], starts: Int64) -> "Rides":
        trips = np.array(trip, np.int64)
        begin = timetable.trip_first_stop_time[trips]
        length = timetable.trip_first_stop_time[trips + 1] - begin
        ride, row = list_ranges(begin, length)
        start = starts[ride]
        return cls(
            trip=trips,
            first=list_starts(length),
            ride=ride,
            sequence=timetable.stop_time_sequence[row],
            stop=timetable.stop_time_stop[row],
            arrival=timetable.stop_time_arrival_s[row] + start,
            departure=timetable.stop_time_departure_s[row] + start,
            flags=timetable.stop_time_flags[row],
        )


def match_stop_times(timetable: Timetable, rides: Rides, updates: StopTimeUpdateColumns) -> tuple[Int64, Int32]:
    """Return the stop time (a row of ``rides``, or -1) and the new stop (or NO_STOP) of each update.

    If two updates match the same stop time, the first one is used.
    """
    stop_time = _match_by_sequence(rides, updates.ride, updates.sequence)
    stop = updates.new_stop.copy()
    is_different = (stop_time >= 0) & (updates.stop != NO_STOP) & (rides.stop[stop_time] != updates.stop)
    if is_different.any():
        _resolve_differences(timetable, rides, updates, np.flatnonzero(is_different), stop_time, stop)
    _match_by_stop(timetable, rides, updates, stop_time, stop)
    _drop_repeats(stop_time, len(rides.stop))
    return stop_time, stop


def _match_by_sequence(rides: Rides, ride: Int64, sequence: Int64) -> Int64:
    """Match by sequence: guess the row by assuming consecutive numbers, and search if the guess is wrong."""
    begin, end = rides.first[ride], rides.first[ride + 1]
    guess = np.clip(begin + sequence - rides.sequence[begin], begin, end - 1)
    stop_time = np.where(rides.sequence[guess] == sequence, guess, -1)
    for row in np.flatnonzero((stop_time < 0) & (sequence >= 0)).tolist():
        sequences = rides.sequence[begin[row] : end[row]]
        index = int(np.searchsorted(sequences, sequence[row]))
        if index < len(sequences) and sequences[index] == sequence[row]:
            stop_time[row] = begin[row] + index
    return stop_time


def _resolve_differences(
    timetable: Timetable, rides: Rides, updates: StopTimeUpdateColumns, rows: Int64, stop_time: Int64, stop: Int32
) -> None:
    """Resolve stops that contradict the sequence: accept the station, store a new platform, reject other stops."""
    parent = timetable.stop_parent
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
    given, planned = updates.arrival[row], rides.arrival
    if given == NONE:
        given, planned = updates.departure[row], rides.departure
    if given == NONE or not len(eligible):
        return -1
    return int(eligible[np.argmin(np.abs(planned[eligible] - given))])


def _drop_repeats(stop_time: Int64, stop_time_count: int) -> None:
    """Clear all but the first of several updates that match the same stop time."""
    rows = np.flatnonzero(stop_time >= 0)
    first_row = np.full(stop_time_count, -1, np.int64)
    first_row[stop_time[rows[::-1]]] = rows[::-1]
    stop_time[rows[first_row[stop_time[rows]] != rows]] = -1
