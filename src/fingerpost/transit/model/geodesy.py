"""The earth's radius, and lines with fewer points."""

import math
from collections.abc import Sequence

# Mean radius of the Earth (IUGG).
EARTH_RADIUS_M = 6_371_008.8
METRES_PER_DEGREE = math.radians(EARTH_RADIUS_M)


Point = tuple[float, float]


def thin(points: Sequence[Point], tolerance_m: float) -> list[Point]:
    """Return some of a line's points (latitude, longitude), both ends among them.

    Each point that is left out lies within ``tolerance_m`` of the line between the kept points around it.
    """
    if tolerance_m <= 0 or len(points) <= 2:
        return list(points)
    narrowing = math.cos(math.radians(points[0][0]))
    flat = [(lat * METRES_PER_DEGREE, lon * METRES_PER_DEGREE * narrowing) for lat, lon in points]
    kept = [0]
    cone = _Cone(flat[0], tolerance_m)
    for at in range(1, len(flat)):
        if not cone.takes(flat[at]):
            kept.append(at - 1)
            cone = _Cone(flat[at - 1], tolerance_m)
        cone.narrow(flat[at])
    return [points[at] for at in (*kept, len(points) - 1)]


class _Cone:
    """The cone of directions from a point in which a straight line stays within the tolerance of all points since."""

    def __init__(self, tip: Point, tolerance_m: float) -> None:
        self._tip = tip
        self._tolerance_m = tolerance_m
        self._middle: float | None = None
        self._low = self._high = 0.0
        self._furthest_m = 0.0

    def takes(self, point: Point) -> bool:
        """Whether a straight line from the tip to this point passes all points since within the tolerance.

        The line must reach as far as they do: behind its end it is not.
        """
        if self._middle is None:
            return True
        return self._away_m(point) >= self._furthest_m and self._low <= self._turn(point) <= self._high

    def narrow(self, point: Point) -> None:
        """Take a point in: later lines must pass it too. What lies within the tolerance of the tip is passed anyway."""
        away_m = self._away_m(point)
        if away_m <= self._tolerance_m:
            return
        self._furthest_m = max(self._furthest_m, away_m)
        if self._middle is None:
            self._middle, self._low, self._high = self._bearing(point), -math.pi, math.pi
        turn, half = self._turn(point), math.asin(self._tolerance_m / away_m)
        self._low, self._high = max(self._low, turn - half), min(self._high, turn + half)

    def _away_m(self, point: Point) -> float:
        return math.hypot(point[0] - self._tip[0], point[1] - self._tip[1])

    def _bearing(self, point: Point) -> float:
        return math.atan2(point[0] - self._tip[0], point[1] - self._tip[1])

    def _turn(self, point: Point) -> float:
        """Return the angle from the cone's first direction to a point's, in -pi..pi."""
        return math.remainder(self._bearing(point) - (self._middle or 0.0), math.tau)
