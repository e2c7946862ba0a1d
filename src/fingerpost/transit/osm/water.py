"""Measure how much of a straight line is in the lakes and rivers of an extract."""

import numpy as np

from fingerpost.transit.engine.timetable.columns import list_ranges
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE, Point
from fingerpost.transit.model.map_layer import LayerKind
from fingerpost.transit.osm.basemap import KINDS, StoredBasemap

# Shorter parts in water are inaccuracies of the map.
MIN_WATER_M = 25.0
_E7 = 1e7


class Water:
    """The rings of water and of its islands; a point in an even number of rings is on land."""

    def __init__(self, basemap: StoredBasemap | None) -> None:
        self._basemap = basemap
        self._rows = (
            np.zeros(0, np.int64) if basemap is None else np.flatnonzero(basemap.kind == KINDS.index(LayerKind.WATER))
        )

    def list_shores(self) -> list[Point]:
        """Return a point on each ring."""
        base = self._basemap
        if base is None:
            return []
        first = base.first[self._rows]
        return list(zip((base.lat_e7[first] / _E7).tolist(), (base.lon_e7[first] / _E7).tolist(), strict=True))

    def is_dry(self, start: Point, end: Point) -> bool:
        """Whether a straight line stays out of the water."""
        return self.measure_m(start, end) <= MIN_WATER_M

    def measure_m(self, start: Point, end: Point) -> float:
        """Return the metres of a straight line that are in water."""
        base = self._basemap
        if base is None:
            return 0.0
        (south, north), (west, east) = (
            sorted(round(each * _E7) for each in pair) for pair in zip(start, end, strict=True)
        )
        is_near = (base.south[self._rows] <= north) & (base.north[self._rows] >= south)
        is_near &= (base.west[self._rows] <= east) & (base.east[self._rows] >= west)
        rows = self._rows[is_near]
        if not len(rows):
            return 0.0
        ring, point = list_ranges(base.first[rows].astype(np.int64), (base.first[rows + 1] - base.first[rows]))
        north_m = (base.lat_e7[point] / _E7 - start[0]) * METRES_PER_DEGREE
        east_scale = METRES_PER_DEGREE * np.cos(np.radians(start[0]))
        east_m = (base.lon_e7[point] / _E7 - start[1]) * east_scale
        line_north_m, line_east_m = (end[0] - start[0]) * METRES_PER_DEGREE, (end[1] - start[1]) * east_scale
        length_m = float(np.hypot(line_north_m, line_east_m))
        if not length_m:
            return 0.0
        along_m = (north_m * line_north_m + east_m * line_east_m) / length_m
        aside_m = (east_m * line_north_m - north_m * line_east_m) / length_m
        crosses = np.flatnonzero((ring[1:] == ring[:-1]) & ((aside_m[1:] > 0) != (aside_m[:-1] > 0)))
        part = aside_m[crosses] / (aside_m[crosses] - aside_m[crosses + 1])
        # A ring is crossed an even number of times: in, out, in, out.
        at_m = np.sort(along_m[crosses] + part * (along_m[crosses + 1] - along_m[crosses])).clip(0, length_m)
        return float((at_m[1::2] - at_m[:-1:2]).sum())
