"""Applies real time to trip instances: drops cancelled ones, shifts late ones, appends added ones."""

from dataclasses import replace

import numpy as np

from fingerpost.transit.engine.raptor.kernel.patterns import hold_order
from fingerpost.transit.engine.raptor.search_timetable.trip_instances import TripInstances, starts_of
from fingerpost.transit.engine.timetable.overlay import Overlay, RideUpdate
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING, Int64

# A ride's key is trip departure * ORDINALS + day, which fits as long as days stay below this.
ORDINALS = 1 << 22
# A trip may still be under way this long after its planned end.
LATEST_S = 12 * 3600


def apply_overlay(instances: TripInstances, overlay: Overlay, start: int, since_s: int) -> TripInstances:
    """Return the trip instances as they really run, those that end before ``since_s`` left out.

    ``start`` is the Unix second at which the search timetable's day begins.
    """
    rides = sorted(overlay.rides.items())
    keys = np.array([trip_departure * ORDINALS + day for (trip_departure, day), _ in rides], np.int64)
    own = instances.trip_departure * ORDINALS + instances.day
    at = np.searchsorted(keys, own)
    is_told = np.zeros(instances.count, np.bool_)
    inside = at < len(keys)
    is_told[inside] = keys[at[inside]] == own[inside]
    told = np.flatnonzero(is_told)
    updates = [rides[index][1] for index in at[told].tolist()]
    is_cancelled = np.zeros(instances.count, np.bool_)
    is_cancelled[told] = [update.is_cancelled for update in updates]
    running = [index for index, update in enumerate(updates) if not update.is_cancelled]
    moved = _moved(instances, told[running], [updates[index] for index in running])
    return _with_added(moved.take(~is_cancelled & (moved.ends_s >= since_s)), overlay, start)


def _moved(instances: TripInstances, told: Int64, updates: list[RideUpdate]) -> TripInstances:
    """Return the instances with delays, skipped stops and other platforms."""
    if not len(told):
        return instances
    moved = instances.compact().with_own_rows(told)
    row = moved.rows_of(told)
    moved.arrival_s[row] += np.concatenate([update.arrival_delay_s for update in updates])
    moved.departure_s[row] += np.concatenate([update.departure_delay_s for update in updates])
    hold_order(moved.begin, moved.length, told, moved.arrival_s, moved.departure_s)
    for instance, update in zip(told.tolist(), updates, strict=True):
        if update.stop is None and update.flags is None:
            continue
        own = slice(moved.begin[instance], moved.begin[instance] + moved.length[instance])
        if update.stop is not None:
            moved.stop[own] = update.stop
        if update.flags is not None:
            moved.flags[own] = update.flags
    is_skipped = np.concatenate([update.is_skipped for update in updates])
    moved.flags[row[is_skipped]] = NO_BOARDING | NO_ALIGHTING
    return moved


def _with_added(instances: TripInstances, overlay: Overlay, start: int) -> TripInstances:
    """Return the instances, with the added rides appended."""
    added = overlay.added
    if not added:
        return instances
    length = np.array([len(ride.stop) for ride in added], np.int64)
    both = np.uint8(NO_BOARDING | NO_ALIGHTING)
    instances = instances.compact()
    extended = instances.with_rows(
        np.concatenate([ride.stop for ride in added]),
        np.concatenate([(ride.flags & both) | (ride.is_skipped * both) for ride in added]),
        np.concatenate([(ride.arrival - start).astype(np.int32) for ride in added]),
        np.concatenate([(ride.departure - start).astype(np.int32) for ride in added]),
    )
    return replace(
        extended,
        trip_departure=np.concatenate([instances.trip_departure, -1 - np.arange(len(added), dtype=np.int64)]),
        day=np.concatenate([instances.day, np.array([ride.service_day.toordinal() for ride in added], np.int32)]),
        begin=np.concatenate([instances.begin, len(instances.stop) + starts_of(length)[:-1]]),
        length=np.concatenate([instances.length, length]),
        shift_s=np.concatenate([instances.shift_s, np.zeros(len(added), np.int32)]),
    )
