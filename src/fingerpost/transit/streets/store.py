"""Saves the streets of a network beside its timetable, and opens them by memory map."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.errors import SettingsInvalid
from fingerpost.transit.streets.graph import StreetGraph, UInt16
from fingerpost.transit.streets.snapping import SegmentGrid
from fingerpost.transit.streets.stop_access import StopAccess
from fingerpost.transit.timetable.street_coverage import StreetCoverage

# Raise it when the meaning of a stored array changes.
FORMAT = 3
FOLDER = "streets"
_CONTENTS = "contents.json"
_ACCESS, _AHEAD = "access_", "stops_ahead"
_NUMBERS = ("cell_lat", "cell_lon", "cells_per_row")


class StoredStreets(NamedTuple):
    """The streets of a network, where its stops meet them, how far these are ahead, and how much of it they cover."""

    graph: StreetGraph
    grid: SegmentGrid
    access: StopAccess
    coverage: StreetCoverage
    stops_ahead: UInt16


def save_streets(streets: StoredStreets, folder: Path) -> None:
    """Write streets into a folder of their own below a timetable's.

    Raises:
        OSError: the disk refuses.
    """
    below = folder / FOLDER
    below.mkdir(parents=True, exist_ok=True)
    access = {f"{_ACCESS}{name}": column for name, column in streets.access._asdict().items()}
    ahead = {_AHEAD: streets.stops_ahead}
    for name, array in (streets.graph._asdict() | streets.grid._asdict() | access | ahead).items():
        if name not in _NUMBERS:
            np.save(below / f"{name}.npy", array, allow_pickle=False)
    contents = {
        "format": FORMAT,
        "grid": {name: getattr(streets.grid, name) for name in _NUMBERS},
        "coverage": asdict(streets.coverage),
    }
    (below / _CONTENTS).write_text(json.dumps(contents), encoding="utf-8")


def find_streets(folder: Path) -> StoredStreets | None:
    """Open the streets below a timetable's folder by memory map; None where there are none.

    Raises:
        SettingsInvalid: they are damaged, or of another format.
    """
    below = folder / FOLDER
    if not below.is_dir():
        return None
    try:
        contents = json.loads((below / _CONTENTS).read_text(encoding="utf-8"))
        if contents["format"] != FORMAT:
            raise ValueError(f"format {contents['format']}, not {FORMAT}")
        graph = StreetGraph._make(_open_array(below, name) for name in StreetGraph._fields)
        numbers = contents["grid"]
        grid = SegmentGrid._make(
            numbers[name] if name in _NUMBERS else _open_array(below, name) for name in SegmentGrid._fields
        )
        access = StopAccess._make(_open_array(below, f"{_ACCESS}{name}") for name in StopAccess._fields)
        coverage = StreetCoverage(**contents["coverage"])
        return StoredStreets(graph, grid, access, coverage, _open_stops_ahead(below, graph))
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise SettingsInvalid(
            f"The prepared streets in {below} are damaged ({error}). Run `fingerpost network refresh` for the network."
        ) from error


def _open_stops_ahead(folder: Path, graph: StreetGraph) -> UInt16:
    # Streets that were prepared before it was kept are searched all round, as if a stop were everywhere.
    if not (folder / f"{_AHEAD}.npy").exists():
        return np.zeros(2 * graph.edge_count, np.uint16)
    return _open_array(folder, _AHEAD)


def _open_array(folder: Path, name: str) -> npt.NDArray[Any]:
    # A plain view: numba would see a type of its own in a memmap.
    array: npt.NDArray[Any] = np.load(folder / f"{name}.npy", mmap_mode="c", allow_pickle=False).view(np.ndarray)
    return array
