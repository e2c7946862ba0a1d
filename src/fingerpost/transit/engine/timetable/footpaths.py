"""Footpaths between stops: the walks, what the feeds say about changing, and ways around what is closed in stations."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.columns import starts_of, take_rows
from fingerpost.transit.engine.timetable.draft import TransferColumns
from fingerpost.transit.engine.timetable.station_ways import StationPlaces, find_change_s, get_places
from fingerpost.transit.engine.timetable.timetable import (
    FORBIDDEN,
    MINIMUM_TIME,
    STOP,
    TIMED,
    Bool,
    Int8,
    Int32,
    Int64,
    Timetable,
)
from fingerpost.transit.engine.timetable.walking import CHANGE_SLACK_S, STRAIGHT_SLACK_S, straight_line_m
from fingerpost.transit.engine.timetable.walks import StopLinks, Walks


class Footpaths(NamedTuple):
    """Footpaths of every stop in rows, as the timetable keeps them: those of one stop by how long they take.

    ``walk_s`` are the seconds on foot alone; ``seconds`` are those from alighting to being ready to board.
    """

    first: Int32
    to: Int32
    seconds: Int32
    metres: Int32
    walk_s: Int32
    change_s: Int32


def with_step_free_footpaths(timetable: Timetable) -> Timetable:
    """Return a timetable in which changes on foot have no steps, itself where steps are not known."""
    if not len(timetable.step_free_foot_first):
        return timetable
    return replace(timetable, **foot_columns("foot_", _list_foot_columns(timetable, "step_free_foot_")))


_COLUMNS = ("first", "to", "s", "m", "walk_s")


def foot_columns(prefix: str, columns: Iterable[Int32]) -> dict[str, Any]:
    """Return the columns of footpaths, in the order of ``Footpaths``, by their names in a timetable."""
    return {prefix + name: column for name, column in zip(_COLUMNS, columns, strict=False)}


def _list_foot_columns(timetable: Timetable, prefix: str) -> list[Int32]:
    return [getattr(timetable, prefix + name) for name in _COLUMNS]


class Footpath(NamedTuple):
    """One footpath: seconds from alighting to being ready to board, metres, and seconds on foot alone.

    ``has_steps`` where it was asked for without steps and there is none.
    """

    seconds: int
    metres: int
    walk_s: int
    has_steps: bool = False


def find_footpath(timetable: Timetable, begin: int, end: int, *, step_free: bool) -> Footpath | None:
    """Return the footpath from one stop (row) to another, None where they are not linked.

    A way without steps, where one is asked for and steps are known; else the usual one.
    """
    table = with_step_free_footpaths(timetable) if step_free else timetable
    first, last = int(table.foot_first[begin]), int(table.foot_first[begin + 1])
    rows = np.flatnonzero(table.foot_to[first:last] == end)
    if not len(rows):
        usual = find_footpath(timetable, begin, end, step_free=False) if table is not timetable else None
        return None if usual is None else usual._replace(has_steps=True)
    row = first + int(rows[0])
    return Footpath(int(table.foot_s[row]), int(table.foot_m[row]), int(table.foot_walk_s[row]))


class _PathColumns(NamedTuple):
    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    seconds: Int32
    metres: Int32
    walk_s: Int32

    def without(self, others: "_PathColumns", count: int) -> "_PathColumns":
        return take_rows(self, ~np.isin(self.begin * count + self.end, others.begin * count + others.end))

    def joined(self, others: "_PathColumns") -> "_PathColumns":
        columns: Iterator[tuple[Any, Any]] = zip(self, others, strict=True)
        return _PathColumns._make(np.concatenate(pair) for pair in columns)


def change_times(walks: Walks, parents: Int32, rules: TransferColumns) -> tuple[Int32, Int32, Int32]:
    """Return, for each transfer rule, how long the change takes, and the metres and seconds walked.

    It takes the seconds from alighting to being ready to board, -1 where it is forbidden; what each type means is said
    at ``footpaths``.
    """
    walked = walks.measure(rules.from_stop.astype(np.int64), rules.to_stop.astype(np.int64))
    taken_s = walked.seconds + np.where(rules.type == TIMED, 0, _slack_s(walked, parents))
    taken_s = np.where((rules.type == MINIMUM_TIME) & (rules.min_s >= 0), rules.min_s, taken_s)
    return np.where(rules.type == FORBIDDEN, -1, taken_s).astype(np.int32), walked.metres, walked.seconds


def _slack_s(links: StopLinks, parents: Int32) -> Int32:
    """Return the seconds of a change beyond its walk: more where only the straight line between two places is known."""
    begin, end = links.begin, links.end
    is_one_place = (begin == end) | ((parents[begin] == parents[end]) & (parents[begin] >= 0))
    slack_s: Int32 = CHANGE_SLACK_S + np.where(links.is_straight & ~is_one_place, STRAIGHT_SLACK_S, 0)
    return slack_s


def footpaths(
    walks: Walks,
    kinds: Int8,
    parents: Int32,
    rules: TransferColumns,
    pathways: tuple[Int32, Int32, Int32] | None = None,
) -> Footpaths:
    """Link stops on foot: all pairs near enough, and the feeds' own transfers, which override them.

    ``parents`` are the stations of stops, -1 for none.
    ``pathways`` are (from, to, seconds) of pairs that lie in one station: they take that time and the slack, whatever
    the walk outside is, unless a transfer speaks of them; those whose seconds are -1 are not linked.
    A recommended transfer (type 0) without a stated time takes the walk and the slack; a timed one (1) the
    walk alone, for the connecting trip waits; a minimum time (2) is taken as stated; a forbidden one (3) is removed.
    Of several rules for one ordered pair the last holds.
    """
    count = len(kinds)
    walked = walks.list_links(np.flatnonzero(kinds == STOP))
    seconds = (walked.seconds + _slack_s(walked, parents)).astype(np.int32)
    links = _PathColumns(walked.begin, walked.end, seconds, walked.metres, walked.seconds)
    if pathways is not None and len(pathways[0]):
        inside = walks.measure(pathways[0].astype(np.int64), pathways[1].astype(np.int64))
        taken_s = pathways[2] + np.int32(CHANGE_SLACK_S)
        own = _PathColumns(inside.begin, inside.end, taken_s, inside.metres, inside.seconds)
        links = links.without(own, count).joined(take_rows(own, pathways[2] >= 0))
    change_s = np.full(count, CHANGE_SLACK_S, np.int32)
    if len(rules.from_stop):
        pairs = rules.from_stop.astype(np.int64) * count + rules.to_stop
        last = len(pairs) - 1 - np.unique(pairs[::-1], return_index=True)[1]
        rules = take_rows(rules, last)
        taken_s, metres, walk_s = change_times(walks, parents, rules)
        begin, end = rules.from_stop.astype(np.int64), rules.to_stop.astype(np.int64)
        same = begin == end
        change_s[begin[same]] = taken_s[same]
        ruled = _PathColumns(begin, end, taken_s, metres, walk_s)
        links = links.without(take_rows(ruled, ~same), count)
        links = links.joined(take_rows(ruled, ~same & (rules.type != FORBIDDEN)))
    order = np.lexsort((links.end, links.seconds, links.begin))
    return Footpaths(
        first=starts_of(np.bincount(links.begin, minlength=count)).astype(np.int32),
        to=links.end[order].astype(np.int32),
        seconds=links.seconds[order].astype(np.int32),
        metres=links.metres[order].astype(np.int32),
        walk_s=links.walk_s[order].astype(np.int32),
        change_s=change_s,
    )


# What is closed further away than this from a stop lies on no change to or from it.
_NEAR_M = 700.0


def without_closed_ways(
    timetable: Timetable,
    walks: Walks,
    places: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]],
    closed: Collection[int],
    *,
    step_free: bool,
) -> Timetable:
    """Return a timetable whose changes on foot go round what is closed; those that cannot are left out.

    Args:
        timetable: with its usual footpaths, or those without steps where ``step_free``.
        walks: those of riders who do not pass what is closed.
        places: where that is, in degrees.
        closed: entrances and passages of stations among it (rows).
        step_free: which of the footpaths are changed.
    """
    prefix = "step_free_foot_" if step_free and len(timetable.step_free_foot_first) else "foot_"
    first, to, taken_s, metres, walk_s = _list_foot_columns(timetable, prefix)
    begin = np.repeat(np.arange(timetable.stop_count), np.diff(first))
    end = to.astype(np.int64)
    near = _is_near(timetable, places)
    at = np.flatnonzero(near[begin] & near[end] & ~_is_stated(timetable, begin, end))
    if not len(at):
        return timetable
    taken_s, metres, walk_s = taken_s.copy(), metres.copy(), walk_s.copy()
    keep = np.ones(len(to), np.bool_)
    inside = _find_inside(get_places(timetable), begin[at], end[at], closed, step_free=step_free)
    is_inside = inside[0] >= 0
    rows = at[is_inside]
    keep[rows] = inside[1][is_inside] >= 0
    taken_s[rows] = np.where(keep[rows], inside[1][is_inside] + CHANGE_SLACK_S, taken_s[rows])
    at = at[~is_inside]
    links = walks.list_links(np.flatnonzero(near & (timetable.stop_kind == STOP)))
    order = np.argsort(links.begin * timetable.stop_count + links.end)
    known = (links.begin * timetable.stop_count + links.end)[order]
    wanted = begin[at] * timetable.stop_count + end[at]
    found = np.minimum(np.searchsorted(known, wanted), max(0, len(known) - 1))
    keep[at] = known[found] == wanted if len(known) else False
    kept, link = at[keep[at]], order[found[keep[at]]]
    taken_s[kept] += links.seconds[link] - walk_s[kept]
    metres[kept], walk_s[kept] = links.metres[link], links.seconds[link]
    order = np.flatnonzero(keep)
    order = order[np.lexsort((end[order], taken_s[order], begin[order]))]
    starts = starts_of(np.bincount(begin[order], minlength=timetable.stop_count)).astype(np.int32)
    columns = (starts, to[order], taken_s[order], metres[order], walk_s[order])
    return replace(timetable, **foot_columns(prefix, columns))


def _is_near(timetable: Timetable, places: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]) -> Bool:
    near = np.zeros(timetable.stop_count, np.bool_)
    for lat, lon in zip(*(each.tolist() for each in places), strict=True):
        near |= straight_line_m(lat, lon, timetable.stop_lat, timetable.stop_lon) <= _NEAR_M
    return near


def _is_stated(timetable: Timetable, begin: Int64, end: Int64) -> Bool:
    """Return of which pairs of stops a transfer speaks: what feeds state stands above what is walked."""
    count = timetable.stop_count
    stated = timetable.transfer_from.astype(np.int64) * count + timetable.transfer_to
    return np.isin(begin * count + end, stated)


def _find_inside(
    places: StationPlaces, begin: Int64, end: Int64, closed: Collection[int], *, step_free: bool
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return how long changes inside stations take by pathways, first with everything open; -1: there is none."""
    parents = places.parents
    one_station = (parents[begin] == parents[end]) & (parents[begin] >= 0)
    pairs = begin[one_station], end[one_station]
    both = []
    for shut in ((), closed):
        taken_s = np.full(len(begin), -1, np.int32)
        taken_s[one_station] = find_change_s(places, *pairs, step_free=step_free, closed=shut)
        both.append(taken_s)
    return both[0], both[1]
