"""What planRoute accepts and answers (lookup contract, rules D1 and D3)."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Discriminator, Field, Tag, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType, TypedDict

from fingerpost.contract.wire import Identifier, Number, Whole, WireDict, WireModel
from fingerpost.transit.model.place import Location, LocationSource
from fingerpost.transit.places.labels import Latitude, Longitude, ResolvedStop, TextQuery
from fingerpost.transit.rules.modes import TimetableWord
from fingerpost.transit.rules.ranking import JourneyPreset
from fingerpost.transit.tools.find_address_or_stop import LocationQueryInput
from fingerpost.transit.tools.shapes import LatLon
from fingerpost.transit.tools.timetable_shapes import AnswerMetadata, TimetableMeta, UtcInstant

DEFAULT_WINDOW_MINUTES, LONGEST_WINDOW_MINUTES = 45, 120


class KnownLocation(WireModel):
    """A ResolvedLocation, just as findAddressOrStop answers it or offers it among candidates."""

    id: Identifier | None = None
    name: str
    primary_language: Literal["fi", "en", "sv", "default"]
    names: dict[str, str] | None = None
    type: Literal["ADDRESS", "STOP"]
    coordinate: LatLon
    confidence_score: Annotated[Number, Field(ge=0, le=1)]
    locality: str | None = None
    raw_query: str
    meta: dict[str, Any] | None = None

    def query(self) -> Location | ResolvedStop:
        """Return what the resolver of places is asked: the stop of the id, else the position."""
        if self.type == "STOP" and self.id is not None:
            return ResolvedStop(stop_id=self.id, name=self.name)
        return Location(
            coordinate=self.coordinate.inner(),
            source=LocationSource.GEOCODE,
            label=self.raw_query or None,
            name=self.name or None,
        )


def _tag_of(end: Any) -> str:
    """Return which of the two an end is meant to be; what is neither is read as a question."""
    is_known = isinstance(end, KnownLocation) or (isinstance(end, dict) and "rawText" not in end and "name" in end)
    return "KnownLocation" if is_known else "LocationQueryInput"


RouteEnd = TypeAliasType(
    "RouteEnd",
    Annotated[
        Annotated[LocationQueryInput, Tag("LocationQueryInput")] | Annotated[KnownLocation, Tag("KnownLocation")],
        Discriminator(_tag_of),
    ],
)
"""An end of a route; an alias, so that the schema says once what it may be."""

_Time = Annotated[str | None, Field(max_length=40)]


class RouteRequestInput(WireModel):
    """The question."""

    origin: RouteEnd
    destination: RouteEnd
    departure_time: Annotated[_Time, Field(description="RFC 3339 with offset, or now; this or arrivalTime")] = None
    arrival_time: Annotated[_Time, Field(validate_default=True)] = None
    search_window_minutes: Annotated[Whole, Field(ge=1, description="lowered to 120")] = DEFAULT_WINDOW_MINUTES
    journey_preset: Literal["FASTEST", "FEWEST_TRANSFERS", "LEAST_WALK"] = "FASTEST"

    @field_validator("arrival_time")
    @classmethod
    def _takes_one_time(cls, arrival: str | None, info: ValidationInfo) -> str | None:
        if "departure_time" in info.data and (arrival is None) == (info.data["departure_time"] is None):
            raise PydanticCustomError("whole_sentence", "Specify exactly one of departureTime or arrivalTime")
        return arrival

    @property
    def preset(self) -> JourneyPreset:
        """The preset."""
        return JourneyPreset(self.journey_preset)

    @property
    def language(self) -> str:
        """The language of names: that which an end asks for, the origin's first."""
        questions = [end for end in (self.origin, self.destination) if isinstance(end, LocationQueryInput)]
        return next((each.language_preference for each in questions if each.language_preference is not None), "en")


def query_of(end: LocationQueryInput | KnownLocation) -> TextQuery | Location | ResolvedStop:
    """Return what the resolver of places is asked for an end."""
    if isinstance(end, KnownLocation):
        return end.query()
    return TextQuery(
        text=end.raw_text,
        focus=None if end.focus_point is None else end.focus_point.inner(),
        max_distance_m=end.max_distance_meters,
        language=end.language_preference,
        sent_as="rawText",
    )


class RoutePoint(WireDict):
    """Where a leg begins or ends."""

    name: Annotated[str, Field(min_length=1)]
    lat: Latitude
    lon: Longitude


# "from" is a keyword of Python: only this form of a TypedDict can have it as a key.
_FromTo = TypedDict("_FromTo", {"mode": TimetableWord, "from": RoutePoint, "to": RoutePoint})


class RouteLeg(WireDict, _FromTo):
    """One ride or walk."""

    departureTime: UtcInstant
    arrivalTime: UtcInstant
    distanceMeters: Annotated[int, Field(ge=0)]
    lineName: NotRequired[str]
    headsign: NotRequired[str]


class RouteItinerary(WireDict):
    """One way to make the trip; its times are the expected ones where real time is known."""

    id: str
    durationMinutes: Annotated[int, Field(ge=1)]
    startTime: UtcInstant
    endTime: UtcInstant
    numberOfTransfers: Annotated[int, Field(ge=0)]
    totalWalkDistanceMeters: Annotated[int, Field(ge=0)]
    legs: Annotated[list[RouteLeg], Field(min_length=1)]


class RouteWindow(WireDict):
    """The window in minutes: as it was asked for, as it was applied, and whether the two differ."""

    requested: int
    applied: int
    clamped: bool


class MissedChanges(WireDict):
    """``missedChangesLeftOut`` counts itineraries that are left out because a change would be missed."""

    missedChangesLeftOut: NotRequired[int]


class RouteMetadata(AnswerMetadata, MissedChanges):
    """Metadata of routes."""


class RouteNotes(WireDict):
    """How walks are measured; whether a ride's distance is unknown, and so a straight line."""

    walking: str
    straightRides: NotRequired[bool]


class RouteMeta(TimetableMeta, RouteNotes):
    """Meta of routes."""


class PlanRouteOutput(WireDict):
    """The answer."""

    itineraries: Annotated[list[RouteItinerary], Field(max_length=3)]
    window: RouteWindow
    metadata: RouteMetadata
    meta: RouteMeta
