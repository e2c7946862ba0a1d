"""What planJourney accepts and answers (planJourney contract, rules E1, E2)."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field

from fingerpost.contract.wire import Flag, Identifier, Whole, WireDict, WireModel
from fingerpost.transit.rules.modes import TripWord

MOST_JOURNEYS = 5
MOST_SUGGESTIONS = 5

Code = Literal[
    "OK",
    "VALIDATION_ERROR",
    "DISAMBIGUATION_REQUIRED",
    "RATE_LIMIT_EXCEEDED",
    "UPSTREAM_TIMEOUT",
    "UPSTREAM_ERROR",
    "INTERNAL_ERROR",
]
_End = Annotated[Identifier, Field(max_length=200)]


class JourneyPlanRequest(WireModel):
    """The question."""

    from_: Annotated[_End, Field(alias="from", description="place name, stop code, or parameterValue; so is to")]
    to: _End
    need_accessible_route: Annotated[Flag, Field(description="step-free")] = False


class JourneyLine(WireDict):
    """A ride of a journey."""

    mode: TripWord
    line: NotRequired[str]


class JourneyOptionSummary(WireDict):
    """One way to go: whole minutes, ISO 8601 with London's offset, all legs with walks, and the rides in order."""

    durationMinutes: Annotated[Whole, Field(ge=1)]
    startDateTime: str
    arrivalDateTime: str
    legCount: Annotated[Whole, Field(ge=1)]
    lines: list[JourneyLine]


class JourneyDisambiguationSuggestion(WireDict):
    """A place that may be meant: what to send in place of the text, and how well it fits (0 to 1000)."""

    parameterValue: str
    matchQuality: NotRequired[int]


_Suggestions = Annotated[list[JourneyDisambiguationSuggestion], Field(max_length=MOST_SUGGESTIONS)]


class JourneyPlanToolResponse(WireDict):
    """The answer, failures included; all six fields are always there."""

    success: bool
    code: Code
    message: Annotated[str, Field(min_length=1)]
    topJourneys: Annotated[list[JourneyOptionSummary], Field(max_length=MOST_JOURNEYS)] | None
    fromLocationDisambiguation: _Suggestions | None
    toLocationDisambiguation: _Suggestions | None
