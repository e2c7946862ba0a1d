"""The planRoute tool: itineraries between two places within a time window (rules D1, D3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BeforeValidator, Discriminator, Field, Tag, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType, TypedDict

from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import Call, Output, ToolDefinition, ToolReply
from fingerpost.contract.wire import Identifier, Number, WholeNumber, WireDict, WireModel, omit_none
from fingerpost.errors import OutsideCalendar
from fingerpost.transit.model.itinerary import Itinerary, Leg, StopPoint
from fingerpost.transit.model.place import Location, distance_m
from fingerpost.transit.model.provenance import Provenance
from fingerpost.transit.places.candidates import format_count_of_shown
from fingerpost.transit.places.resolver import Latitude, Longitude, StopLabel, TextQuery
from fingerpost.transit.places.trip_ends import resolve_journey
from fingerpost.transit.port import JourneyParameters
from fingerpost.transit.rules.modes import TimetableMode, to_timetable_mode
from fingerpost.transit.rules.preferences import find_long_wait_message
from fingerpost.transit.rules.ranking import OPTIMIZE, JourneyPreset, build_route_sort_key, compute_route_id
from fingerpost.transit.rules.times import format_utc, parse_offset_instant
from fingerpost.transit.rules.warnings import Warning, WarningCode, list_stated  # noqa: A004  # the contract's own name
from fingerpost.transit.tools import wording
from fingerpost.transit.tools.find_address_or_stop import LocationQueryInput
from fingerpost.transit.tools.map_shapes import LINE_COLORS, WireLineColors, reply_with_colors
from fingerpost.transit.tools.no_trip import explain_empty_window, find_offset_message
from fingerpost.transit.tools.report import list_leg_paths, report_rides
from fingerpost.transit.tools.shapes import (
    AnswerMetadata,
    CoordsEnd,
    LabelEnd,
    LatLon,
    NoResultsReason,
    PlaceTool,
    TimetableMeta,
    UtcInstant,
    read_place,
    serialize_metadata,
)
from fingerpost.transit.tools.trip_search import (
    FollowUp,
    FoundTrips,
    choose_window_follow_up,
    is_in_window,
    search_trips,
)
from fingerpost.transit.tools.wording import WhyEmptySentence

DEFAULT_WINDOW_MINUTES, MAX_WINDOW_MINUTES = 45, 120


class KnownLocation(WireModel):
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

    def to_query(self) -> Location | StopLabel | TextQuery:
        if self.type == "STOP" and self.id is not None:
            return LabelEnd(type="id", value=self.id, name=self.name).to_query()
        return CoordsEnd(type="coords", value=self.coordinate, name=self.name or None).to_query()


def _read_end(end: Any) -> Any:
    if isinstance(end, str):
        return {"rawText": end}
    return read_place(end) if isinstance(end, dict) and not {"rawText", "rawQuery"} & end.keys() else end


def _get_tag(end: Any) -> str:
    if isinstance(end, WireModel):
        return type(end).__name__
    fields = end if isinstance(end, dict) else {}
    if "value" in fields:
        return "CoordsEnd" if fields.get("type") == "coords" else "LabelEnd"
    return "KnownLocation" if "rawQuery" in fields else "LocationQueryInput"


RouteEnd = TypeAliasType(
    "RouteEnd",
    Annotated[
        Annotated[LocationQueryInput, Tag("LocationQueryInput")]
        | Annotated[KnownLocation, Tag("KnownLocation")]
        | Annotated[CoordsEnd, Tag("CoordsEnd")]
        | Annotated[LabelEnd, Tag("LabelEnd")],
        Discriminator(_get_tag),
        BeforeValidator(_read_end, json_schema_input_type=LocationQueryInput | KnownLocation | str),
    ],
)
"""An alias, so that the schema defines it once."""

_Time = Annotated[str | None, Field(max_length=40)]


class RouteRequestInput(WireModel):
    origin: RouteEnd
    destination: RouteEnd
    departure_time: Annotated[_Time, Field(description="RFC 3339 with offset, or now; instead of arrivalTime")] = None
    arrival_time: Annotated[_Time, Field(validate_default=True)] = None
    search_window_minutes: Annotated[WholeNumber, Field(ge=1, description="capped at 120")] = DEFAULT_WINDOW_MINUTES
    journey_preset: JourneyPreset = "FASTEST"

    @field_validator("arrival_time")
    @classmethod
    def _check_one_time(cls, arrival: str | None, info: ValidationInfo) -> str | None:
        if "departure_time" in info.data and (arrival is None) == (info.data["departure_time"] is None):
            raise PydanticCustomError("whole_sentence", "Specify exactly one of departureTime or arrivalTime")
        return arrival

    @property
    def language(self) -> str:
        preferences = (getattr(end, "language_preference", None) for end in (self.origin, self.destination))
        return next(filter(None, preferences), "en")


class RoutePoint(WireDict):
    name: Annotated[str, Field(min_length=1)]
    lat: Latitude
    lon: Longitude


_FromTo = TypedDict("_FromTo", {"mode": TimetableMode, "from": RoutePoint, "to": RoutePoint})


class RouteLeg(WireDict, _FromTo):
    departureTime: UtcInstant
    arrivalTime: UtcInstant
    distanceMeters: Annotated[int, Field(ge=0)]
    lineName: NotRequired[str]
    headsign: NotRequired[str]


class RouteItinerary(WireDict):
    id: str
    durationMinutes: Annotated[int, Field(ge=1)]
    startTime: UtcInstant
    endTime: UtcInstant
    numberOfTransfers: Annotated[int, Field(ge=0)]
    totalWalkDistanceMeters: Annotated[int, Field(ge=0)]
    legs: Annotated[list[RouteLeg], Field(min_length=1)]


class RouteWindow(WireDict):
    requested: int
    applied: int
    clamped: bool


class RouteMetadata(AnswerMetadata):
    missedChangesLeftOut: NotRequired[int]


class RouteMeta(TimetableMeta):
    walking: str
    straightRides: NotRequired[bool]


class PlanRouteOutput(WireDict):
    itineraries: Annotated[list[RouteItinerary], Field(max_length=3)]
    window: RouteWindow
    metadata: RouteMetadata
    meta: RouteMeta


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """Distinct usable itineraries in the window, unordered, with counts of unusable ones."""

    routes: Sequence[Itinerary]
    provenance: Provenance
    cancelled: int = 0
    missed_changes: int = 0
    reason: NoResultsReason | None = None
    why_empty: WhyEmptySentence | None = None
    offset: str | None = None
    warnings: Sequence[Warning] = ()


def _write_text(body: PlanRouteOutput, shown: Sequence[Itinerary], found: _Window, query: JourneyParameters) -> str:
    window, metadata, meta = body["window"], body["metadata"], body["meta"]
    zone = metadata["timeZone"]
    reference = shown[0].departure if shown else query.instant
    format_time = partial(wording.format_clock, reference=reference, zone=zone, with_seconds=True)
    within = f"within {window['applied']} min, {wording.format_day(reference, zone)}"
    why = [metadata.get("noResultsReason"), None if found.why_empty is None else found.why_empty.format(format_time)]
    lines = [f"{len(shown)} {within}:" if shown else f"No itinerary {within}: {' '.join(filter(None, why))}"]
    for number, (trip, route) in enumerate(zip(shown, body["itineraries"], strict=True), 1):
        minutes, walk_m = route["durationMinutes"], route["totalWalkDistanceMeters"]
        lines.append(f"{number}. {wording.format_itinerary(trip, format_time, minutes=minutes, walk_m=walk_m)}")
        lines += wording.list_leg_lines(trip, format_time, to_timetable_mode)
    if window["clamped"]:
        lines.append(f"! searchWindowMinutes was lowered from {window['requested']} to {window['applied']}.")
    if found.cancelled:
        lines.append(f"! Left out because a ride is cancelled: {found.cancelled}.")
    if found.missed_changes:
        lines.append(f"! Left out because a change would be missed: {found.missed_changes}.")
    if meta.get("straightRides"):
        lines.append("! The source reports no length for some rides; straight-line distances are used instead.")
    alerts = wording.list_alert_lines(meta, wording.list_ride_names(shown, to_timetable_mode), "every ride", zone)
    return "\n".join(lines + wording.list_footer_lines(metadata, meta, alerts))


MAX_ITINERARIES = 3


class PlanRoute(PlaceTool):
    definition = ToolDefinition(
        name="planRoute",
        title="Plan a route",
        description=(
            "Itineraries between two places (texts or findAddressOrStop answers) that leave, or arrive, "
            "within a window. For preferences, and for alternatives to disrupted trips, use plan_trip."
        ),
        contract=Contract.LOOKUP,
        input_model=RouteRequestInput,
        outputs=(Output(PlanRouteOutput, (("itineraries",),), "Use a narrower window."),),
        warnings_path=("metadata", "warnings"),
        optional_parts={LINE_COLORS: WireLineColors},
        open_world=True,
    )

    async def handle(self, arguments: RouteRequestInput, call: Call) -> ToolReply:
        now = int(call.now.timestamp())
        arrive_by = arguments.departure_time is None
        field = "arrivalTime" if arrive_by else "departureTime"
        when = parse_offset_instant(arguments.arrival_time or arguments.departure_time or "", now=now, field=field)
        query = JourneyParameters(
            instant=when.instant,
            arrive_by=arrive_by,
            not_before=when.not_before,
            optimize=OPTIMIZE[arguments.journey_preset],
            language=arguments.language,
            window_s=60 * min(arguments.search_window_minutes, MAX_WINDOW_MINUTES),
        )
        origin, destination = arguments.origin.to_query(), arguments.destination.to_query()
        journeys, place_warnings = await resolve_journey(self._places, origin, destination, query, user=call.user)
        is_least_walk = arguments.journey_preset == "LEAST_WALK"
        try:
            found = await _choose_in_window(
                await search_trips(journeys, partial(choose_window_follow_up, least_walk=is_least_walk))
            )
        except OutsideCalendar as error:
            # This is the preferred network's error, because no network answered.
            found = _Window(
                routes=(),
                provenance=journeys[0].network.profile.new_provenance(now),
                reason=NoResultsReason.NO_SERVICE,
                why_empty=WhyEmptySentence(error.message),
            )
        time_warnings = wording.list_time_warnings(when, found.provenance.zone, "these are the trips")
        warnings = [*place_warnings, *time_warnings, *found.warnings]
        return _build_reply(arguments, query, found, call, warnings)


async def _choose_in_window(found: FoundTrips) -> _Window:
    # Realtime and scheduled answers may contain the same trip.
    distinct = list({compute_route_id(trip): trip for trip in found.list_trips(FollowUp.LESS_WALKING)}.values())
    in_window = [trip for trip in distinct if is_in_window(trip, found.query)]
    routes = [trip for trip in in_window if not trip.is_unusable]
    cancelled = sum(any(leg.cancelled for leg in trip.legs) for trip in in_window)
    reason, why_empty = None, None
    if not routes:
        reason, why_empty = await explain_empty_window(found, [trip for trip in distinct if not trip.is_unusable])
    return _Window(
        routes=routes,
        provenance=found.merge_provenance(FollowUp.LESS_WALKING),
        cancelled=cancelled,
        missed_changes=len(in_window) - len(routes) - cancelled,
        reason=reason,
        why_empty=why_empty,
        offset=await find_offset_message(found, distinct),
        warnings=found.warnings,
    )


def _build_reply(
    arguments: RouteRequestInput, query: JourneyParameters, found: _Window, call: Call, warnings: Sequence[Warning]
) -> ToolReply:
    ranked = sorted(
        found.routes,
        key=lambda route: build_route_sort_key(_measure(route), arguments.journey_preset, arrive_by=query.arrive_by),
    )
    chosen = [_measure(route) for route in ranked[:MAX_ITINERARIES]]
    more = _format_more(len(ranked), chosen, query) if len(ranked) > len(chosen) else None
    rides = [leg for route in ranked[:MAX_ITINERARIES] for leg in route.rides]
    route_warnings = list_stated(
        (WarningCode.TRUNCATED_RESULTS, more),
        (WarningCode.PREFERENCE_UNMET, found.offset),
        (WarningCode.PREFERENCE_UNMET, find_long_wait_message(chosen)),
    )
    now = int(call.now.timestamp())
    report = report_rides(list_leg_paths(chosen), found.provenance, now, [*warnings, *route_warnings])
    metadata = serialize_metadata(
        found.provenance.zone, report.warnings, cancelled=found.cancelled, reason=found.reason
    )
    requested, applied = arguments.search_window_minutes, (query.window_s or 0) // 60
    meta = {
        **report.serialize(in_utc=True),
        "whyEmpty": None if found.why_empty is None else found.why_empty.format(format_utc),
        "walking": found.provenance.walking,
        "straightRides": any(ride.distance_m is None for ride in rides) or None,
    }
    body: PlanRouteOutput = {
        "itineraries": [_serialize_route(route) for route in chosen],
        "window": {"requested": requested, "applied": applied, "clamped": requested != applied},
        "metadata": omit_none(RouteMetadata, {**metadata, "missedChangesLeftOut": found.missed_changes or None}),
        "meta": omit_none(RouteMeta, meta),
    }
    return reply_with_colors(body, _write_text(body, chosen, found, query), list_leg_paths(chosen), call.include)


def _format_more(count: int, chosen: list[Itinerary], query: JourneyParameters) -> str:
    summary = f"{count} itineraries are in the window; {format_count_of_shown(len(chosen))}."
    if query.arrive_by:
        first = min(itinerary.arrival for itinerary in chosen)
        return f"{summary} For earlier ones, call again with arrivalTime {format_utc(first - 60)}."
    last = max(itinerary.departure for itinerary in chosen)
    return f"{summary} For later ones, call again with departureTime {format_utc(last + 60)}."


def _measure(itinerary: Itinerary) -> Itinerary:
    """Round leg lengths to metres; use straight-line distances for unknown lengths."""

    def measure(leg: Leg) -> Leg:
        straight_m = distance_m(leg.start.coordinate, leg.end.coordinate)
        return leg._replace(distance_m=round(straight_m if leg.distance_m is None else leg.distance_m))

    return Itinerary(tuple(map(measure, itinerary.legs)))


def _serialize_route(itinerary: Itinerary) -> RouteItinerary:
    return {
        "id": compute_route_id(itinerary),
        "durationMinutes": wording.count_minutes(itinerary),
        "startTime": format_utc(itinerary.departure),
        "endTime": format_utc(itinerary.arrival),
        "numberOfTransfers": itinerary.transfers,
        "totalWalkDistanceMeters": round(itinerary.walk_m),
        "legs": [_serialize_leg(leg) for leg in itinerary.legs],
    }


def _serialize_leg(leg: Leg) -> RouteLeg:
    fields = {
        "mode": to_timetable_mode(leg.mode),
        "from": _serialize_point(leg.start),
        "to": _serialize_point(leg.end),
        "departureTime": format_utc(leg.departure),
        "arrivalTime": format_utc(leg.arrival),
        "distanceMeters": round(leg.distance_m or 0),
        "lineName": leg.line if leg.is_transit else None,
        "headsign": leg.headsign if leg.is_transit else None,
    }
    return omit_none(RouteLeg, fields)


def _serialize_point(point: StopPoint) -> RoutePoint:
    return {"name": point.name, "lat": round(point.coordinate.lat, 6), "lon": round(point.coordinate.lon, 6)}
