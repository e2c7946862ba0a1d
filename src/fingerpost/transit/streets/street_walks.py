"""Walks along streets, with the straight line where the extract has none."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from fingerpost.transit.streets.graph import STEPS, StreetGraph
from fingerpost.transit.streets.search import StreetSearch, Walked
from fingerpost.transit.streets.snapping import SegmentGrid, Snapped, snap_to_streets
from fingerpost.transit.streets.stop_matching import MATCHED_M
from fingerpost.transit.streets.walking_profile import WalkingProfile, weigh
from fingerpost.transit.timetable.timetable import STOP, Float64, Int32, Int64
from fingerpost.transit.timetable.walking import DETOUR_FACTOR, FOOTPATH_RADIUS_M, neighbours_m
from fingerpost.transit.timetable.walks import StopLinks, StopWalks, StraightLine, Walk, WalkedStops

# Two stops further apart than this on the streets are not linked on foot.
LINK_M = FOOTPATH_RADIUS_M * DETOUR_FACTOR
# What a feed links is measured up to here on the streets, and beyond in a straight line.
MEASURED_M = 3000.0


class StreetWalks:
    """Walks along the streets for one way of walking; see the port.

    A walk counts the straight way from a point to its street too. Where a point is off the streets of the extract,
    its walks go in a straight line. ``places`` are where stops meet the streets, in degrees, if not where they are;
    at most ``MATCHED_M`` away.
    """

    def __init__(
        self,
        graph: StreetGraph,
        grid: SegmentGrid,
        stops: WalkedStops,
        profile: WalkingProfile,
        *,
        places: tuple[Float64, Float64] | None = None,
    ) -> None:
        self._graph, self._grid, self._profile = graph, grid, profile
        self._refused = STEPS if profile.step_free else 0
        self._search = StreetSearch(graph, weigh(graph, profile))
        self._stops = stops
        self._straight = StraightLine(stops.lats, stops.lons)
        self._places = places or (stops.lats, stops.lons)
        self._snapped = self._snap(*self._places)
        # A question asks several times where its ends are.
        self._snap_point = lru_cache(maxsize=16)(self._find_nearest)

    @property
    def covered_stops(self) -> int:
        """How many stops that one can board at stand near a street."""
        return int(((self._snapped.edge >= 0) & (self._stops.kinds == STOP)).sum())

    def covers(self, lat: float, lon: float) -> bool:
        """Whether a point is near a street."""
        return bool(self._snap_point(lat, lon).edge[0] >= 0)

    def list_links(self, stops: Int64) -> StopLinks:
        """Return the walks between stops that are near enough on the streets; see the port."""
        begin, end, _ = neighbours_m(self._stops.lats, self._stops.lons, stops, LINK_M)
        on_streets = (self._snapped.edge[begin] >= 0) & (self._snapped.edge[end] >= 0)
        linked = self.measure_on_streets(begin[on_streets], end[on_streets], LINK_M)
        near = _select(linked, linked.metres >= 0)
        straight = self._straight.list_links(stops)
        off = (self._snapped.edge[straight.begin] < 0) | (self._snapped.edge[straight.end] < 0)
        return _join(near, _select(straight, off))

    def measure(self, begin: Int64, end: Int64) -> StopLinks:
        """Return the walk of each pair of stops; see the port."""
        straight = self._straight.measure(begin, end)
        walked = self.measure_on_streets(begin, end, MEASURED_M)
        known = walked.metres >= 0
        return StopLinks(
            walked.begin,
            walked.end,
            np.where(known, walked.metres, straight.metres).astype(np.int32),
            np.where(known, walked.seconds, straight.seconds).astype(np.int32),
            ~known,
        )

    def reach(self, lat: float, lon: float, stops: Int64, max_walk_m: float, *, from_stops: bool) -> StopWalks:
        """Return the walks to the stops around a point; see the port."""
        point = self._snap_point(lat, lon)
        if point.edge[0] < 0:
            return self._straight.reach(lat, lon, stops, max_walk_m, from_stops=from_stops)
        near = self._straight.list_near(lat, lon, stops, max_walk_m + MATCHED_M)
        is_on = self._snapped.edge[near] >= 0
        on_streets = near[is_on]
        walked = self._search.measure(point, self._snapped.select(on_streets), max_walk_m, backward=from_stops)
        away_m = self._snapped.away_m[on_streets] + float(point.away_m[0])
        metres, seconds = self._whole(walked, away_m)
        within = (metres >= 0) & (metres <= max_walk_m)
        found = StopWalks(on_streets[within].astype(np.int32), metres[within], seconds[within])
        if is_on.all():
            return found
        off = self._straight.reach(lat, lon, near[~is_on], max_walk_m, from_stops=from_stops)
        return StopWalks(*(np.concatenate(pair) for pair in zip(found, off, strict=True)))

    def find_walk(self, start: tuple[float, float], end: tuple[float, float], max_walk_m: float) -> Walk | None:
        """Return the walk between two points; see the port."""
        straight = self._straight.find_walk(start, end, max_walk_m * DETOUR_FACTOR)
        if straight is None:
            return None
        first, last = self._snap_point(*start), self._snap_point(*end)
        if first.edge[0] < 0 or last.edge[0] < 0:
            return straight if straight.metres <= max_walk_m else None
        walked = self._search.measure_one(first, last, max_walk_m)
        metres, seconds = self._whole(walked, first.away_m + last.away_m)
        return Walk(int(metres[0]), int(seconds[0])) if 0 <= metres[0] <= max_walk_m else None

    def find_line(self, start: tuple[float, float], end: tuple[float, float]) -> Float64 | None:
        """Return the line of a walk as (latitude, longitude) in degrees, None where it goes in a straight line."""
        first, last = self._snap_point(*start), self._snap_point(*end)
        if first.edge[0] < 0 or last.edge[0] < 0:
            return None
        line = self._search.find_line(first, last, 2 * MEASURED_M)
        return None if line is None else np.vstack([start, line, end])

    def measure_on_streets(self, begin: Int64, end: Int64, limit_m: float) -> StopLinks:
        """Measure the walk of each pair of stops on the streets; -1 metres where there is none within the limit."""
        metres, seconds = np.full(len(begin), -1, np.int32), np.zeros(len(begin), np.int32)
        order = np.argsort(begin, kind="stable")
        origins, first = np.unique(begin[order], return_index=True)
        for rows in np.split(order, first[1:]) if len(origins) else ():
            start, goals = self._snapped.select(begin[rows[:1]]), self._snapped.select(end[rows])
            if start.edge[0] < 0:
                continue
            walked = self._search.measure(start, goals, limit_m)
            metres[rows], seconds[rows] = self._whole(walked, goals.away_m + float(start.away_m[0]))
        same = begin == end
        metres[same], seconds[same] = 0, 0
        metres[metres > limit_m] = -1
        return StopLinks(begin, end, metres, seconds, np.zeros(len(begin), np.bool_))

    def _whole(self, walked: Walked, away_m: Float64) -> tuple[Int32, Int32]:
        """Return whole metres, -1 where there is no walk, and whole seconds, the ways to the streets included."""
        found = walked.metres >= 0
        away_m = np.where(found, away_m, 0.0)
        metres = np.where(found, np.ceil(walked.metres + away_m), -1.0)
        seconds = np.ceil(walked.seconds + away_m / self._profile.pace_m_per_s)
        return metres.astype(np.int32), np.where(found, seconds, 0.0).astype(np.int32)

    def _find_nearest(self, lat: float, lon: float) -> Snapped:
        return self._snap(np.array([lat]), np.array([lon]))

    def _snap(self, lats: Float64, lons: Float64) -> Snapped:
        return snap_to_streets(self._graph, self._grid, lats, lons, refused=self._refused)

    def without_steps(self) -> "StreetWalks":
        """Return the walks of who needs ways without steps."""
        profile = replace(self._profile, step_free=True)
        return StreetWalks(self._graph, self._grid, self._stops, profile, places=self._places)


def _select(links: StopLinks, keep: npt.NDArray[np.bool_]) -> StopLinks:
    return StopLinks._make(column[keep] for column in links)


def _join(one: StopLinks, other: StopLinks) -> StopLinks:
    columns: Iterator[tuple[Any, Any]] = zip(one, other, strict=True)
    return StopLinks._make(np.concatenate(pair) for pair in columns)
