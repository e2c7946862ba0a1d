"""Vehicles that go on as another trip, with the riders in their seats: for the search they become one.

A vehicle that divides is there once for each part that goes on, one that is put together once for each that came.
Calls at the seam stay two: at the last call of the one nobody boards, at the first of the other nobody who stayed
alights. Who boards or alights there otherwise does so as if the two were strangers.
"""

import logging
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from fingerpost.transit.raptor.search_timetable.realtime import ORDINALS
from fingerpost.transit.raptor.search_timetable.trip_instances import Vehicles, starts_of
from fingerpost.transit.timetable.overlay import Overlay
from fingerpost.transit.timetable.service_days import services_on
from fingerpost.transit.timetable.timetable import NO_ALIGHTING, NO_BOARDING, Int32, Int64, Timetable

_log = logging.getLogger(__name__)

# The kernels count the calls of a vehicle in 15 bits. No rider stays for so many.
MOST_CALLS = 30_000
# A vehicle that goes on so often is cut; the next begins where it ends.
MOST_RIDES = 400
# Where rides divide and come together again and again, ways multiply: so many calls for each that is there.
MOST_TIMES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Of which rides each vehicle of a slice consists: rows ``first[v] .. first[v + 1]`` of the others.

    ``run`` and ``day`` are as in ``Vehicles``; ``position`` is where the ride's first call stands in the vehicle,
    counted in the order in which it runs; ``ride`` tells rides apart, which may be part of several vehicles.
    """

    first: Int64
    run: Int32
    day: Int32
    position: Int32
    ride: Int32

    @classmethod
    def of(cls, vehicles: Vehicles) -> "Parts":
        """Return vehicles of one ride each."""
        every = np.arange(vehicles.count, dtype=np.int32)
        return cls(
            first=np.arange(vehicles.count + 1, dtype=np.int64),
            run=vehicles.run.astype(np.int32),
            day=vehicles.day,
            position=np.zeros(vehicles.count, np.int32),
            ride=every,
        )

    @property
    def is_plain(self) -> bool:
        """Whether every vehicle is one ride, and every ride one vehicle."""
        return len(self.run) == len(self.first) - 1


def join_in_seat(timetable: Timetable, vehicles: Vehicles, overlay: Overlay | None) -> tuple[Vehicles, Parts]:
    """Return the vehicles with their in-seat transfers, and what each consists of.

    A vehicle goes on only if both rides run, the later one begins after the earlier began and not before it ends,
    and neither passes the seam without a stop: real time may break it.
    """
    if not len(timetable.in_seat_from):
        return vehicles, Parts.of(vehicles)
    first, then = _list_seams(timetable, vehicles)
    begins_s = vehicles.begins_s
    holds = (vehicles.ends_s[first] <= begins_s[then]) & (begins_s[first] < begins_s[then])
    if overlay is not None:
        shut_first, shut_last = _skipped_ends(overlay)
        own = _keys(vehicles.run, vehicles.day)
        holds &= ~np.isin(own[first], shut_last) & ~np.isin(own[then], shut_first)
    first, then = first[holds], then[holds]
    if not len(first):
        return vehicles, Parts.of(vehicles)
    alone = np.ones(vehicles.count, np.bool_)
    alone[first] = alone[then] = False
    paths = list_paths(first.tolist(), then.tolist(), begins_s.tolist(), vehicles.length.tolist())
    return _joined(vehicles, np.flatnonzero(alone), paths)


def _keys(run: Int64 | Int32, day: Int32) -> Int64:
    return run.astype(np.int64) * ORDINALS + day


def _skipped_ends(overlay: Overlay) -> tuple[Int64, Int64]:
    """Return the keys of the rides that pass their first call, and of those that pass their last."""
    rides = overlay.rides.items()
    ends = [[run * ORDINALS + day for (run, day), told in rides if told.is_skipped[at]] for at in (0, -1)]
    return np.array(ends[0], np.int64), np.array(ends[1], np.int64)


def _list_seams(timetable: Timetable, vehicles: Vehicles) -> tuple[Int64, Int64]:
    """Return the pairs of vehicles of which the timetable has the one go on as the other."""
    begin = np.searchsorted(timetable.in_seat_from, vehicles.run, "left")
    count = np.searchsorted(timetable.in_seat_from, vehicles.run, "right") - begin
    first = np.repeat(np.arange(vehicles.count), count)
    seam = np.arange(len(first)) + np.repeat(begin - starts_of(count)[:-1], count)
    service = timetable.in_seat_service[seam]
    holds = service < 0
    for day in np.unique(vehicles.day[first]).tolist():
        on_day = ~holds & (vehicles.day[first] == day)
        holds[on_day] = services_on(timetable, date.fromordinal(day))[service[on_day]] == 1
    first, seam = first[holds], seam[holds]
    own = _keys(vehicles.run, vehicles.day)
    order = np.argsort(own, kind="stable")
    wanted = _keys(timetable.in_seat_to[seam], vehicles.day[first] + timetable.in_seat_days_later[seam])
    at = np.minimum(np.searchsorted(own, wanted, sorter=order), vehicles.count - 1)
    then = order[at]
    runs = own[then] == wanted
    return first[runs], then[runs]


def list_paths(first: list[int], then: list[int], begins_s: list[int], calls: list[int]) -> list[list[int]]:
    """Return ways through vehicles, along pairs of one and the next, such that each stretch of any way is in one.

    A rider's way is given by where it begins and ends, for the times are the vehicles'; so no more than one way is
    needed from one vehicle to another. ``begins_s`` and ``calls`` are of all vehicles.
    """
    if len(set(first)) == len(first) and len(set(then)) == len(then):
        rows = _rows(first, then, begins_s)
        if all(len(row) <= MOST_RIDES and sum(calls[each] for each in row) <= MOST_CALLS for row in rows):
            return rows
    after: dict[int, list[int]] = {}
    for one, other in zip(first, then, strict=True):
        after.setdefault(one, []).append(other)
    paths: list[list[int]] = []
    covered: set[tuple[int, int]] = set()
    # Where several vehicles come together, a way from a later vehicle need not be part of one from an earlier.
    is_told_apart = len(set(then)) < len(then)
    linked = {*first, *then}
    room = MOST_TIMES * sum(calls[vehicle] for vehicle in linked)
    cut = 0
    for begin in sorted(linked, key=lambda vehicle: (begins_s[vehicle], vehicle)):
        if room < 0:
            if (begin, begin) not in covered:
                cut += 1
                paths.append([begin])
            continue
        if not is_told_apart and all((begin, each) in covered for each in (begin, *after.get(begin, ()))):
            continue
        for path in _spanning(begin, after, calls):
            if room >= 0 and any((begin, vehicle) not in covered for vehicle in path):
                room -= sum(calls[vehicle] for vehicle in path)
                paths.append(path)
                covered.update((one, other) for at, one in enumerate(path) for other in path[at:])
    if room < 0:
        _log.warning("in-seat transfers divide and join too often: %d vehicles run by themselves, others in part", cut)
    return paths


def _rows(first: list[int], then: list[int], begins_s: list[int]) -> list[list[int]]:
    """Return the ways where no vehicle divides and none come together: each row from its first to its last."""
    after = dict(zip(first, then, strict=True))
    rows = []
    for begin in sorted(after.keys() - set(then), key=lambda vehicle: (begins_s[vehicle], vehicle)):
        row = [begin]
        while (onward := after.get(row[-1])) is not None:
            row.append(onward)
        rows.append(row)
    return rows


def _spanning(begin: int, after: dict[int, list[int]], calls: list[int]) -> list[list[int]]:
    """Return one way from a vehicle to each that can be reached, those left out that are the start of another."""
    ways: list[list[int]] = []
    seen = {begin}
    stack = [([begin], calls[begin])]
    while stack:
        path, length = stack.pop()
        onward = after.get(path[-1], ()) if len(path) < MOST_RIDES else ()
        fresh = [each for each in onward if each not in seen and length + calls[each] <= MOST_CALLS]
        seen.update(fresh)
        stack += [([*path, each], length + calls[each]) for each in fresh]
        if not fresh:
            ways.append(path)
    return ways


def _joined(vehicles: Vehicles, alone: Int64, paths: list[list[int]]) -> tuple[Vehicles, Parts]:
    """Put the rides of each path one behind the other, after the vehicles that stay alone."""
    size = np.array([1] * len(alone) + [len(path) for path in paths], np.int64)
    part_first = starts_of(size)
    member = np.concatenate([alone, *(np.array(path, np.int64) for path in paths)])
    vehicles = vehicles.compact()
    linked = vehicles.take(member[len(alone) :]).laid_out()
    begins = part_first[len(alone) : -1] - len(alone)
    into = np.delete(linked.begin, begins)
    linked.flags[into] |= NO_ALIGHTING
    linked.arrival_s[into] = linked.departure_s[into]
    out_of = into - 1
    linked.flags[out_of] |= NO_BOARDING
    linked.departure_s[out_of] = linked.arrival_s[out_of]
    call_first = starts_of(vehicles.length[member])
    first = call_first[part_first]
    joined = replace(
        vehicles.with_rows(linked.stop, linked.flags, linked.arrival_s, linked.departure_s),
        run=vehicles.run[member[part_first[:-1]]],
        day=vehicles.day[member[part_first[:-1]]],
        begin=np.concatenate([vehicles.begin[alone], len(vehicles.stop) + linked.begin[begins]]),
        length=np.diff(first),
        shift_s=np.concatenate([vehicles.shift_s[alone], np.zeros(len(paths), np.int32)]),
    )
    return joined, Parts(
        first=part_first,
        run=vehicles.run[member].astype(np.int32),
        day=vehicles.day[member],
        position=(call_first[:-1] - np.repeat(first[:-1], size)).astype(np.int32),
        ride=member.astype(np.int32),
    )
