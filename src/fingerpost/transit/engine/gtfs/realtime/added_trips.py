"""Read the stop times of trips that GTFS-Realtime adds or replaces."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from google.transit.gtfs_realtime_pb2 import TripUpdate

from fingerpost.transit.engine.gtfs.realtime.stop_time_updates import SKIPPED, read_pickup_drop_off
from fingerpost.transit.engine.timetable.timetable import Bool, Int32, Int64, UInt8

# Stop times outside this range around the start of the service day are errors.
_EARLIEST_S, _LATEST_S = -12 * 3600, 5 * 86_400
_MIN_STOP_TIMES = 2


class PlacedStopTimes(NamedTuple):
    """The stop times of a ride in Unix seconds, never decreasing; ``stop`` holds rows."""

    stop: Int32
    arrival: Int64
    departure: Int64
    flags: UInt8
    is_skipped: Bool


def place_stop_times(
    update: TripUpdate,
    stops: Mapping[str, int],
    day_start: int,
    planned_flags: Mapping[int, int],
) -> PlacedStopTimes | None:
    """Return the stop times with a known stop and a time; None if there are fewer than two.

    ``planned_flags`` are the replaced trip's flags, keyed by stop, which apply to updates without flags.
    """
    placed: list[tuple[int, int, int, int, bool]] = []
    for stop_time in update.stop_time_update:
        stop = stops.get(stop_time.stop_time_properties.assigned_stop_id or stop_time.stop_id)
        arrival, departure = _find_time(stop_time.arrival), _find_time(stop_time.departure)
        arrival, departure = departure if arrival is None else arrival, arrival if departure is None else departure
        if stop is None or arrival is None or departure is None:
            continue
        if day_start + _EARLIEST_S <= min(arrival, departure) and max(arrival, departure) < day_start + _LATEST_S:
            opened, closed = read_pickup_drop_off(stop_time.stop_time_properties)
            flags = planned_flags.get(stop, 0) & ~opened | closed
            placed.append((stop, arrival, departure, flags, stop_time.schedule_relationship == SKIPPED))
    if sum(not is_skipped for *_, is_skipped in placed) < _MIN_STOP_TIMES:
        return None
    stop_rows, arrivals, departures, flag_values, skipped = zip(*placed, strict=True)
    ordered = np.maximum.accumulate(np.column_stack([arrivals, departures]).astype(np.int64).ravel())
    return PlacedStopTimes(
        stop=np.array(stop_rows, np.int32),
        arrival=ordered[0::2],
        departure=ordered[1::2],
        flags=np.array(flag_values, np.uint8),
        is_skipped=np.array(skipped, np.bool_),
    )


def _find_time(event: TripUpdate.StopTimeEvent) -> int | None:
    if event.time:
        return event.time
    return event.scheduled_time + event.delay if event.scheduled_time else None
