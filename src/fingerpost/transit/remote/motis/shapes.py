"""Pydantic models of MOTIS responses. Fields that a server may omit are optional, and enumerations are strings."""

from collections.abc import Sequence

from pydantic import Field

from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.remote.kit.answers import (
    Entries,
    Instant,
    ListOrNull,
    MeasuredLeg,
    ModeReader,
    OpenInstant,
    Positioned,
    Shape,
    nested,
)
from fingerpost.transit.remote.kit.journeys import decode_line

WALK = "WALK"
# Street modes that were not requested; ODM and RIDE_SHARING count as such only if the leg has no scheduled trip.
ON_STREET = frozenset(
    {"BIKE", "RENTAL", "CAR", "HGV", "CAR_PARKING", "CAR_DROPOFF", "FLEX", "ODM", "RIDE_SHARING"}
    | {"DEBUG_BUS_ROUTE", "DEBUG_RAILWAY_ROUTE", "DEBUG_FERRY_ROUTE"}
)
BY_ARRANGEMENT = frozenset({"ODM", "RIDE_SHARING", "FLEX"})
read_mode = ModeReader(
    {
        Mode.TRAM: "tram",
        Mode.METRO: "subway",
        Mode.BUS: "bus",
        Mode.COACH: "coach",
        Mode.FERRY: "ferry",
        Mode.RAIL: "suburban rail highspeed_rail long_distance night_rail regional_rail regional_fast_rail",
    }
)


class TimeRange(Shape):
    start: OpenInstant = None
    end: OpenInstant = None


class MotisAlert(Shape):
    """An alert or, if it has a code, a remark about the vehicle."""

    code: str | None = None
    header_text: str | None = None
    description_text: str | None = None
    effect: str | None = None
    url: str | None = None
    impact_period: ListOrNull[TimeRange] = ()
    communication_period: ListOrNull[TimeRange] = ()


class MotisPlace(Positioned):
    name: str = ""
    stop_id: str | None = None
    parent_id: str | None = None
    tz: str | None = None
    departure: Instant | None = None
    scheduled_departure: Instant | None = None
    track: str | None = None
    pickup_type: str | None = None
    dropoff_type: str | None = None
    cancelled: bool | None = None
    alerts: ListOrNull[MotisAlert] = ()
    modes: ListOrNull[str] = ()


class MotisLine(Shape):
    mode: str = ""
    route_type: int | None = None
    route_id: str | None = None
    route_short_name: str | None = None
    route_long_name: str | None = None
    route_color: str | None = None
    route_text_color: str | None = None
    display_name: str | None = None
    headsign: str | None = None
    trip_to_name: str | None = nested("tripTo", "name")
    trip_id: str | None = None
    real_time: bool | None = None


# The number of decimal places in a line's coordinates if the server does not specify it.
_PRECISION = 6


class MotisLeg(MotisLine, MeasuredLeg):
    from_: MotisPlace = Field(alias="from")
    to: MotisPlace
    start_time: Instant
    end_time: Instant
    scheduled_start_time: Instant | None = None
    scheduled_end_time: Instant | None = None
    interline_with_previous_leg: bool | None = None
    cancelled: bool | None = None
    wheelchair_accessible: str | None = None
    alerts: ListOrNull[MotisAlert] = ()
    line: str | None = nested("legGeometry", "points")
    line_precision: int | None = nested("legGeometry", "precision")

    @property
    def points(self) -> Sequence[tuple[float, float]]:
        return decode_line(self.line, _PRECISION if self.line_precision is None else self.line_precision)


class MotisItinerary(Shape):
    legs: tuple[MotisLeg, ...]

    @property
    def needs_vehicle(self) -> bool:
        """Whether the itinerary requires a private, rented or booked vehicle."""
        return any(leg.mode in ON_STREET and leg.trip_id is None for leg in self.legs)


class MotisPlan(Shape):
    """A page of itineraries; ``direct`` are those without rides."""

    direct: ListOrNull[MotisItinerary] = ()
    itineraries: Entries[MotisItinerary]
    previous_page_cursor: str | None = None
    next_page_cursor: str | None = None


class StopTime(MotisLine):
    place: MotisPlace
    pickup_dropoff_type: str | None = None
    cancelled: bool | None = None
    trip_cancelled: bool | None = None


class MotisStopTimes(Shape):
    stop_times: Entries[StopTime]


class MotisStop(Shape):
    place: MotisPlace
    stop_times: ListOrNull[StopTime] = ()


class Area(Shape):
    name: str = ""
    default: bool | None = None


class Match(Positioned):
    """A candidate from the geocoder; ``id`` is a stop's id if ``type`` is STOP."""

    type: str = ""
    name: str = ""
    id: str = ""
    areas: ListOrNull[Area] = ()


class Initial(Shape):
    has_street_routing: bool | None = nested("serverConfig", "hasStreetRouting")


class ErrorBody(Shape):
    error: str
