"""``block_id``: trips that one vehicle runs one after the other on a service day."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.timetable import Int32, Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """The block, route and service of each trip departure; block -1 for none."""

    block: Int32
    route: Int32
    service: Int32


class Candidates(NamedTuple):
    """Trip departures that follow one another in their block.

    ``days`` holds, by position, the service days on which they do, where these are not all on which the first runs.
    """

    first: Int32
    then: Int32
    days: Mapping[int, Int32]


def list_candidates(
    blocks: Blocks, begin_s: Int64, end_s: Int64, is_exact: npt.NDArray[np.bool_], days: Sequence[Int32]
) -> Candidates:
    """Return the consecutive pairs of trip departures in each block and service day.

    A block may have trips of several services. Where no two of them share a day, each makes blocks of its own.
    """
    trip_departures = np.flatnonzero((blocks.block >= 0) & is_exact)
    trip_departures = trip_departures[
        np.lexsort(
            (
                trip_departures,
                end_s[trip_departures],
                begin_s[trip_departures],
                blocks.service[trip_departures],
                blocks.block[trip_departures],
            )
        )
    ]
    block, service = blocks.block[trip_departures], blocks.service[trip_departures]
    is_mixed = _mix_days(block, service, days)[block] if len(block) else np.zeros(0, np.bool_)
    follows = (block[1:] == block[:-1]) & (service[1:] == service[:-1]) & ~is_mixed[1:]
    first, then = trip_departures[:-1][follows].tolist(), trip_departures[1:][follows].tolist()
    on_days: dict[int, Int32] = {}
    mixed = trip_departures[is_mixed]
    mixed = mixed[np.lexsort((mixed, end_s[mixed], begin_s[mixed], blocks.block[mixed]))]
    for of_block in np.split(mixed, np.flatnonzero(np.diff(blocks.block[mixed])) + 1):
        for one, other, shared in _follow_by_day(of_block.tolist(), blocks.service, days):
            on_days[len(first)] = shared
            first.append(one)
            then.append(other)
    return Candidates(np.array(first, np.int32), np.array(then, np.int32), on_days)


def _mix_days(block: Int32, service: Int32, days: Sequence[Int32]) -> npt.NDArray[np.bool_]:
    """Mark the blocks of which two services share a day."""
    marks = np.zeros(int(block.max()) + 1, np.bool_)
    pairs = np.unique(np.column_stack([block, service]), axis=0)
    known: dict[tuple[int, ...], bool] = {}
    for of_block in np.split(pairs, np.flatnonzero(np.diff(pairs[:, 0])) + 1):
        if len(of_block) > 1:
            services = tuple(of_block[:, 1].tolist())
            if services not in known:
                every = np.concatenate([days[row] for row in services])
                known[services] = len(np.unique(every)) < len(every)
            marks[of_block[0, 0]] = known[services]
    return marks


def _follow_by_day(trip_departures: list[int], service: Int32, days: Sequence[Int32]) -> list[tuple[int, int, Int32]]:
    """Return each trip departure of a block, its successors, and the days on which each of them is the next."""
    found = []
    for at, trip_departure in enumerate(trip_departures):
        left = days[service[trip_departure]]
        for other in trip_departures[at + 1 :]:
            shared = np.intersect1d(left, days[service[other]]).astype(np.int32)
            if len(shared):
                found.append((trip_departure, other, shared))
                left = np.setdiff1d(left, shared)
            if not len(left):
                break
    return found
