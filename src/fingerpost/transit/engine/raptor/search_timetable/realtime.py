"""Apply realtime data to trip instances: cancel, delay and add them, and close stops according to alerts."""

import numpy as np

from fingerpost.transit.engine.raptor.search_timetable.trip_instances import StopTimes, TripInstances
from fingerpost.transit.engine.timetable.columns import list_starts, mark_rows
from fingerpost.transit.engine.timetable.overlay import Alert, Overlay, RideUpdate
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING, Bool, Int32, Int64, Timetable

# A ride's key is trip departure * ORDINALS + day; day ordinals are less than this.
ORDINALS = 1 << 22
# The longest delay for which trips of an earlier day are considered.
MAX_DELAY_S = 12 * 3600


def apply_overlay(instances: TripInstances, overlay: Overlay, start: int, since_s: int) -> TripInstances:
    """Return the expected instances that end at ``since_s`` or later; the day begins at ``start`` (Unix seconds)."""
    update_by_key = {departure * ORDINALS + day: update for (departure, day), update in overlay.rides.items()}
    # The last number is larger than any key.
    keys = np.array([*sorted(update_by_key), np.iinfo(np.int64).max], np.int64)
    own_keys = instances.trip_departure * ORDINALS + instances.day
    updated = np.flatnonzero(keys[np.searchsorted(keys, own_keys)] == own_keys)
    updates = [update_by_key[key] for key in own_keys[updated].tolist()]
    is_cancelled = np.zeros(len(own_keys), np.bool_)
    is_cancelled[updated] = [update.is_cancelled for update in updates]
    running = [index for index, update in enumerate(updates) if not update.is_cancelled]
    moved = _apply_updates(instances, updated[running], [updates[index] for index in running])
    return _append_added(moved.take(~is_cancelled & (moved.ends_s >= since_s)), overlay, start)


def _apply_updates(instances: TripInstances, updated: Int64, updates: list[RideUpdate]) -> TripInstances:
    if not len(updated):
        return instances
    moved = instances.compact().unshare_rows(updated)
    row, stop_times = moved.list_rows(updated), moved.stop_times
    stop_times.arrival_s[row] += np.concatenate([update.arrival_delay_s for update in updates])
    stop_times.departure_s[row] += np.concatenate([update.departure_delay_s for update in updates])
    for instance, update in zip(updated.tolist(), updates, strict=True):
        if update.stop is None and update.flags is None:
            continue
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
    """Return the instances without boarding or alighting at stops that are closed at the expected time.

    ``start`` is the Unix second at which the day begins. ``step_free`` includes broken lifts.
    """
    alerts = overlay.list_closing(step_free=step_free)
    if not alerts:
        return instances
    is_affected = mark_rows(timetable.stop_count, sorted({stop for alert in alerts for stop in _list_stops(alert)}))
    cumulative = np.concatenate([[0], np.cumsum(is_affected[instances.stop_times.stop])])
    affected = np.flatnonzero(cumulative[instances.begin + instances.length] > cumulative[instances.begin])
    if not len(affected):
        return instances
    closed = instances.unshare_rows(affected)
    stop_times = closed.stop_times
    row, instance = closed.list_rows(affected), np.repeat(affected, closed.length[affected])
    columns = _list_columns(timetable, closed, overlay, row, instance)
    for alert in alerts:
        own_rows = row[_find_closed(alert, columns)]
        for seconds, flag in ((stop_times.arrival_s, NO_ALIGHTING), (stop_times.departure_s, NO_BOARDING)):
            is_in_force = _is_in_force(alert, start + seconds[own_rows].astype(np.int64))
            stop_times.flags[own_rows[is_in_force]] |= flag
    return closed


def _list_columns(
    timetable: Timetable, instances: TripInstances, overlay: Overlay, row: Int64, instance: Int64
) -> tuple[Int32 | Int64, ...]:
    """Return the columns by which alerts select stop times: stop, route, trip, and the key of the ride.

    A replacement has the key of the ride that it replaces.
    """
    departure = instances.trip_departure[instance]
    selectors = [
        (ride.route, ride.trip, *(ride.replaces or (-1 - at, ride.service_day.toordinal())))
        for at, ride in enumerate(overlay.added)
    ]
    added = np.array(selectors or [(-1,) * 4], np.int64)
    own_rows = added[np.minimum(-1 - np.minimum(departure, -1), len(added) - 1)]
    is_added = departure < 0
    trip = np.where(is_added, own_rows[:, 1], timetable.trip_departure_trip[np.maximum(departure, 0)])
    return (
        instances.stop_times.stop[row],
        np.where(is_added, own_rows[:, 0], timetable.trip_route[np.maximum(trip, 0)]),
        trip,
        np.where(is_added, own_rows[:, 2], departure),
        np.where(is_added, own_rows[:, 3], instances.day[instance]),
    )


def _find_closed(alert: Alert, columns: tuple[Int32 | Int64, ...]) -> Int64:
    """Return the positions of the stop times whose stop an alert closes, whether or not it is in force."""
    candidates = np.flatnonzero(np.isin(columns[0], _list_stops(alert)))
    is_closed = [
        alert.closes_stop(stop, route=route, trip=trip, ride=(departure, day))
        for stop, route, trip, departure, day in zip(*(column[candidates].tolist() for column in columns), strict=True)
    ]
    return candidates[np.array(is_closed, np.bool_)]


def _list_stops(alert: Alert) -> list[int]:
    pairs = (*alert.route_stops, *alert.trip_stops, *alert.ride_stops)
    return sorted({*alert.stops, *(stop for _, stop in pairs)})


def _is_in_force(alert: Alert, instants: Int64) -> Bool:
    if not alert.periods:
        return np.ones(len(instants), np.bool_)
    in_force = np.zeros(len(instants), np.bool_)
    for begin, end in alert.periods:
        in_force |= (begin <= instants) & (instants <= end)
    return in_force
