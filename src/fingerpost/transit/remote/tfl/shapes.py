"""Pydantic models of TfL's responses; TfL omits null fields, and may add fields at any time."""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import from_json

from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.remote.kit.answers import (
    Entries,
    Instant,
    Latitude,
    ListOrNull,
    Longitude,
    MeasuredLeg,
    ModeReader,
    OpenInstant,
    Positioned,
    Shape,
    from_text,
    nested,
)

read_mode = ModeReader(
    {
        Mode.WALK: "walking",
        Mode.BIKE: "cycle cycle-hire",
        Mode.BUS: "bus replacement-bus",
        Mode.COACH: "coach",
        Mode.METRO: "tube",
        # Each Overground line has its own mode name.
        Mode.RAIL: "dlr elizabeth-line overground liberty lioness mildmay suffragette weaver windrush "
        "national-rail international-rail",
        Mode.TRAM: "tram",
        Mode.FERRY: "river-bus river-tour",
    }
)


@lru_cache(maxsize=8192)
def read_naive(text: str) -> datetime:
    """Parse a wall-clock time; raise ValueError if it has an offset, because TfL's journey times have none."""
    parsed = datetime.fromisoformat(text)
    if parsed.tzinfo is not None:
        raise ValueError("the wall-clock time has an offset")
    return parsed


Naive = Annotated[datetime, from_text(read_naive)]


def _read_line(value: Any) -> Any:
    """Parse the points of a path, which TfL sends as a JSON string."""
    if not isinstance(value, str) or not value.strip():
        return ()
    # For deep nesting, json.loads would raise RecursionError, which pydantic does not turn into a ValidationError.
    points = from_json(value)
    return [point for point in points if point] if isinstance(points, list) else ()


class Named(Shape):
    id: str = ""
    name: str | None = None


class ApiError(Shape):
    message: str = ""


class StatusPeriod(Shape):
    from_date: OpenInstant = None
    to_date: OpenInstant = None


class LineStatus(Shape):
    """The status of a line; ``status_severity`` is not a scale (see ``itineraries.py``)."""

    status_severity: int
    status_severity_description: str = ""
    reason: str | None = None
    validity_periods: ListOrNull[StatusPeriod] = ()


class TflLine(Shape):
    id: str
    name: str = ""
    line_statuses: ListOrNull[LineStatus] = ()


class Disruption(Shape):
    description: str = ""


class RouteOption(Shape):
    """A route that serves a leg; several bus routes may serve the same leg."""

    name: str | None = None
    directions: ListOrNull[str] = ()
    line_identifier: Named | None = None


class LegPoint(Shape):
    """The start or end of a leg: a stop with a NaPTAN code, or a place; all fields are optional."""

    naptan_id: str | None = None
    common_name: str | None = None
    platform_name: str | None = None
    stop_letter: str | None = None
    lat: Latitude | None = None
    lon: Longitude | None = None


class TflLeg(MeasuredLeg):
    """One leg; times are wall-clock times in London, and ``distance`` (metres) is valid for walks only."""

    duration: int
    departure_time: Naive
    arrival_time: Naive
    scheduled_departure_time: Naive | None = None
    scheduled_arrival_time: Naive | None = None
    departure_point: LegPoint = LegPoint()
    arrival_point: LegPoint = LegPoint()
    line: Annotated[tuple[tuple[float, float], ...], BeforeValidator(_read_line)] = nested(
        "path", "lineString", default=()
    )
    route_options: ListOrNull[RouteOption] = ()
    mode: Named
    disruptions: ListOrNull[Disruption] = ()
    planned_works: ListOrNull[Disruption] = ()

    @property
    def points(self) -> Sequence[tuple[float, float]]:
        return self.line


class TflJourney(Shape):
    start_date_time: Naive
    duration: int
    legs: tuple[TflLeg, ...]


class JourneyResult(Shape):
    journeys: Entries[TflJourney]
    lines: ListOrNull[TflLine] = ()
    stop_messages: ListOrNull[str] = ()


class Option(Shape):
    """A candidate for an ambiguous place; ``match_quality`` ranges from 0 to 1000."""

    parameter_value: str | None = None
    match_quality: int | None = None
    name: str | None = nested("place", "commonName")
    modes: ListOrNull[str] = nested("place", "modes", default=())


class EndStatus(Shape):
    """The match status of an origin or destination: ``identified``, ``list``, ``notidentified`` or ``empty``."""

    match_status: str = ""
    disambiguation_options: ListOrNull[Option] = ()


class DisambiguationResult(Shape):
    """The response for an ambiguous origin or destination (HTTP 300)."""

    from_location_disambiguation: EndStatus = EndStatus()
    to_location_disambiguation: EndStatus = EndStatus()


class Prediction(Shape):
    id: str
    naptan_id: str
    line_id: str = ""
    line_name: str = ""
    platform_name: str | None = None
    destination_naptan_id: str | None = None
    destination_name: str | None = None
    towards: str | None = None
    timestamp: Instant
    expected_arrival: Instant
    time_to_live: OpenInstant = None
    mode_name: str = ""

    @property
    def line(self) -> str:
        return self.line_name or self.line_id or self.mode_name


class TflStopPoint(Positioned):
    """A stop, station, group or hub, with its children."""

    naptan_id: str | None = None
    id: str
    common_name: str
    stop_letter: str | None = None
    stop_type: str | None = None
    modes: ListOrNull[str] = ()
    station_naptan: str | None = None
    hub_naptan_code: str | None = None
    lines: ListOrNull[Named] = ()
    children: "ListOrNull[TflStopPoint]" = ()

    @property
    def server_id(self) -> str:
        return self.naptan_id or self.id


class MatchedStop(Positioned):
    id: str
    name: str
    top_most_parent_id: str | None = None


class SearchResult(Shape):
    matches: Entries[MatchedStop]


class StopPointsNear(Shape):
    stop_points: Entries[TflStopPoint]


class TflMode(Shape):
    mode_name: str
    is_scheduled_service: bool = False


class StopDisruption(StatusPeriod):
    description: str = ""


class LiftDisruption(Shape):
    station_unique_id: str | None = None
    naptan_code: str | None = None
    message: str = ""

    @property
    def station(self) -> str:
        """The station's NaPTAN code, which TfL sends under either of two names."""
        return (self.station_unique_id or self.naptan_code or "").upper()
