"""Join trips with in-seat transfers into one trip instance.

A train that divides becomes one instance for each part that goes on, a coupled train one for each part that arrived.
The two stop times at the transfer stay separate: nobody boards at the first or alights at the second of them.
"""

import logging
from dataclasses import replace
from datetime import date
from typing import NamedTuple

import numpy as np

from fingerpost.transit.engine.raptor.search_timetable.realtime import ORDINALS
from fingerpost.transit.engine.raptor.search_timetable.trip_instances import TripInstances
from fingerpost.transit.engine.timetable.columns import list_ranges, starts_of
from fingerpost.transit.engine.timetable.overlay import Overlay
from fingerpost.transit.engine.timetable.service_days import services_on
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING, Int32, Int64, Timetable

_log = logging.getLogger(__name__)

# The kernels count the stop times of an instance in 15 bits.
MAX_STOP_TIMES = 30_000
# The most trips of an instance.
MAX_RIDES = 400
# Paths multiply if trains divide and couple again and again, so each stop time is copied this many times on average.
MAX_GROWTH = 16


class Parts(NamedTuple):
    """The trips that each trip instance is joined from: rows ``first[i] .. first[i + 1]`` for instance i.

    ``position`` is that of the trip's first stop time, not mirrored; ``ride`` numbers the trips.
    """

    first: Int64
    trip_departure: Int32
    day: Int32
    position: Int32
    ride: Int32

    @classmethod
    def of(cls, instances: TripInstances) -> "Parts":
        return cls(
            first=np.arange(instances.count + 1, dtype=np.int64),
            trip_departure=instances.trip_departure.astype(np.int32),
            day=instances.day,
            position=np.zeros(instances.count, np.int32),
            ride=np.arange(instances.count, dtype=np.int32),
        )

    @property
    def is_plain(self) -> bool:
        return len(self.trip_departure) == len(self.first) - 1


def join_in_seat(
    timetable: Timetable, instances: TripInstances, overlay: Overlay | None
) -> tuple[TripInstances, Parts]:
    """Return the instances joined along in-seat transfers, and the trips that each is joined from.

    Realtime may break a transfer: both trips must run in the right order, and neither may skip the stop between them.
    """
    if not len(timetable.in_seat_from):
        return instances, Parts.of(instances)
    first, then = _list_seams(timetable, instances)
    begins_s = instances.begins_s
    holds = (instances.ends_s[first] <= begins_s[then]) & (begins_s[first] < begins_s[then])
    if overlay is not None:
        shut_first, shut_last = _skipped_ends(overlay)
        own = _keys(instances.trip_departure, instances.day)
        holds &= ~np.isin(own[first], shut_last) & ~np.isin(own[then], shut_first)
    first, then = first[holds], then[holds]
    if not len(first):
        return instances, Parts.of(instances)
    alone = np.ones(instances.count, np.bool_)
    alone[first] = alone[then] = False
    paths = list_paths(first.tolist(), then.tolist(), begins_s.tolist(), instances.length.tolist())
    return _joined(instances, np.flatnonzero(alone), paths)


def _keys(trip_departure: Int64 | Int32, day: Int32) -> Int64:
    return trip_departure.astype(np.int64) * ORDINALS + day


def _skipped_ends(overlay: Overlay) -> tuple[Int64, Int64]:
    """Return the keys of the rides that skip their first stop, and of those that skip their last."""
    first, last = (
        [departure * ORDINALS + day for (departure, day), ride in overlay.rides.items() if ride.is_skipped[at]]
        for at in (0, -1)
    )
    return np.array(first, np.int64), np.array(last, np.int64)


def _list_seams(timetable: Timetable, instances: TripInstances) -> tuple[Int64, Int64]:
    begin = np.searchsorted(timetable.in_seat_from, instances.trip_departure, "left")
    count = np.searchsorted(timetable.in_seat_from, instances.trip_departure, "right") - begin
    first, seam = list_ranges(begin, count)
    service = timetable.in_seat_service[seam]
    holds = service < 0
    for day in np.unique(instances.day[first]).tolist():
        on_day = ~holds & (instances.day[first] == day)
        holds[on_day] = services_on(timetable, date.fromordinal(day))[service[on_day]] == 1
    first, seam = first[holds], seam[holds]
    own = _keys(instances.trip_departure, instances.day)
    order = np.argsort(own, kind="stable")
    wanted = _keys(timetable.in_seat_to[seam], instances.day[first] + timetable.in_seat_days_later[seam])
    at = np.minimum(np.searchsorted(own, wanted, sorter=order), instances.count - 1)
    then = order[at]
    is_running = own[then] == wanted
    return first[is_running], then[is_running]


def list_paths(first: list[int], then: list[int], begins_s: list[int], stop_time_counts: list[int]) -> list[list[int]]:
    """Return paths along in-seat transfers that contain every possible ride from one instance to another.

    One path per pair is enough, because times do not depend on the path.
    """
    after: dict[int, list[int]] = {}
    for one, other in zip(first, then, strict=True):
        after.setdefault(one, []).append(other)
    paths: list[list[int]] = []
    covered: set[tuple[int, int]] = set()
    # If trips are coupled, a path from a later one need not be part of one from an earlier.
    is_coupled = len(set(then)) < len(then)
    linked = {*first, *then}
    budget = MAX_GROWTH * sum(stop_time_counts[instance] for instance in linked)
    cut = 0
    for begin in sorted(linked, key=lambda instance: (begins_s[instance], instance)):
        if budget < 0:
            if (begin, begin) not in covered:
                cut += 1
                paths.append([begin])
            continue
        if not is_coupled and all((begin, other) in covered for other in (begin, *after.get(begin, ()))):
            continue
        for path in _spanning(begin, after, stop_time_counts):
            if budget >= 0 and any((begin, instance) not in covered for instance in path):
                budget -= sum(stop_time_counts[instance] for instance in path)
                paths.append(path)
                covered.update((one, other) for at, one in enumerate(path) for other in path[at:])
    if budget < 0:
        _log.warning("in-seat transfers divide and join too often: %d trips run by themselves, others in part", cut)
    return paths


def _spanning(begin: int, after: dict[int, list[int]], stop_time_counts: list[int]) -> list[list[int]]:
    """Return one path to each instance within reach, without paths that are the start of another."""
    ways: list[list[int]] = []
    seen = {begin}
    stack = [([begin], stop_time_counts[begin])]
    while stack:
        path, length = stack.pop()
        onward = after.get(path[-1], ()) if len(path) < MAX_RIDES else ()
        fresh = [then for then in onward if then not in seen and length + stop_time_counts[then] <= MAX_STOP_TIMES]
        seen.update(fresh)
        stack += [([*path, then], length + stop_time_counts[then]) for then in fresh]
        if not fresh:
            ways.append(path)
    return ways


def _joined(instances: TripInstances, alone: Int64, paths: list[list[int]]) -> tuple[TripInstances, Parts]:
    size = np.array([1] * len(alone) + [len(path) for path in paths], np.int64)
    part_first = starts_of(size)
    member = np.concatenate([alone, *(np.array(path, np.int64) for path in paths)])
    instances = instances.compact()
    linked = instances.take(member[len(alone) :]).laid_out()
    begins = part_first[len(alone) : -1] - len(alone)
    into = np.delete(linked.begin, begins)
    linked.flags[into] |= NO_ALIGHTING
    linked.arrival_s[into] = linked.departure_s[into]
    out_of = into - 1
    linked.flags[out_of] |= NO_BOARDING
    linked.departure_s[out_of] = linked.arrival_s[out_of]
    stop_time_first = starts_of(instances.length[member])
    first = stop_time_first[part_first]
    joined = replace(
        instances.with_rows(linked.stop, linked.flags, linked.arrival_s, linked.departure_s),
        trip_departure=instances.trip_departure[member[part_first[:-1]]],
        day=instances.day[member[part_first[:-1]]],
        begin=np.concatenate([instances.begin[alone], len(instances.stop) + linked.begin[begins]]),
        length=np.diff(first),
        shift_s=np.concatenate([instances.shift_s[alone], np.zeros(len(paths), np.int32)]),
    )
    return joined, Parts(
        first=part_first,
        trip_departure=instances.trip_departure[member].astype(np.int32),
        day=instances.day[member],
        position=(stop_time_first[:-1] - np.repeat(first[:-1], size)).astype(np.int32),
        ride=member.astype(np.int32),
    )
