"""Changes on foot while entrances, passages and lifts of stations are closed."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.columns import starts_of
from fingerpost.transit.engine.timetable.station_ways import StationPlaces, find_change_s, get_places
from fingerpost.transit.engine.timetable.timetable import STOP, Int64, Timetable
from fingerpost.transit.engine.timetable.walking import CHANGE_SLACK_S, straight_line_m
from fingerpost.transit.engine.timetable.walks import Walks

# What is closed further away than this from a stop lies on no change to or from it.
_NEAR_M = 700.0
_COLUMNS = ("first", "to", "s", "m", "walk_s")


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
    first, to, taken_s, metres, walk_s = (getattr(timetable, prefix + name) for name in _COLUMNS)
    begin = np.repeat(np.arange(timetable.stop_count), np.diff(first))
    end = to.astype(np.int64)
    near = _is_near(timetable, places)
    at = np.flatnonzero(near[begin] & near[end] & ~_is_stated(timetable, begin, end))
    if not len(at) or len(walk_s) != len(to):
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
    return replace(timetable, **{prefix + name: column for name, column in zip(_COLUMNS, columns, strict=True)})


def _is_near(
    timetable: Timetable, places: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
) -> npt.NDArray[np.bool_]:
    near = np.zeros(timetable.stop_count, np.bool_)
    for lat, lon in zip(*(each.tolist() for each in places), strict=True):
        near |= straight_line_m(lat, lon, timetable.stop_lat, timetable.stop_lon) <= _NEAR_M
    return near


def _is_stated(timetable: Timetable, begin: Int64, end: Int64) -> npt.NDArray[np.bool_]:
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
