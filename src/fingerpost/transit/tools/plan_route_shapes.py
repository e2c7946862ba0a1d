"""The shapes and texts of planRoute."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Discriminator, Field, Tag, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType, TypedDict

from fingerpost.contract.wire import Identifier, Number, Whole, WireDict, WireModel
from fingerpost.transit.model.place import Location, LocationSource
from fingerpost.transit.places.labels import Latitude, Longitude, Position, StopText, TextQuery
from fingerpost.transit.rules.modes import TimetableWord
from fingerpost.transit.rules.ranking import JourneyPreset
from fingerpost.transit.tools.find_address_or_stop import LocationQueryInput
from fingerpost.transit.tools.shapes import AnswerMetadata, LatLon, TimetableMeta, UtcInstant
from fingerpost.transit.tools.wording import LocalTimes, WhyEmptySentence, describe_alerts, said_below, say_itinerary

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

    def query(self) -> Position | StopText:
        if self.type == "STOP" and self.id is not None:
            return StopText(self.id, self.name, is_certain=True)
        return Position(
            Location(
                coordinate=self.coordinate.inner(),
                source=LocationSource.GEOCODE,
                label=self.raw_query or None,
                name=self.name or None,
            )
        )


def _tag_of(end: Any) -> str:
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
        return JourneyPreset(self.journey_preset)

    @property
    def language(self) -> str:
        """The language of names: that which an end asks for, the origin's first."""
        questions = [end for end in (self.origin, self.destination) if isinstance(end, LocationQueryInput)]
        return next((each.language_preference for each in questions if each.language_preference is not None), "en")


def query_of(end: LocationQueryInput | KnownLocation) -> TextQuery | Position | StopText:
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
    name: Annotated[str, Field(min_length=1)]
    lat: Latitude
    lon: Longitude


# "from" is a keyword of Python: only this form of a TypedDict can have it as a key.
_FromTo = TypedDict("_FromTo", {"mode": TimetableWord, "from": RoutePoint, "to": RoutePoint})


class RouteLeg(WireDict, _FromTo):
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


class RouteMetadata(AnswerMetadata):
    """Metadata of routes; ``missedChangesLeftOut`` counts those left out because a change would be missed."""

    missedChangesLeftOut: NotRequired[int]


class RouteMeta(TimetableMeta):
    """Meta of routes: how walks are measured, and whether the distance of a ride is a straight line."""

    walking: str
    straightRides: NotRequired[bool]


class PlanRouteOutput(WireDict):
    itineraries: Annotated[list[RouteItinerary], Field(max_length=3)]
    window: RouteWindow
    metadata: RouteMetadata
    meta: RouteMeta


def describe_routes(answer: PlanRouteOutput, why_empty: WhyEmptySentence | None) -> str:
    """Return one numbered line an itinerary, in the zone of the place, then what must be said about them."""
    itineraries, window = answer["itineraries"], answer["window"]
    metadata, meta = answer["metadata"], answer["meta"]
    times = LocalTimes(metadata["timeZone"], [time for each in itineraries for time in _times_of(each)], why_empty)
    day = times.day(itineraries[0]["startTime"]) if itineraries else ""
    if itineraries:
        lines = [f"{len(itineraries)} within {window['applied']} min, on {day} ({times.zone}):"]
    else:
        why = times.explain_empty(metadata)
        lines = [f"No itinerary within {window['applied']} min ({times.zone}): {why}"]
    lines += [f"{number}. {_itinerary(each, times, day)}" for number, each in enumerate(itineraries, 1)]
    if window["clamped"]:
        lines.append(f"! searchWindowMinutes was lowered from {window['requested']} to {window['applied']}.")
    if "cancelledLeftOut" in metadata:
        lines.append(f"! Left out because a ride is cancelled: {metadata['cancelledLeftOut']}.")
    if "missedChangesLeftOut" in metadata:
        lines.append(f"! Left out because a change would be missed: {metadata['missedChangesLeftOut']}.")
    if meta.get("straightRides"):
        lines.append("! The source knows no length of some rides; theirs is the straight line between their stops.")
    parts = [
        (f"itineraries/{row}/legs/{at}", f"{row + 1}: {leg['mode']} {leg['lineName']}")
        for row, itinerary in enumerate(itineraries)
        for at, leg in enumerate(itinerary["legs"])
        if "lineName" in leg
    ]
    alerts = describe_alerts(meta, parts, "every ride", metadata["timeZone"])
    return "\n".join(lines + said_below(metadata, meta, alerts))


def _times_of(itinerary: RouteItinerary) -> list[str]:
    return [time for leg in itinerary["legs"] for time in (leg["departureTime"], leg["arrivalTime"])]


def _itinerary(itinerary: RouteItinerary, times: LocalTimes, day: str) -> str:
    begin, end = (times.clock(itinerary[field], day) for field in ("startTime", "endTime"))
    changes, walk_m = itinerary["numberOfTransfers"], itinerary["totalWalkDistanceMeters"]
    head = say_itinerary(begin, end, itinerary["durationMinutes"], changes, walk_m)
    return f"{head}: {'; '.join(_leg(leg, times, day) for leg in itinerary['legs'])}"


def _leg(leg: RouteLeg, times: LocalTimes, day: str) -> str:
    begin, end = (times.clock(leg[field], day) for field in ("departureTime", "arrivalTime"))
    span = f"{begin} {leg['from']['name']} to {leg['to']['name']} {end}"
    if "lineName" not in leg:
        return f"{leg['mode'].lower()} {leg['distanceMeters']} m {span}"
    towards = f" towards {leg['headsign']}" if leg.get("headsign") else ""
    return f"{leg['mode']} {leg['lineName']}{towards} {span} ({leg['distanceMeters']} m)"
