"""Measure walks around stops: a protocol, and its straight-line implementation."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from fingerpost.transit.engine.timetable.station_ways import StationPlaces
from fingerpost.transit.engine.timetable.timetable import Bool, Float64, Int32, Int64
from fingerpost.transit.engine.timetable.walking import (
    DETOUR_FACTOR,
    FOOTPATH_RADIUS_M,
    PACE_M_PER_S,
    find_neighbours,
    straight_line_m,
    walk_s,
)
from fingerpost.transit.model.geodesy import EARTH_RADIUS_M


class Walk(NamedTuple):
    metres: int
    seconds: int


class StopWalks(NamedTuple):
    """Walks between a point and stops (rows), in whole metres and seconds, rounded up."""

    stop: Int32
    metres: Int32
    seconds: Int32


class StopLinks(NamedTuple):
    """Walks between stops (rows), in whole metres and seconds, rounded up.

    ``is_straight`` marks walks that do not follow streets.
    """

    begin: Int64
    end: Int64
    metres: Int32
    seconds: Int32
    is_straight: Bool


class WalkedStops(NamedTuple):
    """The stops of a timetable; codes may be empty. ``has_metro`` and ``has_rail`` mark stops by what serves them."""

    places: StationPlaces
    local_ids: Sequence[str]
    codes: Sequence[str]
    has_metro: Bool
    has_rail: Bool


class Walks(Protocol):
    """Measures walks around the stops (rows) of one timetable; thread-safe."""

    def list_links(self, stops: Int64) -> StopLinks:
        """Return the walks between all ordered pairs of distinct stops that are near enough for a transfer."""

    def measure(self, begin: Int64, end: Int64) -> StopLinks:
        """Return the walk between each pair of stops, at any distance."""

    def reach(self, lat: float, lon: float, stops: Int64, max_walk_m: float, *, from_stops: bool) -> StopWalks:
        """Return the walks within the limit from a point to stops or, if ``from_stops``, from stops to the point."""

    def find_walk(self, start: tuple[float, float], end: tuple[float, float], max_walk_m: float) -> Walk | None:
        """Return the walk between two points (latitude, longitude), or None if it is longer than the limit."""


class WalkModes(NamedTuple):
    usual: Walks
    step_free: Walks | None = None


FindWalks = Callable[[WalkedStops], WalkModes]


class StraightLine:
    def __init__(self, lats: Float64, lons: Float64) -> None:
        self._lats, self._lons = lats, lons

    def list_links(self, stops: Int64) -> StopLinks:
        begin, end, straight_m = find_neighbours(self._lats, self._lons, stops, FOOTPATH_RADIUS_M)
        return _build_links(begin, end, straight_m)

    def measure(self, begin: Int64, end: Int64) -> StopLinks:
        lats, lons = self._lats, self._lons
        return _build_links(begin, end, straight_line_m(lats[begin], lons[begin], lats[end], lons[end]))

    def reach(self, lat: float, lon: float, stops: Int64, max_walk_m: float, *, from_stops: bool) -> StopWalks:  # noqa: ARG002
        near = self.list_near(lat, lon, stops, max_walk_m / DETOUR_FACTOR)
        metres = np.ceil(straight_line_m(lat, lon, self._lats[near], self._lons[near]) * DETOUR_FACTOR)
        within = metres <= max_walk_m
        near, metres = near[within], metres[within]
        return StopWalks(near.astype(np.int32), metres.astype(np.int32), walk_s(metres))

    def find_walk(self, start: tuple[float, float], end: tuple[float, float], max_walk_m: float) -> Walk | None:
        metres = math.ceil(float(straight_line_m(*start, *end)) * DETOUR_FACTOR)
        return Walk(metres, math.ceil(metres / PACE_M_PER_S)) if metres <= max_walk_m else None

    def list_near(self, lat: float, lon: float, stops: Int64, radius_m: float) -> Int64:
        lat_span = math.degrees(radius_m / EARTH_RADIUS_M)
        lon_span = lat_span / max(0.01, math.cos(math.radians(min(89.0, abs(lat) + lat_span))))
        is_near = np.abs(self._lats[stops] - lat) <= lat_span
        is_near &= np.abs(self._lons[stops] - lon) <= lon_span
        return stops[is_near]


def _build_links(begin: Int64, end: Int64, straight_m: Float64) -> StopLinks:
    metres = np.ceil(straight_m * DETOUR_FACTOR)
    return StopLinks(begin, end, metres.astype(np.int32), walk_s(metres), np.ones(len(begin), np.bool_))


def straight_line_walks(stops: WalkedStops) -> WalkModes:
    return WalkModes(StraightLine(stops.places.lats, stops.places.lons))
