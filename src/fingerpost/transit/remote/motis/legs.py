"""Legs of an itinerary, from the server's."""

import polyline

from fingerpost.transit.model.distance import distance_m
from fingerpost.transit.model.itinerary import Access, Leg, Mode, StopPoint
from fingerpost.transit.model.leg_line import LegLine, LineSource
from fingerpost.transit.model.line_colors import read_line_colors
from fingerpost.transit.model.place import Coordinate, Location
from fingerpost.transit.remote.motis.alerts import list_in_force
from fingerpost.transit.remote.motis.modes import BY_ARRANGEMENT, WALK, read_mode
from fingerpost.transit.remote.motis.shapes import MotisLeg, MotisLine, OwnPlace
from fingerpost.transit.remote.motis.stop_ids import MotisStopIds, find_service_day

_UNNAMED = "unnamed place"
# What the server calls the positions that it was asked for.
_POSITIONS = {"START": "Origin", "END": "Destination"}
_NOT_ALLOWED = "NOT_ALLOWED"
# The precision of version 2 of the API and later, and of the first, where an answer does not say it.
_PRECISION, _FIRST_PRECISION = 6, 7


def new_leg(leg: MotisLeg, ids: MotisStopIds, start: Location | None, end: Location | None) -> Leg:
    """Return a leg; ``start`` and ``end`` are the trip's own ends where it begins or ends there, else None."""
    ends = _end_point(leg.from_, ids, start), _end_point(leg.to, ids, end)
    if leg.mode == WALK:
        return _walk(leg, *ends)
    scheduled = leg.start_time if leg.scheduled_start_time is None else leg.scheduled_start_time
    arrives = leg.end_time if leg.scheduled_end_time is None else leg.scheduled_end_time
    cancelled = is_off(leg)
    has_delay = bool(leg.real_time) and not cancelled
    mode = read_mode(leg.mode, leg.route_type)
    return Leg(
        # A mode of the street on a ride is none that we know.
        mode=Mode.OTHER if mode in (Mode.WALK, Mode.BIKE, Mode.SCOOTER) else mode,
        start=ends[0],
        end=ends[1],
        departure_scheduled=scheduled,
        arrival_scheduled=arrives,
        departure_delay_s=leg.start_time - scheduled if has_delay else None,
        arrival_delay_s=leg.end_time - arrives if has_delay else None,
        cancelled=cancelled,
        distance_m=_length_m(leg),
        line=line_of(leg),
        headsign=destination_of(leg),
        trip_id=None if leg.trip_id is None else ids.print_trip(leg.trip_id),
        service_day=None if leg.trip_id is None else find_service_day(leg.trip_id),
        # The server says NOT_ACCESSIBLE also where its feed says nothing.
        wheelchair=Access.YES if leg.wheelchair_accessible == "ACCESSIBLE" else Access.UNKNOWN,
        by_arrangement=leg.mode in BY_ARRANGEMENT,
        stays_seated=bool(leg.interline_with_previous_leg),
        colors=read_line_colors(leg.route_color, leg.route_text_color),
        alerts=list_in_force((*leg.alerts, *leg.from_.alerts, *leg.to.alerts), leg.start_time, leg.end_time),
        handle=leg,
    )


def is_off(leg: MotisLeg) -> bool:
    """Whether the trip is cancelled, or skips the stop where the rider boards or alights, or a walk is closed."""
    if leg.cancelled or leg.from_.cancelled or leg.to.cancelled:
        return True
    return leg.mode != WALK and _NOT_ALLOWED in (leg.from_.pickup_type, leg.to.dropoff_type)


def line_of(own: MotisLine) -> str | None:
    """Return a line's name: short, else long, else what the server shows, else the route's id (rule A2)."""
    return (
        own.route_short_name
        or own.route_long_name
        or own.display_name
        or (own.route_id and (own.route_id.partition("_")[2] or own.route_id))
        or None
    )


def destination_of(own: MotisLine) -> str | None:
    """Return where a ride says that it goes, else its last stop; None where the server says neither."""
    return own.headsign or (own.trip_to.name if own.trip_to is not None else None) or None


def draw_leg(leg: Leg, api: int) -> LegLine:
    """Return a leg's line: the server's own, else straight between its ends."""
    points = list_points(leg.handle, api) if isinstance(leg.handle, MotisLeg) else ()
    if len(points) > 1:
        return LegLine(points, LineSource.SHAPE)
    ends = (leg.start.coordinate, leg.end.coordinate)
    return LegLine(tuple((each.lat, each.lon) for each in ends), LineSource.STRAIGHT)


def list_points(leg: MotisLeg, api: int) -> tuple[tuple[float, float], ...]:
    """Return the (latitude, longitude) of a leg's own line; empty where it has none that can be read."""
    line = leg.leg_geometry
    if line is None or not line.points:
        return ()
    usual = _PRECISION if api > 1 else _FIRST_PRECISION
    try:
        decoded = polyline.decode(line.points, usual if line.precision is None else line.precision)
    except (IndexError, ValueError):
        return ()
    return tuple((float(lat), float(lon)) for lat, lon in decoded)


def _walk(leg: MotisLeg, start: StopPoint, end: StopPoint) -> Leg:
    """Return a walk; its times are the expected ones already, and without streets its length is the straight line's."""
    length_m = distance_m(start.coordinate, end.coordinate) if leg.distance is None else leg.distance
    return Leg(
        mode=Mode.WALK,
        start=start,
        end=end,
        departure_scheduled=leg.start_time,
        arrival_scheduled=leg.end_time,
        cancelled=is_off(leg),
        distance_m=length_m,
        handle=leg,
    )


def _length_m(leg: MotisLeg) -> float | None:
    """Return the length of a ride: what the server says, else its line's; None without a line."""
    if leg.distance is not None:
        return leg.distance
    points = [Coordinate(*point) for point in list_points(leg, api=2)]
    return sum(map(distance_m, points, points[1:])) if len(points) > 1 else None


def _end_point(place: OwnPlace, ids: MotisStopIds, location: Location | None) -> StopPoint:
    here = Coordinate(place.lat, place.lon)
    if place.stop_id is None:
        own = None if location is None else location.name or location.label
        return StopPoint(name=own or _POSITIONS.get(place.name, place.name) or _UNNAMED, coordinate=here)
    return StopPoint(
        name=place.name or _UNNAMED, coordinate=here, id=ids.print(place.stop_id), platform=place.track or None
    )
