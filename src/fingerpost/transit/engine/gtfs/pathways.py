"""Read GTFS ``pathways.txt``: step-free access to platforms, and walking times between them."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.findings import Reason
from fingerpost.transit.engine.gtfs.csv.table import Table, find_decimal, find_integer
from fingerpost.transit.engine.gtfs.stops import Stops
from fingerpost.transit.engine.timetable.columns import rows_to_columns, to_columns
from fingerpost.transit.engine.timetable.draft import PathwayColumns
from fingerpost.transit.engine.timetable.station_ways import (
    GATES,
    TRAVELATOR,
    WALKWAY,
    WITH_STEP,
    WITHOUT_STEP,
    find_quickest_s,
)
from fingerpost.transit.engine.timetable.timetable import (
    BOARDING_AREA,
    ENTRANCE,
    STOP,
    WHEELCHAIR_NO,
    WHEELCHAIR_UNKNOWN,
    WHEELCHAIR_YES,
    Pathways,
)
from fingerpost.transit.engine.timetable.walking import PACE_M_PER_S

# Modes whose duration is computed from the length; this does not work for stairs and lifts.
_FLAT = frozenset({WALKWAY, TRAVELATOR})
# The longest walk in a transfer.
_MAX_DURATION_S = 1800.0
# More platforms than any station has.
_MAX_PLATFORMS = 250

_Graph = dict[int, list[tuple[int, float]]]


class _Pathway(NamedTuple):
    """One direction of a pathway between two stop rows; ``seconds`` is None if unknown."""

    begin: int
    end: int
    mode: int
    seconds: float | None


def read_pathways(archive: Archive, stops: Stops) -> tuple[PathwayColumns, Pathways]:
    """Set the wheelchair value of platforms from pathways; return platform-to-platform times and all pathways."""
    table = archive.find_optional_table("pathways.txt", "from_stop_id", "to_stop_id", "pathway_mode")
    if table is None:
        return PathwayColumns(), Pathways()
    pathways = _read_rows(table, stops)
    _set_wheelchair_access(stops, pathways)
    return _build_transfers(table, stops, pathways), rows_to_columns(Pathways, pathways)


def _read_rows(table: Table, stops: Stops) -> list[_Pathway]:
    pathways: list[_Pathway] = []
    for line, (begin_id, end_id, mode_text, bidirectional, time_text, length_text) in table.read_rows(
        "from_stop_id", "to_stop_id", "pathway_mode", "is_bidirectional", "traversal_time", "length"
    ):
        begin, end = stops.row_of.get(begin_id), stops.row_of.get(end_id)
        if begin is None or end is None:
            table.note(Reason.PATHWAY_AT_UNKNOWN_STOP, line, "from_stop_id" if begin is None else "to_stop_id")
            continue
        mode = find_integer(mode_text)
        if mode is None or mode not in WITHOUT_STEP | WITH_STEP:
            table.note(Reason.PATHWAY_UNREADABLE, line, "pathway_mode")
            continue
        seconds, length_m = find_decimal(time_text), find_decimal(length_text)
        if seconds is None or seconds <= 0:
            seconds = length_m / PACE_M_PER_S if length_m is not None and length_m >= 0 and mode in _FLAT else None
        if seconds is None and mode not in GATES:
            table.note(Reason.PATHWAY_WITHOUT_TIME_UNAPPLIED, line, "traversal_time")
        pathways.append(_Pathway(begin, end, mode, seconds))
        if bidirectional == "1":
            pathways.append(_Pathway(end, begin, mode, seconds))
    return pathways


def _set_wheelchair_access(stops: Stops, pathways: Iterable[_Pathway]) -> None:
    """Set unknown wheelchair values of platforms: yes if a step-free round trip from an accessible entrance exists."""
    rows = stops.rows
    entrances = [row for row, stop in enumerate(rows) if stop.kind == ENTRANCE and stop.wheelchair != WHEELCHAIR_NO]
    # Row -1 is a virtual node with edges to all entrances.
    outbound: _Graph = {-1: [(entrance, 0.0) for entrance in entrances]}
    inbound: _Graph = {-1: outbound[-1]}
    connected: set[int] = set()
    for begin, end, mode, _ in pathways:
        connected |= {begin, end}
        if mode in WITHOUT_STEP:
            outbound.setdefault(begin, []).append((end, 0.0))
            inbound.setdefault(end, []).append((begin, 0.0))
    reached = find_quickest_s(outbound, -1).keys() & find_quickest_s(inbound, -1).keys()
    for row, stop in enumerate(rows):
        parent_value = rows[stop.parent].wheelchair if stop.parent >= 0 else WHEELCHAIR_UNKNOWN
        if stop.kind != STOP or stop.wheelchair != WHEELCHAIR_UNKNOWN or parent_value != WHEELCHAIR_UNKNOWN:
            continue
        node_rows = {row, *stops.list_children(row)}
        if node_rows & connected:
            rows[row] = stop._replace(wheelchair=WHEELCHAIR_YES if node_rows & reached else WHEELCHAIR_NO)


def _build_transfers(table: Table, stops: Stops, pathways: Iterable[_Pathway]) -> PathwayColumns:
    graph: _Graph = {}
    for begin, end, mode, seconds in pathways:
        # Pathways through fare gates are skipped, because the next ride could require another fare.
        if seconds is not None and mode not in GATES:
            graph.setdefault(begin, []).append((end, seconds))
    for row, stop in enumerate(stops.rows):
        if stop.kind == BOARDING_AREA and stop.parent >= 0:
            graph.setdefault(stop.parent, []).append((row, 0.0))
            graph.setdefault(row, []).append((stop.parent, 0.0))
    connected = graph.keys() | {end for edges in graph.values() for end, _ in edges}
    stations: dict[int, list[int]] = {}
    for row, stop in enumerate(stops.rows):
        if stop.kind == STOP and stop.parent >= 0 and row in connected:
            stations.setdefault(stop.parent, []).append(row)
    transfers: list[tuple[int, int, int]] = []
    for platforms in stations.values():
        if len(platforms) > _MAX_PLATFORMS:
            table.note(Reason.PATHWAYS_OF_TOO_MANY_PLATFORMS_UNAPPLIED, 1)
            continue
        for begin in platforms:
            reached_s = find_quickest_s(graph, begin, _MAX_DURATION_S)
            transfers += [(begin, end, round(reached_s[end])) for end in platforms if end != begin and end in reached_s]
    columns = np.array(transfers, np.int32).reshape(-1, 3).T
    return to_columns(PathwayColumns, dict(zip(PathwayColumns._fields, columns, strict=True)))
