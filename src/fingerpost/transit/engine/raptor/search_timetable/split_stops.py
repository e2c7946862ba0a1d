"""Splits stops where transfer rules hold for certain trips or routes only.

The search knows stops, not which trip one came with. So a stop at which the rules treat trips differently becomes
several to it, one for each kind of trip that serves it, and the links between these say what the rules say.
"""

from dataclasses import dataclass, replace

import numpy as np

from fingerpost.transit.engine.raptor.search_timetable.specific_transfers import (
    SpecificTransfers,
    list_effective,
    list_ruled_stop_times,
)
from fingerpost.transit.engine.raptor.search_timetable.trip_instances import TripInstances, starts_of
from fingerpost.transit.engine.timetable.overlay import Overlay
from fingerpost.transit.engine.timetable.timetable import Int32, Int64, Timetable


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchStops:
    """Stops as the search knows them, and the links between them.

    The timetable's stops keep their rows; ``copy_first[s] .. copy_first[s + 1]`` are the rows of ``copy`` that hold
    all that a stop is to the search, itself included. Footpaths are as in ``Timetable``.
    """

    stop_count: int
    foot_first: Int32
    foot_to: Int32
    foot_s: Int32
    foot_m: Int32
    change_s: Int32
    copy_first: Int64 | None = None
    copy: Int32 | None = None

    @property
    def is_split(self) -> bool:
        """Whether any stop is several to the search."""
        return self.copy is not None

    def expand(self, stops: Int32) -> tuple[Int64, Int32]:
        """Return, for each of what some stops are to the search, the position among ``stops`` and the row."""
        if self.copy_first is None or self.copy is None:
            return np.arange(len(stops)), stops
        count = self.copy_first[stops + 1] - self.copy_first[stops]
        position = np.repeat(np.arange(len(stops)), count)
        within = np.arange(len(position)) - np.repeat(starts_of(count)[:-1], count)
        return position, self.copy[self.copy_first[stops][position] + within]


def split_stops(
    timetable: Timetable, instances: TripInstances, overlay: Overlay | None
) -> tuple[TripInstances, SearchStops]:
    """Return the instances with split stops, and the stops and footpaths that the search uses."""
    plain = SearchStops(
        stop_count=timetable.stop_count,
        foot_first=timetable.foot_first,
        foot_to=timetable.foot_to,
        foot_s=timetable.foot_s,
        foot_m=timetable.foot_m,
        change_s=timetable.change_s,
    )
    if not len(timetable.specific_transfer_s):
        return instances, plain
    instances = instances.laid_out()
    stop_times = list_ruled_stop_times(timetable, instances, overlay)
    rules = SpecificTransfers(timetable, list_effective(timetable, stop_times))
    kind = rules.kinds(stop_times)
    is_told = (kind[:, 1:] >= 0).any(axis=1)
    if not is_told.any():
        return instances, plain
    different, which = np.unique(kind[is_told], axis=0, return_inverse=True)
    stop = instances.stop.copy()
    stop[stop_times.row[is_told]] = timetable.stop_count + which.reshape(-1)
    return replace(instances, stop=stop), _linked(timetable, rules, different)


def _linked(timetable: Timetable, rules: SpecificTransfers, kinds: Int64) -> SearchStops:
    """Link the kinds of each stop to those of the stops around, as the rules say and else as the stops are linked."""
    count, total = timetable.stop_count, timetable.stop_count + len(kinds)
    first = np.searchsorted(kinds[:, 0], np.arange(count + 1))
    size = np.diff(first) + 1
    copy_first = starts_of(size)
    copy = np.zeros(total, np.int32)
    copy[copy_first[:-1]] = np.arange(count)
    is_new = np.ones(total, np.bool_)
    is_new[copy_first[:-1]] = False
    copy[is_new] = np.arange(count, total)
    # The copy of a stop for stop times without any specific rule has no number.
    numbers = np.concatenate([np.full((count, 4), -1, np.int64), kinds[:, 1:]])

    origin = np.repeat(np.arange(count), np.diff(timetable.foot_first))
    is_split = size > 1
    kept = ~(is_split[origin] | is_split[timetable.foot_to])
    links = [np.column_stack([origin, timetable.foot_to, timetable.foot_s, timetable.foot_m])[kept]]
    base = {
        (one, other): (seconds, metres)
        for one, other, seconds, metres in np.column_stack(
            [origin, timetable.foot_to, timetable.foot_s, timetable.foot_m]
        )[~kept].tolist()
    }
    base |= {(stop, stop): (int(timetable.change_s[stop]), 0) for stop in np.flatnonzero(is_split).tolist()}
    by_pair = rules.by_pair(is_split)
    change_s = np.concatenate([timetable.change_s, np.full(len(kinds), -1, np.int32)])
    for one, other in sorted({*base, *by_pair}):
        begin = copy[copy_first[one] : copy_first[one + 1]]
        end = copy[copy_first[other] : copy_first[other + 1]]
        seconds, metres = base.get((one, other), (-1, 0))
        taken_s = np.full((len(begin), len(end)), seconds, np.int64)
        for rule in by_pair.get((one, other), ()):
            side = rules.sides[rule]
            leaves = ((side[:2] < 0) | (numbers[begin, :2] == side[:2])).all(axis=1)
            boards = ((side[2:] < 0) | (numbers[end, 2:] == side[2:])).all(axis=1)
            taken_s[np.ix_(leaves, boards)] = rules.seconds[rule]
            metres = int(rules.metres[rule])
        if one == other:
            change_s[begin] = np.diagonal(taken_s)
            np.fill_diagonal(taken_s, -1)
        at, to = np.nonzero(taken_s >= 0)
        links.append(np.column_stack([begin[at], end[to], taken_s[at, to], np.full(len(at), metres)]))
    return _changing(np.concatenate(links), total, change_s, copy_first, copy)


def _changing(links: Int64, total: int, change_s: Int32, copy_first: Int64, copy: Int32) -> SearchStops:
    links = links[np.lexsort((links[:, 1], links[:, 0]))]
    first = starts_of(np.bincount(links[:, 0], minlength=total).astype(np.int64))
    return SearchStops(
        stop_count=total,
        foot_first=first.astype(np.int32),
        foot_to=links[:, 1].astype(np.int32),
        foot_s=links[:, 2].astype(np.int32),
        foot_m=links[:, 3].astype(np.int32),
        change_s=change_s.astype(np.int32),
        copy_first=copy_first,
        copy=copy,
    )
