"""Distance of a ride: the length of its shape, else the sum between its stops (rule D3)."""

import math

from fingerpost.transit.engine.timetable.shapes import find_ride_line, line_m
from fingerpost.transit.engine.timetable.timetable import Int32, Timetable
from fingerpost.transit.model.geodesy import EARTH_RADIUS_M


def ride_m(timetable: Timetable, trip: int, board_stop_time: int, alight_stop_time: int) -> float:
    """Return the metres between two stop times of a trip, along its shape, else between its stops (rule D3)."""
    path = find_ride_line(timetable, trip, board_stop_time, alight_stop_time)
    if path is None:
        return path_m(timetable, timetable.stop_time_stop[board_stop_time : alight_stop_time + 1])
    return round(line_m(path), 1)


def path_m(timetable: Timetable, stops: Int32) -> float:
    """Return the sum of straight lines from stop to stop."""
    lats, lons = timetable.stop_lat[stops].tolist(), timetable.stop_lon[stops].tolist()
    metres = 0.0
    for i in range(len(lats) - 1):
        dy = math.radians(lats[i + 1] - lats[i])
        dx = math.radians(lons[i + 1] - lons[i]) * math.cos(math.radians((lats[i] + lats[i + 1]) / 2))
        metres += math.hypot(dx, dy) * EARTH_RADIUS_M
    return round(metres, 1)
