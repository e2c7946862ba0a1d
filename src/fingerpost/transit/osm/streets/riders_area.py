"""Where a network's riders walk: everything within a walk of its stops."""

import math

import numpy as np

from fingerpost.transit.engine.timetable.timetable import Float64
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE

# As far as anyone may ask to walk.
REACH_M = 3000.0
_CELL_DEG = 0.01
_ROWS = 1 << 16


class RidersArea:
    """The cells of a grid, 0.01 degrees wide, within 3 km of some stops."""

    def __init__(self, lats: Float64, lons: Float64) -> None:
        steps = math.ceil(REACH_M / METRES_PER_DEGREE / _CELL_DEG)
        widest = math.cos(math.radians(min(85.0, float(np.abs(lats).max(initial=0.0)) + 0.1)))
        steps_lon = math.ceil(REACH_M / METRES_PER_DEGREE / widest / _CELL_DEG)
        of_stops = np.unique(np.column_stack([_cell(lats), _cell(lons)]), axis=0)
        around = [
            of_stops + np.array([dy, dx]) for dy in range(-steps, steps + 1) for dx in range(-steps_lon, steps_lon + 1)
        ]
        cells = np.unique(np.concatenate(around), axis=0)
        self._cells = frozenset((cells[:, 0] * _ROWS + cells[:, 1]).tolist())

    def holds(self, lat: float, lon: float) -> bool:
        """Whether a position, in degrees, lies in the area."""
        return math.floor(lat / _CELL_DEG) * _ROWS + math.floor(lon / _CELL_DEG) in self._cells


def _cell(degrees: Float64) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    cells: np.ndarray[tuple[int], np.dtype[np.int64]] = np.floor(degrees / _CELL_DEG).astype(np.int64)
    return cells
