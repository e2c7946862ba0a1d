"""Generate trip-planning questions at random and unusual places and times."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import numpy as np

from fingerpost.transit.check.trial import Trial
from fingerpost.transit.engine.timetable.service_days import find_covered_days, find_midnight
from fingerpost.transit.engine.timetable.timetable import STOP
from fingerpost.transit.engine.timetable.walks import straight_line_m
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE, Point
from fingerpost.transit.model.map_layer import LayerKind
from fingerpost.transit.model.place import Coordinate, is_same_point
from fingerpost.transit.osm.basemap import KINDS
from fingerpost.transit.osm.streets.graph import DEGREES_E7, ENDS_ONLY
from fingerpost.transit.osm.streets.street_walks import StreetWalks

_HOUR_S = 3600
# Questions are at most this long after a drawn time.
_SPAN_S = 2 * _HOUR_S
_STOP_RADIUS_M = 400.0
# Unusual places farther than this from every stop are skipped.
_MAX_STOP_DISTANCE_M = 1000.0
# The maximum number of unusual places of each kind.
_MAX_UNUSUAL = 60
# The number of random points to search for places in the water or far from every street.
_RANDOM_POINTS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    origin: Point
    destination: Point
    instant: int
    arrive_by: bool
    zone: str

    @property
    def time(self) -> str:
        return datetime.fromtimestamp(self.instant, ZoneInfo(self.zone)).isoformat()

    @property
    def command(self) -> str:
        """The shell command that plans this trip."""
        option = "--arrive" if self.arrive_by else "--at"
        return f"fingerpost plan {format_point(self.origin)} {format_point(self.destination)} {option} {self.time}"


def draw_questions(trial: Trial, rng: random.Random, count: int) -> list[Question]:
    """Return about ``count`` questions."""
    table, zone = trial.timetable, trial.network.profile.zone
    served = np.unique(table.stop_time_stop)
    # Skip stops with impossible positions, because the network's area does not include them.
    bounds, points = trial.network.profile.bounds, zip(table.stop_lat[served], table.stop_lon[served], strict=True)
    is_inside = np.array([bounds.covers(Coordinate(float(lat), float(lon))) for lat, lon in points])
    boardable = served[(table.stop_kind[served] == STOP) & is_inside]
    unusual = _list_unusual(trial, rng, boardable)
    times = _draw_times(trial, rng)
    questions = (
        Question(
            origin=_draw_place(trial, rng, boardable, unusual),
            destination=_draw_place(trial, rng, boardable, unusual),
            instant=begin + rng.randrange(_SPAN_S // 60) * 60,
            arrive_by=rng.random() < 0.25,
            zone=zone,
        )
        for begin in times
        for _ in range(-(-count // len(times)))
    )
    return [each for each in questions if not is_same_point(Coordinate(*each.origin), Coordinate(*each.destination))]


def draw_days(trial: Trial, rng: random.Random) -> list[date]:
    """Return the first and last covered day, days on which the clocks change, and two random busy days."""
    table = trial.timetable
    covered = find_covered_days(table) or (date(2026, 3, 2), date(2026, 3, 2))
    days = [covered[0] + timedelta(days=number) for number in range(min((covered[1] - covered[0]).days + 1, 400))]
    zone = trial.network.profile.zone
    lengths = [find_midnight(day + timedelta(days=1), zone) - find_midnight(day, zone) for day in days]
    changes = [day for day, length_s in zip(days, lengths, strict=True) if length_s != 24 * _HOUR_S]
    service_departures = np.bincount(table.trip_service[table.trip_departure_trip], minlength=len(table.service_feed))
    first = (days[0] - table.calendar_start).days
    departures = (service_departures @ table.service_runs_on)[first : first + len(days)].tolist()
    busy_days = rng.choices(days, departures, k=2) if any(departures) else []
    return list(dict.fromkeys([*busy_days, days[0], covered[1], *changes[:2]]))


def _draw_times(trial: Trial, rng: random.Random) -> list[int]:
    """Return two instants for each drawn day: one in the daytime and one at night."""
    times = list[int]()
    for number, day in enumerate(draw_days(trial, rng)):
        hours = (rng.randrange(6, 20), (22, 0, 23, 0, 1, 1)[number % 6])
        times += [find_midnight(day, trial.network.profile.zone) + hour * _HOUR_S for hour in hours]
    return times


def _draw_place(trial: Trial, rng: random.Random, stops: Sequence[int], unusual: Sequence[Point]) -> Point:
    """Return a random point: an unusual place, a stop, or a point near a stop."""
    if unusual and rng.random() < 0.3:
        return rng.choice(unusual)
    stop = int(rng.choice(stops))
    radius_m = 0.0 if rng.random() < 0.2 else _STOP_RADIUS_M
    lat, lon = shift(
        float(trial.timetable.stop_lat[stop]), float(trial.timetable.stop_lon[stop]),
        rng.uniform(-radius_m, radius_m), rng.uniform(-radius_m, radius_m),
    )  # fmt: skip
    return round(lat, 6), round(lon, 6)


def _list_unusual(trial: Trial, rng: random.Random, stops: Sequence[int]) -> list[Point]:
    """Return unusual points near stops: in water or far from every street, beside railways, and on private ways."""
    table = trial.timetable
    reach_m = _MAX_STOP_DISTANCE_M
    waters = list[Point]()
    for stop in rng.choices(stops, k=_RANDOM_POINTS):
        if not isinstance(trial.walks, StreetWalks):
            break
        offset = rng.uniform(-reach_m, reach_m), rng.uniform(-reach_m, reach_m)
        point = shift(float(table.stop_lat[stop]), float(table.stop_lon[stop]), *offset)
        street = trial.walks.find_street_point(*point)
        if street is None or not trial.water.is_dry(point, street):
            waters.append(point)
    rails, private_ways = list[Point](), list[Point]()
    if (base := trial.network.basemap) is not None:
        for row in np.flatnonzero(base.kind == KINDS.index(LayerKind.RAIL)).tolist():
            vertex = rng.randrange(int(base.first[row]), int(base.first[row + 1]))
            rails.append(shift(base.lat_e7[vertex] / DEGREES_E7, base.lon_e7[vertex] / DEGREES_E7, 15, 15))
    if (streets := trial.network.walks.streets) is not None:
        graph = streets.graph
        for edge in np.flatnonzero(graph.edge_flags & ENDS_ONLY != 0).tolist():
            vertex = int(graph.shape_first[edge])
            private_ways.append((graph.shape_lat_e7[vertex] / DEGREES_E7, graph.shape_lon_e7[vertex] / DEGREES_E7))
    selected: list[Point] = []
    for points in (waters, rails, private_ways):
        rng.shuffle(points)
        near = (
            (round(float(lat), 6), round(float(lon), 6))
            for lat, lon in points
            if straight_line_m(lat, lon, table.stop_lat[stops], table.stop_lon[stops]).min() <= _MAX_STOP_DISTANCE_M
        )
        selected += islice(near, _MAX_UNUSUAL)
    return selected


def shift(lat: float, lon: float, north_m: float, east_m: float) -> Point:
    scale = METRES_PER_DEGREE * max(0.01, math.cos(math.radians(lat)))
    # Keep the coordinates in range near the antimeridian and the poles.
    return max(-90.0, min(90.0, lat + north_m / METRES_PER_DEGREE)), (lon + east_m / scale + 180.0) % 360.0 - 180.0


def format_point(point: Point) -> str:
    return f"{point[0]:.6f},{point[1]:.6f}"
