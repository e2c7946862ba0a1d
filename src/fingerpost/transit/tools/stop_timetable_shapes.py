"""What getStopTimetable accepts and answers (lookup contract, rules D1 and D3)."""

from typing import Annotated, NotRequired

from pydantic import Field

from fingerpost.contract.wire import Flag, PrintedId, Whole, WireDict, WireModel
from fingerpost.transit.rules.modes import TimetableWord
from fingerpost.transit.tools.timetable_shapes import AnswerMetadata, TimetableMeta, UtcInstant

DEFAULT_DEPARTURES, MOST_DEPARTURES = 3, 5
DEFAULT_HORIZON_MINUTES, LONGEST_HORIZON_MINUTES = 45, 90
# With ``until`` there may be so many rows; of long names fewer fit into an answer (rule A11).
MOST_ROWS = 200
MOST_LINES = 40


class TimetableRequestInput(WireModel):
    """The question; ``at``, ``until`` and ``wholePlace`` are ours (rule D3)."""

    stop_id: PrintedId
    max_departures: Annotated[Whole, Field(ge=1, description="lowered to 5; all with until")] = DEFAULT_DEPARTURES
    horizon_minutes: Annotated[Whole, Field(ge=1, description="lowered to 90")] = DEFAULT_HORIZON_MINUTES
    at: Annotated[str | None, Field(max_length=40, description="RFC 3339 with offset; else now")] = None
    until: Annotated[str | None, Field(max_length=40, description="up to a day later; in place of minutes")] = None
    whole_place: Annotated[Flag, Field(description="all stops of its place")] = False


class TimetableDeparture(WireDict):
    """One scheduled departure."""

    scheduledTime: UtcInstant
    routeShortName: Annotated[str, Field(min_length=1)]
    routeLongName: NotRequired[str]
    headsign: NotRequired[str]
    mode: TimetableWord
    serviceDay: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


class AppliedLimits(WireDict):
    """The limits as they were applied, and whether one was lowered."""

    maxDepartures: int
    horizonMinutes: int
    clamped: bool


class TimetableStop(WireDict):
    """The stop whose timetable it is; ``otherStops`` are those of its place that are not in the answer."""

    id: str
    name: str
    otherStops: NotRequired[list[str]]


class TimetableLine(WireDict):
    """A line in one direction: how many departures the window holds, shown or not, and the first and last of them."""

    routeShortName: str
    headsign: NotRequired[str]
    departures: int
    first: UtcInstant
    last: UtcInstant


class TimetableLines(WireDict):
    """The lines of the window, where it has an ``until``; ``linesNotShown`` counts the rest."""

    lines: NotRequired[Annotated[list[TimetableLine], Field(max_length=MOST_LINES)]]
    linesNotShown: NotRequired[int]


class NextDeparture(WireDict):
    """The first departure of the window that is not shown."""

    nextDeparture: NotRequired[UtcInstant]


class StopTimetableMeta(TimetableMeta, TimetableLines, NextDeparture):
    """Meta of a timetable."""

    stop: TimetableStop


class StopTimetableOutput(WireDict):
    """The answer."""

    departures: Annotated[list[TimetableDeparture], Field(max_length=MOST_ROWS)]
    applied: AppliedLimits
    metadata: AnswerMetadata
    meta: StopTimetableMeta
