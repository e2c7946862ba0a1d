"""Boxes around positions, in degrees."""

import math
from collections.abc import Sequence

from fingerpost.transit.model.geodesy import METRES_PER_DEGREE
from fingerpost.transit.model.place import Bounds, Coordinate

# A network's box reaches this far beyond its outermost stops: as far as anyone may ask to walk.
MARGIN_M = 3000.0


def box_of(positions: Sequence[Coordinate]) -> Bounds:
    """Return the box of a network whose stops lie at these positions, with its margin."""
    lats, lons = [each.lat for each in positions], [each.lon for each in positions]
    dy = MARGIN_M / METRES_PER_DEGREE
    dx = dy / max(0.01, math.cos(math.radians(max(map(abs, lats)))))
    return Bounds(south=min(lats) - dy, west=min(lons) - dx, north=max(lats) + dy, east=max(lons) + dx)


def box_around(centre: Coordinate, radius_m: float) -> Bounds:
    """Return a box that holds the circle around a position, its sides rounded to 0.1 m."""
    dy = radius_m / METRES_PER_DEGREE * 1.001
    dx = dy / max(0.01, math.cos(math.radians(min(89.0, abs(centre.lat) + dy))))
    return Bounds(
        south=round(centre.lat - dy, 6),
        west=round(centre.lon - dx, 6),
        north=round(centre.lat + dy, 6),
        east=round(centre.lon + dx, 6),
    )
