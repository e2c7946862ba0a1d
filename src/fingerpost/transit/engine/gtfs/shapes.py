"""Read GTFS ``shapes.txt``: the shapes of trips."""

from typing import Any

import numpy as np

from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.columns import ColumnBuffer, IdIndex
from fingerpost.transit.engine.gtfs.csv.findings import Reason
from fingerpost.transit.engine.gtfs.csv.table import Table
from fingerpost.transit.engine.gtfs.trips import Trips
from fingerpost.transit.engine.timetable.columns import list_starts, mark_rows
from fingerpost.transit.engine.timetable.draft import ShapeColumns
from fingerpost.transit.engine.timetable.timetable import Int32

_COLUMNS = ("shape_id", "shape_pt_lat", "shape_pt_lon", "shape_pt_sequence")
_POINT_TYPES = {"shape": np.int32, "sequence": np.int32, **dict.fromkeys(("lat", "lon"), np.float64)}
_UDEG = 1e6


def read_shapes(archive: Archive, ids: IdIndex, trips: Trips) -> tuple[ShapeColumns, Int32]:
    """Return the shapes that trips refer to, and each trip's shape (row or -1)."""
    table = archive.find_optional_table("shapes.txt", *_COLUMNS[:3])
    if table is None:
        return ShapeColumns(), np.full(len(trips), -1, np.int32)
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
    return columns, trip_shape


def _read_points(table: Table, ids: IdIndex) -> dict[str, Any]:
    """Return the columns of shape points, sorted by shape and sequence."""
    buffer = ColumnBuffer(_POINT_TYPES)
    for block in table.read_blocks(*_COLUMNS):
        sequence, faulty = block.read_integers(3, 0)
        columns: dict[str, Any] = {
            "shape": ids.find(block, 0),
            "sequence": sequence,
            "lat": block.read_decimals(1),
            "lon": block.read_decimals(2),
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
