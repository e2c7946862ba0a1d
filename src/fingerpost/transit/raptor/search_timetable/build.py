"""A slice of the timetable, ready to be searched: everything that runs around one day, in chains.

The slice counts seconds from the start of its day; a *mirrored* slice counts them backwards, so that the
same search finds the latest departure for an arrival. Vehicles of the days before and after are merged in,
so the kernels never look at a calendar.
"""

from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.raptor.arrays import Chains, UInt16, UInt32
from fingerpost.transit.raptor.kernel.compiling import NO_HOP, SPAN_S
from fingerpost.transit.raptor.kernel.patterns import fill_chains, hash_patterns, shortest_hops, split_chains
from fingerpost.transit.raptor.search_timetable.in_seat import Parts, join_in_seat
from fingerpost.transit.raptor.search_timetable.realtime import LATEST_S, apply_overlay
from fingerpost.transit.raptor.search_timetable.split_stops import Changing, split_stops
from fingerpost.transit.raptor.search_timetable.trip_instances import (
    DAY_S,
    Vehicles,
    gather_vehicles,
    mirror,
    starts_of,
    without_steps,
)
from fingerpost.transit.timetable.overlay import Overlay
from fingerpost.transit.timetable.service_days import midnight, service_day_start
from fingerpost.transit.timetable.timetable import Int32, Int64, Timetable, UInt8

# A forward slice reaches this far behind the start of its day; a mirrored one reaches a day before it as well.
HORIZON_S = 2 * DAY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySlice:
    """What runs around a day.

    ``parts`` say of which rides each vehicle consists, ``vehicle_parts`` which row of theirs a vehicle of the chains
    has; ``changing`` what the stops of the chains are.
    """

    day: date
    start: int  # Unix seconds
    mirrored: bool
    chains: Chains
    parts: Parts
    vehicle_parts: Int64
    changing: Changing
    longest_chain: int

    @property
    def stop_count(self) -> int:
        """Number of stops as the search knows them."""
        return self.changing.stop_count

    @property
    def chain_count(self) -> int:
        """Number of chains."""
        return len(self.chains.event_base)

    @property
    def vehicle_count(self) -> int:
        """Number of vehicles."""
        return len(self.vehicle_parts)

    def to_slice_s(self, instant: int) -> int:
        """Return an instant (Unix seconds) in the slice's count."""
        return self.start - instant if self.mirrored else instant - self.start

    def to_instant(self, slice_s: int) -> int:
        """Return the instant (Unix seconds) of a time in the slice's count."""
        return self.start - slice_s if self.mirrored else self.start + slice_s


def build_slice(
    timetable: Timetable, day: date, *, mirrored: bool, step_free: bool, overlay: Overlay | None = None
) -> DaySlice:
    """Gather the vehicles around a day into chains, as the timetable has them or as an overlay says they run.

    ``step_free`` leaves out what is known not to take a wheelchair, and stops that an alert calls inaccessible.
    """
    zone = timetable.feeds[0].zone
    start = service_day_start(day, zone)
    # Where clocks go back, the day on the wall begins before the service day.
    first_s = min(0, midnight(day, zone) - start)
    since_s, until_s = (-DAY_S, DAY_S + DAY_S // 2) if mirrored else (first_s, HORIZON_S)
    if overlay is None:
        vehicles = gather_vehicles(timetable, day, start, since_s, until_s)
    else:
        vehicles = gather_vehicles(timetable, day, start, since_s - LATEST_S, until_s)
        vehicles = apply_overlay(vehicles, overlay, start, since_s)
    if step_free:
        vehicles = without_steps(timetable, vehicles, overlay.closed_stops if overlay else frozenset())
    vehicles, changing = split_stops(timetable, vehicles, overlay)
    vehicles, parts = join_in_seat(timetable, vehicles, overlay)
    spans = (until_s - since_s) // SPAN_S
    if mirrored:
        return _chain(changing, parts, day, start, mirrored, mirror(vehicles), -until_s, spans)
    return _chain(changing, parts, day, start, mirrored, vehicles, since_s, spans)


def _chain(
    changing: Changing,
    parts: Parts,
    day: date,
    start: int,
    mirrored: bool,
    vehicles: Vehicles,
    since_s: int,
    span_count: int,
) -> DaySlice:
    rows = _split_into_chains(vehicles)
    stop_first, stop_chain, stop_position = _positions_by_stop(changing.stop_count, rows.chain_first, rows.stop)
    foot, walk = _footpaths(changing), _mirrored_footpaths(changing)
    if mirrored:
        foot, walk = walk, foot
    chains = Chains(
        rows.chain_first.astype(np.int32),
        rows.stop.view(np.uint32),
        rows.flags,
        rows.vehicle_first.astype(np.int32),
        rows.event_base,
        rows.arrival_s,
        rows.departure_s,
        stop_first,
        stop_chain,
        stop_position,
        *foot,
        changing.change_s,
        np.zeros(0, np.uint32),
        np.zeros(0, np.uint32),
        np.zeros((span_count, 0), np.uint16),
        *walk,
        since_s,
    )
    hops = _hops(changing.stop_count, chains, span_count)
    chains = chains._replace(hop_first=hops[0], hop_from=hops[1], hop_s=hops[2])
    return DaySlice(
        day=day,
        start=start,
        mirrored=mirrored,
        chains=chains,
        parts=parts,
        vehicle_parts=rows.vehicle,
        changing=changing,
        longest_chain=int(np.diff(rows.chain_first).max(initial=0)),
    )


class _ChainRows(NamedTuple):
    """Vehicles in chains: as in ``Chains``; ``vehicle`` is the row of each before."""

    chain_first: Int64
    vehicle_first: Int64
    event_base: Int64
    stop: Int32
    flags: UInt8
    arrival_s: Int32
    departure_s: Int32
    vehicle: Int64


def _split_into_chains(vehicles: Vehicles) -> _ChainRows:
    """Sort vehicles into chains of the same stops in which none overtakes another."""
    calls = (vehicles.begin, vehicles.length, vehicles.shift_s, vehicles.stop, vehicles.flags,
             vehicles.arrival_s, vehicles.departure_s)  # fmt: skip
    count = vehicles.count
    pattern = np.zeros(count, np.uint64)
    hash_patterns(vehicles.begin, vehicles.length, vehicles.stop, vehicles.flags, pattern)
    group = np.unique(pattern, return_inverse=True)[1].reshape(-1)
    order = np.lexsort((np.arange(count), vehicles.ends_s, vehicles.begins_s, group))
    chain_of = np.zeros(count, np.int64)
    chain_count = split_chains(order, group, *calls, chain_of)
    length = np.zeros(chain_count, np.int64)
    length[chain_of] = vehicles.length
    size = np.bincount(chain_of, minlength=chain_count).astype(np.int64)
    chain_first, event_base = starts_of(length), starts_of(length * size)
    positions, events = int(chain_first[-1]), int(event_base[-1])
    rows = _ChainRows(
        chain_first=chain_first,
        vehicle_first=starts_of(size),
        event_base=event_base[:-1],
        stop=np.empty(positions, np.int32),
        flags=np.empty(positions, np.uint8),
        arrival_s=np.empty(events, np.int32),
        departure_s=np.empty(events, np.int32),
        vehicle=np.zeros(count, np.int64),
    )
    fill_chains(order, chain_of, *calls, *rows)
    return rows


def _positions_by_stop(stop_count: int, chain_first: Int64, position_stop: Int32) -> tuple[UInt32, UInt32, Int32]:
    chain = np.repeat(np.arange(len(chain_first) - 1), np.diff(chain_first))
    position = np.arange(len(position_stop)) - np.repeat(chain_first[:-1], np.diff(chain_first))
    order = np.argsort(position_stop, kind="stable")
    first = starts_of(np.bincount(position_stop, minlength=stop_count).astype(np.int64))
    return first.astype(np.uint32), chain[order].astype(np.uint32), position[order].astype(np.int32)


def _hops(stop_count: int, chains: Chains, span_count: int) -> tuple[UInt32, UInt32, UInt16]:
    """Return, for each stop, the stops right before it in any chain and the shortest ride from each, span by span."""
    is_later = np.ones(len(chains.position_stop), np.bool_)
    is_later[chains.chain_first[:-1]] = False
    rows = np.flatnonzero(is_later)
    pair = chains.position_stop[rows].astype(np.int64) * stop_count + chains.position_stop[rows - 1]
    hops, own = np.unique(pair, return_inverse=True)
    hop_of = np.full(len(is_later), -1, np.int64)
    hop_of[rows] = own.reshape(-1)
    hop_s = np.full((span_count, len(hops)), NO_HOP, np.uint16)
    shortest_hops(chains, hop_of, hop_s)
    first = starts_of(np.bincount(hops // stop_count, minlength=stop_count).astype(np.int64))
    return first.astype(np.uint32), (hops % stop_count).astype(np.uint32), hop_s


def _footpaths(changing: Changing) -> tuple[UInt32, UInt32, Int32, Int32]:
    return changing.foot_first.view(np.uint32), changing.foot_to.view(np.uint32), changing.foot_s, changing.foot_m


def _mirrored_footpaths(changing: Changing) -> tuple[UInt32, UInt32, Int32, Int32]:
    """Return the footpaths, each walked from its end to its start."""
    origin = np.repeat(np.arange(changing.stop_count), np.diff(changing.foot_first))
    order: npt.NDArray[np.int64] = np.lexsort((origin, changing.foot_to))
    first = starts_of(np.bincount(changing.foot_to, minlength=changing.stop_count).astype(np.int64))
    return (
        first.astype(np.uint32),
        origin[order].astype(np.uint32),
        changing.foot_s[order],
        changing.foot_m[order],
    )
