"""Footpaths between stops: walks, the transfer rules of feeds, and detours around closed parts of stations."""

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.columns import NO_INT32, join_rows, list_starts, take_rows
from fingerpost.transit.engine.timetable.draft import SpecificTransferColumns, TransferColumns
from fingerpost.transit.engine.timetable.station_ways import find_change_s, get_places
from fingerpost.transit.engine.timetable.timetable import (
    FORBIDDEN,
    MINIMUM_TIME,
    STOP,
    TIMED,
    Bool,
    Footpaths,
    Int8,
    Int32,
    Int64,
    Timetable,
)
from fingerpost.transit.engine.timetable.walks import CHANGE_SLACK_S, Walks, straight_line_m


class Footpath(NamedTuple):
    """One footpath, as in ``Footpaths``; ``has_steps`` is true if a step-free one was requested but none exists."""

    seconds: int
    metres: int
    walk_s: int
    has_steps: bool = False


def find_footpath(timetable: Timetable, begin: int, end: int, *, step_free: bool) -> Footpath | None:
    """Return the footpath between two stops (rows), preferably without steps if ``step_free``."""
    is_step_free = step_free and len(timetable.step_free_footpaths.first)
    paths = timetable.step_free_footpaths if is_step_free else timetable.footpaths
    first, last = paths.first.item(begin), paths.first.item(begin + 1)
    ends = paths.to[first:last].tolist()
    if end not in ends:
        usual = find_footpath(timetable, begin, end, step_free=False) if is_step_free else None
        return None if usual is None else usual._replace(has_steps=True)
    row = first + ends.index(end)
    return Footpath(paths.seconds.item(row), paths.metres.item(row), paths.walk_s.item(row))


def use_step_free_footpaths(timetable: Timetable) -> Timetable:
    """Return a timetable for step-free searches, whose specific transfers take the detours around steps."""
    if not len(timetable.step_free_footpaths.first):
        return timetable
    ends = timetable.specific_transfer_from_stop, timetable.specific_transfer_to_stop
    usual_s, step_free_s = (find_change_s(get_places(timetable), *ends, step_free=flag) for flag in (False, True))
    detour_s = np.where(usual_s >= 0, np.maximum(step_free_s - usual_s, 0), 0)
    is_impossible = (timetable.specific_transfer_s < 0) | ((usual_s >= 0) & (step_free_s < 0))
    transfer_s = np.where(is_impossible, -1, timetable.specific_transfer_s + detour_s).astype(np.int32)
    return replace(timetable, footpaths=timetable.step_free_footpaths, specific_transfer_s=transfer_s)


class _PathColumns(NamedTuple):
    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    seconds: Int32
    metres: Int32
    walk_s: Int32

    def mark_common(self, other_paths: "_PathColumns", count: int) -> Bool:
        """For each path, whether ``other_paths`` has one between the same stops."""
        return np.isin(self.begin * count + self.end, other_paths.begin * count + other_paths.end)

    def drop_common(self, other_paths: "_PathColumns", count: int) -> "_PathColumns":
        return take_rows(self, ~self.mark_common(other_paths, count))


StationChanges = tuple[Int32, Int32, Int32]
"""Changes along pathways: (from, to, seconds) in ascending order; -1 means impossible."""


def compute_transfer_times(
    walks: Walks,
    parents: Int32,
    rules: TransferColumns | SpecificTransferColumns,
    pathways: StationChanges,
    *,
    step_free: bool = False,
) -> tuple[Int32, Int32, Int32]:
    """Return each rule's transfer time (-1: forbidden), distance in metres and walking time; times are in seconds.

    Pathways override walks. A minimum time overrides pathways, unless ``step_free`` pathways take longer, because
    minimum times are those of typical riders.
    """
    begin, end = rules.from_stop.astype(np.int64), rules.to_stop.astype(np.int64)
    links, count = walks.measure(begin, end), len(parents)
    # The last row, which no pair matches, is for pairs after all pathways.
    indoor = np.append(pathways[0].astype(np.int64) * count + pathways[1], np.iinfo(np.int64).max)
    row = np.searchsorted(indoor, begin * count + end)
    is_indoor = indoor[row] == begin * count + end
    walk_s = np.where(is_indoor, np.append(pathways[2], 0)[row], links.seconds).astype(np.int32)
    transfer_s = walk_s + np.where(rules.type == TIMED, 0, links.find_slack_s(parents))
    least_s = np.where(is_indoor & step_free, np.maximum(rules.min_s, walk_s), rules.min_s)
    transfer_s = np.where((rules.type == MINIMUM_TIME) & (rules.min_s >= 0), least_s, transfer_s)
    is_impossible = (rules.type == FORBIDDEN) | (walk_s < 0)
    return np.where(is_impossible, -1, transfer_s).astype(np.int32), links.metres, walk_s


def build_footpaths(
    walks: Walks,
    kinds: Int8,
    parents: Int32,
    rules: TransferColumns,
    pathways: StationChanges = (NO_INT32, NO_INT32, NO_INT32),
    *,
    step_free: bool = False,
) -> tuple[Footpaths, Int32]:
    """Build footpaths: walks between nearby stops, overridden by the transfer rules of feeds.

    Return the footpaths, and the transfer time at each stop, in seconds. A recommended transfer (type 0) takes the
    walking time plus slack. A timed transfer (1) takes only the walking time, because the connecting trip waits. A
    minimum time (2) is used as given (see ``compute_transfer_times``). A forbidden transfer (3) removes the link. If
    several rules match the same ordered pair, the last one applies.
    """
    count = len(kinds)
    links = _list_walks(walks, np.flatnonzero(kinds == STOP), parents)
    if len(pathways[0]):
        ways = walks.measure(pathways[0].astype(np.int64), pathways[1].astype(np.int64))
        transfer_s = pathways[2] + np.int32(CHANGE_SLACK_S)
        station_paths = _PathColumns(ways.begin, ways.end, transfer_s, ways.metres, pathways[2])
        links = join_rows(links.drop_common(station_paths, count), take_rows(station_paths, pathways[2] >= 0))
    change_s = np.full(count, CHANGE_SLACK_S, np.int32)
    if len(rules.from_stop):
        pairs = rules.from_stop.astype(np.int64) * count + rules.to_stop
        last = len(pairs) - 1 - np.unique(pairs[::-1], return_index=True)[1]
        rules = take_rows(rules, last)
        transfer_s, metres, walk_s = compute_transfer_times(walks, parents, rules, pathways, step_free=step_free)
        begin, end = rules.from_stop.astype(np.int64), rules.to_stop.astype(np.int64)
        is_same_stop = begin == end
        change_s[begin[is_same_stop]] = transfer_s[is_same_stop]
        rule_paths = _PathColumns(begin, end, transfer_s, metres, walk_s)
        links = links.drop_common(take_rows(rule_paths, ~is_same_stop), count)
        links = join_rows(links, take_rows(rule_paths, ~is_same_stop & (transfer_s >= 0)))
    return _build_table(links, count), change_s


def _list_walks(walks: Walks, stops: Int64, parents: Int32) -> _PathColumns:
    walked = walks.list_links(stops)
    seconds = (walked.seconds + walked.find_slack_s(parents)).astype(np.int32)
    return _PathColumns(walked.begin, walked.end, seconds, walked.metres, walked.seconds)


def _build_table(links: _PathColumns, count: int) -> Footpaths:
    order = np.lexsort((links.end, links.seconds, links.begin))
    return Footpaths(
        first=list_starts(np.bincount(links.begin, minlength=count)).astype(np.int32),
        to=links.end[order].astype(np.int32),
        seconds=links.seconds[order].astype(np.int32),
        metres=links.metres[order].astype(np.int32),
        walk_s=links.walk_s[order].astype(np.int32),
    )


# Closures further than this from a stop do not affect transfers there.
_CLOSURE_RADIUS_M = 700.0


def avoid_closed_ways(
    timetable: Timetable,
    walks: Walks,
    places: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]],
    closed: Collection[int],
    *,
    step_free: bool,
) -> Timetable:
    """Return a timetable whose footpaths (the step-free ones if ``step_free``) avoid closed parts of stations.

    ``walks`` must avoid the closed parts too. ``closed`` holds the rows of the closed parts, and ``places`` holds the
    positions of these parts in degrees.
    """
    is_step_free = step_free and len(timetable.step_free_footpaths.first)
    first, to, *others = timetable.step_free_footpaths if is_step_free else timetable.footpaths
    count, stations = timetable.stop_count, timetable.stop_parent
    paths = _PathColumns(np.repeat(np.arange(count), np.diff(first)), to.astype(np.int64), *others)
    is_near = np.zeros(count, np.bool_)
    for lat, lon in zip(*(place.tolist() for place in places), strict=True):
        is_near |= straight_line_m(lat, lon, timetable.stop_lat, timetable.stop_lon) <= _CLOSURE_RADIUS_M
    is_affected = is_near[paths.begin] & is_near[paths.end]
    is_indoor = is_affected & (stations[paths.begin] == stations[paths.end]) & (stations[paths.begin] >= 0)
    indoor = take_rows(paths, is_indoor)
    open_s, detour_s = (
        find_change_s(get_places(timetable), indoor.begin, indoor.end, step_free=step_free, closed=excluded)
        for excluded in ((), closed)
    )
    # Indoor transfers follow pathways inside a station; all others are outdoor walks.
    is_indoor[is_indoor] = open_s >= 0
    extra_s = detour_s - open_s
    detours = take_rows(
        indoor._replace(seconds=indoor.seconds + extra_s, walk_s=indoor.walk_s + extra_s),
        (open_s >= 0) & (detour_s >= 0),
    )
    # A feed's transfer rule overrides measured walks.
    rule_pairs = timetable.transfer_from.astype(np.int64) * count + timetable.transfer_to
    is_outdoor = is_affected & ~is_indoor & ~np.isin(paths.begin * count + paths.end, rule_pairs)
    if not (is_indoor | is_outdoor).any():
        return timetable
    walked = _list_walks(walks, np.flatnonzero(is_near & (timetable.stop_kind == STOP)), stations)
    walked = take_rows(walked, walked.mark_common(take_rows(paths, is_outdoor), count))
    remaining = take_rows(paths, ~(is_indoor | is_outdoor))
    table = _build_table(join_rows(join_rows(remaining, detours), walked), count)
    return replace(timetable, step_free_footpaths=table) if is_step_free else replace(timetable, footpaths=table)
