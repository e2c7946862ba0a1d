"""Itineraries and legs in contract 000's shape: a view of the inner model (ruling B1)."""

from typing import Literal, cast

from pydantic import Field

from fingerpost.contract.wire import Flag, Whole, WireModel
from fingerpost.tools.shapes import WireCoordinate
from fingerpost.transit.model import Leg, StopPoint
from fingerpost.transit.rules.disruption import Choice, find_leg_note
from fingerpost.transit.rules.fingerprint import fingerprint
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

    @classmethod
    def of(cls, point: StopPoint) -> "WireStopPoint":
        """Show a stop, or a place that is none."""
        return cls(
            name=point.name, coordinate=WireCoordinate.of(point.coordinate), id=point.id, platform=point.platform
        )


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

    @classmethod
    def of(cls, leg: Leg, zone: str) -> "WireLeg":
        """Show a leg in a network's zone."""
        update = leg.last_realtime_update
        return cls(
            mode=cast("TransitMode", trip_word(leg.mode)),
            from_=WireStopPoint.of(leg.start),
            to=WireStopPoint.of(leg.end),
            departure_time=print_instant(leg.departure, zone),
            arrival_time=print_instant(leg.arrival, zone),
            duration=leg.duration_s,
            distance=None if leg.distance_m is None else round(leg.distance_m),
            line=leg.line,
            headsign=leg.headsign,
            trip_id=leg.trip_id,
            status=status_of(leg),
            delay_seconds=leg.departure_delay_s if leg.is_transit and not leg.cancelled else None,
            last_realtime_update=None if update is None else print_instant(update, zone),
            disruption_note=find_leg_note(leg),
        )


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

    @classmethod
    def of(cls, choice: Choice, zone: str, notes: list[str]) -> "WireItinerary":
        """Show a chosen itinerary in a network's zone."""
        itinerary = choice.itinerary
        return cls(
            legs=[WireLeg.of(leg, zone) for leg in itinerary.legs],
            total_duration=itinerary.duration_s,
            number_of_transfers=itinerary.transfers,
            walking_distance=round(itinerary.walk_m),
            schedule_type=schedule_type_of(itinerary).value,
            fingerprint=fingerprint(itinerary),
            accessibility_notes=notes or None,
            disruption_flag=choice.flagged or None,
            disruption_note=choice.note,
        )
