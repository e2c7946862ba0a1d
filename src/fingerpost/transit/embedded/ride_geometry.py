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
    """The timetable that a leg was built from; ``is_step_free`` is set for walks in step-free trips."""

    timetable: Timetable
    is_step_free: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TimetableRide(TimetableLeg):
    """A ride's route (-1 if unknown) and path; added trips have no known shape."""

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
    """Return the map line of a leg: a ride between its scheduled stops, or a walk."""
    handle = leg.handle
    if isinstance(handle, TimetableRide):
        table = handle.timetable
        line = find_ride_line(table, handle.path)
        if line is not None:
            return LegLine(tuple(map(tuple, line.tolist())), LineSource.SHAPE)
        points = tuple((float(table.stop_lat[stop]), float(table.stop_lon[stop])) for stop in handle.path.stops)
        return LegLine(points, LineSource.STOPS)
    return walks.draw(leg, step_free=isinstance(handle, TimetableLeg) and handle.is_step_free)


class Transfer(NamedTuple):
    """A transfer between rides: its walk, its duration, and ``Access.NO`` if steps are unavoidable."""

    walk: Walk
    change_s: int
    access: Access


class RideWalks:
    """Finds the walks in a query's journeys; if realtime data moves a ride to another stop, recalculates them."""

    def __init__(self, snapshot: Snapshot, walk_handle: TimetableLeg) -> None:
        self._snapshot, self.walk_handle = snapshot, walk_handle
        self._straight = StraightLine(snapshot.timetable.stop_lat, snapshot.timetable.stop_lon)

    def find_transfer(self, previous: Ride, ride: Ride, *, may_be_short: bool) -> Transfer:
        """Return the transfer between rides; if ``may_be_short``, it may take less time than the footpath."""
        begin, is_begin_moved = self._find_ride_stop(previous, previous.alight_stop_time)
        end, is_end_moved = self._find_ride_stop(ride, ride.board_stop_time)
        table, step_free = self._snapshot.timetable, self.walk_handle.is_step_free
        path = find_footpath(table, begin, end, step_free=step_free)
        access = Access.NO if path is not None and path.has_steps else Access.UNKNOWN
        available_s = ride.departure - previous.arrival
        if is_begin_moved or is_end_moved:
            return Transfer(*self._find_moved_transfer(begin, end, path), access)
        walk = Walk(ride.foot_m, _estimate_walk_s(ride.foot_m) if path is None else path.walk_s)
        needed_s = -1 if path is None else path.seconds
        if begin == end:
            needed_s = int(table.change_s[begin])
        if needed_s < 0:
            return Transfer(walk, available_s, access)
        # If riders cannot stay seated as planned, they need the full time.
        needs_full_time = ride.stays_seated or not may_be_short
        return Transfer(walk, needed_s if needs_full_time else min(needed_s, available_s), access)

    def _find_moved_transfer(self, begin: int, end: int, path: Footpath | None) -> tuple[Walk, int]:
        if begin == end:
            change_s = int(self._snapshot.timetable.change_s[begin])
            # Forbidden transfers apply to scheduled stops only.
            return Walk(0, 0), CHANGE_SLACK_S if change_s < 0 else change_s
        if path is not None:
            return Walk(path.metres, path.walk_s), path.seconds
        links = self._straight.measure(np.array([begin]), np.array([end]))
        walk = Walk(int(links.metres[0]), int(links.seconds[0]))
        return walk, walk.seconds + CHANGE_SLACK_S + STRAIGHT_SLACK_S

    def _find_ride_stop(self, ride: Ride, stop_time: int) -> tuple[int, bool]:
        """Return the stop (row) of a stop time, and whether it differs from the scheduled stop."""
        planned = self._snapshot.find_planned_stop(ride, stop_time)
        if ride.trip_departure >= 0 and self._snapshot.find_update(ride) is None:
            return planned, False
        stop = self._snapshot.find_call(ride, stop_time).stop
        return stop, planned not in (-1, stop)

    def find_access_walk(self, endpoint: Endpoint, ride: Ride, stop_time: int, metres: int) -> Walk:
        """Return the walk to or from a ride; its length is ``metres`` unless realtime data changes the stop."""
        stop, is_moved = self._find_ride_stop(ride, stop_time)
        endpoint_walk = endpoint.walk_by_stop.get(stop)
        if not is_moved:
            return Walk(metres, _estimate_walk_s(metres) if endpoint_walk is None else endpoint_walk[1])
        if endpoint_walk is not None:
            return Walk(*endpoint_walk)
        table = self._snapshot.timetable
        stop_position = float(table.stop_lat[stop]), float(table.stop_lon[stop])
        walk = self._straight.find_walk((endpoint.lat, endpoint.lon), stop_position, math.inf)
        assert walk is not None, "the distance limit is infinite"
        return walk


def _estimate_walk_s(metres: int) -> int:
    return math.ceil(metres / PACE_M_PER_S)
