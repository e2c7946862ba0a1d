"""Apply the stop time updates of a GTFS-Realtime trip update to the planned stop times of its ride.

A delay applies to later stop times until the next update or NO_DATA, even across SKIPPED stops; the trip's own delay
applies until the first update (GTFS-Realtime reference, TripUpdate.delay and StopTimeUpdate.ScheduleRelationship).
Times override delays.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from google.transit.gtfs_realtime_pb2 import TripUpdate

from fingerpost.transit.engine.timetable.columns import group_rows
from fingerpost.transit.engine.timetable.overlay import RideUpdate
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING, Int32, Timetable

StopTimeUpdate = TripUpdate.StopTimeUpdate
StopTimeProperties = StopTimeUpdate.StopTimeProperties

# Longer delays are treated as errors, such as a wrong date.
MAX_DELAY_S = 12 * 3600
# Markers for a missing stop id, and for a stop id that is not in the feed.
_NO_STOP, _UNKNOWN_STOP = -1, -2


class PlannedRide(NamedTuple):
    """The scheduled stop times of a ride; times are in Unix seconds."""

    sequence: list[int]
    stop: list[int]
    arrival: list[int]
    departure: list[int]
    flags: list[int]

    @classmethod
    def read(cls, timetable: Timetable, trip: int, start: int) -> "PlannedRide":
        rows = timetable.list_stop_times(trip)
        return cls(
            sequence=timetable.stop_time_sequence[rows].tolist(),
            stop=timetable.stop_time_stop[rows].tolist(),
            arrival=(timetable.stop_time_arrival_s[rows].astype(np.int64) + start).tolist(),
            departure=(timetable.stop_time_departure_s[rows].astype(np.int64) + start).tolist(),
            flags=timetable.stop_time_flags[rows].tolist(),
        )


def read_pickup_drop_off(properties: StopTimeProperties) -> tuple[int, int]:
    """Return which of the flags NO_BOARDING and NO_ALIGHTING the properties clear, and which they set."""
    cleared_flags = set_flags = 0
    # Types 2 and 3 (must be arranged) count as boardable.
    for name, flag in (("pickup_type", NO_BOARDING), ("drop_off_type", NO_ALIGHTING)):
        if properties.HasField(name):
            if getattr(properties, name) == StopTimeProperties.NONE:
                set_flags |= flag
            else:
                cleared_flags |= flag
    return cleared_flags, set_flags


def apply_stop_time_updates(
    planned: PlannedRide,
    updates: Sequence[StopTimeUpdate],
    matched: Sequence[tuple[int, int]],
    *,
    trip_delay_s: int | None,
    start_offset_s: int,
    updated: int,
) -> tuple[RideUpdate | None, bool]:
    """Return the realtime data of a ride (None if there is none), and whether any update was dropped.

    ``matched`` is the result of ``match_stop_times``; ``updated`` is the timestamp of the updates. ``trip_delay_s`` is
    the delay of the whole trip, including ``start_offset_s``, which is added to the delays in the updates (see
    ``TripMatch``).
    """
    stated_s: dict[int, tuple[int | None, int | None]] = {}
    skipped, without_data = set[int](), set[int]()
    stops, flags = planned.stop.copy(), planned.flags.copy()
    has_changes = has_unused = False
    for update, (position, new_stop) in zip(updates, matched, strict=True):
        has_unused |= position < 0 or new_stop == _UNKNOWN_STOP
        if position < 0:
            continue
        relationship = update.schedule_relationship
        if relationship == StopTimeUpdate.SKIPPED:
            skipped.add(position)
        elif relationship == StopTimeUpdate.NO_DATA:
            without_data.add(position)
        else:
            arrival_s = _find_delay_s(update.arrival, planned.arrival[position], start_offset_s)
            departure_s = _find_delay_s(update.departure, planned.departure[position], start_offset_s)
            if abs(arrival_s or 0) > MAX_DELAY_S or abs(departure_s or 0) > MAX_DELAY_S:
                has_unused = True
                continue
            stated_s[position] = arrival_s, departure_s
        if new_stop >= 0:
            stops[position] = new_stop
            has_changes = True
        if update.HasField("stop_time_properties"):
            cleared_flags, set_flags = read_pickup_drop_off(update.stop_time_properties)
            flags[position] = flags[position] & ~cleared_flags | set_flags
            has_changes |= bool(cleared_flags | set_flags)
    delays_s = _propagate(len(stops), stated_s, without_data, trip_delay_s)
    is_known = [arrival_s is not None for arrival_s, _ in delays_s]
    if not (any(is_known) or skipped or without_data or has_changes):
        return None, has_unused
    arrival_delay_s, departure_delay_s = _order_times(planned, delays_s, stated_s)
    is_skipped = [position in skipped for position in range(len(stops))]
    ride = RideUpdate(
        is_cancelled=False,
        arrival_delay_s=arrival_delay_s,
        departure_delay_s=departure_delay_s,
        is_known=np.array(is_known) | is_skipped,
        is_skipped=np.array(is_skipped),
        updated=updated,
        stop=None if stops == planned.stop else np.array(stops, np.int32),
        flags=None if flags == planned.flags else np.array(flags, np.uint8),
    )
    return ride, has_unused


def _find_delay_s(event: TripUpdate.StopTimeEvent, planned: int, start_offset_s: int) -> int | None:
    if event.time:
        return event.time - planned
    return event.delay + start_offset_s if event.HasField("delay") else None


def _propagate(
    count: int, stated_s: Mapping[int, tuple[int | None, int | None]], without_data: set[int], trip_delay_s: int | None
) -> list[tuple[int | None, int | None]]:
    """Return the arrival and departure delays of all stop times; both are None if unknown."""
    delays_s: list[tuple[int | None, int | None]] = []
    carried_s = trip_delay_s
    for position in range(count):
        arrival_s, departure_s = stated_s.get(position, (None, None))
        if position in without_data:
            carried_s = None
        if departure_s is None:
            departure_s = carried_s if arrival_s is None else arrival_s
        if arrival_s is None:
            arrival_s = departure_s if carried_s is None else carried_s
        delays_s.append((arrival_s, departure_s))
        carried_s = departure_s
    return delays_s


def _order_times(
    planned: PlannedRide,
    delays_s: Sequence[tuple[int | None, int | None]],
    stated_s: Mapping[int, tuple[int | None, int | None]],
) -> tuple[Int32, Int32]:
    """Return the arrival and departure delays, adjusted so that times never decrease (decision 0310)."""
    planned_times = [time for pair in zip(planned.arrival, planned.departure, strict=True) for time in pair]
    delays = [delay_s or 0 for pair in delays_s for delay_s in pair]
    times = [time + delay_s for time, delay_s in zip(planned_times, delays, strict=True)]
    ordered = np.array(times)
    if times != sorted(times):
        given_s = (delay_s for row in range(len(delays_s)) for delay_s in stated_s.get(row, (None, None)))
        is_stated = np.array([delay_s is not None for delay_s in given_s])
        ordered[is_stated] = np.maximum.accumulate(ordered[is_stated])
        # No time exceeds the next stated one.
        ceilings = np.where(is_stated, ordered, ordered.max())[::-1]
        ordered = np.maximum.accumulate(np.minimum(ordered, np.minimum.accumulate(ceilings)[::-1]))
    ordered_s = np.subtract(ordered, planned_times).astype(np.int32)
    return ordered_s[0::2].copy(), ordered_s[1::2].copy()


def match_stop_times(
    timetable: Timetable, planned: PlannedRide, updates: Sequence[StopTimeUpdate], stop_rows: Mapping[str, int]
) -> list[tuple[int, int]]:
    """Return each update's position in the ride (-1 if none) and its new stop (negative if none).

    If two updates match the same stop time, the first one is used.
    """
    given = [stop_rows.get(update.stop_id, _UNKNOWN_STOP) if update.stop_id else _NO_STOP for update in updates]
    new_stops = [_find_new_stop(update, stop_rows) for update in updates]
    # If several stop times have the same sequence, use the first.
    by_sequence = dict(zip(reversed(planned.sequence), reversed(range(len(planned.sequence))), strict=True))
    positions = [
        by_sequence.get(update.stop_sequence, -1) if update.HasField("stop_sequence") else -1 for update in updates
    ]
    parents = timetable.stop_parent
    for row, (position, stop) in enumerate(zip(positions, given, strict=True)):
        # The update may name the station, or another platform of the station.
        if position >= 0 and stop not in (_NO_STOP, planned.stop[position]):
            station = int(parents[planned.stop[position]])
            if stop < 0 or station < 0 or station not in (stop, parents[stop]):
                positions[row] = -1
            elif stop != station and new_stops[row] == _NO_STOP:
                new_stops[row] = stop
    unmatched = [row for row, stop in enumerate(given) if positions[row] < 0 <= stop]
    by_stop = group_rows(planned.stop, range(len(planned.stop))) if unmatched else {}
    for row in unmatched:
        candidates = by_stop.get(given[row], ())
        if len(candidates) == 1:
            positions[row] = candidates[0]
    for row in unmatched:
        if positions[row] < 0:
            candidates = by_stop.get(given[row]) or _list_other_platforms(timetable, planned, given[row])
            positions[row] = _choose_candidate(planned, updates[row], candidates, positions[:row], positions[row + 1 :])
            if positions[row] >= 0 and given[row] not in by_stop and new_stops[row] == _NO_STOP:
                new_stops[row] = given[row]
    used = set[int]()
    for row, position in enumerate(positions):
        if position in used:
            positions[row] = -1
        used.add(position)
    return list(zip(positions, new_stops, strict=True))


def _find_new_stop(update: StopTimeUpdate, stop_rows: Mapping[str, int]) -> int:
    if not update.HasField("stop_time_properties") or not update.stop_time_properties.assigned_stop_id:
        return _NO_STOP
    return stop_rows.get(update.stop_time_properties.assigned_stop_id, _UNKNOWN_STOP)


def _list_other_platforms(timetable: Timetable, planned: PlannedRide, stop: int) -> tuple[int, ...]:
    parents = timetable.stop_parent
    station = int(parents[stop])
    return tuple(position for position, other in enumerate(planned.stop) if station >= 0 and parents[other] == station)


def _choose_candidate(
    planned: PlannedRide, update: StopTimeUpdate, candidates: Sequence[int], previous: list[int], following: list[int]
) -> int:
    """Return the candidate between the previous and next matches (the nearest in time if there are several), or -1."""
    low = max(previous, default=-1)
    high = min((position for position in following if position >= 0), default=len(planned.stop))
    eligible = [position for position in candidates if low < position < high]
    if len(eligible) == 1:
        return eligible[0]
    for event, times in ((update.arrival, planned.arrival), (update.departure, planned.departure)):
        if event.time and eligible:
            return min(eligible, key=lambda position: abs(times[position] - event.time))
    return -1
