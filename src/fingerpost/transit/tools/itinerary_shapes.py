"""Itineraries and legs in the plan_trip contract's shape: a view of the inner model (rule B1)."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from fingerpost.contract.wire import WireDict, WordOf, write_stated
from fingerpost.transit.model.itinerary import Leg, StopPoint
from fingerpost.transit.rules.disruption import Choice, find_leg_note
from fingerpost.transit.rules.modes import TripWord, trip_word
from fingerpost.transit.rules.realtime_status import ScheduleType, Status, schedule_type_of, status_of
from fingerpost.transit.rules.times import print_instant
from fingerpost.transit.tools.shapes import WireCoordinate, show_coordinate


class WireStopPoint(WireDict):
    """Where a leg begins or ends."""

    name: Annotated[str, Field(min_length=1)]
    coordinate: WireCoordinate
    id: NotRequired[str]
    platform: NotRequired[str]


# "from" is a keyword of Python: only this form of a TypedDict can have it as a key.
_FromTo = TypedDict("_FromTo", {"mode": TripWord, "from": WireStopPoint, "to": WireStopPoint})


class WireLeg(WireDict, _FromTo):
    """One ride or walk; times are the expected ones, durations in seconds, distances in metres."""

    departureTime: str
    arrivalTime: str
    duration: int
    distance: NotRequired[int]
    line: NotRequired[str]
    headsign: NotRequired[str]
    tripId: NotRequired[str]
    status: NotRequired[Annotated[str, WordOf(Status)]]
    delaySeconds: NotRequired[int]
    lastRealtimeUpdate: NotRequired[str]
    disruptionNote: NotRequired[str]


class WireItinerary(WireDict):
    """One way to make the trip."""

    legs: Annotated[list[WireLeg], Field(min_length=1)]
    totalDuration: int
    numberOfTransfers: int
    walkingDistance: int
    scheduleType: Annotated[str, WordOf(ScheduleType)]
    fingerprint: str
    accessibilityNotes: NotRequired[list[str]]
    DisruptionFlag: NotRequired[bool]
    DisruptionNote: NotRequired[str]


def show_itinerary(choice: Choice, zone: str, notes: list[str]) -> WireItinerary:
    itinerary = choice.itinerary
    fields = {
        "legs": [show_leg(leg, zone) for leg in itinerary.legs],
        "totalDuration": itinerary.duration_s,
        "numberOfTransfers": itinerary.transfers,
        "walkingDistance": round(itinerary.walk_m),
        "scheduleType": schedule_type_of(itinerary).value,
        "fingerprint": choice.fingerprint,
        "accessibilityNotes": notes or None,
        "DisruptionFlag": choice.flagged or None,
        "DisruptionNote": choice.note,
    }
    return write_stated(WireItinerary, fields)


def show_leg(leg: Leg, zone: str) -> WireLeg:
    fields = {
        "mode": trip_word(leg.mode),
        "from": show_stop_point(leg.start),
        "to": show_stop_point(leg.end),
        "departureTime": print_instant(leg.departure, zone),
        "arrivalTime": print_instant(leg.arrival, zone),
        "duration": leg.duration_s,
        "distance": None if leg.distance_m is None else round(leg.distance_m),
        **(_ride_fields(leg, zone) if leg.is_transit else {}),
    }
    return write_stated(WireLeg, fields)


def _ride_fields(leg: Leg, zone: str) -> dict[str, str | int | None]:
    status, updated = status_of(leg), leg.last_realtime_update
    return {
        "line": leg.line,
        "headsign": leg.headsign,
        "tripId": leg.trip_id,
        "status": status and status.value,
        "delaySeconds": None if leg.cancelled else leg.departure_delay_s,
        "lastRealtimeUpdate": None if updated is None else print_instant(updated, zone),
        "disruptionNote": find_leg_note(leg),
    }


def show_stop_point(point: StopPoint) -> WireStopPoint:
    fields = {
        "name": point.name,
        "coordinate": show_coordinate(point.coordinate),
        "id": point.id,
        "platform": point.platform,
    }
    return write_stated(WireStopPoint, fields)
