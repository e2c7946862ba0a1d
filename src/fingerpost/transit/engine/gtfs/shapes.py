"""Read GTFS ``shapes.txt``: the shapes of trips, and the positions of stop times along them."""

from typing import Any

import numpy as np

from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.columns import ColumnBuffer, IdIndex
from fingerpost.transit.engine.gtfs.csv.findings import Reason
from fingerpost.transit.engine.gtfs.csv.table import Table
from fingerpost.transit.engine.gtfs.trips import Trips
from fingerpost.transit.engine.timetable.columns import NO_FLOAT32, list_starts, mark_rows
from fingerpost.transit.engine.timetable.draft import ShapeColumns
from fingerpost.transit.engine.timetable.timetable import Float32, Float64, Int32, Int64

_COLUMNS = ("shape_id", "shape_pt_lat", "shape_pt_lon", "shape_pt_sequence", "shape_dist_traveled")
_POINT_TYPES = {"shape": np.int32, "sequence": np.int32, **dict.fromkeys(("lat", "lon", "dist"), np.float64)}
_UDEG = 1e6
# The end of a shape on the common scale; the next shape begins at the next integer.
_END = 0.9


def read_shapes(
    archive: Archive, ids: IdIndex, trips: Trips, stop_time_dist: Float32
) -> tuple[ShapeColumns, Int32, Float32]:
    """Return the shapes that trips refer to, each trip's shape (row or -1), and the positions of stop times.

    A position is counted in points of the shape, NaN if unknown; the column is empty if all are unknown.
    """
    table = archive.find_optional_table("shapes.txt", *_COLUMNS[:3])
    if table is None:
        return ShapeColumns(), np.full(len(trips), -1, np.int32), NO_FLOAT32
    points = _read_points(table, ids)
    has_points = mark_rows(len(ids) + 1, points["shape"])
    missing = (trips.shape >= 0) & ~has_points[trips.shape]
    archive.findings.add_many(Reason.SHAPE_UNKNOWN, "trips.txt", trips.lines[missing], "shape_id")
    has_trips = has_points & mark_rows(len(ids) + 1, trips.shape[trips.shape >= 0])
    new_rows = np.where(has_trips, np.cumsum(has_trips) - 1, -1).astype(np.int32)
    is_used = has_trips[points["shape"]]
    row = new_rows[points["shape"][is_used]]
    first = list_starts(np.bincount(row, minlength=int(has_trips.sum())))
    trip_shape = np.where(trips.shape >= 0, new_rows[trips.shape], np.int32(-1))
    columns = ShapeColumns(
        first=first,
        lat_udeg=np.round(points["lat"][is_used] * _UDEG).astype(np.int32),
        lon_udeg=np.round(points["lon"][is_used] * _UDEG).astype(np.int32),
    )
    shape_point = NO_FLOAT32
    if len(row) and len(stop_time_dist):
        stop_time_shape = trip_shape.repeat(trips.stop_time_count)
        shape_point = _locate_stop_times(first, row, points["dist"][is_used], stop_time_shape, stop_time_dist)
    return columns, trip_shape, shape_point


def _read_points(table: Table, ids: IdIndex) -> dict[str, Any]:
    """Return the columns of points, sorted by shape and sequence; a missing ``dist`` is NaN."""
    buffer = ColumnBuffer(_POINT_TYPES)
    for block in table.read_blocks(*_COLUMNS):
        sequence, faulty = block.read_integers(3, 0)
        columns: dict[str, Any] = {
            "shape": ids.find(block, 0),
            "sequence": sequence,
            "lat": block.read_decimals(1),
            "lon": block.read_decimals(2),
            "dist": block.read_decimals(4),
        }
        is_valid = (np.abs(columns["lat"]) <= 90) & (np.abs(columns["lon"]) <= 180) & ~faulty
        table.note_rows(Reason.SHAPE_POINT_UNREADABLE, block.lines[~is_valid])
        buffer.append(columns, is_valid & (columns["shape"] >= 0))
    points = buffer.finish()
    key = points["shape"].astype(np.int64) << 32 | (points.pop("sequence").astype(np.int64) + (1 << 31))
    if np.all(key[1:] >= key[:-1]):
        return points
    order = np.argsort(key, kind="stable")
    return {name: column[order] for name, column in points.items()}


def _locate_stop_times(
    first: Int64, row: Int32, dist: Float64, stop_time_shape: Int32, stop_time_dist: Float32
) -> Float32:
    """Return the position of each stop time along its shape, counted in points; empty if all are unknown.

    Shapes with missing or decreasing distances are skipped. All shapes are put on one scale, each less than one unit
    long, so that a single binary search finds all positions.
    """
    lowest, highest = dist[first[:-1]], dist[first[1:] - 1]
    is_usable = highest > lowest
    is_usable[row[np.isnan(dist)]] = False
    is_usable[row[1:][(np.diff(dist) < 0) & (row[1:] == row[:-1])]] = False
    span = np.where(is_usable, highest - lowest, 1.0)
    with np.errstate(invalid="ignore"):
        scale = row + np.where(is_usable[row], (dist - lowest[row]) / span[row], 0.0) * _END
        ratio = (stop_time_dist - lowest[stop_time_shape]) / span[stop_time_shape]
        # Publishers round the two tables differently.
        is_known = (stop_time_shape >= 0) & is_usable[stop_time_shape] & (ratio > -1e-3) & (ratio < 1 + 1e-3)
    if not is_known.any():
        return NO_FLOAT32
    position = np.full(len(stop_time_dist), np.nan, np.float32)
    shape = stop_time_shape[is_known]
    target = shape + np.clip(ratio[is_known], 0.0, 1.0) * _END
    next_point = np.clip(np.searchsorted(scale, target), first[shape] + 1, first[shape + 1] - 1)
    step = scale[next_point] - scale[next_point - 1]
    fraction = np.where(step > 0, (target - scale[next_point - 1]) / np.where(step > 0, step, 1.0), 0.0)
    position[is_known] = next_point - 1 - first[shape] + np.clip(fraction, 0.0, 1.0)
    return position
