"""Propagate the delays in GTFS-Realtime updates along the stop times of each ride.

A delay applies to later stop times until the next update or NO_DATA, even across SKIPPED stops; the trip's own delay
applies until its first update (GTFS-Realtime reference, TripUpdate.delay and StopTimeUpdate.ScheduleRelationship).
Times override delays.
"""

from collections.abc import Sequence

import numpy as np

from fingerpost.transit.engine.gtfs.realtime.stop_time_updates import (
    NO_DATA,
    NO_STOP,
    NONE,
    SKIPPED,
    UNKNOWN_STOP,
    Rides,
    StopTimeUpdateColumns,
    scatter,
)
from fingerpost.transit.engine.timetable.columns import mark_rows
from fingerpost.transit.engine.timetable.overlay import RideUpdate
from fingerpost.transit.engine.timetable.timetable import Bool, Int32, Int64

# Longer delays are treated as errors, such as a wrong date.
MAX_DELAY_S = 12 * 3600

# Longer than the time between any two instants in valid messages.
_RIDE_SPACING_S = 1 << 41


def compute_delays(
    rides: Rides,
    updates: StopTimeUpdateColumns,
    matched: tuple[Int64, Int32],
    start_offset_s: Int64,
    trip_delay_s: Int64,
    updated: Sequence[int],
) -> tuple[list[RideUpdate | None], Bool]:
    """Return the realtime data for each ride (None if its update has none), and mark rides with unused updates.

    ``matched`` holds each update's stop time and new stop. ``start_offset_s`` (``TripMatch.start_offset_s`` of each
    ride) is added to the delays in updates; ``updated`` is the timestamp of each ride's update.
    """
    stop_times = _UpdatedStopTimes(rides, updates, *matched, start_offset_s)
    arrival_s, departure_s, is_known = _propagate(rides, stop_times, trip_delay_s)
    arrival_s[~is_known] = departure_s[~is_known] = 0
    _order_times(rides, arrival_s, departure_s, stop_times)
    arrival_delay_s, departure_delay_s = arrival_s.astype(np.int32), departure_s.astype(np.int32)
    is_moved, has_pickup_drop_off = stop_times.stop != NO_STOP, (stop_times.cleared_flags | stop_times.set_flags) != 0
    has_realtime = is_known | stop_times.is_skipped | is_moved | has_pickup_drop_off | stop_times.has_no_data
    is_known |= stop_times.is_skipped
    stop = np.where(is_moved, stop_times.stop, rides.stop)
    flags = rides.flags & ~stop_times.cleared_flags | stop_times.set_flags
    first = rides.first.tolist()
    has_data, has_new_stop, has_new_flags = (
        np.logical_or.reduceat(marks, rides.first[:-1]).tolist()
        for marks in (has_realtime, stop != rides.stop, flags != rides.flags)
    )
    ride_updates = [
        RideUpdate(
            is_cancelled=False,
            arrival_delay_s=arrival_delay_s[rows],
            departure_delay_s=departure_delay_s[rows],
            is_known=is_known[rows],
            is_skipped=stop_times.is_skipped[rows],
            updated=updated[ride],
            stop=stop[rows] if has_new_stop[ride] else None,
            flags=flags[rows] if has_new_flags[ride] else None,
        )
        if has_data[ride]
        else None
        for ride, rows in enumerate(map(slice, first[:-1], first[1:]))
    ]
    return ride_updates, stop_times.has_unused


class _UpdatedStopTimes:
    """The updates, arranged by planned stop time; updates with implausible delays are skipped.

    ``has_unused`` marks the rides with skipped or unmatched updates, or with unknown new stops.
    """

    def __init__(
        self, rides: Rides, updates: StopTimeUpdateColumns, matched: Int64, new_stops: Int32, start_offset_s: Int64
    ) -> None:
        rows = np.flatnonzero(matched >= 0)
        stop_time = matched[rows]
        offset_s = start_offset_s[rides.ride[stop_time]]
        relationship = updates.relationship[rows]
        has_times = (relationship != SKIPPED) & (relationship != NO_DATA)
        arrival_s = _compute_delay_s(
            updates.arrival[rows], updates.arrival_delay_s[rows], rides.arrival[stop_time], offset_s
        )
        departure_s = _compute_delay_s(
            updates.departure[rows], updates.departure_delay_s[rows], rides.departure[stop_time], offset_s
        )
        is_usable = ~(has_times & (_is_implausible(arrival_s) | _is_implausible(departure_s)))
        is_unused = (matched < 0) | (new_stops == UNKNOWN_STOP)
        is_unused[rows[~is_usable]] = True
        self.has_unused = mark_rows(len(rides.trip), updates.ride[is_unused])
        count = len(rides.stop)
        self.is_skipped = mark_rows(count, stop_time[relationship == SKIPPED])
        self.has_no_data = mark_rows(count, stop_time[relationship == NO_DATA])
        is_timed, is_moved = is_usable & has_times, is_usable & (new_stops[rows] >= 0)
        self.arrival_s = scatter(count, stop_time[is_timed], arrival_s[is_timed], np.int64(NONE))
        self.departure_s = scatter(count, stop_time[is_timed], departure_s[is_timed], np.int64(NONE))
        self.stop = scatter(count, stop_time[is_moved], new_stops[rows][is_moved], np.int32(NO_STOP))
        self.cleared_flags = scatter(count, stop_time[is_usable], updates.cleared_flags[rows][is_usable], np.uint8(0))
        self.set_flags = scatter(count, stop_time[is_usable], updates.set_flags[rows][is_usable], np.uint8(0))


def _propagate(rides: Rides, stop_times: _UpdatedStopTimes, trip_delay_s: Int64) -> tuple[Int64, Int64, Bool]:
    count = len(rides.stop)
    position = np.arange(count)
    updated_s = np.where(stop_times.departure_s != NONE, stop_times.departure_s, stop_times.arrival_s)
    has_update = (updated_s != NONE) | stop_times.has_no_data
    is_first = mark_rows(count, rides.first[:-1])
    # The delay that a stop propagates: its own, or the trip's at the first stop; none if it has NO_DATA.
    propagated_s = np.where(has_update, updated_s, NONE)
    has_trip_delay = is_first & ~has_update
    propagated_s[has_trip_delay] = trip_delay_s[rides.ride[has_trip_delay]]
    source = np.maximum.accumulate(np.where(has_update | is_first, position, 0))
    outgoing_s = propagated_s[source]
    incoming_s = np.empty_like(outgoing_s)
    incoming_s[1:] = outgoing_s[:-1]
    incoming_s[is_first] = trip_delay_s
    departure_s = np.where(updated_s != NONE, updated_s, np.where(stop_times.has_no_data, NONE, incoming_s))
    has_departure_only = (stop_times.departure_s != NONE) & (incoming_s == NONE)
    arrival_s = np.where(has_departure_only, stop_times.departure_s, np.where(stop_times.has_no_data, NONE, incoming_s))
    arrival_s = np.where(stop_times.arrival_s != NONE, stop_times.arrival_s, arrival_s)
    return arrival_s, departure_s, (arrival_s != NONE) & (departure_s != NONE)


def _order_times(rides: Rides, arrival_s: Int64, departure_s: Int64, stop_times: _UpdatedStopTimes) -> None:
    """Make the times of each ride non-decreasing."""
    arrival, departure = rides.arrival + arrival_s, rides.departure + departure_s
    is_backward = departure < arrival
    is_backward[1:] |= (arrival[1:] < departure[:-1]) & (rides.ride[1:] == rides.ride[:-1])
    if not is_backward.any():
        return
    rows = np.flatnonzero(mark_rows(len(rides.trip), rides.ride[is_backward])[rides.ride])
    # Shift the rides far apart, so that all of them can be ordered at once.
    offset = rides.ride[rows] * _RIDE_SPACING_S
    planned = np.column_stack([rides.arrival[rows] + offset, rides.departure[rows] + offset]).ravel()
    time = planned + np.column_stack([arrival_s[rows], departure_s[rows]]).ravel()
    is_given = np.column_stack([stop_times.arrival_s[rows] != NONE, stop_times.departure_s[rows] != NONE]).ravel()
    lowest, highest = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    floor = np.maximum.accumulate(np.where(is_given, time, lowest))
    ordered = np.where(is_given, np.maximum(time, floor), time)
    ceiling = np.minimum.accumulate(np.where(is_given, ordered, highest)[::-1])[::-1]
    ordered = np.maximum.accumulate(np.minimum(ordered, ceiling))
    delay_s = ordered - planned
    arrival_s[rows], departure_s[rows] = delay_s[0::2], delay_s[1::2]


def _compute_delay_s(time: Int64, delay_s: Int64, planned: Int64, start_offset_s: Int64) -> Int64:
    offset_delay_s = np.where(delay_s == NONE, NONE, delay_s + start_offset_s)
    # Subtracting invalid times must not overflow.
    valid_time = np.clip(time, 0, 1 << 40)
    delays: Int64 = np.where(time == NONE, offset_delay_s, valid_time - planned)
    return delays


def _is_implausible(delay_s: Int64) -> Bool:
    is_implausible: Bool = (delay_s != NONE) & (np.abs(delay_s) > MAX_DELAY_S)
    return is_implausible
