"""Propagate the delays in GTFS-Realtime updates along the stop times of each ride.

A delay applies to later stop times until the next update or NO_DATA, even across SKIPPED stops; the trip's own delay
applies until its first update (GTFS-Realtime reference, TripUpdate.delay and StopTimeUpdate.ScheduleRelationship).
Times override delays. All delays are pairs of seconds, for the arrival and the departure.
"""

from collections.abc import Sequence
from typing import NamedTuple

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
from fingerpost.transit.engine.timetable.timetable import Bool, Int32, Int64, UInt8

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
    given, has_unused = _arrange(rides, updates, *matched, start_offset_s)
    delays_s = _propagate(rides, given, trip_delay_s)
    is_known = np.logical_and(*(delays_s != NONE).T)
    delays_s[~is_known] = 0
    _order_times(rides, delays_s, given.delays_s != NONE)
    arrival_delay_s, departure_delay_s = np.ascontiguousarray(delays_s.T, np.int32)
    is_moved, has_pickup_drop_off = given.stop != NO_STOP, (given.cleared_flags | given.set_flags) != 0
    has_realtime = is_known | given.is_skipped | is_moved | has_pickup_drop_off | given.has_no_data
    is_known |= given.is_skipped
    stop = np.where(is_moved, given.stop, rides.stop)
    flags = rides.flags & ~given.cleared_flags | given.set_flags
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
            is_skipped=given.is_skipped[rows],
            updated=updated[ride],
            stop=stop[rows] if has_new_stop[ride] else None,
            flags=flags[rows] if has_new_flags[ride] else None,
        )
        if has_data[ride]
        else None
        for ride, rows in enumerate(map(slice, first[:-1], first[1:]))
    ]
    return ride_updates, has_unused


class _GivenData(NamedTuple):
    """The data in the updates by planned stop time; a missing delay is NONE."""

    delays_s: Int64
    is_skipped: Bool
    has_no_data: Bool
    stop: Int32
    cleared_flags: UInt8
    set_flags: UInt8


def _arrange(
    rides: Rides, updates: StopTimeUpdateColumns, matched: Int64, new_stops: Int32, start_offset_s: Int64
) -> tuple[_GivenData, Bool]:
    """Arrange the updates by planned stop time, without those with implausible delays.

    Also mark the rides with skipped or unmatched updates, or with unknown new stops.
    """
    rows = np.flatnonzero(matched >= 0)
    stop_time, relationship = matched[rows], updates.relationship[rows]
    offset_s = start_offset_s[rides.ride[stop_time], None]
    delays_s = np.where(updates.delays_s[rows] == NONE, NONE, updates.delays_s[rows] + offset_s)
    # Subtracting invalid times must not overflow.
    valid_times = np.clip(updates.times[rows], 0, 1 << 40)
    delays_s = np.where(updates.times[rows] == NONE, delays_s, valid_times - rides.times[stop_time])
    has_times = (relationship != SKIPPED) & (relationship != NO_DATA)
    is_implausible = (delays_s != NONE) & (np.abs(delays_s) > MAX_DELAY_S)
    is_usable = ~(has_times & np.logical_or(*is_implausible.T))
    is_unused = (matched < 0) | (new_stops == UNKNOWN_STOP)
    is_unused[rows[~is_usable]] = True
    count = len(rides.stop)
    is_timed, is_moved = is_usable & has_times, is_usable & (new_stops[rows] >= 0)
    given = _GivenData(
        delays_s=scatter((count, 2), stop_time[is_timed], delays_s[is_timed], np.int64(NONE)),
        is_skipped=mark_rows(count, stop_time[relationship == SKIPPED]),
        has_no_data=mark_rows(count, stop_time[relationship == NO_DATA]),
        stop=scatter(count, stop_time[is_moved], new_stops[rows][is_moved], np.int32(NO_STOP)),
        cleared_flags=scatter(count, stop_time[is_usable], updates.cleared_flags[rows][is_usable], np.uint8(0)),
        set_flags=scatter(count, stop_time[is_usable], updates.set_flags[rows][is_usable], np.uint8(0)),
    )
    return given, mark_rows(len(rides.trip), updates.ride[is_unused])


def _propagate(rides: Rides, given: _GivenData, trip_delay_s: Int64) -> Int64:
    """Return the delays at all stop times, NONE if unknown."""
    count = len(rides.stop)
    given_arrival_s, given_departure_s = given.delays_s.T
    updated_s = np.where(given_departure_s != NONE, given_departure_s, given_arrival_s)
    has_update = (updated_s != NONE) | given.has_no_data
    is_first = mark_rows(count, rides.first[:-1])
    # The delay that a stop propagates: its own, or the trip's at the first stop; none if it has NO_DATA.
    propagated_s = np.where(has_update, updated_s, NONE)
    has_trip_delay = is_first & ~has_update
    propagated_s[has_trip_delay] = trip_delay_s[rides.ride[has_trip_delay]]
    source = np.maximum.accumulate(np.where(has_update | is_first, np.arange(count), 0))
    incoming_s = np.roll(propagated_s[source], 1)
    incoming_s[is_first] = trip_delay_s
    carried_s = np.where(given.has_no_data, NONE, incoming_s)
    departure_s = np.where(updated_s != NONE, updated_s, carried_s)
    has_departure_only = (given_departure_s != NONE) & (incoming_s == NONE)
    arrival_s = np.where(has_departure_only, given_departure_s, carried_s)
    return np.column_stack([np.where(given_arrival_s != NONE, given_arrival_s, arrival_s), departure_s])


def _order_times(rides: Rides, delays_s: Int64, is_given: Bool) -> None:
    """Make the times of each ride non-decreasing."""
    times = rides.times + delays_s
    is_backward = times[:, 1] < times[:, 0]
    is_backward[1:] |= (times[1:, 0] < times[:-1, 1]) & (rides.ride[1:] == rides.ride[:-1])
    if not is_backward.any():
        return
    rows = np.flatnonzero(mark_rows(len(rides.trip), rides.ride[is_backward])[rides.ride])
    # Shift the rides far apart, so that all of them can be ordered at once.
    planned = (rides.times[rows] + rides.ride[rows, None] * _RIDE_SPACING_S).ravel()
    time, is_fixed = planned + delays_s[rows].ravel(), is_given[rows].ravel()
    lowest, highest = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    floor = np.maximum.accumulate(np.where(is_fixed, time, lowest))
    ordered = np.where(is_fixed, np.maximum(time, floor), time)
    ceiling = np.minimum.accumulate(np.where(is_fixed, ordered, highest)[::-1])[::-1]
    ordered = np.maximum.accumulate(np.minimum(ordered, ceiling))
    delays_s[rows] = (ordered - planned).reshape(-1, 2)
