"""Search for walks between points and stops along streets; use straight lines where there are no streets."""

import math
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from fingerpost.transit.engine.timetable.columns import join_rows, take_rows
from fingerpost.transit.engine.timetable.timetable import STOP, Bool, Float64, Int32, Int64, StationPlaces
from fingerpost.transit.engine.timetable.walks import (
    DETOUR_FACTOR,
    FOOTPATH_RADIUS_M,
    PACE_M_PER_S,
    StopLinks,
    StopWalks,
    StraightLine,
    Walk,
    find_neighbours,
)
from fingerpost.transit.model.geodesy import Point
from fingerpost.transit.osm.streets import kernel
from fingerpost.transit.osm.streets.graph import (
    CUT_OFF,
    DEGREES_E7,
    ONE_WAY,
    UNDERGROUND,
    UNFIT,
    UNKNOWN_KERB,
    StreetGraph,
    UInt32,
    Weights,
    compute_weights,
)
from fingerpost.transit.osm.streets.snapping import SegmentGrid, Snapped, snap_pin, snap_to_streets
from fingerpost.transit.osm.streets.stop_access import MATCHED_M, StopAccess, close_entrances


class Work(NamedTuple):
    """Scratch memory of a search: labels of states (cost, seconds, metres, ARRIVAL), touched states, and the queue.

    ``bucket`` holds the first entry of each bucket (-1 if empty), and ``entry_next`` holds each entry's successor.
    """

    label: Float64
    touched: UInt32
    bucket: Int32
    entry_cost: Float64
    entry_state: UInt32
    entry_next: Int32


StopEntries = tuple[Int64, Snapped, StopAccess]
"""The first row of each stop, the access points snapped to streets, and the access points in degrees."""


class PathOnStreets(NamedTuple):
    metres: float
    seconds: float
    arcs: list[int]


class StreetSearch:
    def __init__(self, graph: StreetGraph, weights: Weights) -> None:
        self._graph = graph
        self._weights = weights
        self._local = threading.local()

    def reach_stops(
        self, point: Snapped, entries: StopEntries, stops: Int64, limit_m: float, *, backward: bool
    ) -> StopWalks:
        """Return the walks from a point to stops (if ``backward``, the other way), including any off-street parts."""
        found = StopWalks._make(np.empty((3, len(stops)), np.int32))
        position = int(point.edge[0]), float(point.offset_m[0]), float(point.away_m[0])
        count = kernel.reach_stops(
            self._graph, self._weights, self._get_work(), *entries, position, int(backward),
            float(limit_m), PACE_M_PER_S, stops, found,
        )  # fmt: skip
        return StopWalks._make(column[:count] for column in found)

    def locate(self, point: Snapped) -> tuple[float, float]:
        """Return the position (latitude, longitude) of a snapped point on its street."""
        graph, edge = self._graph, int(point.edge[0])
        span = slice(int(graph.shape_first[edge]), int(graph.shape_first[edge + 1]))
        lats, lons = graph.shape_lat_e7[span] / DEGREES_E7, graph.shape_lon_e7[span] / DEGREES_E7
        lat, lon = (np.interp(point.offset_m[0], graph.shape_m[span], degrees) for degrees in (lats, lons))
        return float(lat), float(lon)

    def has_unknown_kerbs(self, path: PathOnStreets) -> bool:
        heads = self._graph.arc_head[path.arcs[:-1]]
        return bool((self._graph.node_flags[heads] & UNKNOWN_KERB != 0).any())

    def measure(self, start: Snapped, goal: Snapped, limit_m: float) -> PathOnStreets | None:
        """Return the walk between two points on streets, or None if there is none within the limit."""
        edge, offset_m = int(start.edge[0]), float(start.offset_m[0])
        if edge < 0 or goal.edge[0] < 0:
            return None
        graph, weights, work = self._graph, self._weights, self._get_work()
        target = int(goal.edge[0]), float(goal.offset_m[0])
        query = graph, weights, work, edge, offset_m, 0, float(limit_m), *target
        touched = kernel.search_nodes(*query)
        _, metres, seconds, arc, state = kernel.measure_goal(*query)
        arcs = [arc]
        while state >= 0:
            arrival = int(work.label[state, kernel.ARRIVAL])
            arc, stage = arrival >> 2, arrival & 3
            arcs.append(arc)
            state = -1 if stage == kernel.START else stage * graph.node_count + int(graph.arc_head[arc ^ 1])
        kernel.reset_labels(work, touched)
        return PathOnStreets(float(metres), float(seconds), arcs[::-1]) if metres >= 0 else None

    def _get_work(self) -> Work:
        work: Work | None = getattr(self._local, "work", None)
        if work is None:
            states = 3 * self._graph.node_count
            # Each state is expanded once: the queue needs an entry per stage and onward arc, and two for the start.
            entries = 3 * len(self._weights.onward_to) + 2
            work = Work(
                label=np.full((states, 4), np.inf),
                touched=np.empty(states, np.uint32),
                bucket=np.full(self._weights.bucket_count, -1, np.int32),
                entry_cost=np.empty(entries),
                entry_state=np.empty(entries, np.uint32),
                entry_next=np.empty(entries, np.int32),
            )
            self._local.work = work
        return work

    def draw(self, arcs: list[int], start_m: float, end_m: float) -> Float64:
        """Return the line of a path, from ``start_m`` along its first edge to ``end_m`` along its last edge."""
        graph = self._graph
        parts = []
        for number, arc in enumerate(arcs):
            edge, is_backward = arc >> 1, arc & 1
            span = slice(int(graph.shape_first[edge]), int(graph.shape_first[edge + 1]))
            distances_m = graph.shape_m[span].astype(np.float64)
            begin, end = (distances_m[-1], 0.0) if is_backward else (0.0, distances_m[-1])
            begin = start_m if number == 0 else begin
            end = end_m if number == len(arcs) - 1 else end
            offsets_m = np.clip(distances_m, min(begin, end), max(begin, end))[:: -1 if is_backward else 1]
            lats = np.interp(offsets_m, distances_m, graph.shape_lat_e7[span] / DEGREES_E7)
            lons = np.interp(offsets_m, distances_m, graph.shape_lon_e7[span] / DEGREES_E7)
            parts.append(np.column_stack([lats, lons]))
        line = np.concatenate(parts)
        # Drop repeated points: consecutive edges share one, and np.clip moves points outside the path to its ends.
        is_new = np.ones(len(line), np.bool_)
        is_new[1:] = (np.abs(np.diff(line, axis=0)) > 1e-9).any(axis=1)
        return line[is_new] if is_new.sum() > 1 else line[:2]


# Stops further apart than this on the streets are not linked on foot.
LINK_M = FOOTPATH_RADIUS_M * DETOUR_FACTOR
# Longer links in a feed are measured in a straight line.
MEASURED_M = 3000.0
# Longer straight lines between streets and points off them are rejected, because the extract may lack obstacles.
OFF_STREETS_M = 1000.0

IsDry = Callable[[Point, Point], bool]
"""Whether the straight line between two positions avoids water."""


_StopsAtEnds = tuple[int | None, int | None]
_End = tuple[Snapped, Float64]
"""A snapped end of a walk, and the entrance there as a line of at most one point."""


class StreetWalks:
    """Walks on streets (``walks.Walks``), including straight lines between points and the nearest streets.

    Straight walks to points and stops off the streets never cross water: an island can be left only by ferry or bridge.

    ``places`` and ``access`` are the stops and their access points. ``closed_lifts`` are nodes.
    """

    def __init__(
        self,
        graph: StreetGraph,
        grid: SegmentGrid,
        places: StationPlaces,
        access: StopAccess,
        *,
        step_free: bool = False,
        closed_lifts: frozenset[int] = frozenset(),
        is_dry: IsDry = lambda _start, _end: True,
    ) -> None:
        self._places, self._step_free, self._all_access = places, step_free, access
        self._replace_access = partial(StreetWalks, graph, grid, places, is_dry=is_dry)
        self._access = access.without_steps() if step_free else access
        self._is_dry = is_dry
        refused = UNFIT if step_free else 0
        self._straight = StraightLine(places.lats, places.lons)
        self._snapped = snap_to_streets(graph, grid, self._access.lat, self._access.lon, refused=refused)
        # The access points of stop s are rows first[s] to first[s + 1] - 1.
        self._first = np.searchsorted(self._access.stop, np.arange(len(places.lats) + 1))
        weights = compute_weights(graph, step_free=step_free, closed_lifts=closed_lifts)
        self._search = StreetSearch(graph, weights)
        self._entries = self._first, self._snapped, self._access
        self._is_on_street = np.zeros(len(places.lats), np.bool_)
        self._is_on_street[self._access.stop[self._snapped.edge >= 0]] = True
        # A query snaps the same points several times.
        avoided = UNDERGROUND | ONE_WAY | (CUT_OFF if step_free else 0)
        self._snap_point = lru_cache(maxsize=16)(partial(snap_pin, graph, grid, refused=refused, avoided=avoided))

    @property
    def covered_stops(self) -> int:
        return int((self._is_on_street & (self._places.kinds == STOP)).sum())

    def find_street_point(self, lat: float, lon: float) -> Point | None:
        """Return the point on a street where walks from a position begin, or None if no street is near."""
        point = self._snap_point(lat, lon)
        return None if point.edge[0] < 0 else self._search.locate(point)

    def has_entrance(self, stop: int) -> bool:
        return bool(self._access.has_entrance[self._first[stop]])

    def crosses_water(self, stop: int) -> bool:
        """Whether there is water between a stop, or one of its entrances, and the street to which it is connected."""
        rows = [row for row in range(self._first[stop], self._first[stop + 1]) if self._snapped.edge[row] >= 0]
        points = [self._search.locate(take_rows(self._snapped, np.array([row]))) for row in rows]
        places = zip(self._access.lat[rows].tolist(), self._access.lon[rows].tolist(), strict=True)
        return not all(map(self._is_dry, places, points))

    def list_links(self, stops: Int64) -> StopLinks:
        begin, end, _ = find_neighbours(self._places.lats, self._places.lons, stops, LINK_M)
        both_on_streets = self._is_on_street[begin] & self._is_on_street[end]
        linked = self.measure_on_streets(begin[both_on_streets], end[both_on_streets], LINK_M)
        near = take_rows(linked, linked.metres >= 0)
        straight = self._straight.list_links(stops)
        allowed = ~(self._is_on_street[straight.begin] & self._is_on_street[straight.end])
        allowed[allowed] = [
            self._is_dry(self.locate_stop(begin), self.locate_stop(end))
            for begin, end in zip(straight.begin[allowed].tolist(), straight.end[allowed].tolist(), strict=True)
        ]
        return join_rows(near, take_rows(straight, allowed))

    def measure(self, begin: Int64, end: Int64) -> StopLinks:
        straight = self._straight.measure(begin, end)
        walked = self.measure_on_streets(begin, end, MEASURED_M)
        is_walked = walked.metres >= 0
        return walked._replace(
            metres=np.where(is_walked, walked.metres, straight.metres),
            seconds=np.where(is_walked, walked.seconds, straight.seconds),
            is_straight=~is_walked,
        )

    def reach(self, lat: float, lon: float, stops: Int64 | Bool, max_walk_m: float, *, from_stops: bool) -> StopWalks:
        point = self._snap_point(lat, lon)
        found = None
        off_street = stops
        if point.edge[0] >= 0:
            near, _ = self._straight.find_near(lat, lon, stops, max_walk_m + MATCHED_M)
            found = self._search.reach_stops(point, self._entries, near, max_walk_m, backward=from_stops)
            off_street = near[~self._is_on_street[near]]
            if not len(off_street):
                return found
        straight = self._straight.reach(lat, lon, off_street, max_walk_m, from_stops=from_stops)
        allowed = ~self._is_on_street[straight.stop] | (straight.metres <= OFF_STREETS_M)
        places = map(self.locate_stop, straight.stop[allowed].tolist())
        allowed[allowed] = [self._is_dry((lat, lon), place) for place in places]
        straight = take_rows(straight, allowed)
        return straight if found is None else join_rows(found, straight)

    def locate_stop(self, stop: int) -> Point:
        return float(self._places.lats[stop]), float(self._places.lons[stop])

    def find_walk(self, start: Point, end: Point, max_walk_m: float) -> Walk | None:
        straight = self._straight.find_walk(start, end, max_walk_m * DETOUR_FACTOR)
        if straight is None:
            return None
        first, last = self._snap_point(*start), self._snap_point(*end)
        is_off_street = first.edge[0] < 0, last.edge[0] < 0
        if any(is_off_street):
            limit_m = max_walk_m if all(is_off_street) else min(max_walk_m, OFF_STREETS_M)
            return straight if straight.metres <= limit_m and self._is_dry(start, end) else None
        path = self._search.measure(first, last, max_walk_m)
        away_m = float(first.away_m[0] + last.away_m[0])
        if path is None or (metres := math.ceil(path.metres + away_m)) > max_walk_m:
            return None
        return Walk(metres, math.ceil(path.seconds + away_m / PACE_M_PER_S))

    def find_line(self, start: Point, end: Point, stops: _StopsAtEnds) -> Float64 | None:
        """Return a walk's line via the entrances of the ``stops`` (rows) at its ends, or None if it is straight."""
        found = self._find_path(start, end, stops)
        if found is None:
            return None
        path, (first, entrance), (last, target) = found
        line = self._search.draw(path.arcs, float(first.offset_m[0]), float(last.offset_m[0]))
        return np.vstack([start, entrance, line, target, end])

    def has_unknown_kerbs(self, start: Point, end: Point, stops: _StopsAtEnds) -> bool:
        found = self._find_path(start, end, stops)
        return found is not None and self._search.has_unknown_kerbs(found[0])

    def _find_path(self, start: Point, end: Point, stops: _StopsAtEnds) -> tuple[PathOnStreets, _End, _End] | None:
        best, quickest_s = None, math.inf
        for first, out_s, entrance in self._list_ends(start, stops[0], self._access.out_s):
            for last, in_s, target in self._list_ends(end, stops[1], self._access.in_s):
                path = self._search.measure(first, last, 2 * MEASURED_M)
                away_m = float(first.away_m[0] + last.away_m[0])
                if path and (taken_s := path.seconds + away_m / PACE_M_PER_S + out_s + in_s) < quickest_s:
                    best, quickest_s = (path, (first, entrance), (last, target)), taken_s
        return best

    def _list_ends(self, point: Point, stop: int | None, inside_s: Int32) -> Iterator[tuple[Snapped, int, Float64]]:
        """Yield a walk's possible ends as (point on a street, seconds inside the station, entrance as a line)."""
        access = self._access
        if stop is None:
            yield self._snap_point(*point), 0, np.zeros((0, 2))
            return
        for row in range(self._first[stop], self._first[stop + 1]):
            if inside_s[row] >= 0:
                place = np.array([[access.lat[row], access.lon[row]]])
                entrance = place if access.has_entrance[row] else place[:0]
                yield take_rows(self._snapped, np.array([row])), int(inside_s[row]), entrance

    def measure_on_streets(self, begin: Int64, end: Int64, limit_m: float) -> StopLinks:
        """Return the walks between stops through their best entrances, or inside the station if they share an entrance.

        ``metres`` is -1 if the walk exceeds the limit or is impossible along streets.
        """
        metres, seconds = np.full(len(begin), -1, np.int32), np.zeros(len(begin), np.int32)
        order = np.argsort(begin, kind="stable")
        origins, first = np.unique(begin[order], return_index=True)
        for origin, rows in zip(origins.tolist(), np.split(order, first[1:]), strict=False):
            stops, index = np.unique(end[rows], return_inverse=True)
            found = self._measure_from(origin, stops, limit_m)
            metres[rows], seconds[rows] = found.metres[index], found.seconds[index]
        has_entrance = self._access.has_entrance[self._first[:-1]]
        inside = np.flatnonzero(has_entrance[begin] & has_entrance[end])
        pairs = zip(begin[inside].tolist(), end[inside].tolist(), strict=True)
        inside = inside[[not self._list_points(first).isdisjoint(self._list_points(last)) for first, last in pairs]]
        straight = self._straight.measure(begin[inside], end[inside])
        metres[inside], seconds[inside] = straight.metres, straight.seconds
        same = begin == end
        metres[same], seconds[same] = 0, 0
        metres[metres > limit_m] = -1
        return StopLinks(begin, end, metres, seconds, np.zeros(len(begin), np.bool_))

    def _measure_from(self, origin: int, stops: Int64, limit_m: float) -> StopWalks:
        """Return the quickest walks from a stop to others (ascending rows) through any of its entrances."""
        best_m, best_s = np.full(len(stops), -1, np.int32), np.full(len(stops), np.iinfo(np.int32).max, np.int32)
        access = self._access
        for row in range(self._first[origin], self._first[origin + 1]):
            point = take_rows(self._snapped, np.array([row]))
            if point.edge[0] < 0 or access.out_s[row] < 0:
                continue
            remaining_m = limit_m - float(access.inside_m[row])
            walks = self._search.reach_stops(point, self._entries, stops, remaining_m, backward=False)
            index = np.searchsorted(stops, walks.stop)
            taken_s = walks.seconds + access.out_s[row]
            is_better = taken_s < best_s[index]
            best_s[index[is_better]] = taken_s[is_better]
            best_m[index[is_better]] = walks.metres[is_better] + access.inside_m[row]
        return StopWalks(stops.astype(np.int32), best_m, np.where(best_m < 0, 0, best_s).astype(np.int32))

    def _list_points(self, stop: int) -> set[Point]:
        rows = slice(self._first[stop], self._first[stop + 1])
        return set(zip(self._access.lat[rows].tolist(), self._access.lon[rows].tolist(), strict=True))

    def without_steps(self) -> "StreetWalks":
        return self._replace_access(self._all_access, step_free=True)

    def without(self, closed_lifts: frozenset[int], closed_places: frozenset[int]) -> "StreetWalks":
        access = close_entrances(self._all_access, self._places, closed_places, step_free=self._step_free)
        return self._replace_access(access, step_free=self._step_free, closed_lifts=closed_lifts)
