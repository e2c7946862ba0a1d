"""The report of a network check: faults, each with its origin and examples."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, StrEnum, unique
from typing import NamedTuple

from fingerpost.runtime.grouping import group_by_key

# The maximum number of examples for each fault.
MAX_EXAMPLES = 3


class Origin(StrEnum):
    """The origin of a fault: the publisher's data or this program. A ``NOTE`` needs no correction."""

    NOTE = "note"
    DATA = "data"
    PROGRAM = "program"


_NOTE, _DATA, _PROGRAM = Origin


@unique
class FaultKind(Enum):
    """The kinds of faults, with their origins and descriptions."""

    def __init__(self, origin: Origin, text: str) -> None:
        self.origin, self.text = origin, text

    FEED_LEFT_OUT = _DATA, "rows that the import skips or does not use"
    FEED_GUESSED = _NOTE, "values that the import guesses"
    FEED_OUT_OF_SERVICE = _DATA, "feeds without service today"
    FEED_THINS_OUT = _DATA, "feeds in which most trips stop running before the last day"
    STOP_MISSING = _PROGRAM, "stops in the feed that are not in the network"
    TRIP_MISSING = _PROGRAM, "trips in the feed that are not in the network, and not in the import report"
    TRIP_DIFFERS = _PROGRAM, "trips whose stops, times or days differ from the feed"
    STOP_OFF_STREETS = _DATA, "stops with no street from the extract nearby; walks to them are straight lines"
    STOP_UNREACHABLE = _PROGRAM, "stops that are on streets but cannot be reached on foot"
    STOP_WITHOUT_EXIT = _PROGRAM, "stops that are on streets but cannot be left on foot"
    PIN_ISOLATED = _PROGRAM, "points near a stop from which the stop cannot be reached on foot"
    WALK_CROSSES_WATER = _PROGRAM, "off-street walks that may cross water, without a warning"
    WALK_MAY_CROSS_WATER = _NOTE, "off-street walks that may cross water, with a warning"
    ANSWER_FAILED = _PROGRAM, "questions that failed unexpectedly"
    ANSWERS_DISAGREE = _PROGRAM, "questions that plan_trip answers differently from its network"
    RIDE_NOT_ON_BOARD = _PROGRAM, "rides that are not on the departure board of their first stop"
    CHANGE_TOO_SHORT = _PROGRAM, "legs that overlap"
    REALTIME_UNUSABLE = _DATA, "realtime sources that fail, or mostly do not match the feed"

    @property
    def code(self) -> str:
        return self.name.lower().replace("_", "-")


class Observation(NamedTuple):
    """One or more occurrences of a fault, with a reproducible example."""

    kind: FaultKind
    example: str
    occurrences: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    code: str
    origin: Origin
    meaning: str
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The result of one check: the number of items checked, their plural name (``unit``), and the faults."""

    name: str
    checked: int
    unit: str
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    network: str
    days: str
    seed: int
    results: tuple[CheckResult, ...]

    @property
    def origin(self) -> Origin:
        """The most serious origin of any fault: PROGRAM, else DATA, else NOTE."""
        origins = {fault.origin for result in self.results for fault in result.faults}
        return next((origin for origin in (_PROGRAM, _DATA) if origin in origins), _NOTE)


def summarize(name: str, checked: int, unit: str, observations: Iterable[Observation]) -> CheckResult:
    """Group the observations by kind into faults, with counts and examples."""
    faults = tuple(
        Fault(
            code=kind.code,
            origin=kind.origin,
            meaning=kind.text,
            count=sum(observation.occurrences for observation in kind_observations),
            examples=tuple(dict.fromkeys(each.example for each in kind_observations))[:MAX_EXAMPLES],
        )
        for kind, kind_observations in group_by_key((each.kind, each) for each in observations).items()
    )
    return CheckResult(name=name, checked=checked, unit=unit, faults=faults)
