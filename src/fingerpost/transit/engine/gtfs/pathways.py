"""Read GTFS ``pathways.txt``: the paths through stations, and step-free access to platforms."""

import math

import numpy as np

from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.field_values import parse_decimal, parse_integer
from fingerpost.transit.engine.gtfs.csv.findings import Reason
from fingerpost.transit.engine.gtfs.csv.table import Table
from fingerpost.transit.engine.gtfs.stops import Stops
from fingerpost.transit.engine.timetable import station_ways, timetable
from fingerpost.transit.engine.timetable.columns import to_columns
from fingerpost.transit.engine.timetable.timetable import Pathways, StationPlaces
from fingerpost.transit.engine.timetable.walks import PACE_M_PER_S

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
    places = StationPlaces(lats, lons, kinds, parents, wheelchair, _read_rows(table, stops))
    _set_wheelchair_access(stops, places)
    return places.pathways


def _read_rows(table: Table, stops: Stops) -> Pathways:
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
    """Set unknown wheelchair values of platforms: yes if a step-free round trip from an accessible entrance exists."""
    kinds, parents, wheelchair, pathways = places.kinds, places.parents, places.wheelchair, places.pathways
    outgoing, incoming = station_ways.list_ways(places, step_free=True)
    # Row -1 is a virtual place with ways to and from all entrances that may be accessible.
    entrances = np.flatnonzero((kinds == timetable.ENTRANCE) & (wheelchair != timetable.WHEELCHAIR_NO)).tolist()
    outgoing[-1] = incoming[-1] = [(entrance, 0.0) for entrance in entrances]
    reached = station_ways.find_quickest_s(outgoing, -1).keys() & station_ways.find_quickest_s(incoming, -1).keys()
    connected = {*pathways.begin.tolist(), *pathways.end.tolist()}
    connected |= {int(parents[row]) for row in connected if kinds[row] == timetable.BOARDING_AREA}
    is_unknown = (kinds == timetable.STOP) & (wheelchair == timetable.WHEELCHAIR_UNKNOWN)
    is_unknown &= (parents < 0) | (wheelchair[parents] == timetable.WHEELCHAIR_UNKNOWN)
    for row in connected.intersection(np.flatnonzero(is_unknown).tolist()):
        access = timetable.WHEELCHAIR_YES if row in reached else timetable.WHEELCHAIR_NO
        stops.rows[row] = stops.rows[row]._replace(wheelchair=access)
