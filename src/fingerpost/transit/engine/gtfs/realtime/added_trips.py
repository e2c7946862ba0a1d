"""Place the stop times of trips that GTFS-Realtime adds, and find added trips by their keys."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from google.transit.gtfs_realtime_pb2 import TripDescriptor, TripUpdate

from fingerpost.transit.engine.gtfs.csv.table import find_time_s
from fingerpost.transit.engine.gtfs.realtime.messages import plain_text
from fingerpost.transit.engine.gtfs.realtime.outcomes import EntityOutcome, StopTimeOutcome
from fingerpost.transit.engine.gtfs.realtime.stop_time_updates import SKIPPED, read_pickup_drop_off
from fingerpost.transit.engine.gtfs.realtime.trip_matching import StopTimeUpdate, TripMatcher
from fingerpost.transit.engine.timetable.timetable import Bool, Int32, Int64, Timetable, UInt8

# A stop time this far from the start of the service day is an error.
_EARLIEST_S, _LATEST_S = -12 * 3600, 5 * 86_400
_MIN_STOP_TIMES = 2


class AddedKey(NamedTuple):
    """Identifies an added ride: row of its feed, trip id, service day as an ordinal, start time as written."""

    feed: int
    trip_id: str
    day: int
    start_time: str


class AddedKeys:
    def __init__(self, keys: Iterable[AddedKey]) -> None:
        self._by_id: dict[str, list[AddedKey]] = {}
        for key in dict.fromkeys(keys):
            self._by_id.setdefault(key.trip_id, []).append(key)

    def find(self, trip: TripDescriptor, matcher: TripMatcher) -> list[AddedKey] | EntityOutcome:
        named = self._by_id.get(plain_text(trip.trip_id)) if trip.trip_id else None
        if not named:
            return []
        day, start_time = matcher.read_day(trip.start_date), plain_text(trip.start_time)
        found = [
            key
            for key in named
            if key.feed in matcher.scope.feeds
            and day in (None, key.day)
            and (not start_time or not key.start_time or find_time_s(start_time) == find_time_s(key.start_time))
        ]
        if len({matcher.index.feed_names[key.feed] for key in found}) > 1:
            return matcher.refuse_shared(trip.trip_id)
        return found


class PlacedStopTimes(NamedTuple):
    """Stop times of a ride, in Unix seconds that never run backwards; ``stop`` are rows."""

    stop: Int32
    arrival: Int64
    departure: Int64
    flags: UInt8
    is_skipped: Bool


class PlannedStopTime(NamedTuple):
    stop: int
    arrival: int
    departure: int
    flags: int


Original = Mapping[int, PlannedStopTime]
"""The stop times of a replaced trip by sequence, in Unix seconds."""


def read_original(timetable: Timetable, trip: int, start: int) -> Original:
    rows = timetable.list_stop_times(trip)
    columns = (
        timetable.stop_time_stop[rows],
        timetable.stop_time_arrival_s[rows].astype(np.int64) + start,
        timetable.stop_time_departure_s[rows].astype(np.int64) + start,
        timetable.stop_time_flags[rows],
    )
    stop_times = map(PlannedStopTime, *(column.tolist() for column in columns))
    return dict(zip(timetable.stop_time_sequence[rows].tolist(), stop_times, strict=True))


def place_stop_times(
    update: TripUpdate, stops: Mapping[str, int], day_start: int, original: Original, tally: Counter[str]
) -> PlacedStopTimes | None:
    """Return the stop times of a ride that have a known stop and a time, None if fewer than two are left.

    One needs absolute times, or a delay and a stop time of the original with its sequence.
    """
    found: list[tuple[int, int, int, int, bool]] = []
    for stop_time in update.stop_time_update:
        planned = original.get(stop_time.stop_sequence)
        stop = _find_stop(stop_time, stops, planned)
        arrival = _find_time(stop_time.arrival, planned.arrival if planned else None)
        departure = _find_time(stop_time.departure, planned.departure if planned else None)
        arrival, departure = departure if arrival is None else arrival, arrival if departure is None else departure
        if stop is None:
            tally[StopTimeOutcome.STOP_UNKNOWN] += 1
        elif arrival is None or departure is None:
            tally[StopTimeOutcome.WITHOUT_TIMES] += 1
        elif min(arrival, departure) < day_start + _EARLIEST_S or max(arrival, departure) >= day_start + _LATEST_S:
            tally[StopTimeOutcome.OUT_OF_RANGE] += 1
        else:
            is_skipped = stop_time.schedule_relationship == SKIPPED
            found.append((stop, arrival, departure, _flags(stop_time, stop, planned), is_skipped))
    if sum(not is_skipped for *_, is_skipped in found) < _MIN_STOP_TIMES:
        tally[StopTimeOutcome.TRIP_UNPLACED] += len(found)
        return None
    stop_rows, arrivals, departures, flags, skipped = zip(*found, strict=True)
    times = np.column_stack([arrivals, departures]).astype(np.int64).ravel()
    held = np.maximum.accumulate(times)
    held_count = int(np.count_nonzero((held != times).reshape(-1, 2).any(axis=1)))
    tally[StopTimeOutcome.HELD] += held_count
    tally[StopTimeOutcome.APPLIED] += len(found) - held_count
    return PlacedStopTimes(
        stop=np.array(stop_rows, np.int32),
        arrival=held[0::2],
        departure=held[1::2],
        flags=np.array(flags, np.uint8),
        is_skipped=np.array(skipped, np.bool_),
    )


def _find_stop(stop_time: StopTimeUpdate, stops: Mapping[str, int], planned: PlannedStopTime | None) -> int | None:
    stop_id = stop_time.stop_time_properties.assigned_stop_id or stop_time.stop_id
    if stop_id:
        return stops.get(stop_id)
    return planned.stop if planned else None


def _flags(stop_time: StopTimeUpdate, stop: int, planned: PlannedStopTime | None) -> int:
    """Return the flags of no boarding and no alighting: as stated, else as planned at the same stop."""
    flags = planned.flags if planned is not None and planned.stop == stop else 0
    opened, closed = read_pickup_drop_off(stop_time.stop_time_properties)
    return flags & ~opened | closed


def _find_time(event: TripUpdate.StopTimeEvent, planned: int | None) -> int | None:
    if event.time:
        return event.time
    base = event.scheduled_time or planned
    if base is None or not (event.scheduled_time or event.HasField("delay")):
        return None
    return base + event.delay
