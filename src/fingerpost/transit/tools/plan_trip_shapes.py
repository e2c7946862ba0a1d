"""Input and output models of the plan_trip tool (rule B1)."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field, GetPydanticSchema, model_validator
from typing_extensions import TypedDict

from fingerpost.contract.wire import EnumValue, Flag, Number, WholeNumber, Wire, WireDict, WireModel
from fingerpost.transit.model.ride_ref import MAX_REF_CHARS
from fingerpost.transit.rules.modes import TripMode
from fingerpost.transit.rules.realtime_status import ScheduleType, Status
from fingerpost.transit.rules.times import is_now
from fingerpost.transit.tools.shapes import (
    AlertNotes,
    CorrelatedAnswer,
    Language,
    LocationRef,
    Meta,
    TripEnd,
    WireCoordinate,
)


class When(WireModel, frozen=True):
    type: Annotated[Literal["depart", "arrive"], Field(description="depart at time, or arrive by time")] = "depart"
    time: Annotated[str, Field(max_length=40, description="now (depart only), or ISO 8601 with offset")] = "now"

    @model_validator(mode="after")
    def _check_time(self) -> "When":
        if self.type == "arrive" and is_now(self.time):
            raise ValueError("arrive requires a time; now is valid only with depart")
        return self


class Accessibility(WireModel, frozen=True):
    step_free: Annotated[Flag, Field(description="avoid steps, for wheelchair users")] = False
    low_walking_distance: Annotated[Flag, Field(description="report the shortest walk; filters nothing")] = False


class PlanConstraints(WireModel, frozen=True):
    """The rider's preferences; the answer echoes those in effect."""

    optimize: Annotated[
        Literal["balanced", "few_transfers", "shortest_time"], Field(description="what to prioritize")
    ] = "balanced"
    max_walking_distance: Annotated[Number, Field(ge=1, le=3000, description="in total, in meters")] = 1500.0
    max_transfers: Annotated[WholeNumber, Field(ge=0, le=8, description="maximum number of changes")] = 4
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
    """A ride or walk, with expected times; durations are in seconds, and distances in metres."""

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
    ref: NotRequired[Annotated[str, Field(max_length=MAX_REF_CHARS)]]


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
    """How an alternative differs from the disrupted trip; negative values mean earlier, fewer or less."""

    fingerprint: str
    insteadOf: str
    cause: WireCause
    laterMinutes: int
    moreChanges: int
    moreWalkMeters: int


class WireStaySeated(WireDict):
    """The indices of legs for which passengers stay seated in the previous leg's vehicle."""

    fingerprint: str
    legs: Annotated[list[int], Field(min_length=1)]


class PlanMeta(Meta, AlertNotes):
    deduplicatedFrom: NotRequired[int]
    walking: str
    staySeated: NotRequired[list[WireStaySeated]]
    differences: NotRequired[list[WireDifference]]


class PlanTripOutput(CorrelatedAnswer):
    origin: LocationRef
    destination: LocationRef
    requested: Requested
    constraints: Annotated[Wire, GetPydanticSchema(lambda _type, handler: handler.generate_schema(PlanConstraints))]
    itineraries: list[WireItinerary]
    realtimeUsed: Annotated[str, EnumValue(ScheduleType)]
    dataFreshness: str
    meta: PlanMeta
