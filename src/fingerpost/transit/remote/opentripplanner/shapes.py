"""Pydantic models of OpenTripPlanner's GraphQL responses; ``server.py`` queries exactly their fields.

The top-level fields of a response are required, because null is an error there. Below them, fields are optional if the
schema allows null, and enumerations are strings, because servers may return newer values.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Annotated, Generic, TypeVar

from pydantic import Field, TypeAdapter

from fingerpost.transit.model.itinerary import Access, Mode
from fingerpost.transit.remote.kit.answers import (
    Entries,
    Instant,
    ListOrNull,
    MeasuredLeg,
    ModeReader,
    NonBlank,
    OpenInstant,
    Positioned,
    Shape,
    UnixSecond,
    from_text,
    nested,
)
from fingerpost.transit.remote.kit.journeys import decode_line

_T = TypeVar("_T")

# Delays and service days are shorter than this.
MAX_DURATION_S = 30 * 86_400
_DURATION = TypeAdapter(timedelta)


@lru_cache(maxsize=2048)
def read_duration_s(text: str) -> int:
    """Convert an ISO 8601 duration, which may be negative, to seconds; raise ValueError if invalid."""
    return round(_DURATION.validate_python(text).total_seconds())


DurationS = Annotated[int, Field(ge=-MAX_DURATION_S, le=MAX_DURATION_S), from_text(read_duration_s)]
Day = Annotated[date, from_text(lru_cache(maxsize=512)(date.fromisoformat))]
"""A service date; the server writes YYYY-MM-DD, although its documentation says YYYYMMDD."""


read_mode = ModeReader(
    {
        Mode.WALK: "walk",
        Mode.BIKE: "bicycle",
        Mode.SCOOTER: "scooter",
        Mode.BUS: "bus trolleybus",
        Mode.COACH: "coach",
        Mode.TRAM: "tram cable_car",
        Mode.METRO: "subway",
        Mode.RAIL: "rail",
        Mode.FERRY: "ferry",
    }
)
_ACCESS = {"POSSIBLE": Access.YES, "NOT_POSSIBLE": Access.NO}


def read_access(word: str | None) -> Access:
    return _ACCESS.get(word or "", Access.UNKNOWN)


_Seconds = Annotated[int, Field(ge=-MAX_DURATION_S, le=MAX_DURATION_S)]
# Pairs of encoded numbers, each made of up to six continuation characters and a final one.
_POLYLINE = r"^(?:(?:[_-~]{0,6}[?-^]){2})*$"


class GraphQLError(Shape):
    message: str = ""
    path: tuple[str | int, ...] | None = None
    classification: str | None = nested("extensions", "classification")


class Reply(Shape, Generic[_T]):
    data: _T | None = None
    errors: ListOrNull[GraphQLError] = ()


class OtpStop(Positioned):
    gtfs_id: NonBlank
    name: NonBlank


class Station(OtpStop):
    stops: ListOrNull[OtpStop] = ()


class StopWithStation(OtpStop):
    parent_station: Station | None = None


class StopsById(Shape):
    """The stops and stations with the given ids; unknown ids are null entries or missing."""

    stops: Entries[StopWithStation]
    stations: Entries[Station]


class RouteType(Shape):
    type: int | None = None


class StopInBox(StopWithStation):
    platform_code: str | None = None
    wheelchair_boarding: str | None = None
    routes: ListOrNull[RouteType] = ()


class StopsInBox(Shape):
    stops_by_bbox: Entries[StopInBox]


class IndexedStop(OtpStop):
    parent_id: NonBlank | None = nested("parentStation", "gtfsId")


class AllStops(Shape):
    stops: Entries[IndexedStop]
    stations: Entries[OtpStop]


class Agency(Shape):
    name: str | None = None
    timezone: str | None = None
    lang: str | None = None


class FeedData(Shape):
    feed_id: NonBlank
    publisher: str | None = nested("publisher", "name")
    agencies: ListOrNull[Agency] = ()


class Network(Shape):
    feeds: Entries[FeedData]
    begin: OpenInstant = nested("serviceTimeRange", "start")
    end: OpenInstant = nested("serviceTimeRange", "end")
    routes: Entries[RouteType]
    # The query excludes this field, but a server that is too old for journeys rejects it.
    cursor: str | None = nested("plan", "pageInfo", "endCursor")


class OtpAlert(Shape):
    id: str
    alert_header_text: str | None = None
    alert_description_text: str | None = None
    alert_effect: str | None = None
    alert_url: str | None = None
    effective_start_date: OpenInstant = None
    effective_end_date: OpenInstant = None


class Route(RouteType):
    gtfs_id: NonBlank
    short_name: str | None = None
    long_name: str | None = None
    color: str | None = None
    text_color: str | None = None

    @property
    def name(self) -> str:
        return self.short_name or self.long_name or self.gtfs_id.partition(":")[2] or self.gtfs_id


class Trip(Shape):
    gtfs_id: NonBlank
    trip_headsign: str | None = None
    last_stop_name: str | None = nested("arrivalStoptime", "stop", "name")

    @property
    def destination(self) -> str | None:
        return self.trip_headsign or self.last_stop_name


class BoardTrip(Trip):
    last_position: int | None = nested("arrivalStoptime", "stopPositionInPattern")
    route: Route
    alerts: ListOrNull[OtpAlert] = ()


class Stoptime(Shape):
    """One departure; its times are seconds since ``service_day``, which is in Unix seconds."""

    service_day: UnixSecond
    scheduled_departure: _Seconds
    departure_delay: _Seconds | None = None
    realtime: bool | None = None
    realtime_state: str | None = None
    pickup_type: str | None = None
    headsign: str | None = None
    stop_position_in_pattern: int | None = None
    trip: BoardTrip


class BoardStop(Shape):
    gtfs_id: NonBlank
    platform_code: str | None = None
    alerts: ListOrNull[OtpAlert] = ()
    stoptimes_without_patterns: Entries[Stoptime]


class Board(Shape):
    stops: Entries[BoardStop]


class LegTime(Shape):
    scheduled_time: Instant
    delay_s: DurationS | None = nested("estimated", "delay")

    @property
    def expected_time(self) -> int:
        return self.scheduled_time + (self.delay_s or 0)


class EndStop(Shape):
    gtfs_id: NonBlank
    name: str | None = None
    platform_code: str | None = None
    wheelchair_boarding: str | None = None


class End(Positioned):
    name: str | None = None
    stop: EndStop | None = None


class RiddenTrip(Trip):
    wheelchair_accessible: str | None = None


# The number of decimal places in a line's coordinates.
_PRECISION = 5


class OtpLeg(MeasuredLeg):
    mode: str | None = None
    transit_leg: bool | None = None
    real_time: bool | None = None
    realtime_state: str | None = None
    service_date: Day | None = None
    headsign: str | None = None
    interline_with_previous_leg: bool | None = None
    pickup_type: str | None = None
    dropoff_type: str | None = None
    start: LegTime
    end: LegTime
    from_: End = Field(alias="from")
    to: End
    route: Route | None = None
    trip: RiddenTrip | None = None
    line: Annotated[str, Field(pattern=_POLYLINE)] | None = nested("legGeometry", "points")
    alerts: ListOrNull[OtpAlert] = ()

    @property
    def points(self) -> Sequence[tuple[float, float]]:
        return decode_line(self.line, _PRECISION)


class Edge(Shape):
    """An itinerary; it has no legs if one of them cannot be parsed."""

    legs: tuple[OtpLeg, ...] = nested("node", "legs", default=())


class RoutingError(Shape):
    code: str | None = None
    input_field: str | None = None


class PlanConnection(Shape):
    end_cursor: str | None = nested("pageInfo", "endCursor")
    has_next_page: bool = nested("pageInfo", "hasNextPage", default=False)
    routing_errors: ListOrNull[RoutingError] = ()
    edges: Entries[Edge]


class Plan(Shape):
    live: PlanConnection
    scheduled: ListOrNull[Edge] = nested("scheduled", "edges", default=())
