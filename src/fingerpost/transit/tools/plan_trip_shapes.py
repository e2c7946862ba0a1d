"""Input and output models of the plan_trip tool, and their serializers (rule B1)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Literal, NotRequired

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from fingerpost.contract.wire import EchoOf, EnumValue, Flag, Number, WholeNumber, Wire, WireDict, WireModel, omit_none
from fingerpost.transit.model.itinerary import Fare, Itinerary, Leg, StopPoint
from fingerpost.transit.rules.alerts import find_explanation
from fingerpost.transit.rules.disruption import ItineraryOption, find_disrupted_leg, find_leg_note, name_disrupted
from fingerpost.transit.rules.modes import TripMode, to_trip_mode
from fingerpost.transit.rules.ranking import compute_fingerprint
from fingerpost.transit.rules.realtime_status import ScheduleType, Status, find_schedule_type, get_status
from fingerpost.transit.rules.times import format_instant, is_now
from fingerpost.transit.tools.shapes import (
    AlertNotes,
    CorrelatedAnswer,
    Language,
    LocationRef,
    Meta,
    TripEnd,
    WireCoordinate,
    serialize_coordinate,
)


class When(WireModel, frozen=True):
    type: Annotated[Literal["depart", "arrive"], Field(description="leave at, or be there by")] = "depart"
    time: Annotated[str, Field(max_length=40, description="now (depart only), or ISO 8601 with offset")] = "now"

    @model_validator(mode="after")
    def _check_time(self) -> "When":
        if self.type == "arrive" and is_now(self.time):
            raise ValueError("arrive requires a time; now is valid only with depart")
        return self


class Accessibility(WireModel, frozen=True):
    step_free: Annotated[Flag, Field(description="no steps, for wheelchair users")] = False
    low_walking_distance: Annotated[Flag, Field(description="report walking distances")] = False


class PlanConstraints(WireModel, frozen=True):
    """Preferences; an answer contains the effective ones."""

    optimize: Annotated[
        Literal["balanced", "few_transfers", "shortest_time"], Field(description="what to prioritize")
    ] = "balanced"
    max_walking_distance: Annotated[Number, Field(ge=1, le=3000, description="metres, for the whole trip")] = 1500.0
    max_transfers: Annotated[WholeNumber, Field(ge=0, le=8, description="changes of vehicle")] = 4
    accessibility: Accessibility = Accessibility()
    language: Language = "en"


class PlanTripInput(WireModel):
    origin: TripEnd
    destination: TripEnd
    when: When = When()
    constraints: PlanConstraints = PlanConstraints()
    limit: Annotated[WholeNumber, Field(ge=1, le=3)] = 2
    include_disruption_alt: Annotated[Flag, Field(description="offer alternatives to disrupted trips")] = True


class WireStopPoint(WireDict):
    name: Annotated[str, Field(min_length=1)]
    coordinate: WireCoordinate
    id: NotRequired[str]
    platform: NotRequired[str]


_FromTo = TypedDict("_FromTo", {"mode": TripMode, "from": WireStopPoint, "to": WireStopPoint})


class WireLeg(WireDict, _FromTo):
    """A ride or walk with expected times, in seconds and metres."""

    departureTime: str
    arrivalTime: str
    duration: int
    distance: NotRequired[int]
    line: NotRequired[str]
    headsign: NotRequired[str]
    tripId: NotRequired[str]
    status: NotRequired[Annotated[str, EnumValue(Status)]]
    delaySeconds: NotRequired[int]
    lastRealtimeUpdate: NotRequired[str]
    disruptionNote: NotRequired[str]


class WireItinerary(WireDict):
    legs: Annotated[list[WireLeg], Field(min_length=1)]
    totalDuration: int
    numberOfTransfers: int
    walkingDistance: int
    scheduleType: Annotated[str, EnumValue(ScheduleType)]
    fingerprint: str
    accessibilityNotes: NotRequired[list[str]]
    DisruptionFlag: NotRequired[bool]
    DisruptionNote: NotRequired[str]


class Requested(WireDict):
    type: Literal["depart", "arrive"]
    time: str


class WireCause(WireDict):
    id: NotRequired[str]
    text: str


class WireDifference(WireDict):
    """How an alternative differs from the disrupted itinerary (both as fingerprints); negative means fewer or less."""

    fingerprint: str
    insteadOf: str
    cause: WireCause
    laterMinutes: int
    moreChanges: int
    moreWalkMeters: int


class WireFare(WireDict):
    """A fare, or why it is unknown; without ``fingerprints``, it applies to all itineraries with rides."""

    fingerprints: NotRequired[list[str]]
    amount: NotRequired[str]
    currency: NotRequired[str]
    tickets: NotRequired[list[str]]
    unknown: NotRequired[str]


class WireStaySeated(WireDict):
    """The indices of legs for which passengers stay seated in the previous leg's vehicle."""

    fingerprint: str
    legs: Annotated[list[int], Field(min_length=1)]


class PlanMeta(Meta, AlertNotes):
    deduplicatedFrom: NotRequired[int]
    walking: str
    staySeated: NotRequired[list[WireStaySeated]]
    differences: NotRequired[list[WireDifference]]
    fares: NotRequired[list[WireFare]]


class PlanTripOutput(CorrelatedAnswer):
    origin: LocationRef
    destination: LocationRef
    requested: Requested
    constraints: Annotated[Wire, EchoOf(PlanConstraints)]
    itineraries: list[WireItinerary]
    realtimeUsed: Annotated[str, EnumValue(ScheduleType)]
    dataFreshness: str
    meta: PlanMeta


def serialize_itinerary(choice: ItineraryOption, note: str | None, zone: str) -> WireItinerary:
    itinerary = choice.itinerary
    fields = {
        "legs": [_serialize_leg(leg, zone) for leg in itinerary.legs],
        "totalDuration": itinerary.duration_s,
        "numberOfTransfers": itinerary.transfers,
        "walkingDistance": round(itinerary.walk_m),
        "scheduleType": find_schedule_type(itinerary).value,
        "fingerprint": choice.fingerprint,
        "accessibilityNotes": None if note is None else [note],
        "DisruptionFlag": choice.flagged or None,
        "DisruptionNote": choice.note,
    }
    return omit_none(WireItinerary, fields)


def _serialize_leg(leg: Leg, zone: str) -> WireLeg:
    is_ride, updated = leg.is_transit, leg.last_realtime_update
    fields = {
        "mode": to_trip_mode(leg.mode),
        "from": _serialize_stop_point(leg.start),
        "to": _serialize_stop_point(leg.end),
        "departureTime": format_instant(leg.departure, zone),
        "arrivalTime": format_instant(leg.arrival, zone),
        "duration": leg.duration_s,
        "distance": None if leg.distance_m is None else round(leg.distance_m),
        "line": leg.line if is_ride else None,
        "headsign": leg.headsign if is_ride else None,
        "tripId": leg.trip_id if is_ride else None,
        "status": get_status(leg).value if is_ride else None,
        "delaySeconds": leg.departure_delay_s if is_ride and not leg.cancelled else None,
        "lastRealtimeUpdate": format_instant(updated, zone) if is_ride and updated is not None else None,
        "disruptionNote": find_leg_note(leg),
    }
    return omit_none(WireLeg, fields)


def _serialize_stop_point(point: StopPoint) -> WireStopPoint:
    fields = {
        "name": point.name,
        "coordinate": serialize_coordinate(point.coordinate),
        "id": point.id,
        "platform": point.platform,
    }
    return omit_none(WireStopPoint, fields)


def serialize_fares(fares: Mapping[str, Fare]) -> list[WireFare]:
    fingerprints_by_fare: dict[Fare, list[str]] = {}
    for fingerprint, fare in fares.items():
        fingerprints_by_fare.setdefault(fare, []).append(fingerprint)
    shown = (
        {
            "fingerprints": fingerprints if len(fingerprints_by_fare) > 1 else None,
            "amount": fare.amount,
            "currency": fare.currency,
            "unknown": fare.unknown,
            "tickets": list(fare.tickets) or None,
        }
        for fare, fingerprints in fingerprints_by_fare.items()
    )
    return [omit_none(WireFare, fields) for fields in shown]


def serialize_stays(choices: Iterable[ItineraryOption]) -> list[WireStaySeated]:
    stays = ((choice, [row for row, leg in enumerate(choice.itinerary.legs) if leg.stays_seated]) for choice in choices)
    return [{"fingerprint": choice.fingerprint, "legs": legs} for choice, legs in stays if legs]


def serialize_differences(
    choices: Iterable[ItineraryOption], format_time: Callable[[int], str]
) -> list[WireDifference]:
    return [
        _serialize_difference(choice, choice.instead_of, format_time)
        for choice in choices
        if choice.instead_of is not None
    ]


def _serialize_difference(
    option: ItineraryOption, disrupted: Itinerary, format_time: Callable[[int], str]
) -> WireDifference:
    itinerary, leg = option.itinerary, find_disrupted_leg(disrupted)
    alert = None if leg is None else find_explanation(leg)
    cause_id = alert.id if alert is not None else leg and leg.trip_id
    return {
        "fingerprint": option.fingerprint,
        "insteadOf": compute_fingerprint(disrupted),
        "cause": omit_none(WireCause, {"text": name_disrupted([disrupted], format_time), "id": cause_id or None}),
        "laterMinutes": round((itinerary.arrival - disrupted.legs[-1].arrival_scheduled) / 60),
        "moreChanges": itinerary.transfers - disrupted.transfers,
        "moreWalkMeters": round(itinerary.walk_m - disrupted.walk_m),
    }
