"""Read GTFS ``stops.txt`` and ``pathways.txt``: stops, stations, entrances, nodes, and the paths between them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.field_values import parse_decimal, parse_integer
from fingerpost.transit.engine.gtfs.csv.findings import Reason
from fingerpost.transit.engine.gtfs.csv.table import Table
from fingerpost.transit.engine.gtfs.feed_info import has_same_times
from fingerpost.transit.engine.timetable import station_ways
from fingerpost.transit.engine.timetable.columns import group_rows, to_columns
from fingerpost.transit.engine.timetable.draft import StopRow
from fingerpost.transit.engine.timetable.timetable import (
    BOARDING_AREA,
    ENTRANCE,
    NODE,
    STATION,
    STOP,
    WHEELCHAIR_NO,
    WHEELCHAIR_UNKNOWN,
    WHEELCHAIR_VALUES,
    WHEELCHAIR_YES,
    Bool,
    Pathways,
    StationPlaces,
)
from fingerpost.transit.engine.timetable.walks import PACE_M_PER_S

# The required kind of a stop's parent (GTFS, parent_station); stations have no parent.
_PARENT_KIND = {STOP: STATION, ENTRANCE: STATION, NODE: STATION, BOARDING_AREA: STOP}
_DEPTH = {STATION: 0, STOP: 1, ENTRANCE: 1, NODE: 1, BOARDING_AREA: 2}
# Kinds that do not need a name (GTFS, stop_name).
_NAMELESS_KINDS = frozenset({NODE, BOARDING_AREA})
# Publishers write this position if the real one is unknown.
_NULL_ISLAND = (0.0, 0.0)


class Stops:
    """Usable stops of one feed; ``row_by_id`` maps stop ids to rows, in row order."""

    def __init__(self, rows: list[StopRow]) -> None:
        self.rows = rows
        self.row_by_id = {stop.local_id: row for row, stop in enumerate(rows)}

    def list_boardable(self, row: int) -> Sequence[int]:
        """Return the row of a stop, the rows of a station's stops, or an empty sequence for other kinds."""
        return (row,) if self.rows[row].kind == STOP else self._platforms.get(row, ())

    @cached_property
    def _platforms(self) -> Mapping[int, Sequence[int]]:
        parents = [stop.parent for stop in self.rows]
        return group_rows(parents, (row for row, stop in enumerate(self.rows) if stop.kind == STOP))


def read_stops(archive: Archive, zone: str) -> Stops:
    """Read the stops; ``zone`` is the agency's time zone, which applies to all times in the feed.

    Stops without a position get their parent's position or are skipped; stops without a name get their parent's name
    or, if it has none, their own id.
    """
    table = archive.get_table("stops.txt", "stop_id")
    # Each stop with its parent's id; its row is not known yet, and its latitude is NaN if the feed gives no position.
    drafts: dict[str, tuple[str, StopRow]] = {}
    columns = ("stop_id", "stop_name", "stop_lat", "stop_lon", "location_type", "parent_station", "platform_code")
    for block in table.read_blocks(*columns, "wheelchair_boarding", "stop_code", "stop_timezone"):
        zones = block.read_texts(9)
        is_in_other_zone = np.array([bool(text) and not has_same_times(text, zone) for text in zones], np.bool_)
        table.note_rows(Reason.STOP_ZONE_UNAPPLIED, block.lines[is_in_other_zone], "stop_timezone")
        texts = [block.read_texts(column) for column in (0, 1, 5, 6, 8)]
        lats, lons = block.read_decimals(2), block.read_decimals(3)
        for column, numbers in ((2, lats), (3, lons)):
            is_unparsable = np.isnan(numbers) & block.is_filled(column)
            table.note_rows(Reason.VALUE_UNREADABLE_ASSUMED, block.lines[is_unparsable], columns[column])
        kinds, is_bad_kind = block.read_integers(4, STOP)
        table.note_rows(Reason.VALUE_UNREADABLE_ASSUMED, block.lines[is_bad_kind], "location_type")
        all_rows = np.ones(len(block.lines), np.bool_)
        access = table.read_choices(block, 7, "wheelchair_boarding", WHEELCHAIR_UNKNOWN, WHEELCHAIR_VALUES, all_rows)
        values = (lats.tolist(), lons.tolist(), kinds.tolist(), access.tolist())
        for line, stop_id, name, parent, platform, code, lat, lon, kind, wheelchair in zip(
            block.lines.tolist(), *texts, *values, strict=True
        ):
            if not stop_id or stop_id in drafts:
                table.note(Reason.ID_REPEATED if stop_id else Reason.ID_MISSING, line, "stop_id")
                continue
            if not STOP <= kind <= BOARDING_AREA:
                table.note(Reason.STOP_KIND_UNKNOWN, line, "location_type")
                continue
            if (lat, lon) == _NULL_ISLAND or not (-90 <= lat <= 90 and -180 <= lon <= 180):
                lat = lon = math.nan
            drafts[stop_id] = parent, StopRow(0, stop_id, name, lat, lon, kind, -1, platform, wheelchair, code, line)
    return _resolve_parents(table, drafts)


def _resolve_parents(table: Table, drafts: dict[str, tuple[str, StopRow]]) -> Stops:
    parents: dict[str, StopRow] = {}
    stops_by_id: dict[str, StopRow] = {}
    # Handle stations first and boarding areas last, so that parents come before their children.
    for parent_id, row in sorted(drafts.values(), key=lambda draft: _DEPTH[draft[1].kind]):
        parent = stops_by_id.get(parent_id)
        if parent_id and (parent is None or parent.kind != _PARENT_KIND.get(row.kind)):
            table.note(Reason.STOP_PARENT_UNAPPLIED, row.line, "parent_station")
            parent = None
        if not math.isnan(row.lat):
            stops_by_id[row.local_id] = row
        elif parent is not None:
            stops_by_id[row.local_id] = row._replace(lat=parent.lat, lon=parent.lon)
            table.note(Reason.STOP_PLACE_ASSUMED, row.line, "stop_lat")
        else:
            table.note(Reason.STOP_WITHOUT_PLACE, row.line, "stop_lat")
        if parent is not None:
            parents[row.local_id] = parent
    stop_ids = [stop_id for stop_id in drafts if stop_id in stops_by_id]
    index = {stop_id: row for row, stop_id in enumerate(stop_ids)}
    rows = []
    for stop_id in stop_ids:
        row, parent = stops_by_id[stop_id], parents.get(stop_id)
        if not row.name and row.kind not in _NAMELESS_KINDS:
            table.note(Reason.STOP_NAME_ASSUMED, row.line, "stop_name")
        name = row.name or (parent.name if parent else "") or stop_id
        rows.append(row._replace(name=name, parent=index[parent.local_id] if parent else -1))
    return Stops(rows)


# Modes whose duration can be computed from the length, unlike that of stairs and lifts.
_FLAT = frozenset({station_ways.WALKWAY, station_ways.TRAVELATOR})


def read_pathways(archive: Archive, stops: Stops) -> Pathways:
    """Read the pathways, and derive unknown wheelchair values of platforms from them."""
    table = archive.find_optional_table("pathways.txt", "from_stop_id", "to_stop_id", "pathway_mode")
    if table is None:
        return Pathways()
    columns = {"lat": float, "lon": float, "kind": np.int8, "parent": np.int32, "wheelchair": np.int8}
    lats, lons, kinds, parents, wheelchair = (
        np.array([getattr(stop, name) for stop in stops.rows], kind) for name, kind in columns.items()
    )
    places = StationPlaces(lats, lons, kinds, parents, wheelchair, _read_pathway_rows(table, stops))
    _set_wheelchair_access(stops, places)
    return places.pathways


def _read_pathway_rows(table: Table, stops: Stops) -> Pathways:
    rows: list[tuple[int, int, int, float]] = []
    for line, (begin_id, end_id, mode_text, bidirectional, time_text, length_text) in table.read_rows(
        "from_stop_id", "to_stop_id", "pathway_mode", "is_bidirectional", "traversal_time", "length"
    ):
        begin, end = stops.row_by_id.get(begin_id), stops.row_by_id.get(end_id)
        if begin is None or end is None:
            table.note(Reason.PATHWAY_AT_UNKNOWN_STOP, line, "from_stop_id" if begin is None else "to_stop_id")
            continue
        mode = parse_integer(mode_text)
        if mode is None or mode not in station_ways.STEP_FREE_MODES | station_ways.STEP_MODES:
            table.note(Reason.PATHWAY_UNREADABLE, line, "pathway_mode")
            continue
        seconds, length_m = parse_decimal(time_text), parse_decimal(length_text)
        if seconds is None or seconds <= 0:
            seconds = math.nan
            if length_m is not None and length_m >= 0 and mode in _FLAT:
                seconds = length_m / PACE_M_PER_S
        if math.isnan(seconds) and mode not in station_ways.GATES:
            table.note(Reason.PATHWAY_WITHOUT_TIME_UNAPPLIED, line, "traversal_time")
        rows.append((begin, end, mode, seconds))
        if bidirectional == "1":
            rows.append((end, begin, mode, seconds))
    columns = zip(*rows, strict=True) if rows else [()] * len(Pathways._fields)
    return to_columns(Pathways, dict(zip(Pathways._fields, columns, strict=True)))


def _set_wheelchair_access(stops: Stops, places: StationPlaces) -> None:
    """Set unknown wheelchair values of platforms, by step-free ways to and from possibly accessible entrances.

    Platforms that no pathways connect to an entrance remain unknown.
    """
    kinds, parents, wheelchair = places.kinds, places.parents, places.wheelchair
    is_entrance = kinds == ENTRANCE
    from_entrances, to_entrances = _find_joined(places, is_entrance, step_free=False)
    reached, returning = _find_joined(places, is_entrance & (wheelchair != WHEELCHAIR_NO), step_free=True)
    is_unknown = (kinds == STOP) & (wheelchair == WHEELCHAIR_UNKNOWN)
    is_unknown &= (parents < 0) | (wheelchair[parents] == WHEELCHAIR_UNKNOWN)
    for row in (from_entrances | to_entrances).intersection(np.flatnonzero(is_unknown).tolist()):
        access = WHEELCHAIR_YES if row in reached and row in returning else WHEELCHAIR_NO
        stops.rows[row] = stops.rows[row]._replace(wheelchair=access)


def _find_joined(places: StationPlaces, is_entrance: Bool, *, step_free: bool) -> Iterator[set[int]]:
    """Yield the places that can be reached from the entrances, and those from which an entrance can be reached."""
    for ways in station_ways.list_ways(places, step_free=step_free):
        # Row -1 is a virtual place with ways to and from all these entrances.
        ways[-1] = [(entrance, 0.0) for entrance in np.flatnonzero(is_entrance).tolist()]
        yield {*station_ways.find_quickest_s(ways, -1)}
