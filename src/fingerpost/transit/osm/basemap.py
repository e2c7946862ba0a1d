"""Read water and ways from an OpenStreetMap extract, and store them for the background map and for walks."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.array_file import Arrays, check_rows, check_starts, find_prepared, save_arrays
from fingerpost.transit.engine.timetable.columns import list_ranges, list_starts
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE, Point, thin
from fingerpost.transit.model.map_layer import Basemap, LayerKind, MapLayer
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.osm.extract_file import IsInArea, ReadProgress, read_objects

READING = "reading the map"
_KEYS = ("highway", "natural", "waterway", "railway")
_AREA_KEYS = ("natural", "waterway")
_HIGHWAYS = {
    **dict.fromkeys(("motorway", "trunk", "primary"), LayerKind.MAIN),
    **dict.fromkeys(("secondary", "tertiary"), LayerKind.SECONDARY),
    **dict.fromkeys(("residential", "unclassified", "living_street", "pedestrian"), LayerKind.MINOR),
}


class DrawnLine(NamedTuple):
    kind: LayerKind
    points: list[Point]
    is_coast: bool = False  # with the sea to its right


def read_lines(path: Path, is_in_area: IsInArea, progress: ReadProgress) -> list[DrawnLine]:
    found: list[DrawnLine] = []
    for osm_object in read_objects(path, _KEYS, _AREA_KEYS, READING, progress):
        tags = dict(osm_object.tags)
        if osm_object.is_way() and (kind := find_kind(tags)) is not None:
            runs = _list_runs(osm_object.nodes, is_in_area)
            found += [DrawnLine(kind, run, is_coast=tags.get("natural") == "coastline") for run in runs]
        elif osm_object.is_area() and (tags.get("natural") == "water" or tags.get("waterway") == "riverbank"):
            found += [DrawnLine(LayerKind.WATER, ring) for ring in _list_rings(osm_object, is_in_area)]
    return found


def find_kind(tags: Mapping[str, str]) -> LayerKind | None:
    if tags.get("natural") == "coastline":
        return LayerKind.COAST
    if tags.get("tunnel", "no") != "no" or tags.get("area") == "yes":
        return None
    if tags.get("waterway") in ("river", "canal"):
        return LayerKind.COAST
    if tags.get("railway") in ("rail", "light_rail", "subway"):
        return LayerKind.RAIL
    return _HIGHWAYS.get(tags.get("highway", "").removesuffix("_link"))


def _list_runs(nodes: Iterable[Any], is_in_area: IsInArea) -> list[list[Point]]:
    locations = [node.location for node in nodes]
    runs = groupby(locations, key=lambda location: location.valid() and is_in_area(location.lat, location.lon))
    lines = [[(location.lat, location.lon) for location in run] for is_inside, run in runs if is_inside]
    return [line for line in lines if len(line) > 1]


def _list_rings(area: Any, is_in_area: IsInArea) -> Iterator[list[Point]]:
    """Yield the outer rings of an area that overlap the imported area, and the rings of their islands."""
    for outer in area.outer_rings():
        rings = [
            [(node.location.lat, node.location.lon) for node in ring if node.location.valid()]
            for ring in (outer, *area.inner_rings(outer))
        ]
        if any(is_in_area(*point) for point in rings[0]):
            yield from (ring for ring in rings if len(ring) > 3)


FOLDER = "basemap"
KINDS = tuple(LayerKind)
_E7 = 1e7

Int32 = npt.NDArray[np.int32]


class StoredBasemap(NamedTuple):
    """Lines and their bounds; ``kind`` indexes ``KINDS``, and the points of line n are ``first[n] .. first[n + 1]``."""

    kind: npt.NDArray[np.uint8]
    first: npt.NDArray[np.int64]
    lat_e7: Int32
    lon_e7: Int32
    south: Int32
    west: Int32
    north: Int32
    east: Int32
    is_coast: npt.NDArray[np.bool_]


def pack_lines(lines: Sequence[DrawnLine]) -> StoredBasemap:
    first = list_starts([len(line.points) for line in lines])
    flat = np.array([point for line in lines for point in line.points], np.float64).reshape(-1, 2)
    lat, lon = (np.round(flat[:, axis] * _E7).astype(np.int32) for axis in (0, 1))
    starts = first[:-1]

    def reduce_by(ufunc: np.ufunc, column: Int32) -> Int32:
        return np.zeros(0, np.int32) if not len(lines) else np.asarray(ufunc.reduceat(column, starts), np.int32)

    return StoredBasemap(
        np.array([KINDS.index(line.kind) for line in lines], np.uint8),
        first, lat, lon,
        reduce_by(np.minimum, lat), reduce_by(np.minimum, lon), reduce_by(np.maximum, lat), reduce_by(np.maximum, lon),
        np.array([line.is_coast for line in lines], np.bool_),
    )  # fmt: skip


def save_basemap(basemap: StoredBasemap, folder: Path) -> None:
    save_arrays(folder / FOLDER, basemap._asdict(), {})


def find_basemap(folder: Path) -> StoredBasemap | None:
    return find_prepared(folder / FOLDER, f"The prepared map in {folder / FOLDER} is", _open_basemap)


def _open_basemap(_contents: Any, arrays: Arrays) -> StoredBasemap:
    basemap = StoredBasemap(**arrays)
    check_rows("kind", basemap.kind, len(KINDS))
    check_starts("first", basemap.first, len(basemap.lat_e7))
    return basemap


# A line that crosses less water than this in total counts as dry, because maps are not exact.
MIN_WATER_M = 25.0


class Water:
    """The outlines of water and of islands in it, and the coasts; a point inside an even number of rings is on land."""

    def __init__(self, basemap: StoredBasemap | None) -> None:
        self._basemap = basemap or pack_lines([])
        self._rows = np.flatnonzero((self._basemap.kind == KINDS.index(LayerKind.WATER)) | self._basemap.is_coast)

    def is_dry(self, start: Point, end: Point) -> bool:
        """Whether a straight line crosses at most ``MIN_WATER_M`` of water in total."""
        return not len(self._rows) or self.measure_m(start, end) <= MIN_WATER_M

    def measure_m(self, start: Point, end: Point) -> float:
        """Return how many metres of a straight line cross water."""
        base = self._basemap
        (south, north), (west, east) = (
            sorted(round(each * _E7) for each in pair) for pair in zip(start, end, strict=True)
        )
        is_near = (base.south[self._rows] <= north) & (base.north[self._rows] >= south)
        is_near &= (base.west[self._rows] <= east) & (base.east[self._rows] >= west)
        rows = self._rows[is_near]
        if not len(rows):
            return 0.0
        shore, point = list_ranges(base.first[rows].astype(np.int64), (base.first[rows + 1] - base.first[rows]))
        north_m = (base.lat_e7[point] / _E7 - start[0]) * METRES_PER_DEGREE
        east_scale = METRES_PER_DEGREE * np.cos(np.radians(start[0]))
        east_m = (base.lon_e7[point] / _E7 - start[1]) * east_scale
        line_north_m, line_east_m = (end[0] - start[0]) * METRES_PER_DEGREE, (end[1] - start[1]) * east_scale
        length_m = float(np.hypot(line_north_m, line_east_m))
        if not length_m:
            return 0.0
        along_m = (north_m * line_north_m + east_m * line_east_m) / length_m
        offset_m = (east_m * line_north_m - north_m * line_east_m) / length_m
        crosses = np.flatnonzero((shore[1:] == shore[:-1]) & ((offset_m[1:] > 0) != (offset_m[:-1] > 0)))
        fraction = offset_m[crosses] / (offset_m[crosses] - offset_m[crosses + 1])
        crossing_m = along_m[crosses] + fraction * (along_m[crosses + 1] - along_m[crosses])
        order = np.argsort(crossing_m)
        crosses, crossing_m = crosses[order], crossing_m[order]
        is_coast = base.is_coast[rows[shore[crosses]]]
        # A ring is crossed an even number of times: in, out, in, out.
        rings_m = crossing_m[~is_coast].clip(0, length_m)
        on_line = is_coast & (crossing_m >= 0) & (crossing_m <= length_m)
        coasts_m = crossing_m[on_line]
        is_seaward = offset_m[crosses[on_line]] > 0
        sea_m = np.where(is_seaward, -coasts_m, coasts_m).sum() + length_m * is_seaward[-1:].sum()
        return float((rings_m[1::2] - rings_m[:-1:2]).sum() + sea_m)


# Maximum number of points in a box before thinning; if there are more, the least important layers are left out.
MAX_POINTS = 60_000
# Maximum number of points to draw; each takes about six characters.
MAX_DRAWN_POINTS = 18_000
# The tolerance is the diagonal of the box divided by this: about half a pixel in the drawing.
_TOLERANCE_DIVISOR = 1500


def draw_basemap(basemap: StoredBasemap, box: Bounds) -> Basemap | None:
    south, west, north, east = (round(degrees * _E7) for degrees in (box.south, box.west, box.north, box.east))
    inside = np.flatnonzero(
        (basemap.south <= north) & (basemap.north >= south) & (basemap.west <= east) & (basemap.east >= west)
    )
    lon_scale = math.cos(math.radians((box.south + box.north) / 2))
    diagonal_m = METRES_PER_DEGREE * math.hypot(box.north - box.south, (box.east - box.west) * lon_scale)
    tolerance_m = round(diagonal_m / _TOLERANCE_DIVISOR, 1)
    layers: list[MapLayer] = []
    left_out: list[LayerKind] = []
    found = drawn = 0
    for number, kind in enumerate(KINDS):
        rows = inside[basemap.kind[inside] == number]
        if not len(rows):
            continue
        found += int((basemap.first[rows + 1] - basemap.first[rows]).sum())
        if found > MAX_POINTS or left_out:
            left_out.append(kind)
            continue
        lines = [thin(line, tolerance_m) for line in _list_lines(basemap, rows, box, is_ring=kind is LayerKind.WATER)]
        drawn += sum(map(len, lines))
        if drawn > MAX_DRAWN_POINTS:
            left_out.append(kind)
        elif lines:
            layers.append(MapLayer(kind, lines))
    return Basemap(tuple(layers), tolerance_m, tuple(left_out)) if layers or left_out else None


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
    overlaps = (
        (np.maximum(lat[:-1], lat[1:]) >= box.south)
        & (np.minimum(lat[:-1], lat[1:]) <= box.north)
        & (np.maximum(lon[:-1], lon[1:]) >= box.west)
        & (np.minimum(lon[:-1], lon[1:]) <= box.east)
    )
    edges = np.flatnonzero(np.diff(np.concatenate([[0], overlaps.astype(np.int8), [0]])))
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        yield list(zip(lat[begin : end + 1].tolist(), lon[begin : end + 1].tolist(), strict=True))


def clip_ring(ring: Sequence[Point], box: Bounds) -> list[Point]:
    """Return the part of a closed ring within a box (Sutherland and Hodgman, 1974)."""
    points = list(ring[:-1])
    for axis, bound, sign in ((0, box.south, 1), (0, box.north, -1), (1, box.west, 1), (1, box.east, -1)):
        clipped: list[Point] = []
        for last, point in zip([*points[-1:], *points[:-1]], points, strict=True):
            was_in, is_in = sign * (last[axis] - bound) >= 0, sign * (point[axis] - bound) >= 0
            if was_in != is_in:
                ratio = (bound - last[axis]) / (point[axis] - last[axis])
                clipped.append((last[0] + ratio * (point[0] - last[0]), last[1] + ratio * (point[1] - last[1])))
            if is_in:
                clipped.append(point)
        points = clipped
    return [*points, points[0]] if len(points) > 2 else []
