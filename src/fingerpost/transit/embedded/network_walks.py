"""Measure, describe and draw walks along streets or in straight lines, and measure and draw rides."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from fingerpost.transit.embedded.network_places import TimetableStops
from fingerpost.transit.embedded.snapshot import Snapshot
from fingerpost.transit.engine.raptor.journeys import Ride
from fingerpost.transit.engine.raptor.search import Endpoint
from fingerpost.transit.engine.timetable.footpaths import Footpath, avoid_closed_ways, find_footpath
from fingerpost.transit.engine.timetable.overlay import Overlay
from fingerpost.transit.engine.timetable.shapes import RidePath, find_ride_line, list_stop_points
from fingerpost.transit.engine.timetable.station_ways import get_places
from fingerpost.transit.engine.timetable.timetable import ENTRANCE, NODE, Timetable
from fingerpost.transit.engine.timetable.walks import (
    CHANGE_SLACK_S,
    DETOUR_FACTOR,
    FOOTPATH_RADIUS_M,
    PACE_M_PER_S,
    STRAIGHT_SLACK_S,
    StraightLine,
    Walk,
    Walks,
)
from fingerpost.transit.model.itinerary import Access, Itinerary, Leg, LegLine, LineSource, Mode
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.model.provenance import Provenance
from fingerpost.transit.osm.basemap import StoredBasemap, Water
from fingerpost.transit.osm.streets.snapping import SNAP_M, find_lifts
from fingerpost.transit.osm.streets.store import StoredStreets
from fingerpost.transit.osm.streets.street_walks import StreetWalks
from fingerpost.transit.port import WalkToStop
from fingerpost.transit.rules.preferences import MAX_WALK_M

LICENCE = "Streets: © OpenStreetMap contributors, ODbL 1.0"
_STRAIGHT_LINE = f"straight line x {DETOUR_FACTOR:g}"


# Apply closures that are in force within this time after the requested departure or before the requested arrival.
_TRIP_S = 2 * 3600
_CACHE_SIZE = 8
_STOPS_CACHE_SIZE = 4096


class NetworkWalks:
    def __init__(self, stops: TimetableStops, streets: StoredStreets | None, basemap: StoredBasemap | None) -> None:
        self._find_row, self._timetable, self._straight = stops.find_row, stops.timetable, stops.straight
        self.streets = streets
        self.water = Water(basemap)
        self._crosses_water = lru_cache(maxsize=_STOPS_CACHE_SIZE)(StreetWalks.crosses_water)
        self._close_cached = lru_cache(maxsize=_CACHE_SIZE)(self._close)
        self._walks: StreetWalks | None = None
        if streets is not None:
            self._walks = StreetWalks(
                streets.graph, streets.grid, get_places(self._timetable), streets.access, is_dry=self.water.is_dry
            )

    @cached_property
    def _step_free(self) -> StreetWalks | None:
        return None if self._walks is None else self._walks.without_steps()

    def get_walks(self, *, step_free: bool) -> Walks:
        walks = self._step_free if step_free else self._walks
        return self._straight if walks is None else walks

    def get_open_walks(
        self, overlay: Overlay, instant: int, *, arrive_by: bool, step_free: bool
    ) -> tuple[Walks, Timetable]:
        """Return walks that avoid closed entrances and pathways, and a timetable with the remaining footpaths."""
        begin, end = (instant - _TRIP_S, instant) if arrive_by else (instant, instant + _TRIP_S)
        closed = frozenset(
            row
            for alert in overlay.list_closing(step_free=step_free)
            if alert.find_period(begin, end) is not None
            for kind, row, *_ in alert.selectors
            if kind == "stop" and int(self._timetable.stop_kind[row]) in (ENTRANCE, NODE)
        )
        return (
            self._close_cached(closed, step_free) if closed else (self.get_walks(step_free=step_free), self._timetable)
        )

    def _close(self, closed: frozenset[int], step_free: bool) -> tuple[Walks, Timetable]:
        rows = np.array(sorted(closed))
        places = self._timetable.stop_lat[rows], self._timetable.stop_lon[rows]
        remaining = self.get_walks(step_free=step_free)
        if self.streets is not None and isinstance(remaining, StreetWalks):
            remaining = remaining.without(find_lifts(self.streets.graph, *places), closed)
        return remaining, avoid_closed_ways(self._timetable, remaining, places, closed, step_free=step_free)

    def add_attribution(self, provenance: Provenance) -> Provenance:
        if self._walks is None:
            return provenance
        return replace(provenance, attribution=(*provenance.attribution, LICENCE))

    def describe(self, *, step_free: bool = False) -> str:
        if self.streets is None:
            return f"{_STRAIGHT_LINE}; changes between stops up to {FOOTPATH_RADIUS_M:g} m apart"
        coverage = self.streets.coverage
        description = "OpenStreetMap streets"
        if step_free:
            description += ", avoiding mapped steps and raised kerbs"
        if coverage.estimated_stops:
            description += f", and two minutes at {coverage.estimated_stops:,} metro platforms of unknown depth"
        if coverage.is_complete:
            return description
        missing = f"at {coverage.stops - coverage.covered_stops:,} of {coverage.stops:,} stops"
        return f"{description}; {_STRAIGHT_LINE} where the extract has none, {missing}"

    def _find_stop_rows(self, leg: Leg) -> tuple[int | None, int | None]:
        return self._find_row(leg.start.id), self._find_row(leg.end.id)

    def list_notes(
        self, ends: tuple[Coordinate, Coordinate], itineraries: Sequence[Itinerary], *, step_free: bool
    ) -> list[str]:
        """Return warnings about walks across water, and about an origin or destination far from any street."""
        walks = self._step_free if step_free else self._walks
        if walks is None:
            return []
        notes, names = [], []
        for side, end, index in (("origin", ends[0], 0), ("destination", ends[1], -1)):
            if all(itinerary.outline[index][0] is not Mode.WALK for itinerary in itineraries):
                continue
            street = walks.find_street_point(end.lat, end.lon)
            if street is None:
                notes.append(
                    f"The {side} is more than {SNAP_M:g} m from any street in the extract, "
                    "so its walk is a straight line, which may cross water or a railway."
                )
            elif not self.water.is_dry(end.point, street):
                names.append(f"the {side}")
        # Only outlines are read, because the legs of itineraries that are not shown are never built.
        walked = {
            (start if index else None, goal if itinerary.outline[index + 1 :] else None): (itinerary, index)
            for itinerary in itineraries
            for index, (mode, _, start, goal) in enumerate(itinerary.outline)
            if mode is Mode.WALK
        }
        for (start_id, goal_id), (itinerary, index) in walked.items():
            stops = self._find_row(start_id), self._find_row(goal_id)
            is_wet = [stop is not None and self._crosses_water(walks, stop) for stop in stops]
            line = [walks.locate_stop(stop) for stop in stops if stop is not None]
            is_across = (
                len(line) == 2
                and not self.water.is_dry(line[0], line[1])
                and walks.find_line(line[0], line[1], stops) is None
            )
            if not is_across and not any(is_wet):
                continue
            leg = itinerary.legs[index]
            names += [end.name for end, wet in zip((leg.start, leg.end), is_wet, strict=True) if wet]
            if is_across:
                notes.append(f"The walk from {leg.start.name} to {leg.end.name} is a straight line across water.")
        notes += [
            f"There is water between {name} and the nearest street in the extract, "
            "so the walk to that street is a straight line across water."
            for name in names
        ]
        return list(dict.fromkeys(notes))

    def measure_to_stops(self, origin: Coordinate, stops: Sequence[int]) -> dict[int, WalkToStop]:
        rows = np.array(sorted(stops), np.int64)
        found = self.get_walks(step_free=False).reach(origin.lat, origin.lon, rows, MAX_WALK_M, from_stops=False)
        return {stop: WalkToStop(*walk) for stop, walk in found.by_stop().items()}

    def mark_unknown_kerbs(self, itinerary: Itinerary, walks: Walks) -> Itinerary:
        if not isinstance(walks, StreetWalks):
            return itinerary

        def mark(leg: Leg) -> Leg:
            if leg.is_transit or leg.wheelchair is Access.NO:
                return leg
            ends = leg.start.coordinate.point, leg.end.coordinate.point
            return leg._replace(has_unknown_kerbs=walks.has_unknown_kerbs(*ends, self._find_stop_rows(leg)))

        return Itinerary(tuple(map(mark, itinerary.legs)))

    def draw(self, leg: Leg) -> LegLine:
        """Return the map line of a leg, for a ride between its scheduled stops; fall back to a straight line."""
        handle, ends = leg.handle, (leg.start.coordinate.point, leg.end.coordinate.point)
        if isinstance(handle, TimetableLeg) and handle.path is not None:
            line, source = find_ride_line(handle.timetable, handle.path), LineSource.SHAPE
            if line is None:
                return LegLine(tuple(list_stop_points(handle.timetable, handle.path)), LineSource.STOPS)
        else:
            walks = self._step_free if isinstance(handle, TimetableLeg) and handle.is_step_free else self._walks
            line = None if walks is None else walks.find_line(*ends, self._find_stop_rows(leg))
            source = LineSource.STREETS
        return LegLine(ends, LineSource.STRAIGHT) if line is None else LegLine(tuple(map(tuple, line.tolist())), source)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimetableLeg:
    """The timetable that a leg was built from; ``path`` is set for rides, ``is_step_free`` for step-free walks."""

    timetable: Timetable = field(repr=False)
    path: RidePath | None = None
    is_step_free: bool = False


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
