"""Measure how much of a straight line is in the lakes and rivers of an extract."""

import numpy as np
import numpy.typing as npt

from fingerpost.transit.model.geodesy import METRES_PER_DEGREE, Point
from fingerpost.transit.model.map_layer import LayerKind
from fingerpost.transit.osm.basemap import KINDS, StoredBasemap

_STEP_M = 10.0
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
        """Return a point of each ring."""
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
        east_m = METRES_PER_DEGREE * np.cos(np.radians(start[0]))
        length_m = float(np.hypot((end[0] - start[0]) * METRES_PER_DEGREE, (end[1] - start[1]) * east_m))
        steps = max(1, round(length_m / _STEP_M))
        parts = (np.arange(steps) + 0.5) / steps
        lats, lons = (_E7 * (begin + parts * (stop - begin)) for begin, stop in zip(start, end, strict=True))
        rings = np.zeros(steps, np.int64)
        for row in rows.tolist():
            span = slice(int(base.first[row]), int(base.first[row + 1]))
            rings += _is_inside(lats, lons, base.lat_e7[span].astype(np.float64), base.lon_e7[span].astype(np.float64))
        return float((rings % 2).sum()) * length_m / steps


def _is_inside(
    lats: npt.NDArray[np.float64],
    lons: npt.NDArray[np.float64],
    ring_lat: npt.NDArray[np.float64],
    ring_lon: npt.NDArray[np.float64],
) -> npt.NDArray[np.bool_]:
    """Whether points are inside a ring: a ray to the east crosses it an odd number of times."""
    rises = np.flatnonzero(ring_lat[:-1] != ring_lat[1:])
    lat, next_lat, lon, next_lon = ring_lat[rises], ring_lat[rises + 1], ring_lon[rises], ring_lon[rises + 1]
    spans = (lat > lats[:, None]) != (next_lat > lats[:, None])
    crossing_lon = lon + (lats[:, None] - lat) / (next_lat - lat) * (next_lon - lon)
    crossings = spans & (lons[:, None] < crossing_lon)
    is_odd: npt.NDArray[np.bool_] = crossings.sum(axis=1) % 2 == 1
    return is_odd
