"""Draws what of a map lies in a box: clipped, thinned, and so much of it as is worth sending."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from fingerpost.transit.model.geodesy import METRES_PER_DEGREE, thin
from fingerpost.transit.model.map_layer import Basemap, LayerKind, MapLayer
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.osm.basemap.store import KINDS, StoredBasemap

Point = tuple[float, float]

# Points within a box before they are thinned. Classes that would pass this are left out, the least telling first.
MOST_POINTS = 60_000
# Points that are drawn, of some six characters each.
MOST_DRAWN = 18_000
# A box's diagonal has so many tolerances: about half a pixel of a drawing that shows all of it.
_TOLERANCES = 1500
_E7 = 1e7


def draw_basemap(basemap: StoredBasemap, box: Bounds) -> Basemap | None:
    inside = _find_inside(basemap, box)
    tolerance_m = round(_diagonal_m(box) / _TOLERANCES, 1)
    layers: list[MapLayer] = []
    left_out: list[LayerKind] = []
    found = drawn = 0
    for number, kind in enumerate(KINDS):
        rows = inside[basemap.kind[inside] == number]
        if not len(rows):
            continue
        found += int((basemap.first[rows + 1] - basemap.first[rows]).sum())
        if found > MOST_POINTS or left_out:
            left_out.append(kind)
            continue
        lines = [thin(line, tolerance_m) for line in _list_lines(basemap, rows, box, is_ring=kind is LayerKind.WATER)]
        drawn += sum(map(len, lines))
        if drawn > MOST_DRAWN:
            left_out.append(kind)
        elif lines:
            layers.append(MapLayer(kind, lines))
    return Basemap(tuple(layers), tolerance_m, tuple(left_out)) if layers or left_out else None


def _find_inside(basemap: StoredBasemap, box: Bounds) -> npt.NDArray[np.int64]:
    south, west, north, east = (round(each * _E7) for each in (box.south, box.west, box.north, box.east))
    meets = (basemap.south <= north) & (basemap.north >= south) & (basemap.west <= east) & (basemap.east >= west)
    return np.flatnonzero(meets)


def _list_lines(
    basemap: StoredBasemap, rows: npt.NDArray[np.int64], box: Bounds, *, is_ring: bool
) -> Iterator[list[Point]]:
    for row in rows.tolist():
        part = slice(int(basemap.first[row]), int(basemap.first[row + 1]))
        lat, lon = basemap.lat_e7[part] / _E7, basemap.lon_e7[part] / _E7
        if is_ring:
            ring = clip_ring(list(zip(lat.tolist(), lon.tolist(), strict=True)), box)
            if len(ring) > 3:
                yield ring
        else:
            yield from clip_line(lat, lon, box)


def clip_line(lat: npt.NDArray[np.float64], lon: npt.NDArray[np.float64], box: Bounds) -> Iterator[list[Point]]:
    """Yield the stretches of a line whose segments may meet a box; their ends may lie outside."""
    meets = (
        (np.maximum(lat[:-1], lat[1:]) >= box.south)
        & (np.minimum(lat[:-1], lat[1:]) <= box.north)
        & (np.maximum(lon[:-1], lon[1:]) >= box.west)
        & (np.minimum(lon[:-1], lon[1:]) <= box.east)
    )
    edges = np.flatnonzero(np.diff(np.concatenate([[0], meets.astype(np.int8), [0]])))
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        yield list(zip(lat[begin : end + 1].tolist(), lon[begin : end + 1].tolist(), strict=True))


def clip_ring(ring: Sequence[Point], box: Bounds) -> list[Point]:
    """Return the part of a closed ring within a box, closed (Sutherland and Hodgman, 1974); empty where none is."""
    points = list(ring[:-1])
    for axis, bound, sign in ((0, box.south, 1), (0, box.north, -1), (1, box.west, 1), (1, box.east, -1)):
        clipped: list[Point] = []
        for before, here in zip([*points[-1:], *points[:-1]], points, strict=True):
            was_in, is_in = sign * (before[axis] - bound) >= 0, sign * (here[axis] - bound) >= 0
            if was_in != is_in:
                share = (bound - before[axis]) / (here[axis] - before[axis])
                clipped.append((before[0] + share * (here[0] - before[0]), before[1] + share * (here[1] - before[1])))
            if is_in:
                clipped.append(here)
        points = clipped
    return [*points, points[0]] if len(points) > 2 else []


def _diagonal_m(box: Bounds) -> float:
    narrowing = math.cos(math.radians((box.south + box.north) / 2))
    return METRES_PER_DEGREE * math.hypot(box.north - box.south, (box.east - box.west) * narrowing)
