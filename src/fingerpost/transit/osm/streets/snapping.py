"""Snap positions to the nearest points on streets, using a grid of their segments, and find nearby lifts."""

from typing import NamedTuple

import numpy as np

from fingerpost.transit.engine.timetable.columns import list_ranges
from fingerpost.transit.engine.timetable.timetable import Float64, Int32, Int64
from fingerpost.transit.engine.timetable.walks import straight_line_m
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE
from fingerpost.transit.osm.streets.graph import DEGREES_E7, LIFT, UNDERGROUND, StreetGraph
from fingerpost.transit.osm.streets.kernel import CELLS_PER_ROW, snap

# Positions farther than this from every way are off the streets.
SNAP_M = 300.0
# A street is preferred over an avoided way, such as a tunnel, if it is at most this much farther away.
_PREFERRED_M = 25.0
_CELL_M = 100.0


class SegmentGrid(NamedTuple):
    """A grid index of the segments of all edges; cell sizes are in degrees.

    ``cells`` holds ascending cell numbers (row * CELLS_PER_ROW + column). The segments in the i-th cell are
    ``segment[cell_first[i] : cell_first[i + 1]]``; each is the index of the segment's first shape point.
    """

    cell_lat: float
    cell_lon: float
    cells: Int64
    cell_first: Int32
    segment: Int32
    edge_of_point: Int32


class Snapped(NamedTuple):
    """Positions snapped to streets: the edge (-1 if none), and the distances along it and to it, in metres."""

    edge: Int32
    offset_m: Float64
    away_m: Float64


def build_grid(graph: StreetGraph) -> SegmentGrid:
    counts = np.diff(graph.shape_first)
    edge_of_point = np.repeat(np.arange(graph.edge_count, dtype=np.int32), counts)
    cell_lat = _CELL_M / METRES_PER_DEGREE
    lats, lons = graph.shape_lat_e7 / DEGREES_E7, graph.shape_lon_e7 / DEGREES_E7
    nearest = float(np.abs(lats).min(initial=90.0))
    cell_lon = cell_lat / max(0.01, float(np.cos(np.radians(nearest))))
    is_last = np.zeros(len(lats), np.bool_)
    is_last[graph.shape_first[1:] - 1] = True
    begin = np.flatnonzero(~is_last)
    rows, columns = np.floor(lats / cell_lat).astype(np.int64), np.floor(lons / cell_lon).astype(np.int64)
    # A segment is listed in every cell of its bounding box.
    low_y, high_y = np.minimum(rows[begin], rows[begin + 1]), np.maximum(rows[begin], rows[begin + 1])
    low_x, high_x = np.minimum(columns[begin], columns[begin + 1]), np.maximum(columns[begin], columns[begin + 1])
    width = high_x - low_x + 1
    count = (high_y - low_y + 1) * width
    segment, offset = list_ranges(np.zeros(len(begin), np.int64), count)
    number = (low_y[segment] + offset // width[segment]) * CELLS_PER_ROW + low_x[segment] + offset % width[segment]
    order = np.argsort(number, kind="stable")
    cells, first = np.unique(number[order], return_index=True)
    return SegmentGrid(
        cell_lat=cell_lat,
        cell_lon=cell_lon,
        cells=cells,
        cell_first=np.append(first, len(number)).astype(np.int32),
        segment=begin[segment[order]].astype(np.int32),
        edge_of_point=edge_of_point,
    )


def snap_to_streets(
    graph: StreetGraph, grid: SegmentGrid, lats: Float64, lons: Float64, *, refused: int = 0, limit_m: float = SNAP_M
) -> Snapped:
    count = len(lats)
    found = Snapped(np.full(count, -1, np.int32), np.zeros(count), np.full(count, limit_m))
    snap(graph, grid, lats, lons, METRES_PER_DEGREE, refused, found)
    return found


def snap_pin(
    graph: StreetGraph, grid: SegmentGrid, lat: float, lon: float, *, refused: int = 0, avoided: int = UNDERGROUND
) -> Snapped:
    """Return the point on a way that is nearest to a map pin, preferring ways without any ``avoided`` flag."""
    position = np.array([lat]), np.array([lon])
    nearest = snap_to_streets(graph, grid, *position, refused=refused)
    edge = int(nearest.edge[0])
    if edge < 0 or graph.edge_flags[edge] & avoided == 0:
        return nearest
    limit_m = float(nearest.away_m[0]) + _PREFERRED_M
    preferred = snap_to_streets(graph, grid, *position, refused=refused | avoided, limit_m=limit_m)
    return nearest if preferred.edge[0] < 0 else preferred


# A mapped lift counts as closed if it is within this distance of an entrance that an alert closes.
LIFT_M = 30.0


def find_lifts(graph: StreetGraph, lats: Float64, lons: Float64) -> frozenset[int]:
    nodes = np.flatnonzero(graph.node_flags & LIFT != 0)
    # An arc begins at the first or the last point of its edge.
    nodes = nodes[graph.node_first[nodes + 1] > graph.node_first[nodes]]
    arcs = graph.node_arc[graph.node_first[nodes]]
    edges = arcs >> 1
    points = np.where(arcs & 1, graph.shape_first[edges + 1] - 1, graph.shape_first[edges])
    lift_lats, lift_lons = graph.shape_lat_e7[points] / DEGREES_E7, graph.shape_lon_e7[points] / DEGREES_E7
    near = np.zeros(len(nodes), np.bool_)
    for lat, lon in zip(lats.tolist(), lons.tolist(), strict=True):
        near |= straight_line_m(lat, lon, lift_lats, lift_lons) <= LIFT_M
    return frozenset(nodes[near].tolist())
