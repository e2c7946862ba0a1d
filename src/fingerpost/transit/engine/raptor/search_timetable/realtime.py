"""Apply realtime data to trip instances: cancel, delay and add them, and close stops according to alerts."""

import numpy as np

from fingerpost.transit.engine.raptor.search_timetable.trip_instances import StopTimes, TripInstances
from fingerpost.transit.engine.timetable.columns import list_starts, mark_rows
from fingerpost.transit.engine.timetable.overlay import Alert, Overlay, RideUpdate
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING, Bool, Int64, Timetable

# Larger than any day ordinal; the key of a ride is trip departure * ORDINALS + day.
ORDINALS = 1 << 22
# Trips from earlier days are ignored if they are delayed by more than this.
MAX_DELAY_S = 12 * 3600


def apply_overlay(instances: TripInstances, overlay: Overlay, start: int, since_s: int) -> TripInstances:
    """Return the instances expected to end at ``since_s`` or later; the day begins at ``start`` (Unix seconds)."""
    update_by_key = {departure * ORDINALS + day: update for (departure, day), update in overlay.rides.items()}
    own_keys = instances.trip_departure * ORDINALS + instances.day
    updated = np.flatnonzero(np.isin(own_keys, np.array(list(update_by_key), np.int64)))
    updates = [update_by_key[key] for key in own_keys[updated].tolist()]
    is_cancelled = np.zeros(len(own_keys), np.bool_)
    is_cancelled[updated] = [update.is_cancelled for update in updates]
    running = [index for index, update in enumerate(updates) if not update.is_cancelled]
    moved = _apply_updates(instances, updated[running], [updates[index] for index in running])
    return _append_added(moved.take(~is_cancelled & (moved.end_s >= since_s)), overlay, start)


def _apply_updates(instances: TripInstances, updated: Int64, updates: list[RideUpdate]) -> TripInstances:
    if not len(updated):
        return instances
    moved = instances.compact().unshare_rows(updated)
    row, stop_times = moved.list_rows(updated), moved.stop_times
    stop_times.arrival_s[row] += np.concatenate([update.arrival_delay_s for update in updates])
    stop_times.departure_s[row] += np.concatenate([update.departure_delay_s for update in updates])
    for instance, update in zip(updated.tolist(), updates, strict=True):
        own_rows = slice(moved.begin[instance], moved.begin[instance] + moved.length[instance])
        if update.stop is not None:
            stop_times.stop[own_rows] = update.stop
        if update.flags is not None:
            stop_times.flags[own_rows] = update.flags
    is_skipped = np.concatenate([update.is_skipped for update in updates])
    stop_times.flags[row[is_skipped]] = NO_BOARDING | NO_ALIGHTING
    return moved


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
    """Return the instances, with no boarding or alighting at stops that are closed at the expected time.

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
    closed = instances.unshare_rows(affected)
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
            is_in_force = _is_in_force(alert, start + seconds[own_rows].astype(np.int64))
            stop_times.flags[own_rows[is_in_force]] |= flag
    return closed


def _is_in_force(alert: Alert, instants: Int64) -> Bool:
    in_force = np.full(len(instants), not alert.periods)
    for begin, end in alert.periods:
        in_force |= (begin <= instants) & (instants <= end)
    return in_force
