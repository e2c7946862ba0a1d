"""``shapes.txt``: the lines on the ground that vehicles follow."""

import numpy as np

from fingerpost.transit.gtfs.archive import Archive
from fingerpost.transit.gtfs.findings import Reason
from fingerpost.transit.gtfs.ids import IdIndex
from fingerpost.transit.gtfs.table import Table
from fingerpost.transit.gtfs.trips import Trips
from fingerpost.transit.timetable.draft import ShapeColumns
from fingerpost.transit.timetable.timetable import Float64, Int32

_COLUMNS = ("shape_id", "shape_pt_lat", "shape_pt_lon", "shape_pt_sequence")
_UDEG = 1e6


def read_shapes(archive: Archive, ids: IdIndex, trips: Trips) -> tuple[ShapeColumns, Int32]:
    """Read the shapes that trips name; return them, and each trip's row in them, -1 for none.

    Points are ordered by sequence; a point that cannot be read is left out and counted.
    """
    table = archive.find_extra("shapes.txt", *_COLUMNS[:3])
    if table is None:
        return ShapeColumns.none(), np.full(len(trips), -1, np.int32)
    shape, lats, lons = _read_points(table, ids)
    has_points = np.zeros(len(ids) + 1, np.bool_)
    has_points[shape] = True
    missing = (trips.shape >= 0) & ~has_points[trips.shape]
    archive.findings.add_many(Reason.SHAPE_UNKNOWN, "trips.txt", trips.lines[missing], "shape_id")
    used = np.zeros(len(ids) + 1, np.bool_)
    used[trips.shape[trips.shape >= 0]] = True
    used &= has_points
    new_rows = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
    kept = used[shape]
    first = np.zeros(int(used.sum()) + 1, np.int64)
    np.cumsum(np.bincount(new_rows[shape[kept]], minlength=len(first) - 1), out=first[1:])
    of_trip = np.where(trips.shape >= 0, new_rows[trips.shape], np.int32(-1))
    columns = ShapeColumns(
        first=first,
        lat_udeg=np.round(lats[kept] * _UDEG).astype(np.int32),
        lon_udeg=np.round(lons[kept] * _UDEG).astype(np.int32),
    )
    return columns, of_trip


def _read_points(table: Table, ids: IdIndex) -> tuple[Int32, Float64, Float64]:
    """Return shape, latitude and longitude of every sound point of a shape that trips name, in order."""
    shapes, lats, lons, sequences = (
        [np.zeros(0, np.int32)],
        [np.zeros(0)],
        [np.zeros(0)],
        [np.zeros(0, np.int32)],
    )
    for block in table.blocks(*_COLUMNS):
        shape = ids.find(block, 0)
        lat, lon = block.decimals(1), block.decimals(2)
        sequence, faulty = block.integers(3, 0)
        sound = (np.abs(lat) <= 90) & (np.abs(lon) <= 180) & ~faulty
        table.note_rows(Reason.SHAPE_POINT_UNREADABLE, block.lines[~sound])
        kept = sound & (shape >= 0)
        for parts, values in ((shapes, shape), (sequences, sequence)):
            parts.append(values[kept])
        for numbers, decimals in ((lats, lat), (lons, lon)):
            numbers.append(decimals[kept])
    shape, sequence = np.concatenate(shapes), np.concatenate(sequences)
    key = shape.astype(np.int64) << 32 | (sequence.astype(np.int64) + (1 << 31))
    order = np.arange(len(key)) if np.all(key[1:] >= key[:-1]) else np.argsort(key, kind="stable")
    return shape[order], np.concatenate(lats)[order], np.concatenate(lons)[order]
