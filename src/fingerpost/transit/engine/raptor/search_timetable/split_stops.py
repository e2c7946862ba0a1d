"""Split stops at which transfer rules treat trips or routes differently.

The search does not know which trip a rider arrived on, so it needs a copy of such a stop for each kind of trip there.
The rules decide which copies are linked.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.runtime.grouping import group_by_key
from fingerpost.transit.engine.raptor.arrays import PathsOfStops
from fingerpost.transit.engine.raptor.search_timetable.trip_instances import TripInstances
from fingerpost.transit.engine.timetable.columns import group_rows, list_ranges, list_starts, mark_rows, take_rows
from fingerpost.transit.engine.timetable.footpaths import find_footpath
from fingerpost.transit.engine.timetable.overlay import Overlay
from fingerpost.transit.engine.timetable.timetable import Bool, Int32, Int64, Timetable
from fingerpost.transit.engine.timetable.walks import StopWalks


class StopTimesWithRules(NamedTuple):
    """Stop times at stops with specific rules, by row in ``TripInstances.stop_times``. -1 means unknown."""

    row: Int64
    stop: Int64
    trip: Int64
    route: Int64
    arrival_s: Int32
    departure_s: Int32


def list_stop_times_with_rules(timetable: Timetable, instances: TripInstances, overlay: Overlay) -> StopTimesWithRules:
    stops = np.concatenate([timetable.specific_transfer_from_stop, timetable.specific_transfer_to_stop])
    has_rules = mark_rows(timetable.stop_count, stops)
    stop_times = instances.stop_times
    row = np.flatnonzero(has_rules[stop_times.stop])
    trip_departure = instances.trip_departure[np.searchsorted(instances.begin, row, "right") - 1]
    trip = timetable.trip_departure_trip[np.maximum(trip_departure, 0)].astype(np.int64)
    route = timetable.trip_route[trip].astype(np.int64)
    is_added = trip_departure < 0
    route[is_added] = [overlay.added[-1 - ride].route for ride in trip_departure[is_added].tolist()]
    trip[is_added] = -1
    stop = stop_times.stop[row].astype(np.int64)
    return StopTimesWithRules(row, stop, trip, route, stop_times.arrival_s[row], stop_times.departure_s[row])


def list_effective_rules(timetable: Timetable, stop_times: StopTimesWithRules) -> Int64:
    """Return the rows of the specific rules that may decide whether a connection is possible.

    A rule between two trips is dropped if it makes no difference to their connections.
    """
    count = timetable.stop_count
    pair = timetable.specific_transfer_from_stop.astype(np.int64) * count + timetable.specific_transfer_to_stop
    from_trip, to_trip = timetable.specific_transfer_from_trip, timetable.specific_transfer_to_trip
    is_trip_pair = (from_trip >= 0) & (to_trip >= 0)
    # If broader rules exist for the same stops, the footpath alone does not give the transfer time without this rule.
    is_alone = is_trip_pair & ~np.isin(pair, pair[~is_trip_pair])
    is_effective = ~is_alone
    alone = np.flatnonzero(is_alone)
    named_rows = np.flatnonzero(np.isin(stop_times.trip, np.concatenate([from_trip[alone], to_trip[alone]])))
    keys = zip(stop_times.stop[named_rows].tolist(), stop_times.trip[named_rows].tolist(), strict=True)
    rows_by_trip = group_by_key(zip(keys, named_rows.tolist(), strict=True))
    change_s: dict[int, int] = {}
    connections = zip(*(column[alone].tolist() for column in (pair, from_trip, to_trip)), strict=True)
    last = dict(zip(connections, alone.tolist(), strict=True))
    for (stops, first_trip, next_trip), rule in last.items():
        begin, end = divmod(stops, count)
        arriving, leaving = rows_by_trip.get((begin, first_trip)), rows_by_trip.get((end, next_trip))
        if arriving is None or leaving is None:
            continue
        if stops not in change_s:
            change_s[stops] = _find_change_s(timetable, begin, end)
        wait_s = stop_times.departure_s[leaving].astype(np.int64)[None, :] - stop_times.arrival_s[arriving][:, None]
        with_rule = _can_catch(wait_s, int(timetable.specific_transfer_s[rule]))
        is_effective[rule] = (with_rule != _can_catch(wait_s, change_s[stops])).any()
    return np.flatnonzero(is_effective)


def _can_catch(wait_s: npt.NDArray[np.int64], min_s: int) -> Bool:
    # A transfer time of -1 means that the transfer is forbidden.
    return (wait_s >= min_s) & (min_s >= 0)


def _find_change_s(timetable: Timetable, begin: int, end: int) -> int:
    """Return the transfer time between two stops, ignoring specific rules, or -1 if there is no transfer."""
    if begin == end:
        return int(timetable.change_s[begin])
    path = find_footpath(timetable, begin, end, step_free=False)
    return -1 if path is None else path.seconds


class SpecificTransfers:
    """Specific transfer rules; the rows of ``ends`` are (from stop, to stop).

    The rows of ``sides`` are (arriving route, arriving trip, departing route, departing trip), where -1 means any.
    """

    def __init__(self, timetable: Timetable, rows: Int64) -> None:
        def join(*names: str) -> Int64:
            columns = [getattr(timetable, f"specific_transfer_{name}")[rows] for name in names]
            return np.column_stack(columns).astype(np.int64)

        self.seconds, self.metres = timetable.specific_transfer_s[rows], timetable.specific_transfer_m[rows]
        self.ends = join("from_stop", "to_stop")
        self.sides = join("from_route", "from_trip", "to_route", "to_trip")
        # Larger than any route or trip row, so that a stop and such a row can be encoded as one number.
        self._base = 1 + max(len(timetable.trip_route), len(timetable.route_type))

    def find_kinds(self, stop_times: StopTimesWithRules) -> Int64:
        """For each stop time, return its stop, and its routes and trips as in ``sides`` (-1 if no rule names them)."""
        kinds = [stop_times.stop]
        for side, row in enumerate((stop_times.route, stop_times.trip, stop_times.route, stop_times.trip)):
            is_named = self.sides[:, side] >= 0
            named = (self.ends[:, side // 2] * self._base + self.sides[:, side])[is_named]
            kinds.append(np.where((row >= 0) & np.isin(stop_times.stop * self._base + row, named), row, -1))
        return np.column_stack(kinds)

    def list_by_pair(self, is_split: Bool) -> dict[tuple[int, int], tuple[int, ...]]:
        """Return the rules that can apply to each pair of stops if the marked stops are split, most specific last."""
        needs_split = [(self.sides[:, side : side + 2] >= 0).any(axis=1) for side in (0, 2)]
        can_apply = (~needs_split[0] | is_split[self.ends[:, 0]]) & (~needs_split[1] | is_split[self.ends[:, 1]])
        return group_rows([(begin, end) for begin, end in self.ends.tolist()], np.flatnonzero(can_apply).tolist())


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchStops:
    """The stops used by a search, and the footpaths from them.

    Stops have the same rows as in the timetable; ``copy[copy_first[s] : copy_first[s + 1]]`` holds stop s and its
    copies.
    """

    paths: PathsOfStops
    change_s: Int32
    copy_first: Int64 | None = None
    copy: Int32 | None = None

    def expand(self, walks: StopWalks) -> StopWalks:
        """Repeat each walk for every copy of its stop."""
        if self.copy_first is None or self.copy is None:
            return walks
        first, end = self.copy_first[walks.stop], self.copy_first[walks.stop + 1]
        position, row = list_ranges(first, end - first)
        return take_rows(walks, position)._replace(stop=self.copy[row])


def split_stops(timetable: Timetable, instances: TripInstances, overlay: Overlay) -> tuple[TripInstances, SearchStops]:
    first, target, seconds, metres, _ = timetable.footpaths
    paths = PathsOfStops(first.view(np.uint32), target.view(np.uint32), seconds, metres)
    unsplit = SearchStops(paths=paths, change_s=timetable.change_s)
    if not len(timetable.specific_transfer_s):
        return instances, unsplit
    instances = instances.unshare_all()
    stop_times = list_stop_times_with_rules(timetable, instances, overlay)
    rules = SpecificTransfers(timetable, list_effective_rules(timetable, stop_times))
    kind = rules.find_kinds(stop_times)
    is_named = (kind[:, 1:] >= 0).any(axis=1)
    if not is_named.any():
        return instances, unsplit
    kinds, kind_row = np.unique(kind[is_named], axis=0, return_inverse=True)
    instances.stop_times.stop[stop_times.row[is_named]] = timetable.stop_count + kind_row.reshape(-1)
    return instances, _link_copies(timetable, rules, kinds)


def _link_copies(timetable: Timetable, rules: SpecificTransfers, kinds: Int64) -> SearchStops:
    count = timetable.stop_count
    total = timetable.stop_count + len(kinds)
    # Kinds are sorted by stop, so a stable sort puts each stop before its copies.
    stop_of_copy = np.concatenate([np.arange(count), kinds[:, 0]])
    copy = np.argsort(stop_of_copy, kind="stable").astype(np.int32)
    size = np.bincount(stop_of_copy, minlength=count)
    copy_first = list_starts(size)
    # The first copy of a stop is for stop times to which no specific rule applies.
    numbers = np.concatenate([np.full((count, 4), -1, np.int64), kinds[:, 1:]])

    paths = timetable.footpaths
    origin = np.repeat(np.arange(count), np.diff(paths.first))
    is_split = size > 1
    is_unchanged = ~(is_split[origin] | is_split[paths.to])
    usual = np.column_stack([origin, paths.to, paths.seconds, paths.metres])
    links = [usual[is_unchanged]]
    base = {(begin, end): (seconds, metres) for begin, end, seconds, metres in usual[~is_unchanged].tolist()}
    base |= {(stop, stop): (int(timetable.change_s[stop]), 0) for stop in np.flatnonzero(is_split).tolist()}
    by_pair = rules.list_by_pair(is_split)
    change_s = np.concatenate([timetable.change_s, np.full(len(kinds), -1, np.int32)])
    for from_stop, to_stop in sorted({*base, *by_pair}):
        begin = copy[copy_first[from_stop] : copy_first[from_stop + 1]]
        end = copy[copy_first[to_stop] : copy_first[to_stop + 1]]
        seconds, metres = base.get((from_stop, to_stop), (-1, 0))
        transfer_s = np.full((len(begin), len(end)), seconds, np.int64)
        for rule in by_pair.get((from_stop, to_stop), ()):
            side = rules.sides[rule]
            matches_from = ((side[:2] < 0) | (numbers[begin, :2] == side[:2])).all(axis=1)
            matches_to = ((side[2:] < 0) | (numbers[end, 2:] == side[2:])).all(axis=1)
            transfer_s[np.ix_(matches_from, matches_to)] = rules.seconds[rule]
            metres = int(rules.metres[rule])
        if from_stop == to_stop:
            change_s[begin] = np.diagonal(transfer_s)
            np.fill_diagonal(transfer_s, -1)
        row, column = np.nonzero(transfer_s >= 0)
        links.append(np.column_stack([begin[row], end[column], transfer_s[row, column], np.full(len(row), metres)]))
    rows = np.concatenate(links)
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))].astype(np.int32)
    first_row = list_starts(np.bincount(rows[:, 0], minlength=total)).astype(np.uint32)
    return SearchStops(
        paths=PathsOfStops(first_row, rows[:, 1].astype(np.uint32), rows[:, 2].copy(), rows[:, 3].copy()),
        change_s=change_s.astype(np.int32),
        copy_first=copy_first,
        copy=copy,
    )
