"""Cut a trip's shape (its line on the map) between two of its stops."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.timetable import Float64, Timetable
from fingerpost.transit.model.geodesy import EARTH_RADIUS_M

# A shape further than this from a stop does not match the trip.
MAX_DISTANCE_M = 300.0
_UDEG = 1e6


class RidePath(NamedTuple):
    """The shape (a row, -1 for none) and the stops of a ride, and where to cut the shape if the feed has distances."""

    shape: int
    stops: tuple[int, ...]
    cut: tuple[float, float] | None = None


def find_ride_path(timetable: Timetable, trip: int, board_stop_time: int, alight_stop_time: int) -> RidePath:
    shape = int(timetable.trip_shape[trip]) if len(timetable.trip_shape) else -1
    stops = tuple(timetable.stop_time_stop[board_stop_time : alight_stop_time + 1].tolist())
    if shape < 0 or not len(timetable.stop_time_shape_point):
        return RidePath(shape, stops)
    begin, end = timetable.stop_time_shape_point[[board_stop_time, alight_stop_time]].tolist()
    return RidePath(shape, stops, (begin, end) if 0.0 <= begin < end else None)


def find_ride_line(timetable: Timetable, path: RidePath) -> Float64 | None:
    """Return the line of a ride between its stops as (latitude, longitude) in degrees, or None if no shape matches.

    It is cut by shape_dist_traveled or, if that is missing, at the points nearest to the two stops. The second point
    must not precede the first, because a line may pass a stop twice.
    """
    if path.shape < 0:
        return None
    span = slice(int(timetable.shape_first[path.shape]), int(timetable.shape_first[path.shape + 1]))
    lats, lons = timetable.shape_lat_udeg[span] / _UDEG, timetable.shape_lon_udeg[span] / _UDEG
    if len(lats) < 2:
        return None
    scale = np.array([1.0, np.cos(np.radians(lats.mean()))]) * np.radians(1.0) * EARTH_RADIUS_M
    points = np.column_stack([lats, lons]) * scale
    stop_points = [
        np.array([timetable.stop_lat[stop], timetable.stop_lon[stop]]) * scale
        for stop in (path.stops[0], path.stops[-1])
    ]
    line = None if path.cut is None else _cut(points, stop_points, *path.cut)
    if line is None:
        line = _cut(points, stop_points, *_find_nearest(points, stop_points))
    return None if line is None else line / scale


def _cut(points: Float64, stop_points: list[Float64], begin: float, end: float) -> Float64 | None:
    """Return the part of a shape between two positions, measured in points, or None if it does not match the stops."""
    if not begin <= end <= len(points) - 1:
        return None
    start, finish = interpolate(points, begin), interpolate(points, end)
    if not max(np.hypot(*(start - stop_points[0])), np.hypot(*(finish - stop_points[1]))) <= MAX_DISTANCE_M:
        return None
    line: Float64 = np.vstack([start, points[math.floor(begin) + 1 : math.ceil(end)], finish])
    return line


def interpolate(points: Float64, position: float) -> Float64:
    index = min(int(position), len(points) - 2)
    point: Float64 = points[index] + (points[index + 1] - points[index]) * (position - index)
    return point


def _find_nearest(points: Float64, stop_points: list[Float64]) -> tuple[float, float]:
    """Return the positions on a shape that are nearest to the two stops of a ride, in order if possible."""
    (begin_m, begin_fraction), (end_m, end_fraction) = (measure_distances(points, point) for point in stop_points)
    # For each end segment, find the best start on an earlier segment, or earlier on the same one.
    earlier_m = np.append(np.inf, np.minimum.accumulate(begin_m)[:-1])
    same_m = np.where(begin_fraction <= end_fraction, begin_m, np.inf)
    last = int(np.argmin(np.minimum(earlier_m, same_m) + end_m))
    first = last if same_m[last] <= earlier_m[last] else int(np.argmin(begin_m[:last]))
    return first + float(begin_fraction[first]), last + float(end_fraction[last])


def line_m(line: Float64) -> float:
    radians = np.radians(line)
    step = np.diff(radians, axis=0)
    # The antimeridian is crossed the short way.
    east = np.remainder(step[:, 1] + math.pi, math.tau) - math.pi
    step[:, 1] = east * np.cos((radians[1:, 0] + radians[:-1, 0]) / 2)
    return float(np.hypot(step[:, 0], step[:, 1]).sum() * EARTH_RADIUS_M)


def measure_distances(points: npt.NDArray[np.float64], point: npt.NDArray[np.float64]) -> tuple[Float64, Float64]:
    """Return each segment's distance from a point, and the fraction (0..1) along it at which its nearest point lies."""
    begin, step = points[:-1], np.diff(points, axis=0)
    length = np.maximum((step**2).sum(axis=1), 1e-12)
    fraction = np.clip(((point - begin) * step).sum(axis=1) / length, 0.0, 1.0)
    nearest = begin + step * fraction[:, None]
    return np.hypot(*(nearest - point).T), fraction
