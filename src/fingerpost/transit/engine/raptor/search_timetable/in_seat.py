"""Join trips with in-seat transfers into one trip instance.

A train that divides becomes one instance per departing portion; trains that couple become one per arriving portion. The
transfer becomes two stop times: the first without boarding, the second without alighting.
"""

import logging
from typing import NamedTuple

import numpy as np

from fingerpost.runtime.grouping import group_by_key
from fingerpost.transit.engine.raptor.search_timetable.trip_instances import ORDINALS, TripInstances
from fingerpost.transit.engine.timetable.columns import list_ranges, list_starts
from fingerpost.transit.engine.timetable.overlay import Overlay
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING, Bool, Int32, Int64, Timetable

_log = logging.getLogger(__name__)

# The kernels store a position within an instance in 15 bits.
MAX_STOP_TIMES = 30_000
# Maximum number of trips in an instance.
MAX_TRIPS = 400
# Paths multiply if trains divide and couple repeatedly, so this limits the average number of copies of a stop time.
MAX_GROWTH = 16


class Parts(NamedTuple):
    """The trips that make up each trip instance: rows ``first[i] .. first[i + 1]`` for instance i.

    ``position`` is the index of the trip's first stop time, unreversed; ``ride`` is the trip's instance before joining.
    """

    first: Int64
    trip_departure: Int32
    day: Int32
    position: Int32
    ride: Int32

    @classmethod
    def from_instances(cls, instances: TripInstances) -> "Parts":
        return cls(
            first=np.arange(len(instances.day) + 1, dtype=np.int64),
            trip_departure=instances.trip_departure.astype(np.int32),
            day=instances.day,
            position=np.zeros(len(instances.day), np.int32),
            ride=np.arange(len(instances.day), dtype=np.int32),
        )

    @property
    def is_plain(self) -> bool:
        return len(self.trip_departure) == len(self.first) - 1


def join_in_seat(timetable: Timetable, instances: TripInstances, overlay: Overlay) -> tuple[TripInstances, Parts]:
    """Join instances along in-seat transfers; also return the trips that make up each joined instance.

    Realtime data can break a transfer: both trips must run, in the right order, and neither may skip the transfer stop.
    """
    if not len(timetable.in_seat_from):
        return instances, Parts.from_instances(instances)
    first, following = _list_transfers(timetable, instances)
    start_s = instances.start_s
    is_valid = (instances.end_s[first] <= start_s[following]) & (start_s[first] < start_s[following])
    is_valid &= ~_mark_skipped(overlay, instances.take(first), -1)
    is_valid &= ~_mark_skipped(overlay, instances.take(following), 0)
    first, following = first[is_valid], following[is_valid]
    if not len(first):
        return instances, Parts.from_instances(instances)
    alone = np.ones(len(instances.day), np.bool_)
    alone[first] = alone[following] = False
    paths = list_paths(first.tolist(), following.tolist(), instances.length.tolist())
    return _join(instances, np.flatnonzero(alone), paths)


def _make_keys(trip_departure: Int64 | Int32, day: Int32) -> Int64:
    return trip_departure.astype(np.int64) * ORDINALS + day


def _mark_skipped(overlay: Overlay, instances: TripInstances, position: int) -> Bool:
    """Mark the instances that skip the stop at a position."""
    keys = zip(instances.trip_departure.tolist(), instances.day.tolist(), strict=True)
    updates = map(overlay.rides.get, keys)
    return np.array([update is not None and update.is_skipped[position] for update in updates], np.bool_)


def _list_transfers(timetable: Timetable, instances: TripInstances) -> tuple[Int64, Int64]:
    begin = np.searchsorted(timetable.in_seat_from, instances.trip_departure, "left")
    count = np.searchsorted(timetable.in_seat_from, instances.trip_departure, "right") - begin
    first, transfer = list_ranges(begin, count)
    keys = _make_keys(instances.trip_departure, instances.day)
    order = np.argsort(keys, kind="stable")
    wanted = _make_keys(timetable.in_seat_to[transfer], instances.day[first] + timetable.in_seat_days_later[transfer])
    index = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
    following = order[index]
    is_running = keys[following] == wanted
    return first[is_running], following[is_running]


def list_paths(first: list[int], following: list[int], stop_time_counts: list[int]) -> list[list[int]]:
    """Return all paths along in-seat transfers, from instances without a predecessor to those without a successor.

    A path that is too long is cut, and the next path begins with the transfer at the cut.
    """
    successors = group_by_key(zip(first, following, strict=True))
    linked = {*first, *following}
    budget = MAX_GROWTH * sum(stop_time_counts[instance] for instance in linked)
    paths: list[list[int]] = []
    cut: set[tuple[int, int]] = set()
    # Each entry is a path and its number of stop times.
    stack = [([begin], stop_time_counts[begin]) for begin in sorted(linked.difference(following))]
    while stack and budget >= 0:
        path, count = stack.pop()
        continuations = successors.get(path[-1], ())
        capacity = MAX_STOP_TIMES - count if len(path) < MAX_TRIPS else -1
        fitting = [end for end in continuations if stop_time_counts[end] <= capacity]
        stack += [([*path, end], count + stop_time_counts[end]) for end in fitting]
        if not continuations or len(fitting) < len(continuations):
            paths.append(path)
            budget -= count
        for end in set(continuations).difference(fitting):
            transfer = (path[-1], end)
            if transfer not in cut:
                cut.add(transfer)
                pair_count = stop_time_counts[path[-1]] + stop_time_counts[end]
                is_short = pair_count <= MAX_STOP_TIMES
                stack.append(([*transfer], pair_count) if is_short else ([end], stop_time_counts[end]))
    unjoined = sorted(linked.difference(*paths))
    if stack:
        _log.warning(
            "in-seat transfers divide and join too often: %d trips are not joined, others only partly", len(unjoined)
        )
    return [*paths, *([instance] for instance in unjoined)]


def _join(instances: TripInstances, alone: Int64, paths: list[list[int]]) -> tuple[TripInstances, Parts]:
    size = np.array([1] * len(alone) + [len(path) for path in paths], np.int64)
    part_first = list_starts(size)
    member = np.concatenate([alone, *(np.array(path, np.int64) for path in paths)])
    instances = instances.compact()
    linked = instances.take(member[len(alone) :]).unshare_all()
    path_begins = part_first[len(alone) : -1] - len(alone)
    next_begin = np.delete(linked.begin, path_begins)
    rows = linked.stop_times
    rows.flags[next_begin] |= NO_ALIGHTING
    rows.arrival_s[next_begin] = rows.departure_s[next_begin]
    last_row = next_begin - 1
    rows.flags[last_row] |= NO_BOARDING
    rows.departure_s[last_row] = rows.arrival_s[last_row]
    stop_time_first = list_starts(instances.length[member])
    first = stop_time_first[part_first]
    joined = linked.take(path_begins)._replace(length=np.diff(first)[len(alone) :])
    return instances.take(alone).append(joined), Parts(
        first=part_first,
        trip_departure=instances.trip_departure[member].astype(np.int32),
        day=instances.day[member],
        position=(stop_time_first[:-1] - np.repeat(first[:-1], size)).astype(np.int32),
        ride=member.astype(np.int32),
    )
