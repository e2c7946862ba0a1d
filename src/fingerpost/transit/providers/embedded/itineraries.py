"""From the engine's journeys to itineraries: rides and walks get names, places and distances."""

import math

from fingerpost.transit.globe import EARTH_RADIUS_M
from fingerpost.transit.model import Itinerary, Leg, Location, Mode, StopPoint
from fingerpost.transit.providers.embedded.timetable_words import TimetableWords
from fingerpost.transit.raptor.journeys import Journey, Ride
from fingerpost.transit.timetable.timetable import Timetable
from fingerpost.transit.timetable.walking import PACE_M_PER_S


def itinerary_of(
    timetable: Timetable, words: TimetableWords, journey: Journey, origin: Location, destination: Location
) -> Itinerary:
    """Return a journey as legs that join, with a walk wherever there is something to walk."""
    here = _end_point(origin, "Origin")
    goal = _end_point(destination, "Destination")
    legs: list[Leg] = []
    instant = journey.departure
    for ride in journey.rides:
        leg = _ride_leg(timetable, words, ride)
        if ride.foot_m:
            arrival = min(instant + _walk_s(ride.foot_m), ride.departure)
            legs.append(_walk_leg(here, leg.start, instant, arrival, ride.foot_m))
        legs.append(leg)
        here, instant = leg.end, ride.arrival
    if journey.egress_m or not legs:
        legs.append(_walk_leg(here, goal, instant, journey.arrival, journey.egress_m))
    return Itinerary(tuple(legs))


def _end_point(location: Location, otherwise: str) -> StopPoint:
    return StopPoint(name=location.name or location.label or otherwise, coordinate=location.coordinate)


def _walk_s(metres: int) -> int:
    return math.ceil(metres / PACE_M_PER_S)


def _walk_leg(start: StopPoint, end: StopPoint, departure: int, arrival: int, metres: int) -> Leg:
    return Leg(
        mode=Mode.WALK,
        start=start,
        end=end,
        departure_scheduled=departure,
        arrival_scheduled=arrival,
        distance_m=float(metres),
    )


def _ride_leg(timetable: Timetable, words: TimetableWords, ride: Ride) -> Leg:
    trip = int(timetable.run_trip[ride.run])
    line, mode = words.line(trip)
    return Leg(
        mode=mode,
        start=words.stop_point(int(timetable.event_stop[ride.board_event])),
        end=words.stop_point(int(timetable.event_stop[ride.alight_event])),
        departure_scheduled=ride.departure,
        arrival_scheduled=ride.arrival,
        distance_m=_ride_m(timetable, ride),
        line=line,
        headsign=words.headsign(trip, ride.board_event),
        trip_id=words.trip_id(trip),
        service_day=ride.service_day,
        wheelchair=words.trip_access(trip),
        headway_s=words.headway_s(ride.run),
        by_arrangement=words.is_by_arrangement(ride.board_event, ride.alight_event),
    )


def _ride_m(timetable: Timetable, ride: Ride) -> float:
    """Return the sum of straight lines from stop to stop."""
    stops = timetable.event_stop[ride.board_event : ride.alight_event + 1]
    lats, lons = timetable.stop_lat[stops].tolist(), timetable.stop_lon[stops].tolist()
    metres = 0.0
    for i in range(len(lats) - 1):
        dy = math.radians(lats[i + 1] - lats[i])
        dx = math.radians(lons[i + 1] - lons[i]) * math.cos(math.radians((lats[i] + lats[i + 1]) / 2))
        metres += math.hypot(dx, dy) * EARTH_RADIUS_M
    return round(metres, 1)
