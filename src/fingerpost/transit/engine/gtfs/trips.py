"""Read GTFS ``routes.txt``, ``trips.txt`` and ``shapes.txt`` into rows and columns."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.field_values import parse_integer
from fingerpost.transit.engine.gtfs.csv.findings import Reason
from fingerpost.transit.engine.gtfs.csv.table import ColumnBuffer, IdIndex, Table
from fingerpost.transit.engine.timetable.columns import NO_INT32, list_starts, mark_rows
from fingerpost.transit.engine.timetable.draft import RouteRow, ShapeColumns
from fingerpost.transit.engine.timetable.timetable import WHEELCHAIR_UNKNOWN, WHEELCHAIR_VALUES, Bool, Int8, Int32
from fingerpost.transit.model.line_colors import parse_color

_MAX_ROUTE_TYPE = 32_767
_MAX_AGENCIES = 32_767
_COLORS = ("route_color", "route_text_color")
# Extended route type "Miscellaneous Service", used for routes without a type.
UNKNOWN_TYPE = 1700


class Routes(NamedTuple):
    rows: list[RouteRow]
    row_by_id: dict[str, int]


def read_routes(archive: Archive, agency_ids: Sequence[str]) -> Routes:
    """Read the routes; a route without an agency_id belongs to the feed's agency if there is only one."""
    table = archive.get_table("routes.txt", "route_id")
    routes = Routes([], {})
    columns = ("route_id", "route_short_name", "route_long_name", "route_type", "agency_id", *_COLORS)
    agency_rows = {agency_id: row for row, agency_id in enumerate(agency_ids[:_MAX_AGENCIES])}
    if len(agency_ids) == 1:
        agency_rows[""] = 0
    for line, (route_id, short_name, long_name, type_text, agency_id, color, text_color) in table.read_rows(*columns):
        if not route_id or route_id in routes.row_by_id:
            table.note(Reason.ID_REPEATED if route_id else Reason.ID_MISSING, line, "route_id")
            continue
        type_ = parse_integer(type_text)
        if type_ is None or not 0 <= type_ <= _MAX_ROUTE_TYPE:
            table.note(Reason.ROUTE_TYPE_ASSUMED, line, "route_type")
            type_ = UNKNOWN_TYPE
        routes.row_by_id[route_id] = len(routes.rows)
        agency = agency_rows.get(agency_id, -1)
        colors = parse_color(color), parse_color(text_color)
        routes.rows.append(RouteRow(0, route_id, short_name, long_name, type_, agency, *colors))
    return routes


_COLUMNS = (
    "trip_id", "route_id", "service_id", "trip_headsign", "wheelchair_accessible", "shape_id", "direction_id",
    "block_id",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Trips:
    """Trips of one feed as columns.

    ``ids`` holds the trip ids in the same order. ``shape`` and ``block`` are rows in their id indices, or -1 for none.
    ``stop_time_count`` is empty until the stop times are read. ``skipped`` holds the ids of trips without a route or
    service.
    """

    ids: IdIndex
    lines: Int32
    route: Int32
    service: Int32
    headsign: Int32
    wheelchair: Int8
    direction: Int8
    shape: Int32
    block: Int32
    stop_time_count: Int32 = field(default_factory=NO_INT32.copy)
    skipped: IdIndex = field(default_factory=IdIndex)

    def __len__(self) -> int:
        return len(self.lines)

    def select(self, selected: Bool) -> "Trips":
        """Return the selected trips, renumbered."""
        if selected.all():
            return self
        ids = IdIndex(self.ids.to_texts().take(np.flatnonzero(selected).astype(np.int32)))
        return replace(self, ids=ids, **{name: getattr(self, name)[selected] for name in _COLUMN_TYPES})


_COLUMN_TYPES: dict[str, Any] = {
    **dict.fromkeys(("lines", "route", "service", "headsign", "shape", "block"), np.int32),
    **dict.fromkeys(("wheelchair", "direction"), np.int8),
}


def read_trips(archive: Archive, routes: Routes, services: IdIndex, shapes: IdIndex, headsigns: IdIndex) -> Trips:
    table = archive.get_table("trips.txt", "trip_id", "route_id", "service_id")
    ids, route_ids, blocks = IdIndex(), IdIndex(routes.row_by_id), IdIndex()
    buffer = ColumnBuffer(_COLUMN_TYPES)
    for block in table.read_blocks(*_COLUMNS):
        first_new = len(ids)
        id_row = ids.intern(block, 0)
        is_new = _mark_first_occurrences(id_row, first_new)
        table.note_rows(Reason.ID_MISSING, block.lines[id_row < 0], "trip_id")
        table.note_rows(Reason.ID_REPEATED, block.lines[(id_row >= 0) & ~is_new], "trip_id")
        columns = {
            "lines": block.lines,
            "route": route_ids.find(block, 1),
            "service": services.find(block, 2),
            "headsign": headsigns.intern(block, 3),
            "wheelchair": table.read_choices(
                block, 4, "wheelchair_accessible", WHEELCHAIR_UNKNOWN, WHEELCHAIR_VALUES, is_new
            ),
            "shape": shapes.intern(block, 5),
            "direction": table.read_choices(block, 6, "direction_id", -1, range(2), is_new),
            "block": blocks.intern(block, 7),
        }
        buffer.append(columns, is_new)
    trips = Trips(ids=ids, **buffer.finish())
    faults = (
        (Reason.TRIP_WITHOUT_ROUTE, "route_id", trips.route < 0),
        (Reason.TRIP_WITHOUT_SERVICE, "service_id", trips.service < 0),
    )
    usable = table.drop_faulty(trips.lines, np.ones(len(ids), np.bool_), faults)
    skipped = IdIndex(ids.to_texts().take(np.flatnonzero(~usable).astype(np.int32)))
    return replace(trips.select(usable), skipped=skipped)


def _mark_first_occurrences(rows: Int32, first_new: int) -> Bool:
    """Mark the first occurrence of each row number from ``first_new`` on; new rows are numbered in order."""
    highest = np.maximum.accumulate(np.concatenate([np.array([first_new - 1], np.int32), rows]))
    return rows > highest[:-1]


_POINT_COLUMNS = ("shape_id", "shape_pt_lat", "shape_pt_lon", "shape_pt_sequence")
_POINT_TYPES = {"shape": np.int32, "sequence": np.int32, **dict.fromkeys(("lat", "lon"), np.float64)}
_UDEG = 1e6


def read_shapes(archive: Archive, ids: IdIndex, trips: Trips) -> tuple[ShapeColumns, Int32]:
    """Return the shapes that trips refer to, and each trip's shape (row or -1)."""
    table = archive.find_optional_table("shapes.txt", *_POINT_COLUMNS[:3])
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
    for block in table.read_blocks(*_POINT_COLUMNS):
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
