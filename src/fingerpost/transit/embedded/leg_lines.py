"""The line of a leg on the map: its trip's shape, the streets that are walked, else straight lines."""

from collections.abc import Sequence

from fingerpost.transit.embedded.handles import TimetableRide, UnplannedRide
from fingerpost.transit.embedded.network_walks import FindRow, NetworkWalks
from fingerpost.transit.engine.timetable.shapes import find_ride_line
from fingerpost.transit.engine.timetable.timetable import Timetable
from fingerpost.transit.model.itinerary import Leg
from fingerpost.transit.model.leg_line import LegLine, LineSource


def draw_leg(timetable: Timetable, walks: NetworkWalks, find_row: FindRow, leg: Leg, *, step_free: bool) -> LegLine:
    """Return a leg's line: a ride's from its shape or its stops, a walk's along the streets, else straight.

    A ride that real time sends to another platform is still drawn between the stops of the timetable.
    """
    ride = leg.handle
    if isinstance(ride, TimetableRide):
        line = find_ride_line(timetable, *ride)
        if line is not None:
            return LegLine(tuple(map(tuple, line.tolist())), LineSource.SHAPE)
        stops = timetable.stop_time_stop[ride.board_stop_time : ride.alight_stop_time + 1].tolist()
        return LegLine(_places(timetable, stops), LineSource.STOPS)
    if isinstance(ride, UnplannedRide):
        return LegLine(_places(timetable, ride.stops), LineSource.STOPS)
    stops = find_row(leg.start.id), find_row(leg.end.id)
    walk = walks.draw(leg.start.coordinate, leg.end.coordinate, stops, step_free=step_free)
    if walk is not None:
        return walk
    ends = (leg.start.coordinate, leg.end.coordinate)
    return LegLine(tuple((place.lat, place.lon) for place in ends), LineSource.STRAIGHT)


def _places(timetable: Timetable, stops: Sequence[int]) -> tuple[tuple[float, float], ...]:
    return tuple((float(timetable.stop_lat[stop]), float(timetable.stop_lon[stop])) for stop in stops)
