"""A slice of the timetable, ready to be searched: everything that runs around one day, in chains.

The slice counts seconds from the start of its day; a *mirrored* slice counts them backwards, so that the
same search finds the latest departure for an arrival. Vehicles of the days before and after are merged in,
so the kernels never look at a calendar.
"""

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import numpy.typing as npt

from fingerpost.transit.raptor.arrays import Chains
from fingerpost.transit.raptor.kernel.chaining import fill_chains, hash_patterns, shortest_hops, split_chains
from fingerpost.transit.timetable.service_days import service_day_start, services_on
from fingerpost.transit.timetable.timetable import (
    NO_ALIGHTING,
    NO_BOARDING,
    WHEELCHAIR_NO,
    Int32,
    Int64,
    Timetable,
    UInt8,
)

DAY_S = 86_400
# A forward slice reaches this far behind the start of its day, a mirrored one a day before it as well.
HORIZON_S = 2 * DAY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySlice:
    """What runs around a day. ``vehicle_*`` columns say which run, on which service day, a vehicle is."""

    day: date
    start: int  # Unix seconds
    mirrored: bool
    chains: Chains
    vehicle_run: Int32
    vehicle_day: Int32  # ordinal, as in date.toordinal
    longest_chain: int

    @property
    def chain_count(self) -> int:
        """Number of chains."""
        return len(self.chains.event_base)

    @property
    def vehicle_count(self) -> int:
        """Number of vehicles."""
        return len(self.vehicle_run)

    def to_slice_s(self, instant: int) -> int:
        """Return an instant (Unix seconds) in the slice's count."""
        return self.start - instant if self.mirrored else instant - self.start

    def to_instant(self, slice_s: int) -> int:
        """Return the instant (Unix seconds) of a time in the slice's count."""
        return self.start - slice_s if self.mirrored else self.start + slice_s


def build_slice(timetable: Timetable, day: date, *, mirrored: bool, step_free: bool) -> DaySlice:
    """Gather the vehicles around a day into chains.

    ``step_free`` leaves out vehicles, and closes stops, that are known not to take a wheelchair; what is
    unknown stays.
    """
    start = service_day_start(day, timetable.feeds[0].zone)
    since_s, until_s = (-DAY_S, DAY_S + DAY_S // 2) if mirrored else (0, HORIZON_S)
    run, shift_s, ordinal = _vehicles(timetable, day, start, since_s, until_s, step_free)
    first, stop, flags, arrival_s, departure_s = _events(timetable, run, shift_s, step_free)
    if mirrored:
        backwards = _reversed_rows(first)
        stop, flags = stop[backwards], _swapped(flags[backwards])
        arrival_s, departure_s = -departure_s[backwards], -arrival_s[backwards]
    return _chain(timetable, day, start, mirrored, run, ordinal, first, stop, flags, arrival_s, departure_s)


def _vehicles(
    timetable: Timetable, day: date, start: int, since_s: int, until_s: int, step_free: bool
) -> tuple[Int64, Int64, Int32]:
    """Return run, time shift and service day of all vehicles under way in [since_s, until_s]."""
    first_event, last_event = timetable.trip_first_event[:-1], timetable.trip_first_event[1:] - 1
    rideable = last_event > first_event
    if step_free:
        rideable &= timetable.trip_wheelchair != WHEELCHAIR_NO
    trip = timetable.run_trip
    begins_s = np.zeros(len(rideable), np.int64)
    ends_s = np.zeros(len(rideable), np.int64)
    begins_s[rideable] = timetable.event_departure_s[first_event[rideable]]
    ends_s[rideable] = timetable.event_arrival_s[last_event[rideable]]
    run_begins_s = begins_s[trip] + timetable.run_shift_s
    run_ends_s = ends_s[trip] + timetable.run_shift_s
    longest_s = int(run_ends_s.max(initial=0))
    runs, shifts, ordinals = [], [], []
    current = day + timedelta(days=since_s // DAY_S - longest_s // DAY_S - 1)
    while current <= day + timedelta(days=until_s // DAY_S):
        active = services_on(timetable, current)
        for feed_index, feed in enumerate(timetable.feeds):
            day_shift_s = service_day_start(current, feed.zone) - start
            chosen = np.flatnonzero(
                (active[timetable.trip_service[trip]] == 1)
                & (timetable.service_feed[timetable.trip_service[trip]] == feed_index)
                & rideable[trip]
                & (run_begins_s + day_shift_s <= until_s)
                & (run_ends_s + day_shift_s >= since_s)
            )
            runs.append(chosen)
            shifts.append(timetable.run_shift_s[chosen].astype(np.int64) + day_shift_s)
            ordinals.append(np.full(len(chosen), current.toordinal(), np.int32))
        current += timedelta(days=1)
    return np.concatenate(runs), np.concatenate(shifts), np.concatenate(ordinals)


def _events(
    timetable: Timetable, run: Int64, shift_s: Int64, step_free: bool
) -> tuple[Int64, Int32, UInt8, Int32, Int32]:
    """Return the events of the vehicles, one vehicle behind the other, and where each begins."""
    trip = timetable.run_trip[run]
    begin = timetable.trip_first_event[trip]
    length = timetable.trip_first_event[trip + 1] - begin
    first = np.zeros(len(run) + 1, np.int64)
    np.cumsum(length, out=first[1:])
    row = np.repeat(begin - first[:-1], length) + np.arange(first[-1])
    stop = timetable.event_stop[row]
    flags = timetable.event_flags[row] & np.uint8(NO_BOARDING | NO_ALIGHTING)
    if step_free:
        closed = timetable.stop_wheelchair[stop] == WHEELCHAIR_NO
        flags = np.where(closed, np.uint8(NO_BOARDING | NO_ALIGHTING), flags)
    shift = np.repeat(shift_s, length)
    arrival_s = (timetable.event_arrival_s[row] + shift).astype(np.int32)
    departure_s = (timetable.event_departure_s[row] + shift).astype(np.int32)
    return first, stop, flags, arrival_s, departure_s


def _reversed_rows(first: Int64) -> Int64:
    """Return event rows with each vehicle's events in reverse order."""
    length = np.diff(first)
    within = np.arange(first[-1]) - np.repeat(first[:-1], length)
    rows: Int64 = np.repeat(first[1:], length) - 1 - within
    return rows


def _swapped(flags: UInt8) -> UInt8:
    """Exchange boarding and alighting."""
    swapped: UInt8 = ((flags & NO_BOARDING) * 2 + (flags & NO_ALIGHTING) // 2).astype(np.uint8)
    return swapped


def _chain(
    timetable: Timetable,
    day: date,
    start: int,
    mirrored: bool,
    run: Int64,
    ordinal: Int32,
    first: Int64,
    stop: Int32,
    flags: UInt8,
    arrival_s: Int32,
    departure_s: Int32,
) -> DaySlice:
    count = len(run)
    pattern = np.zeros(count, np.uint64)
    hash_patterns(first, stop, flags, pattern)
    group = np.unique(pattern, return_inverse=True)[1].reshape(-1) if count else np.zeros(0, np.int64)
    begins_s, ends_s = (departure_s[first[:-1]], arrival_s[first[1:] - 1]) if count else (first[:-1], first[:-1])
    order = np.lexsort((np.arange(count), ends_s, begins_s, group))
    chain_of = np.zeros(count, np.int64)
    chain_count = split_chains(order, group, first, stop, flags, arrival_s, departure_s, chain_of)
    length = np.zeros(chain_count, np.int64)
    length[chain_of] = np.diff(first)
    size = np.bincount(chain_of, minlength=chain_count).astype(np.int64)
    chain_first, vehicle_first, event_base = _starts(length), _starts(size), _starts(length * size)
    out_stop = np.zeros(int(chain_first[-1]), np.int32)
    out_flags = np.zeros(int(chain_first[-1]), np.uint8)
    out_arrival, out_departure = np.zeros_like(arrival_s), np.zeros_like(departure_s)
    out_vehicle = np.zeros(count, np.int64)
    fill_chains(
        order, chain_of, first, stop, flags, arrival_s, departure_s, chain_first, vehicle_first,
        event_base[:-1], out_stop, out_flags, out_arrival, out_departure, out_vehicle,
    )  # fmt: skip
    stop_first, stop_chain, stop_position = _positions_by_stop(timetable.stop_count, chain_first, out_stop)
    foot, walk = _footpaths(timetable), _mirrored_footpaths(timetable)
    if mirrored:
        foot, walk = walk, foot
    none = np.zeros(0, np.int32)
    chains = Chains(
        chain_first.astype(np.int32),
        out_stop,
        out_flags,
        vehicle_first.astype(np.int32),
        event_base[:-1],
        out_arrival,
        out_departure,
        stop_first,
        stop_chain,
        stop_position,
        *foot,
        timetable.change_s,
        none,
        none,
        none,
        *walk,
    )
    hops = _hops(timetable.stop_count, chains)
    chains = chains._replace(hop_first=hops[0], hop_from=hops[1], hop_s=hops[2])
    return DaySlice(
        day=day,
        start=start,
        mirrored=mirrored,
        chains=chains,
        vehicle_run=run[out_vehicle].astype(np.int32),
        vehicle_day=ordinal[out_vehicle],
        longest_chain=int(length.max(initial=0)),
    )


def _starts(sizes: Int64) -> Int64:
    """Return where each of a row of blocks begins, and the end."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def _positions_by_stop(stop_count: int, chain_first: Int64, position_stop: Int32) -> tuple[Int32, Int32, Int32]:
    chain = np.repeat(np.arange(len(chain_first) - 1), np.diff(chain_first))
    position = np.arange(len(position_stop)) - np.repeat(chain_first[:-1], np.diff(chain_first))
    order = np.argsort(position_stop, kind="stable")
    first = _starts(np.bincount(position_stop, minlength=stop_count).astype(np.int64))
    return first.astype(np.int32), chain[order].astype(np.int32), position[order].astype(np.int32)


def _hops(stop_count: int, chains: Chains) -> tuple[Int32, Int32, Int32]:
    """Return, for each stop, the stops right before it in any chain and the shortest ride from each."""
    least_s = np.zeros(len(chains.position_stop), np.int32)
    shortest_hops(chains, least_s)
    is_later = np.ones(len(least_s), np.bool_)
    is_later[chains.chain_first[:-1]] = False
    rows = np.flatnonzero(is_later)
    origin = chains.position_stop[rows - 1].astype(np.int64)
    stop = chains.position_stop[rows].astype(np.int64)
    order = np.lexsort((least_s[rows], origin, stop))
    origin, stop, seconds = origin[order], stop[order], least_s[rows][order]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (stop[1:] != stop[:-1]) | (origin[1:] != origin[:-1])
    first = _starts(np.bincount(stop[is_first], minlength=stop_count).astype(np.int64))
    return first.astype(np.int32), origin[is_first].astype(np.int32), seconds[is_first]


def _footpaths(timetable: Timetable) -> tuple[Int32, Int32, Int32, Int32]:
    return timetable.foot_first, timetable.foot_to, timetable.foot_s, timetable.foot_m


def _mirrored_footpaths(timetable: Timetable) -> tuple[Int32, Int32, Int32, Int32]:
    """Return the footpaths, each walked from its end to its start."""
    origin = np.repeat(np.arange(timetable.stop_count), np.diff(timetable.foot_first))
    order: npt.NDArray[np.int64] = np.lexsort((origin, timetable.foot_to))
    first = _starts(np.bincount(timetable.foot_to, minlength=timetable.stop_count).astype(np.int64))
    return (
        first.astype(np.int32),
        origin[order].astype(np.int32),
        timetable.foot_s[order],
        timetable.foot_m[order],
    )
