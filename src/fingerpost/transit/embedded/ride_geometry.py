"""Measure and draw the legs of journeys: ride lengths, map lines, and walks between rides."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fingerpost.transit.embedded.network_walks import NetworkWalks
from fingerpost.transit.embedded.snapshot import Snapshot
from fingerpost.transit.engine.raptor.journeys import Ride
from fingerpost.transit.engine.raptor.search import Endpoint
from fingerpost.transit.engine.timetable.footpaths import Footpath, find_footpath
from fingerpost.transit.engine.timetable.shapes import RidePath, find_ride_line, line_m
from fingerpost.transit.engine.timetable.timetable import Timetable
from fingerpost.transit.engine.timetable.walks import CHANGE_SLACK_S, PACE_M_PER_S, STRAIGHT_SLACK_S, StraightLine, Walk
from fingerpost.transit.model.itinerary import Access, Leg, LegLine, LineSource


@dataclass(frozen=True, slots=True, kw_only=True)
class TimetableLeg:
    """The timetable of a leg; ``is_step_free`` is set for walks in step-free trips."""

    timetable: Timetable
    is_step_free: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TimetableRide(TimetableLeg):
    """The route of a ride, -1 if unknown, and its path; the shape of an added trip is unknown."""

    route: int
    path: RidePath


def measure_ride_m(timetable: Timetable, path: RidePath) -> float:
    """Return the length of a ride along its shape or, if it has none, from stop to stop (rule D3)."""
    line = find_ride_line(timetable, path)
    if line is None:
        rows = list(path.stops)
        line = np.column_stack([timetable.stop_lat[rows], timetable.stop_lon[rows]])
    return round(line_m(line), 1)


def draw_leg(walks: NetworkWalks, leg: Leg) -> LegLine:
    """Return the line of a ride between its scheduled stops, or of a walk along streets or in a straight line."""
    part = leg.handle
    if isinstance(part, TimetableRide):
        table = part.timetable
        line = find_ride_line(table, part.path)
        if line is not None:
            return LegLine(tuple(map(tuple, line.tolist())), LineSource.SHAPE)
        points = tuple((float(table.stop_lat[stop]), float(table.stop_lon[stop])) for stop in part.path.stops)
        return LegLine(points, LineSource.STOPS)
    return walks.draw(leg, step_free=isinstance(part, TimetableLeg) and part.is_step_free)


class Transfer(NamedTuple):
    """A transfer between rides: its walk, its duration, and ``Access.NO`` if steps are unavoidable."""

    walk: Walk
    change_s: int
    access: Access


class _RideEnd(NamedTuple):
    stop: int
    is_moved: bool


class RideWalks:
    """Finds the walks of a query's journeys, and recalculates those to stops that realtime data moved."""

    def __init__(self, snapshot: Snapshot, on_foot: TimetableLeg) -> None:
        self._snapshot, self.on_foot = snapshot, on_foot
        self._straight = StraightLine(snapshot.timetable.stop_lat, snapshot.timetable.stop_lon)

    def find_transfer(self, before: Ride, ride: Ride, *, may_be_short: bool) -> Transfer:
        """Return the transfer between rides; if ``may_be_short``, it may take less time than the footpath."""
        off, on = self._find_ride_end(before, before.alight_stop_time), self._find_ride_end(ride, ride.board_stop_time)
        path = find_footpath(self._snapshot.timetable, off.stop, on.stop, step_free=self.on_foot.is_step_free)
        access = Access.NO if path is not None and path.has_steps else Access.UNKNOWN
        allowed_s = ride.departure - before.arrival
        if off.is_moved or on.is_moved:
            return Transfer(*self._find_moved_transfer(off.stop, on.stop, path), access)
        walk = Walk(ride.foot_m, _estimate_walk_s(ride.foot_m) if path is None else path.walk_s)
        if off.stop == on.stop:
            needed_s = int(self._snapshot.timetable.change_s[on.stop])
        else:
            needed_s = -1 if path is None else path.seconds
        if needed_s < 0:
            return Transfer(walk, allowed_s, access)
        # An in-seat transfer that realtime data broke takes the full time.
        needs_full_time = ride.stays_seated or not may_be_short
        return Transfer(walk, needed_s if needs_full_time else min(needed_s, allowed_s), access)

    def _find_moved_transfer(self, begin: int, end: int, path: Footpath | None) -> tuple[Walk, int]:
        if begin == end:
            stated_s = int(self._snapshot.timetable.change_s[begin])
            # Forbidden transfers apply to scheduled stops only.
            return Walk(0, 0), CHANGE_SLACK_S if stated_s < 0 else stated_s
        if path is not None:
            return Walk(path.metres, path.walk_s), path.seconds
        links = self._straight.measure(np.array([begin]), np.array([end]))
        walk = Walk(int(links.metres[0]), int(links.seconds[0]))
        return walk, walk.seconds + CHANGE_SLACK_S + STRAIGHT_SLACK_S

    def _find_ride_end(self, ride: Ride, stop_time: int) -> _RideEnd:
        planned = self._snapshot.find_planned_stop(ride, stop_time)
        if ride.trip_departure >= 0 and self._snapshot.find_update(ride) is None:
            return _RideEnd(planned, is_moved=False)
        stop = self._snapshot.find_call(ride, stop_time).stop
        return _RideEnd(stop, planned not in (-1, stop))

    def find_access_walk(self, point: Endpoint, ride: Ride, stop_time: int, metres: int) -> Walk:
        """Return the walk to or from a ride, which is ``metres`` long unless realtime data moved the stop."""
        end = self._find_ride_end(ride, stop_time)
        known = point.walk_by_stop.get(end.stop)
        if not end.is_moved:
            return Walk(metres, _estimate_walk_s(metres) if known is None else known[1])
        if known is not None:
            return Walk(*known)
        table = self._snapshot.timetable
        there = float(table.stop_lat[end.stop]), float(table.stop_lon[end.stop])
        walk = self._straight.find_walk((point.lat, point.lon), there, math.inf)
        assert walk is not None, "the distance limit is infinite"
        return walk


def _estimate_walk_s(metres: int) -> int:
    return math.ceil(metres / PACE_M_PER_S)
