"""Access and egress: the stops within walking distance of an origin or a destination."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fingerpost.transit.geodesy import EARTH_RADIUS_M
from fingerpost.transit.timetable.timetable import STOP, Int32, Timetable
from fingerpost.transit.timetable.walking import DETOUR_FACTOR, straight_line_m, walk_m, walk_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An origin or destination, and the stops around it: rows, walking seconds and metres."""

    lat: float
    lon: float
    stop: Int32
    seconds: Int32
    metres: Int32


def find_endpoint(
    timetable: Timetable, lat: float, lon: float, own_stops: Sequence[int], max_walk_m: float
) -> Endpoint:
    """Return an endpoint with every boardable stop within ``max_walk_m`` of walking; ``own_stops`` cost no walk."""
    reach_deg = math.degrees(max_walk_m / DETOUR_FACTOR / EARTH_RADIUS_M)
    reach_lon_deg = reach_deg / max(0.01, math.cos(math.radians(min(89.0, abs(lat) + reach_deg))))
    near = np.flatnonzero(
        (np.abs(timetable.stop_lat - lat) <= reach_deg)
        & (np.abs(timetable.stop_lon - lon) <= reach_lon_deg)
        & (timetable.stop_kind == STOP)
    )
    metres = np.ceil(walk_m(straight_line_m(lat, lon, timetable.stop_lat[near], timetable.stop_lon[near])))
    if len(own_stops):
        own = np.array(sorted(set(own_stops)), np.int64)
        others = ~np.isin(near, own)
        near, metres = np.concatenate([own, near[others]]), np.concatenate([np.zeros(len(own)), metres[others]])
    within = metres <= max_walk_m
    near, metres = near[within], metres[within]
    return Endpoint(
        lat=lat, lon=lon, stop=near.astype(np.int32), seconds=walk_s(metres), metres=metres.astype(np.int32)
    )


def find_direct_walk_m(origin: Endpoint, destination: Endpoint) -> int:
    """Return the metres of the walk from origin to destination."""
    straight = straight_line_m(origin.lat, origin.lon, np.array([destination.lat]), np.array([destination.lon]))
    return math.ceil(float(walk_m(straight)[0]))
