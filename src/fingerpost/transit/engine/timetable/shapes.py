"""Cut a trip's shape (its line on the map) between two of its stops."""

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.timetable import Float64, Timetable
from fingerpost.transit.model.geodesy import EARTH_RADIUS_M, METRES_PER_DEGREE, Point

# A shape further than this from a stop does not match the trip.
MAX_DISTANCE_M = 300.0
# For each metre that a part fits the stops better, it may be up to this many metres longer.
_ERROR_FACTOR = 30.0
_UDEG = 1e6


class RidePath(NamedTuple):
    """The shape (a row, or -1 for none) and the stops of a ride."""

    shape: int
    stops: tuple[int, ...]


def find_ride_path(timetable: Timetable, trip: int, board_stop_time: int, alight_stop_time: int) -> RidePath:
    shape = int(timetable.trip_shape[trip]) if len(timetable.trip_shape) else -1
    return RidePath(shape, tuple(timetable.stop_time_stop[board_stop_time : alight_stop_time + 1].tolist()))


def find_ride_line(timetable: Timetable, path: RidePath) -> Float64 | None:
    """Return the line of a ride between its stops as (latitude, longitude) in degrees, or None if no shape matches."""
    if path.shape < 0:
        return None
    span = slice(int(timetable.shape_first[path.shape]), int(timetable.shape_first[path.shape + 1]))
    lats, lons = timetable.shape_lat_udeg[span] / _UDEG, timetable.shape_lon_udeg[span] / _UDEG
    if len(lats) < 2:
        return None
    scale = np.array([1.0, np.cos(np.radians(lats.mean()))]) * np.radians(1.0) * EARTH_RADIUS_M
    points = np.column_stack([lats, lons]) * scale
    stops = list(path.stops)
    part = _find_part(points, np.column_stack([timetable.stop_lat[stops], timetable.stop_lon[stops]]) * scale)
    if part is None:
        return None
    begin, end = part
    inner = points[math.floor(begin) + 1 : math.ceil(end)]
    line: Float64 = np.vstack([interpolate(points, begin), inner, interpolate(points, end)]) / scale
    return line


def _find_part(points: Float64, stops: Float64) -> tuple[float, float] | None:
    """Return the fractional point indices of a ride's ends on its shape, or None if the shape does not match.

    A shape may pass a stop several times, so all stops of the ride are matched to segments in their order, with the
    least total distance; of equally near parts, the shorter one is returned.
    """
    step_m = np.hypot(*np.diff(points, axis=0).T)
    start_m = np.append(0.0, step_m.cumsum()[:-1])
    matches = [measure_distances(points, stop) for stop in stops]
    (begin_m, begin_fraction), (end_m, end_fraction) = matches[0], matches[-1]
    cost = begin_m - (start_m + begin_fraction * step_m) / _ERROR_FACTOR
    earlier: list[tuple[Float64, npt.NDArray[np.bool_]]] = []
    for (_, previous_fraction), (away_m, fraction) in pairwise(matches):
        before = np.append(np.inf, np.minimum.accumulate(cost)[:-1])
        same = np.where(previous_fraction <= fraction, cost, np.inf)
        earlier.append((cost, same <= before))
        cost = away_m + np.minimum(before, same)
    cost = cost + (start_m + end_fraction * step_m) / _ERROR_FACTOR
    begin = end = int(cost.argmin())
    if not np.isfinite(cost[end]):
        return None
    for costs, is_same in reversed(earlier):
        begin = begin if is_same[begin] else int(costs[:begin].argmin())
    if max(begin_m[begin], end_m[end]) > MAX_DISTANCE_M:
        return None
    return begin + float(begin_fraction[begin]), end + float(end_fraction[end])


def interpolate(points: Float64, position: float) -> Float64:
    index = min(int(position), len(points) - 2)
    point: Float64 = points[index] + (points[index + 1] - points[index]) * (position - index)
    return point


def line_m(line: Iterable[Point]) -> float:
    total_deg = 0.0
    for (lat, lon), (next_lat, next_lon) in pairwise(line):
        # Measure steps across the antimeridian the short way around.
        east_deg = math.remainder(next_lon - lon, 360.0) * math.cos(math.radians((lat + next_lat) / 2))
        total_deg += math.hypot(next_lat - lat, east_deg)
    return total_deg * METRES_PER_DEGREE


def measure_ride_m(timetable: Timetable, path: RidePath) -> float:
    """Return the length of a ride along its shape or, if it has none, from stop to stop (rule D3)."""
    line = find_ride_line(timetable, path)
    return round(line_m(list_stop_points(timetable, path) if line is None else line.tolist()), 1)


def list_stop_points(timetable: Timetable, path: RidePath) -> list[Point]:
    rows = list(path.stops)
    return list(zip(timetable.stop_lat[rows].tolist(), timetable.stop_lon[rows].tolist(), strict=True))


def measure_distances(points: npt.NDArray[np.float64], point: npt.NDArray[np.float64]) -> tuple[Float64, Float64]:
    """Return each segment's distance from a point, and the nearest point's fraction (0..1) along the segment."""
    begin, step = points[:-1], np.diff(points, axis=0)
    length = np.maximum((step**2).sum(axis=1), 1e-12)
    fraction = np.clip(((point - begin) * step).sum(axis=1) / length, 0.0, 1.0)
    nearest = begin + step * fraction[:, None]
    return np.hypot(*(nearest - point).T), fraction
