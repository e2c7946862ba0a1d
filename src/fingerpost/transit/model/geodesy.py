"""The Earth's radius, and line simplification."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

# Mean radius of the Earth (IUGG).
EARTH_RADIUS_M = 6_371_008.8
METRES_PER_DEGREE = math.radians(EARTH_RADIUS_M)

Point = tuple[float, float]


def find_west(lons: Iterable[float]) -> float:
    """Return the western end of the shortest arc around the Earth that contains all the given longitudes."""
    ordered = sorted({*lons})
    if ordered[-1] - ordered[0] <= 180:
        return ordered[0]
    gap, west = max((east - west, east) for west, east in pairwise(ordered))
    return west if gap > ordered[0] + 360 - ordered[-1] else ordered[0]


def thin(points: Sequence[Point], tolerance_m: float) -> list[Point]:
    """Simplify a line of (latitude, longitude) points; each removed point is within ``tolerance_m`` of the result."""
    if tolerance_m <= 0 or len(points) <= 2:
        return list(points)
    lon_scale = math.cos(math.radians(points[0][0]))
    projected = [(lat * METRES_PER_DEGREE, lon * METRES_PER_DEGREE * lon_scale) for lat, lon in points]
    selected = [0]
    while selected[-1] < len(projected) - 1:
        selected.append(_find_straight_end(projected, selected[-1], tolerance_m))
    return [points[index] for index in selected]


def _find_straight_end(projected: Sequence[Point], start: int, tolerance_m: float) -> int:
    """Return the last point to which a line from ``start`` stays within the tolerance of all points in between.

    The possible directions of such a line form a cone, which becomes narrower with each point.
    """
    first: float | None = None
    low, high, furthest_m = -math.pi, math.pi, 0.0
    for index in range(start + 1, len(projected)):
        north_m, east_m = projected[index][0] - projected[start][0], projected[index][1] - projected[start][1]
        distance_m, bearing = math.hypot(north_m, east_m), math.atan2(north_m, east_m)
        turn = 0.0 if first is None else math.remainder(bearing - first, math.tau)
        if first is not None and (distance_m < furthest_m or not low <= turn <= high):
            return index - 1
        if distance_m <= tolerance_m:
            continue
        first = bearing if first is None else first
        half_angle = math.asin(tolerance_m / distance_m)
        low, high, furthest_m = max(low, turn - half_angle), min(high, turn + half_angle), max(furthest_m, distance_m)
    return len(projected) - 1
