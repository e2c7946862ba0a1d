"""Great-circle distance between two positions."""

import math
from collections.abc import Sequence

from fingerpost.transit.model.geodesy import EARTH_RADIUS_M
from fingerpost.transit.model.place import Coordinate

# Two ends no further apart than this are one point (statement P17).
SAME_POINT_M = 1.0


def distance_m(a: Coordinate, b: Coordinate) -> float:
    """Return the great-circle distance in metres (haversine)."""
    phi_a, phi_b = math.radians(a.lat), math.radians(b.lat)
    half_lat = (phi_b - phi_a) / 2
    half_lon = math.radians(b.lon - a.lon) / 2
    root = math.sin(half_lat) ** 2 + math.cos(phi_a) * math.cos(phi_b) * math.sin(half_lon) ** 2
    return 2 * EARTH_RADIUS_M * math.asin(math.sqrt(min(1.0, root)))


def is_same_point(a: Coordinate, b: Coordinate) -> bool:
    """Whether two ends are too close to travel between (rule A6)."""
    return distance_m(a, b) <= SAME_POINT_M


def centre_of(coordinates: Sequence[Coordinate]) -> Coordinate:
    """Return the mean of positions that lie close together, on either side of the date line.

    Raises:
        ZeroDivisionError: there are none.
    """
    count = len(coordinates)
    lat = sum(each.lat for each in coordinates) / count
    first = coordinates[0].lon
    east = sum((each.lon - first + 180) % 360 - 180 for each in coordinates) / count
    return Coordinate(lat, (first + east + 180) % 360 - 180)
