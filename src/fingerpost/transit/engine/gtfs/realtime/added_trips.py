"""Places trips that the timetable does not have: added, new and replacement trips."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from google.transit.gtfs_realtime_pb2 import TripUpdate

from fingerpost.transit.engine.gtfs.realtime.outcomes import StopTimeOutcome
from fingerpost.transit.engine.gtfs.realtime.stop_time_updates import SKIPPED, read_pickup_drop_off
from fingerpost.transit.engine.timetable.timetable import Int64, Timetable

# A stop time this far from the start of the service day is an error.
_EARLIEST_S, _LATEST_S = -12 * 3600, 5 * 86_400
_FEWEST_STOP_TIMES = 2

StopTimeUpdate = TripUpdate.StopTimeUpdate
StopTimeEvent = TripUpdate.StopTimeEvent


class PlacedStopTimes(NamedTuple):
    """Stop times of a ride: rows of stops, Unix seconds that never run backwards, flags, and which are skipped."""

    stop: list[int]
    arrival: Int64
    departure: Int64
    flags: list[int]
    is_skipped: list[bool]


class Original(NamedTuple):
    """The trip that a replacement stands in for: its stop times by sequence, in Unix seconds as planned."""

    stop: Mapping[int, int]
    arrival: Mapping[int, int]
    departure: Mapping[int, int]
    flags: Mapping[int, int]

    @classmethod
    def of(cls, timetable: Timetable, trip: int, start: int) -> "Original":
        """Return a trip whose stop times count from a Unix second."""
        begin, end = int(timetable.trip_first_stop_time[trip]), int(timetable.trip_first_stop_time[trip + 1])
        sequence = timetable.stop_time_sequence[begin:end].tolist()
        arrival = (timetable.stop_time_arrival_s[begin:end].astype(np.int64) + start).tolist()
        departure = (timetable.stop_time_departure_s[begin:end].astype(np.int64) + start).tolist()
        stop = timetable.stop_time_stop[begin:end].tolist()
        return cls(
            dict(zip(sequence, stop, strict=True)),
            dict(zip(sequence, arrival, strict=True)),
            dict(zip(sequence, departure, strict=True)),
            dict(zip(sequence, timetable.stop_time_flags[begin:end].tolist(), strict=True)),
        )


NO_ORIGINAL = Original({}, {}, {}, {})


def place_stop_times(
    update: TripUpdate, stops: Mapping[str, int], day_start: int, original: Original, tally: Counter[str]
) -> PlacedStopTimes | None:
    """Return the stop times of a ride that have a known stop and a time, None where fewer than two are left.

    A stop time needs absolute times, or a delay and a stop time of the original with its sequence.
    Where only arrival or departure is stated it is both.
    """
    found: list[tuple[int, int, int, int, bool]] = []
    for stop_time_update in update.stop_time_update:
        stop = _find_stop(stop_time_update, stops, original)
        sequence = stop_time_update.stop_sequence
        arrival = _find_time(stop_time_update.arrival, original.arrival.get(sequence))
        departure = _find_time(stop_time_update.departure, original.departure.get(sequence))
        arrival, departure = departure if arrival is None else arrival, arrival if departure is None else departure
        if stop is None:
            tally[StopTimeOutcome.STOP_UNKNOWN] += 1
        elif arrival is None or departure is None:
            tally[StopTimeOutcome.WITHOUT_TIMES] += 1
        elif not (
            day_start + _EARLIEST_S <= min(arrival, departure) and max(arrival, departure) - day_start < _LATEST_S
        ):
            tally[StopTimeOutcome.OUT_OF_RANGE] += 1
        else:
            found.append(
                (
                    stop,
                    arrival,
                    departure,
                    _flags(stop_time_update, stop, original),
                    stop_time_update.schedule_relationship == SKIPPED,
                )
            )
    if sum(not is_skipped for *_, is_skipped in found) < _FEWEST_STOP_TIMES:
        tally[StopTimeOutcome.TRIP_UNPLACED] += len(found)
        return None
    times = np.array([(arrival, departure) for _, arrival, departure, *_ in found], np.int64).reshape(-1)
    held = np.maximum.accumulate(times)
    waiting = int(np.count_nonzero((held != times).reshape(-1, 2).any(axis=1)))
    tally[StopTimeOutcome.HELD] += waiting
    tally[StopTimeOutcome.APPLIED] += len(found) - waiting
    return PlacedStopTimes(
        stop=[stop for stop, *_ in found],
        arrival=held[0::2],
        departure=held[1::2],
        flags=[flags for *_, flags, _ in found],
        is_skipped=[is_skipped for *_, is_skipped in found],
    )


def _find_stop(stop_time_update: StopTimeUpdate, stops: Mapping[str, int], original: Original) -> int | None:
    stop_id = stop_time_update.stop_time_properties.assigned_stop_id or stop_time_update.stop_id
    if stop_id:
        return stops.get(stop_id)
    return original.stop.get(stop_time_update.stop_sequence)


def _flags(stop_time_update: StopTimeUpdate, stop: int, original: Original) -> int:
    """Return the flags of no boarding and no alighting: as stated, else as at the same stop of the original."""
    is_same = original.stop.get(stop_time_update.stop_sequence) == stop
    flags = original.flags[stop_time_update.stop_sequence] if is_same else 0
    opened, closed = read_pickup_drop_off(stop_time_update.stop_time_properties)
    return flags & ~opened | closed


def _find_time(event: StopTimeEvent, planned: int | None) -> int | None:
    if event.time:
        return event.time
    base = event.scheduled_time or planned
    if base is None or not (event.scheduled_time or event.HasField("delay")):
        return None
    return base + event.delay
