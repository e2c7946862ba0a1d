"""Itineraries and legs in contract 000's shape: a view of the inner model (ruling B1).

The models are the published shape; the ``show_`` functions write it, and the seam reads what they wrote.
"""

from typing import Literal

from pydantic import Field

from fingerpost.contract.published import Wire
from fingerpost.contract.wire import Flag, Whole, WireModel
from fingerpost.tools.shapes import WireCoordinate, show_coordinate
from fingerpost.transit.model import Leg, StopPoint
from fingerpost.transit.rules.disruption import Choice, find_leg_note
from fingerpost.transit.rules.instants import print_instant
from fingerpost.transit.rules.modes import trip_word
from fingerpost.transit.rules.schedule_type import schedule_type_of
from fingerpost.transit.rules.status import Status, status_of

TransitMode = Literal["BUS", "TRAM", "METRO", "RAIL", "FERRY", "WALK", "BIKE", "SCOOTER", "OTHER"]
ScheduleWord = Literal["realtime", "scheduled", "mixed"]


class WireStopPoint(WireModel):
    """Where a leg begins or ends."""

    name: str = Field(min_length=1)
    coordinate: WireCoordinate
    id: str | None = None
    platform: str | None = None


class WireLeg(WireModel):
    """One ride or walk; times are the expected ones, durations in seconds, distances in metres."""

    mode: TransitMode
    from_: WireStopPoint = Field(alias="from")
    to: WireStopPoint
    departure_time: str
    arrival_time: str
    duration: Whole
    distance: Whole | None = None
    line: str | None = None
    headsign: str | None = None
    trip_id: str | None = None
    status: Status | None = None
    delay_seconds: Whole | None = None
    last_realtime_update: str | None = None
    disruption_note: str | None = None


class WireItinerary(WireModel):
    """One way to make the trip."""

    legs: list[WireLeg] = Field(min_length=1)
    total_duration: Whole
    number_of_transfers: Whole
    walking_distance: Whole
    schedule_type: ScheduleWord
    fingerprint: str
    accessibility_notes: list[str] | None = None
    disruption_flag: Flag | None = Field(default=None, alias="DisruptionFlag")
    disruption_note: str | None = Field(default=None, alias="DisruptionNote")


def show_itinerary(choice: Choice, zone: str, notes: list[str]) -> Wire:
    """Write a chosen itinerary in a network's zone."""
    itinerary = choice.itinerary
    shown: Wire = {
        "legs": [show_leg(leg, zone) for leg in itinerary.legs],
        "totalDuration": itinerary.duration_s,
        "numberOfTransfers": itinerary.transfers,
        "walkingDistance": round(itinerary.walk_m),
        "scheduleType": schedule_type_of(itinerary).value,
        "fingerprint": choice.fingerprint,
    }
    if notes:
        shown["accessibilityNotes"] = notes
    if choice.flagged:
        shown["DisruptionFlag"] = True
    if choice.note is not None:
        shown["DisruptionNote"] = choice.note
    return shown


def show_leg(leg: Leg, zone: str) -> Wire:
    """Write a leg in a network's zone."""
    shown: Wire = {
        "mode": trip_word(leg.mode),
        "from": show_stop_point(leg.start),
        "to": show_stop_point(leg.end),
        "departureTime": print_instant(leg.departure, zone),
        "arrivalTime": print_instant(leg.arrival, zone),
        "duration": leg.duration_s,
    }
    if leg.distance_m is not None:
        shown["distance"] = round(leg.distance_m)
    if leg.is_transit:
        shown |= _ride_words(leg, zone)
    return shown


def _ride_words(leg: Leg, zone: str) -> Wire:
    status = status_of(leg)
    told = {
        "line": leg.line,
        "headsign": leg.headsign,
        "tripId": leg.trip_id,
        "status": None if status is None else status.value,
        "delaySeconds": None if leg.cancelled else leg.departure_delay_s,
        "lastRealtimeUpdate": leg.last_realtime_update and print_instant(leg.last_realtime_update, zone),
        "disruptionNote": find_leg_note(leg),
    }
    return {name: value for name, value in told.items() if value is not None}


def show_stop_point(point: StopPoint) -> Wire:
    """Write a stop, or a place that is none."""
    shown: Wire = {"name": point.name, "coordinate": show_coordinate(point.coordinate)}
    if point.id is not None:
        shown["id"] = point.id
    if point.platform is not None:
        shown["platform"] = point.platform
    return shown
