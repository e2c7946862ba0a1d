"""Walking between stops and to them: a straight line times a detour factor, until streets are known.

The factor is how much longer a walk in a city is than the straight line; the pace is a steady adult's.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.globe import EARTH_RADIUS_M
from fingerpost.transit.timetable.timetable import FORBIDDEN, MINIMUM_TIME, STOP, TIMED, Float64, Int8, Int32

DETOUR_FACTOR = 1.3
PACE_M_PER_S = 1.25

# From alighting to being ready to board, beyond the walk itself.
CHANGE_SLACK_S = 120
# Two stops further apart than this, in a straight line, are not linked on foot.
FOOTPATH_RADIUS_M = 500.0

_HAIR = 1.000001


class Footpaths(NamedTuple):
    """Footpaths of every stop in rows, as the timetable keeps them."""

    first: Int32
    to: Int32
    seconds: Int32
    metres: Int32
    change_s: Int32


def straight_line_m(lat: float, lon: float, lats: Float64, lons: Float64) -> Float64:
    """Return great-circle distances in metres from one position to many (haversine)."""
    phi, phis = math.radians(lat), np.radians(lats)
    half_dlat = (phis - phi) / 2
    half_dlon = np.radians(lons - lon) / 2
    root = np.sin(half_dlat) ** 2 + math.cos(phi) * np.cos(phis) * np.sin(half_dlon) ** 2
    distances: Float64 = 2 * EARTH_RADIUS_M * np.arcsin(np.sqrt(np.minimum(root, 1.0)))
    return distances


def walk_m(straight_m: Float64) -> Float64:
    """Return how far one walks where the straight line is so long."""
    walked: Float64 = straight_m * DETOUR_FACTOR
    return walked


def walk_s(walked_m: Float64) -> Int32:
    """Return whole seconds, rounded up, for a walk of so many metres."""
    seconds: Int32 = np.ceil(walked_m / PACE_M_PER_S).astype(np.int32)
    return seconds


def neighbours_m(
    lats: Float64, lons: Float64, rows: npt.NDArray[np.int64], radius_m: float
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Float64]:
    """Return all ordered pairs of different stops among ``rows`` within a radius, and their distances.

    A grid of cells as wide as the radius keeps this near linear in the number of stops.
    """
    if len(rows) == 0:
        empty = np.zeros(0, np.int64)
        return empty, empty, np.zeros(0)
    # A cell is as wide as the radius spans in longitude at the latitude nearest to a pole, and a hair more,
    # so that rounding cannot put two stops within the radius two cells apart.
    half = math.sin(radius_m / EARTH_RADIUS_M / 2)
    narrowest = math.cos(math.radians(float(np.abs(lats[rows]).max())))
    cell_lat = math.degrees(radius_m / EARTH_RADIUS_M) * _HAIR
    cell_lon = math.degrees(2 * math.asin(half / narrowest)) * _HAIR if half < narrowest else 360.0
    cells: dict[tuple[int, int], list[int]] = {}
    keys = zip(
        np.floor(lats[rows] / cell_lat).astype(int).tolist(),
        np.floor(lons[rows] / cell_lon).astype(int).tolist(),
        strict=True,
    )
    for row, key in zip(rows.tolist(), keys, strict=True):
        cells.setdefault(key, []).append(row)
    sources, targets, distances = [], [], []
    for (y, x), members in cells.items():
        around = [row for dy in (-1, 0, 1) for dx in (-1, 0, 1) for row in cells.get((y + dy, x + dx), ())]
        there = np.array(around)
        for row in members:
            straight = straight_line_m(lats[row], lons[row], lats[there], lons[there])
            near = (straight <= radius_m) & (there != row)
            sources.append(np.full(int(near.sum()), row))
            targets.append(there[near])
            distances.append(straight[near])
    return np.concatenate(sources), np.concatenate(targets), np.concatenate(distances)


def footpaths(
    lats: Float64,
    lons: Float64,
    kinds: Int8,
    transfer_from: Int32,
    transfer_to: Int32,
    transfer_type: Int8,
    transfer_min_s: Int32,
) -> Footpaths:
    """Link stops on foot: all pairs within the radius, and the feeds' own transfers, whose word is final.

    A recommended transfer (type 0) without a stated time takes the walk and the slack; a timed one (1) the
    walk alone, for the vehicle waits; a minimum time (2) is taken as stated; a forbidden one (3) is removed.
    """
    count = len(lats)
    boardable = np.flatnonzero(kinds == STOP)
    source, target, straight = neighbours_m(lats, lons, boardable, FOOTPATH_RADIUS_M)
    metres = np.ceil(walk_m(straight)).astype(np.int32)
    seconds = walk_s(metres.astype(float)) + CHANGE_SLACK_S
    change_s = np.full(count, CHANGE_SLACK_S, np.int32)
    if len(transfer_from):
        stated: dict[tuple[int, int], tuple[int, int]] = {}
        forbidden: set[tuple[int, int]] = set()
        ends = (transfer_from.tolist(), transfer_to.tolist(), transfer_type.tolist(), transfer_min_s.tolist())
        for begin, end, kind, minimum_s in zip(*ends, strict=True):
            straight_m = straight_line_m(lats[begin], lons[begin], lats[end : end + 1], lons[end : end + 1])
            length_m = math.ceil(walk_m(straight_m)[0])
            on_foot_s = math.ceil(length_m / PACE_M_PER_S)
            if kind == FORBIDDEN:
                forbidden.add((begin, end))
                taken_s = -1
            elif kind == MINIMUM_TIME and minimum_s >= 0:
                taken_s = minimum_s
            else:
                taken_s = on_foot_s if kind == TIMED else on_foot_s + CHANGE_SLACK_S
            if begin == end:
                change_s[begin] = taken_s
            elif kind != FORBIDDEN:
                stated[begin, end] = (taken_s, length_m)
        key = source * count + target
        replaced = np.array([a * count + b for a, b in {*stated, *forbidden}], np.int64)
        keep = ~np.isin(key, replaced)
        allowed = {pair: value for pair, value in stated.items() if pair not in forbidden}
        source = np.concatenate([source[keep], np.array([a for a, _ in allowed], np.int64)])
        target = np.concatenate([target[keep], np.array([b for _, b in allowed], np.int64)])
        seconds = np.concatenate([seconds[keep], np.array([s for s, _ in allowed.values()], np.int32)])
        metres = np.concatenate([metres[keep], np.array([m for _, m in allowed.values()], np.int32)])
    order = np.lexsort((target, source))
    first = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(source, minlength=count), out=first[1:])
    return Footpaths(
        first,
        target[order].astype(np.int32),
        seconds[order].astype(np.int32),
        metres[order].astype(np.int32),
        change_s,
    )
