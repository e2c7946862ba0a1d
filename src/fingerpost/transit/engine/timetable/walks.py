"""Measure walks around stops: a protocol, and a straight-line estimate.

The estimate is the straight-line distance times a detour factor, at an average adult's pace.
"""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from fingerpost.transit.engine.timetable.columns import list_ranges
from fingerpost.transit.engine.timetable.timetable import Bool, Float64, Int32, Int64, StationPlaces
from fingerpost.transit.model.geodesy import EARTH_RADIUS_M, Point, find_west

DETOUR_FACTOR = 1.3
PACE_M_PER_S = 1.25

# The time from alighting to being ready to board, in addition to the walk.
CHANGE_SLACK_S = 120
# Additional time for transfers between stops or stations if the walk is estimated as a straight line (decision 0530).
STRAIGHT_SLACK_S = 135
# Stops whose straight-line distance exceeds this are not linked by footpaths.
FOOTPATH_RADIUS_M = 500.0

_MARGIN = 1.000001
# Rounding errors must not turn a walk of no length into one metre.
_ROUNDING_M = 1e-6
# More than the number of cells along any parallel, so that cell numbers in different rows cannot overlap.
_CELLS = 1 << 32


def straight_line_m(
    lat: float | Float64, lon: float | Float64, lats: float | Float64, lons: float | Float64
) -> Float64:
    """Return great-circle distances in metres (haversine) between pairs of positions in degrees."""
    phi, phis = np.radians(lat), np.radians(lats)
    half_dlat, half_dlon = (phis - phi) / 2, np.radians(lons - lon) / 2
    root = np.sin(half_dlat) ** 2 + np.cos(phi) * np.cos(phis) * np.sin(half_dlon) ** 2
    distances: Float64 = 2 * EARTH_RADIUS_M * np.arcsin(np.sqrt(np.minimum(root, 1.0)))
    return distances


def walk_s(walked_m: Float64) -> Int32:
    return np.ceil(walked_m / PACE_M_PER_S).astype(np.int32)


def find_neighbours(lats: Float64, lons: Float64, rows: Int64, radius_m: float) -> tuple[Int64, Int64, Float64]:
    """Return all ordered pairs of stops in ``rows`` within a radius of each other, and their distances.

    A grid of cells as wide as the radius keeps the running time almost linear in the number of stops.
    """
    if len(rows) == 0:
        empty = np.zeros(0, np.int64)
        return empty, empty, np.zeros(0)
    # Cells are slightly wider than the radius even at the latitude nearest to a pole, so rounding cannot put two stops
    # within the radius two cells apart.
    half = math.sin(radius_m / EARTH_RADIUS_M / 2)
    narrowest = math.cos(math.radians(float(np.abs(lats[rows]).max())))
    cell_lat = math.degrees(radius_m / EARTH_RADIUS_M) * _MARGIN
    cell_lon = math.degrees(2 * math.asin(half / narrowest)) * _MARGIN if half < narrowest else 360.0
    eastward = lons[rows] + 360 * (lons[rows] < find_west(lons[rows].tolist()))
    cell = np.floor(lats[rows] / cell_lat).astype(np.int64) * _CELLS + np.floor(eastward / cell_lon).astype(np.int64)
    order = np.argsort(cell, kind="stable")
    cell, ranked = cell[order], rows[order]
    sources, targets, distances = [], [], []
    # Half of the neighbouring cells suffice, because distances are symmetric.
    for step in (0, 1, _CELLS - 1, _CELLS, _CELLS + 1):
        begin = np.searchsorted(cell, cell + step, "left")
        end = np.searchsorted(cell, cell + step, "right")
        if step == 0:
            begin = np.arange(1, len(cell) + 1)
        position, partner = list_ranges(begin, end - begin)
        source, target = ranked[position], ranked[partner]
        distance_m = straight_line_m(lats[source], lons[source], lats[target], lons[target])
        is_near = distance_m <= radius_m
        sources += [source[is_near], target[is_near]]
        targets += [target[is_near], source[is_near]]
        distances += [distance_m[is_near], distance_m[is_near]]
    return np.concatenate(sources), np.concatenate(targets), np.concatenate(distances)


class Walk(NamedTuple):
    metres: int
    seconds: int


class StopWalks(NamedTuple):
    """Walks between a point and stops (rows), in whole metres and seconds, rounded up."""

    stop: Int32
    metres: Int32
    seconds: Int32

    def by_stop(self) -> dict[int, tuple[int, int]]:
        """Return the metres and seconds of each walk, keyed by stop."""
        stops, metres, seconds = (column.tolist() for column in self)
        return dict(zip(stops, zip(metres, seconds, strict=True), strict=True))


class StopLinks(NamedTuple):
    """Walks between stops (rows), in whole metres and seconds, rounded up.

    ``is_straight`` marks walks that do not follow streets.
    """

    begin: Int64
    end: Int64
    metres: Int32
    seconds: Int32
    is_straight: Bool

    def find_slack_s(self, parents: Int32) -> Int32:
        """Return the seconds to add to each walk to board the next ride; ``parents`` are the stations of all stops."""
        begin, end = self.begin, self.end
        is_same_place = (begin == end) | ((parents[begin] == parents[end]) & (parents[begin] >= 0))
        return CHANGE_SLACK_S + np.where(self.is_straight & ~is_same_place, STRAIGHT_SLACK_S, 0)


class WalkedStops(NamedTuple):
    """The stops of a timetable; codes may be empty. ``has_metro`` and ``has_rail`` mark metro and rail stops."""

    places: StationPlaces
    local_ids: Sequence[str]
    codes: Sequence[str]
    has_metro: Bool
    has_rail: Bool


class Walks(Protocol):
    """Measures walks around the stops (rows) of one timetable; thread-safe."""

    def list_links(self, stops: Int64) -> StopLinks:
        """Return the walks between all ordered pairs of distinct stops that are close enough for a transfer."""

    def measure(self, begin: Int64, end: Int64) -> StopLinks:
        """Return the walk between each pair of stops, at any distance."""

    def reach(self, lat: float, lon: float, stops: Int64 | Bool, max_walk_m: float, *, from_stops: bool) -> StopWalks:
        """Return the walks within the limit from a point to stops or, if ``from_stops``, from stops to the point.

        ``stops`` holds rows or a mask.
        """

    def find_walk(self, start: Point, end: Point, max_walk_m: float) -> Walk | None:
        """Return the walk between two points (latitude, longitude), or None if it is longer than the limit."""


class WalkModes(NamedTuple):
    usual: Walks
    step_free: Walks | None = None


FindWalks = Callable[[WalkedStops], WalkModes]


class StraightLine:
    def __init__(self, lats: Float64, lons: Float64) -> None:
        self._lats, self._lons = lats, lons

    def list_links(self, stops: Int64) -> StopLinks:
        begin, end, straight_m = find_neighbours(self._lats, self._lons, stops, FOOTPATH_RADIUS_M)
        return _build_links(begin, end, straight_m)

    def measure(self, begin: Int64, end: Int64) -> StopLinks:
        lats, lons = self._lats, self._lons
        return _build_links(begin, end, straight_line_m(lats[begin], lons[begin], lats[end], lons[end]))

    def reach(self, lat: float, lon: float, stops: Int64 | Bool, max_walk_m: float, *, from_stops: bool) -> StopWalks:  # noqa: ARG002
        near, straight_m = self.find_near(lat, lon, stops, max_walk_m / DETOUR_FACTOR + 1)
        metres = np.ceil(straight_m * DETOUR_FACTOR - _ROUNDING_M)
        is_in_range = metres <= max_walk_m
        near, metres = near[is_in_range], metres[is_in_range]
        return StopWalks(near.astype(np.int32), metres.astype(np.int32), walk_s(metres))

    def find_walk(self, start: Point, end: Point, max_walk_m: float) -> Walk | None:
        half_chord = min(math.dist(_to_vector(*start), _to_vector(*end)) / 2, 1.0)
        metres = math.ceil(2 * EARTH_RADIUS_M * math.asin(half_chord) * DETOUR_FACTOR - _ROUNDING_M)
        return Walk(metres, math.ceil(metres / PACE_M_PER_S)) if metres <= max_walk_m else None

    def find_near(self, lat: float, lon: float, stops: Int64 | Bool, radius_m: float) -> tuple[Int64, Float64]:
        """Return those of ``stops`` (rows or a mask) within a radius of a point, and their distances in metres."""
        order, lats, vectors = self._by_latitude
        margin = math.degrees(radius_m / EARTH_RADIUS_M) * _MARGIN
        first, end = lats.searchsorted(lat - margin), lats.searchsorted(lat + margin, "right")
        rows = order[first:end]
        away = vectors[:, first:end] - np.array(_to_vector(lat, lon))[:, None]
        squares = np.einsum("ij,ij->j", away, away)
        is_near = squares <= (2 * math.sin(radius_m / EARTH_RADIUS_M / 2)) ** 2
        is_near &= stops[rows] if stops.dtype == np.bool_ else np.isin(rows, stops)
        near, squares = rows[is_near], squares[is_near]
        by_row = near.argsort()
        return near[by_row], 2 * EARTH_RADIUS_M * np.arcsin(np.sqrt(squares[by_row]) / 2)

    @cached_property
    def _by_latitude(self) -> tuple[Int64, Float64, Float64]:
        """The rows of the stops from south to north, and their latitudes and positions on a unit sphere.

        Distances through the sphere take fewer numpy calls than haversines.
        """
        order = np.argsort(self._lats, kind="stable")
        phi, theta = np.radians(self._lats[order]), np.radians(self._lons[order])
        sphere = np.stack([np.cos(phi) * np.cos(theta), np.cos(phi) * np.sin(theta), np.sin(phi)])
        return order, self._lats[order], sphere


def _to_vector(lat: float, lon: float) -> tuple[float, float, float]:
    phi, theta = math.radians(lat), math.radians(lon)
    return math.cos(phi) * math.cos(theta), math.cos(phi) * math.sin(theta), math.sin(phi)


def _build_links(begin: Int64, end: Int64, straight_m: Float64) -> StopLinks:
    metres = np.ceil(straight_m * DETOUR_FACTOR)
    return StopLinks(begin, end, metres.astype(np.int32), walk_s(metres), np.ones(len(begin), np.bool_))


def straight_line_walks(stops: WalkedStops) -> WalkModes:
    return WalkModes(StraightLine(stops.places.lats, stops.places.lons))
