"""Check walks: find stops that cannot be reached or left, isolated points, and walks across water."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from fingerpost.transit.check.check_report import FaultKind, Observation
from fingerpost.transit.check.trial import Trial
from fingerpost.transit.engine.timetable.timetable import Int64
from fingerpost.transit.engine.timetable.walks import PACE_M_PER_S, straight_line_m
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE, Point
from fingerpost.transit.model.itinerary import Leg, LineSource
from fingerpost.transit.osm.streets.stop_access import METRO_ENTRANCE
from fingerpost.transit.osm.streets.street_walks import StreetWalks
from fingerpost.transit.rules.trip_limits import MAX_WALK_M

# The offsets of probe points from a stop: this distance times each (north, east) pair.
_PROBE_DISTANCE_M = 150.0
_SIDES = ((1, 0), (0, 1), (-1, 0), (0, -1), (2, 2), (-2, -2), (2, -2), (-2, 2))
# Riders within this straight-line distance of a stop must be able to walk to it, unless water is in between.
_NEARBY_M = 120.0
# The minimum time down to a metro platform, in addition to a level walk from the entrance.
_MIN_DEPTH_S = 30


def check_stops(trial: Trial, stops: Int64) -> Iterator[Observation]:
    """Yield off-street stops, stops that cannot be reached or left on foot, and metro platforms at street level."""
    walks, table, streets = trial.walks, trial.timetable, trial.network.walks.streets
    if not isinstance(walks, StreetWalks) or streets is None:
        return
    access = streets.access
    level_s = access.inside_m / PACE_M_PER_S
    is_shallow = (access.entrance == METRO_ENTRANCE) & (access.in_s >= 0) & (access.in_s < level_s + _MIN_DEPTH_S)
    for stop in np.unique(access.stop[is_shallow]).tolist():
        yield Observation(FaultKind.STOP_TOO_SHALLOW, table.stop_printed_id[stop])
    for stop in stops.tolist():
        lat, lon = float(table.stop_lat[stop]), float(table.stop_lon[stop])
        name = f"{table.stop_printed_id[stop]} at {lat:.6f},{lon:.6f}"
        street = walks.find_street_point(lat, lon)
        if street is None:
            yield Observation(FaultKind.STOP_OFF_STREETS, name)
            continue
        probes = [shift(lat, lon, *(side * _PROBE_DISTANCE_M for side in sides)) for sides in _SIDES]
        probes = [point for point in probes if walks.find_street_point(*point) not in (None, street)]
        row = np.array([stop], np.int64)
        for kind, from_stops in ((FaultKind.STOP_UNREACHABLE, False), (FaultKind.STOP_WITHOUT_EXIT, True)):
            if probes and not any(
                len(walks.reach(*point, row, MAX_WALK_M, from_stops=from_stops).stop) for point in probes
            ):
                yield Observation(kind, name)


def check_pin(trial: Trial, point: Point) -> Iterator[Observation]:
    """Yield the point if a stop is nearby but no stop can be reached on foot."""
    table, boardable = trial.timetable, trial.boardable_stops
    if len(trial.walks.reach(*point, boardable, MAX_WALK_M, from_stops=False).stop):
        return
    distances_m = straight_line_m(*point, table.stop_lat[boardable], table.stop_lon[boardable])
    for row in np.flatnonzero(distances_m <= _NEARBY_M).tolist():
        stop = int(boardable[row])
        position = float(table.stop_lat[stop]), float(table.stop_lon[stop])
        if trial.water.is_dry(point, position):
            yield Observation(FaultKind.PIN_ISOLATED, f"{format_point(point)}, near {table.stop_printed_id[stop]}")
            return


def check_leg(trial: Trial, leg: Leg, notes: Sequence[str]) -> Iterator[Observation]:
    """Yield the first or last segment of a walk if it crosses water or leads to a place far from every street."""
    line, walks = trial.network.find_line(leg), trial.walks
    if line is None or not isinstance(walks, StreetWalks):
        return
    is_straight = line.source is LineSource.STRAIGHT
    for side, place, segment in (("origin", leg.start, line.points[:2]), ("destination", leg.end, line.points[-2:])):
        row = trial.network.stops.find_row(place.id)
        if row is not None and walks.has_entrance(row) and not is_straight:
            continue
        is_far = row is None and walks.find_street_point(*place.coordinate.point) is None
        if is_far or not trial.water.is_dry(segment[0], segment[-1]):
            name = side if row is None else place.name
            is_warned = any(name in note and "water" in note for note in notes)
            kind = FaultKind.WALK_MAY_CROSS_WATER if is_warned else FaultKind.WALK_CROSSES_WATER
            yield Observation(kind, f"{format_point(segment[0])} to {format_point(segment[-1])}")


def shift(lat: float, lon: float, north_m: float, east_m: float) -> Point:
    scale = METRES_PER_DEGREE * max(0.01, math.cos(math.radians(lat)))
    # Keep the coordinates in range near the antimeridian and the poles.
    return max(-90.0, min(90.0, lat + north_m / METRES_PER_DEGREE)), (lon + east_m / scale + 180.0) % 360.0 - 180.0


def format_point(point: Point) -> str:
    return f"{point[0]:.6f},{point[1]:.6f}"
