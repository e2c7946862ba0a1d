"""Search for walks on the street graph from a point to stops or other points."""

import threading
from typing import NamedTuple

import numpy as np

from fingerpost.transit.engine.timetable.timetable import Float64, Int32, Int64
from fingerpost.transit.engine.timetable.walks import PACE_M_PER_S, StopWalks
from fingerpost.transit.osm.streets.graph import DEGREES_E7, UNKNOWN_KERB, StreetGraph, UInt32, Weights
from fingerpost.transit.osm.streets.kernel import ways
from fingerpost.transit.osm.streets.snapping import Snapped
from fingerpost.transit.osm.streets.stop_access import StopAccess


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
        """Return the walks from a point to stops (``backward``: to the point), including any off-street parts."""
        found = StopWalks._make(np.empty((3, len(stops)), np.int32))
        position = int(point.edge[0]), float(point.offset_m[0]), float(point.away_m[0])
        count = ways.reach_stops(
            self._graph, self._weights, self._get_work(), *entries, position, int(backward),
            float(limit_m), PACE_M_PER_S, stops, found,
        )  # fmt: skip
        return StopWalks._make(column[:count].copy() for column in found)

    def locate(self, point: Snapped) -> tuple[float, float]:
        """Return the position (latitude, longitude) of a snapped point on its street."""
        offset_m = float(point.offset_m[0])
        lat, lon = self.draw([2 * int(point.edge[0])], offset_m, offset_m)[0].tolist()
        return lat, lon

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
        touched = ways.search_nodes(*query)
        _, metres, seconds, arc, state = ways.measure_goal(*query)
        arcs = [arc]
        while state >= 0:
            arrival = int(work.label[state, ways.ARRIVAL])
            arc, stage = arrival >> 2, arrival & 3
            arcs.append(arc)
            state = -1 if stage == ways.START else stage * graph.node_count + int(graph.arc_head[arc ^ 1])
        ways.reset_labels(work, touched)
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
        drawn: Float64 = line[is_new] if is_new.sum() > 1 else line[:2]
        return drawn
