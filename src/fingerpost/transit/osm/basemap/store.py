"""Saves the map of a network beside its timetable, and opens it by memory map."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.errors import SettingsInvalid
from fingerpost.transit.engine.timetable.array_file import explain_failure, open_arrays, write_arrays
from fingerpost.transit.model.map_layer import LayerKind
from fingerpost.transit.osm.basemap.extract import DrawnLine

FOLDER = "basemap"
_CONTENTS = "contents.json"
KINDS = tuple(LayerKind)
_E7 = 1e7

Int32 = npt.NDArray[np.int32]


class StoredBasemap(NamedTuple):
    """Lines by class. Points of line n are rows ``first[n] .. first[n + 1]``, in ten millionths of a degree.

    ``kind`` is a row of ``KINDS``; the other four bound each line.
    """

    kind: npt.NDArray[np.uint8]
    first: npt.NDArray[np.int64]
    lat_e7: Int32
    lon_e7: Int32
    south: Int32
    west: Int32
    north: Int32
    east: Int32


def pack_lines(lines: Sequence[DrawnLine]) -> StoredBasemap:
    counts = [len(line.points) for line in lines]
    first = np.zeros(len(lines) + 1, np.int64)
    np.cumsum(counts, out=first[1:])
    flat = np.array([point for line in lines for point in line.points], np.float64).reshape(-1, 2)
    lat, lon = (np.round(flat[:, axis] * _E7).astype(np.int32) for axis in (0, 1))
    begins = first[:-1]

    def bound(least: np.ufunc, column: Int32) -> Int32:
        return np.zeros(0, np.int32) if not len(lines) else np.asarray(least.reduceat(column, begins), np.int32)

    return StoredBasemap(
        np.array([KINDS.index(line.kind) for line in lines], np.uint8),
        first, lat, lon,
        bound(np.minimum, lat), bound(np.minimum, lon), bound(np.maximum, lat), bound(np.maximum, lon),
    )  # fmt: skip


def save_basemap(basemap: StoredBasemap, folder: Path) -> None:
    below = folder / FOLDER
    below.mkdir(parents=True, exist_ok=True)
    directory = write_arrays(below, basemap._asdict())
    (below / _CONTENTS).write_text(json.dumps(directory), encoding="utf-8")


def find_basemap(folder: Path) -> StoredBasemap | None:
    """Open the map below a timetable's folder by memory map; None where there is none."""
    below = folder / FOLDER
    if not below.is_dir():
        return None
    try:
        arrays = open_arrays(below, json.loads((below / _CONTENTS).read_text(encoding="utf-8")))
        return StoredBasemap._make(arrays[name] for name in StoredBasemap._fields)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        remedy = "Run `fingerpost network refresh` for the network."
        raise SettingsInvalid(explain_failure(f"The prepared map in {below} is", error, remedy)) from error
