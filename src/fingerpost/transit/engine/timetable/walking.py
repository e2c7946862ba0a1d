"""Estimate walks: the straight line times a detour factor, at an average adult's pace."""

import math

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.columns import list_ranges
from fingerpost.transit.engine.timetable.timetable import Float64, Int32
from fingerpost.transit.model.geodesy import EARTH_RADIUS_M

DETOUR_FACTOR = 1.3
PACE_M_PER_S = 1.25

# The time from alighting to being ready to board, in addition to the walk.
CHANGE_SLACK_S = 120
# Added to that for transfers between stops or stations whose walk is estimated as a straight line (decision 0530).
STRAIGHT_SLACK_S = 135
# The straight line between two stops that are linked on foot is at most this long.
FOOTPATH_RADIUS_M = 500.0

_MARGIN = 1.000001
# More cells than lie along any parallel, so that the numbers of two rows of cells cannot overlap.
_CELLS = 1 << 32
_PAIRS_AT_ONCE = 2_000_000


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
    seconds: Int32 = np.ceil(walked_m / PACE_M_PER_S).astype(np.int32)
    return seconds


def find_neighbours(
    lats: Float64, lons: Float64, rows: npt.NDArray[np.int64], radius_m: float
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Float64]:
    """Return all ordered pairs of different stops among ``rows`` within a radius, and their distances.

    A grid of cells as wide as the radius keeps this near linear in the number of stops.
    """
    if len(rows) == 0:
        empty = np.zeros(0, np.int64)
        return empty, empty, np.zeros(0)
    # A cell is slightly wider than the radius at the latitude nearest to a pole, so that rounding cannot put two stops
    # within the radius two cells apart.
    half = math.sin(radius_m / EARTH_RADIUS_M / 2)
    narrowest = math.cos(math.radians(float(np.abs(lats[rows]).max())))
    cell_lat = math.degrees(radius_m / EARTH_RADIUS_M) * _MARGIN
    cell_lon = math.degrees(2 * math.asin(half / narrowest)) * _MARGIN if half < narrowest else 360.0
    cell = np.floor(lats[rows] / cell_lat).astype(np.int64) * _CELLS + np.floor(lons[rows] / cell_lon).astype(np.int64)
    order = np.argsort(cell, kind="stable")
    cell, ranked = cell[order], rows[order]
    sources, targets, distances = [], [], []
    # Half of the neighbouring cells suffice, because distances are symmetric.
    for step in (0, 1, _CELLS - 1, _CELLS, _CELLS + 1):
        begin = np.searchsorted(cell, cell + step, "left")
        end = np.searchsorted(cell, cell + step, "right")
        if step == 0:
            begin = np.arange(1, len(cell) + 1)
        for part in _split_pairs(end - begin):
            position, partner = list_ranges(begin[part], end[part] - begin[part])
            source, target = ranked[part[position]], ranked[partner]
            straight = straight_line_m(lats[source], lons[source], lats[target], lons[target])
            near = straight <= radius_m
            sources += [source[near], target[near]]
            targets += [target[near], source[near]]
            distances += [straight[near], straight[near]]
    return np.concatenate(sources), np.concatenate(targets), np.concatenate(distances)


def _split_pairs(counts: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    total = np.cumsum(counts)
    cuts = np.searchsorted(total, np.arange(_PAIRS_AT_ONCE, int(total[-1]) + 1, _PAIRS_AT_ONCE), "left") + 1
    return [part for part in np.split(np.arange(len(counts)), cuts) if len(part)]
