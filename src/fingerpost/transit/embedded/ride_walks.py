"""The walks of a journey around its rides, however real time moved their stops."""

import math
from typing import NamedTuple

import numpy as np

from fingerpost.transit.embedded.snapshot import Snapshot
from fingerpost.transit.engine.raptor.endpoints import Endpoint
from fingerpost.transit.engine.raptor.journeys import Ride
from fingerpost.transit.engine.timetable.footpaths import Footpath, find_footpath
from fingerpost.transit.engine.timetable.walking import CHANGE_SLACK_S, PACE_M_PER_S, STRAIGHT_SLACK_S
from fingerpost.transit.engine.timetable.walks import StraightLine, Walk
from fingerpost.transit.model.itinerary import Access
from fingerpost.transit.model.place import Location


class JourneyEnds(NamedTuple):
    """Where a journey begins and ends, as the rider named it and with the stops around; and on which footpaths."""

    origin: Location
    destination: Location
    near_origin: Endpoint
    near_destination: Endpoint
    step_free: bool


class Change(NamedTuple):
    """A change from ride to ride: the walk, how long all of it takes, and NO where steps cannot be avoided."""

    walk: Walk
    change_s: int
    access: Access


class _RideEnd(NamedTuple):
    """The stop (row) at an end of a ride, and whether real time names another there than the timetable."""

    stop: int
    is_moved: bool


class RideWalks:
    """How far and how long one walks around the rides of a journey: as it was measured, else by the pace.

    The journey was found on the timetable or on what runs. A stop that real time moved since is walked to from where
    one is, in a straight line where nothing better is known.
    """

    def __init__(self, snapshot: Snapshot, ends: JourneyEnds) -> None:
        self._snapshot, self._ends = snapshot, ends

    def to_first(self, ride: Ride) -> Walk:
        """Return the walk from the origin to the stop of the first ride."""
        return self._between_point(self._ends.near_origin, ride.foot_m, self._boards(ride))

    def from_last(self, ride: Ride, egress_m: int) -> Walk:
        """Return the walk from the stop of the last ride to the destination."""
        return self._between_point(self._ends.near_destination, egress_m, self._alights(ride))

    def between(self, before: Ride, ride: Ride, *, may_be_short: bool) -> Change:
        """Return the change from one ride to the next.

        ``may_be_short``: where the two were found with less time than the link of their stops takes, a trip- or
        route-specific transfer allows it.
        """
        off, on = self._alights(before), self._boards(ride)
        path = find_footpath(self._snapshot.timetable, off.stop, on.stop, step_free=self._ends.step_free)
        access = Access.NO if path is not None and path.has_steps else Access.UNKNOWN
        allowed_s = ride.departure - before.arrival
        if off.is_moved or on.is_moved:
            return Change(*self._find_change(off.stop, on.stop, path), access)
        walk = Walk(ride.foot_m, _by_pace_s(ride.foot_m) if path is None or path.walk_s is None else path.walk_s)
        if off.stop == on.stop:
            taken_s = int(self._snapshot.timetable.change_s[on.stop])
        else:
            taken_s = -1 if path is None else path.seconds
        if taken_s < 0:
            return Change(walk, allowed_s, access)
        # Who was to stay seated changes like everybody where real time parts the two rides.
        is_whole = ride.stays_seated or not may_be_short
        return Change(walk, taken_s if is_whole else min(taken_s, allowed_s), access)

    def _find_change(self, begin: int, end: int, path: Footpath | None) -> tuple[Walk, int]:
        """Return the walk of a change that nobody planned, and the seconds that all of it takes."""
        if begin == end:
            stated_s = int(self._snapshot.timetable.change_s[begin])
            # A feed that forbids to change there speaks of what was planned.
            return Walk(0, 0), CHANGE_SLACK_S if stated_s < 0 else stated_s
        if path is not None:
            walk_s = _by_pace_s(path.metres) if path.walk_s is None else path.walk_s
            return Walk(path.metres, walk_s), path.seconds
        walk = self._straight(begin, end)
        return walk, walk.seconds + CHANGE_SLACK_S + STRAIGHT_SLACK_S

    def _boards(self, ride: Ride) -> _RideEnd:
        return self._end(ride, ride.board_stop_time)

    def _alights(self, ride: Ride) -> _RideEnd:
        return self._end(ride, ride.alight_stop_time)

    def _end(self, ride: Ride, stop_time: int) -> _RideEnd:
        stop = stop_of(self._snapshot, ride, stop_time)
        planned: int | None = stop_time
        if ride.trip_departure < 0:
            planned = self._snapshot.replacements.find_kept(ride.trip_departure, stop_time)
        is_moved = planned is not None and stop != int(self._snapshot.timetable.stop_time_stop[planned])
        return _RideEnd(stop, is_moved)

    def _between_point(self, point: Endpoint, metres: int, end: _RideEnd) -> Walk:
        seconds = point.walk_s_by_stop.get(end.stop)
        if not end.is_moved:
            return Walk(metres, _by_pace_s(metres) if seconds is None else seconds)
        if seconds is not None:
            return Walk(int(point.metres[np.flatnonzero(point.stop == end.stop)[0]]), seconds)
        table = self._snapshot.timetable
        there = float(table.stop_lat[end.stop]), float(table.stop_lon[end.stop])
        walk = StraightLine(table.stop_lat, table.stop_lon).find_walk((point.lat, point.lon), there, math.inf)
        assert walk is not None, "nothing is further than infinity"
        return walk

    def _straight(self, begin: int, end: int) -> Walk:
        table = self._snapshot.timetable
        links = StraightLine(table.stop_lat, table.stop_lon).measure(np.array([begin]), np.array([end]))
        return Walk(int(links.metres[0]), int(links.seconds[0]))


def stop_of(snapshot: Snapshot, ride: Ride, stop_time: int) -> int:
    """Return the row of the stop of one of a ride's stop times, other platforms included."""
    if ride.trip_departure < 0:
        return int(snapshot.get_added(ride.trip_departure).stop[stop_time])
    update = snapshot.find_update(ride.trip_departure, ride.service_day)
    if update is not None and update.stop is not None:
        return int(update.stop[snapshot.position(ride.trip_departure, stop_time)])
    return int(snapshot.timetable.stop_time_stop[stop_time])


def _by_pace_s(metres: int) -> int:
    return math.ceil(metres / PACE_M_PER_S)
