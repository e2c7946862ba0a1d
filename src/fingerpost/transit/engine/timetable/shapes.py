"""Cut a trip's shape (its line on the map) between two of its stops."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.timetable import Float64, Timetable
from fingerpost.transit.model.geodesy import EARTH_RADIUS_M

# A shape further than this from a stop does not match the trip.
MAX_DISTANCE_M = 300.0
# A part that fits the stops better by one metre is preferred even if it is longer by this many metres.
_ERROR_FACTOR = 30.0
_UDEG = 1e6


class RidePath(NamedTuple):
    """The shape (a row, -1 for none) and the stops of a ride."""

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
    """Return the positions of a ride's ends on its shape, counted in points, or None if the shape does not match.

    A shape may pass a stop several times: short parts between near passes are preferred, but a part that is shorter
    than the straight lines from stop to stop misses some of the stops.
    """
    begins, ends = _list_passes(points, stops[0]), _list_passes(points, stops[-1])
    along_m = np.concatenate([[0.0], _measure_steps(points).cumsum()])
    begin_m, end_m = (np.interp(passes[:, 0], np.arange(len(points)), along_m) for passes in (begins, ends))
    length_m = end_m - begin_m[:, None]
    error_m = begins[:, 1:] + ends[:, 1] + np.maximum(0.0, _measure_steps(stops).sum() - length_m)
    cost = np.where(length_m >= 0, length_m + _ERROR_FACTOR * error_m, np.inf)
    if not np.isfinite(cost).any():
        return None
    begin, end = np.unravel_index(cost.argmin(), cost.shape)
    return float(begins[begin, 0]), float(ends[end, 0])


def _measure_steps(points: Float64) -> Float64:
    steps: Float64 = np.hypot(*np.diff(points, axis=0).T)
    return steps


def _list_passes(points: Float64, point: Float64) -> Float64:
    """Return where a shape comes nearest to a stop, as rows: the position, and the distance in metres."""
    away_m, fraction = measure_distances(points, point)
    neighbours_m = np.pad(away_m, 1, constant_values=np.inf)
    is_nearest = (away_m <= neighbours_m[:-2]) & (away_m <= neighbours_m[2:]) & (away_m <= MAX_DISTANCE_M)
    segments = np.flatnonzero(is_nearest)
    return np.column_stack([segments + fraction[segments], away_m[segments]])


def interpolate(points: Float64, position: float) -> Float64:
    index = min(int(position), len(points) - 2)
    point: Float64 = points[index] + (points[index + 1] - points[index]) * (position - index)
    return point


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
