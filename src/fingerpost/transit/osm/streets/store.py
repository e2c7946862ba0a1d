"""Save the prepared streets of a network next to its timetable, and open them as memory maps."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from fingerpost.transit.engine.gtfs.report import StreetCoverage
from fingerpost.transit.engine.timetable.array_file import Arrays, check_rows, check_starts, find_prepared, save_arrays
from fingerpost.transit.osm.streets.graph import StreetGraph
from fingerpost.transit.osm.streets.snapping import SegmentGrid
from fingerpost.transit.osm.streets.stop_access import StopAccess

FOLDER = "streets"
_ACCESS = "access_"
_NUMBERS = ("cell_lat", "cell_lon")


class StoredStreets(NamedTuple):
    graph: StreetGraph
    grid: SegmentGrid
    access: StopAccess
    coverage: StreetCoverage


def save_streets(streets: StoredStreets, folder: Path) -> None:
    access = {f"{_ACCESS}{name}": column for name, column in streets.access._asdict().items()}
    columns = streets.graph._asdict() | streets.grid._asdict() | access
    contents = {"grid": {name: columns.pop(name) for name in _NUMBERS}, "coverage": asdict(streets.coverage)}
    save_arrays(folder / FOLDER, columns, contents)


def find_streets(folder: Path) -> StoredStreets | None:
    return find_prepared(folder / FOLDER, f"The prepared streets in {folder / FOLDER} are", _open_streets)


def _open_streets(contents: Any, arrays: Arrays) -> StoredStreets:
    columns = {**arrays, **contents["grid"]}
    graph = StreetGraph._make(columns[name] for name in StreetGraph._fields)
    grid = SegmentGrid._make(columns[name] for name in SegmentGrid._fields)
    check_starts("node_first", graph.node_first, len(graph.node_arc))
    check_rows("node_arc", graph.node_arc, len(graph.arc_head))
    check_rows("arc_head", graph.arc_head, graph.node_count)
    check_starts("shape_first", graph.shape_first, len(graph.shape_m))
    check_starts("cell_first", grid.cell_first, len(grid.segment))
    check_rows("segment", grid.segment, len(graph.shape_m))
    check_rows("edge_of_point", grid.edge_of_point, graph.edge_count)
    access = StopAccess._make(arrays[f"{_ACCESS}{name}"] for name in StopAccess._fields)
    # A position beyond a pole would make the search for the nearest street endless.
    check_rows("access_lat", access.lat, 90, -90)
    return StoredStreets(graph, grid, access, StreetCoverage(**contents["coverage"]))
