"""Legs of an itinerary, from the server's."""

from fingerpost.transit.model.distance import distance_m
from fingerpost.transit.model.itinerary import Leg, Mode, StopPoint
from fingerpost.transit.model.line_colors import LineColors, read_line_colors
from fingerpost.transit.model.place import Coordinate, Location
from fingerpost.transit.remote.opentripplanner.alerts import list_in_force
from fingerpost.transit.remote.opentripplanner.modes import read_access, read_mode
from fingerpost.transit.remote.opentripplanner.plan_data import is_taken_away
from fingerpost.transit.remote.opentripplanner.shapes import BoardTrip, End, LegTime, OwnLeg, Route, Trip
from fingerpost.transit.remote.opentripplanner.stop_ids import StopIdBook, print_trip_id

_BY_ARRANGEMENT = frozenset({"CALL_AGENCY", "COORDINATE_WITH_DRIVER"})
_UNNAMED = "unnamed place"


def new_leg(leg: OwnLeg, ids: StopIdBook, start: Location | None, end: Location | None) -> Leg:
    """Return a leg; ``start`` and ``end`` are the trip's own ends where it begins or ends there, else None."""
    ends = _end_point(leg.from_, ids, start), _end_point(leg.to, ids, end)
    if not leg.transit_leg:
        return _walk(leg, *ends)
    departure_s, arrival_s = _delay_s(leg.start), _delay_s(leg.end)
    types = leg.pickup_type, leg.dropoff_type
    cancelled = is_taken_away(leg.transit_leg, leg.realtime_state, leg.real_time, types)
    return Leg(
        mode=_ride_mode(leg),
        start=ends[0],
        end=ends[1],
        departure_scheduled=leg.start.scheduled_time,
        arrival_scheduled=leg.end.scheduled_time,
        departure_delay_s=None if cancelled else departure_s,
        arrival_delay_s=None if cancelled else arrival_s,
        cancelled=cancelled,
        distance_m=leg.distance,
        line=None if leg.route is None else line_of(leg.route),
        headsign=leg.headsign or (None if leg.trip is None else destination_of(leg.trip)),
        trip_id=None if leg.trip is None else print_trip_id(leg.trip.gtfs_id),
        service_day=leg.service_date,
        wheelchair=read_access(None if leg.trip is None else leg.trip.wheelchair_accessible),
        by_arrangement=bool(_BY_ARRANGEMENT & {leg.pickup_type, leg.dropoff_type}),
        stays_seated=bool(leg.interline_with_previous_leg),
        colors=None if leg.route is None else colors_of(leg.route),
        alerts=list_in_force(
            leg.alerts, leg.start.scheduled_time + (departure_s or 0), leg.end.scheduled_time + (arrival_s or 0)
        ),
        handle=leg,
    )


def line_of(route: Route) -> str:
    """Return a line's name: short, else long, else the route's id (rule A2)."""
    return route.short_name or route.long_name or route.gtfs_id.partition(":")[2] or route.gtfs_id


def colors_of(route: Route) -> LineColors | None:
    """Return what a line is painted with, None where the server states nothing that can be read."""
    return read_line_colors(route.color, route.text_color)


def destination_of(trip: Trip | BoardTrip) -> str | None:
    """Return where a trip says that it goes, else its last stop; None where the server says neither."""
    last = trip.arrival_stoptime
    return trip.trip_headsign or (last.stop.name if last is not None and last.stop is not None else None)


def _walk(leg: OwnLeg, start: StopPoint, end: StopPoint) -> Leg:
    """Return a leg on the street; its times are the expected ones, and an unknown length is a straight line's."""
    return Leg(
        mode=read_mode(leg.mode),
        start=start,
        end=end,
        departure_scheduled=leg.start.scheduled_time,
        arrival_scheduled=leg.end.scheduled_time,
        distance_m=distance_m(start.coordinate, end.coordinate) if leg.distance is None else leg.distance,
        handle=leg,
    )


def _ride_mode(leg: OwnLeg) -> Mode:
    """Return the mode of a ride; a mode of the street on a ride is none that we know."""
    mode = read_mode(leg.mode, None if leg.route is None else leg.route.type)
    return Mode.OTHER if mode in (Mode.WALK, Mode.BIKE, Mode.SCOOTER) else mode


def _delay_s(moment: LegTime) -> int | None:
    return None if moment.estimated is None else moment.estimated.delay


def _end_point(end: End, ids: StopIdBook, location: Location | None) -> StopPoint:
    here = Coordinate(end.lat, end.lon)
    if end.stop is None:
        own = None if location is None else location.name or location.label
        return StopPoint(name=own or end.name or _UNNAMED, coordinate=here)
    return StopPoint(
        name=end.stop.name or end.name or _UNNAMED,
        coordinate=here,
        id=ids.print(end.stop.gtfs_id),
        platform=end.stop.platform_code or None,
        wheelchair=read_access(end.stop.wheelchair_boarding),
    )
