"""The findings from a GTFS import: skipped, interpolated or unused rows, and their effect on riders."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, StrEnum, unique
from typing import NamedTuple

import numpy as np

from fingerpost.transit.engine.timetable.timetable import Bool, Int32

# The maximum number of places stored for each reason.
MAX_PLACES = 5


class FindingKind(StrEnum):
    """How the import treated the rows of a finding; the first two kinds are losses."""

    LEFT_OUT = "left out"
    NOT_USED = "not used"
    GUESSED = "guessed"
    WITHOUT_EFFECT = "without effect"


class FindingMeaning(NamedTuple):
    """The effect of a finding on riders."""

    kind: FindingKind
    text: str

    @property
    def is_loss(self) -> bool:
        return self.kind in (FindingKind.LEFT_OUT, FindingKind.NOT_USED)


_LEFT_OUT, _UNUSED, _GUESSED, _NO_EFFECT = FindingKind


@unique
class Reason(FindingMeaning, Enum):
    """A reason why the timetable differs from the feed, and its effect on riders.

    UNAPPLIED and UNSUPPORTED in a name mark data that the engine does not use; ASSUMED and WORKED_OUT mark guessed
    values. Most other reasons mark skipped rows.
    """

    TABLE_REPEATED_ASSUMED = _GUESSED, "the archive contains the table more than once; the last copy is read"
    FOLDER_UNAPPLIED = _UNUSED, "the folder contains another feed; unpack it, and add it by its own path"
    TABLE_WITHOUT_COLUMN = _LEFT_OUT, "a required column is missing"
    TABLE_ENCODING_ASSUMED = _GUESSED, "the file is not UTF-8; it was read as Windows-1252"
    ROW_LONGER_THAN_HEADER_ASSUMED = _GUESSED, "the row has more fields than the header; the extra fields are ignored"
    TEXT_DIRECTION_REMOVED = _NO_EFFECT, "control characters and text-direction marks are removed"
    QUOTE_WITHOUT_END_ASSUMED = _GUESSED, "a quotation mark is never closed; the row ends at the end of the line"

    ID_MISSING = _LEFT_OUT, "the row has no id"
    ID_REPEATED = _LEFT_OUT, "an earlier row has the same id; this row is left out"
    VALUE_UNREADABLE_ASSUMED = _GUESSED, "the value cannot be parsed or is undefined in GTFS; it is treated as missing"

    ZONE_UNKNOWN_ASSUMED = _GUESSED, "the time zone is unknown; another agency's time zone, or --zone, is used"
    ZONE_OF_OTHER_AGENCY_ASSUMED = _GUESSED, "agencies have different time zones; the first agency's is used for all"
    ZONE_OF_OTHER_FEED_UNAPPLIED = _UNUSED, "the time zone of the network's first feed is used instead"

    STOP_KIND_UNKNOWN = _LEFT_OUT, "location_type is unknown"
    STOP_WITHOUT_PLACE = _LEFT_OUT, "the stop has no valid position"
    STOP_NAME_ASSUMED = _GUESSED, "the stop has no name; its station's name or its id is used"
    STOP_PLACE_ASSUMED = _GUESSED, "the stop has no position; its station's position is used"
    STOP_ZONE_UNAPPLIED = _UNUSED, "the time zone of the stop's agency is used instead"
    STOP_PARENT_UNAPPLIED = _UNUSED, "the stop's station is not in the feed; the stop is used without it"
    STOP_POSITION_UNAPPLIED = _UNUSED, "no vehicle could reach it in time; it is excluded from the area"
    STOP_WITHOUT_TRIPS = _NO_EFFECT, "no trip serves the stop, and it is over 100 km outside the area"
    STOP_NAMED_OTHERWISE_IN_EARLIER_FEED_ASSUMED = _GUESSED, "the stop's name in an earlier feed is used instead"

    ROUTE_TYPE_ASSUMED = _GUESSED, "route_type cannot be read; the mode is OTHER"

    CALENDAR_ROW_UNREADABLE = _LEFT_OUT, "a date cannot be parsed, or the end is before the start; the row is skipped"
    CALENDAR_RANGE_SHORTENED = _LEFT_OUT, "the feed has more days than can be stored; some are skipped"
    SERVICE_WITHOUT_DAYS = _NO_EFFECT, "these trips never run"

    TRIP_WITHOUT_ROUTE = _LEFT_OUT, "the trip's route is not in the feed"
    TRIP_WITHOUT_SERVICE = _LEFT_OUT, "the trip's service_id is not in the feed"
    TRIP_WITH_FEWER_THAN_TWO_CALLS = _LEFT_OUT, "the trip has fewer than two stops"
    TRIP_WITHOUT_END_TIMES = _LEFT_OUT, "the trip has no time at its first or last stop"
    TRIP_RUNS_BACKWARDS = _LEFT_OUT, "the trip arrives before it departs"
    TRIP_ON_DEMAND_UNSUPPORTED = _UNUSED, "the trip runs on demand (GTFS-Flex), which is not supported"
    TRIP_DETOURS_UNSUPPORTED = _UNUSED, "the trip makes detours on demand (GTFS-Flex); only its fixed stops are used"

    CALL_OF_SKIPPED_TRIP = _NO_EFFECT, "a stop time for a skipped trip"
    CALL_OF_UNKNOWN_TRIP = _LEFT_OUT, "a stop time for a trip that is not in the feed"
    CALL_AT_UNKNOWN_STOP = _LEFT_OUT, "the stop is not in the feed, or was skipped; the trip skips it"
    CALL_AT_STATION_ENTRANCE_OR_NODE = _LEFT_OUT, "the stop is a station or entrance, not a platform; the trip skips it"
    CALL_SEQUENCE_UNREADABLE = _LEFT_OUT, "stop_sequence cannot be read; the trip skips the stop"
    CALL_TIME_UNREADABLE_ASSUMED = _GUESSED, "the time cannot be read; it is interpolated between the adjacent stops"
    CALL_TIME_WORKED_OUT = _GUESSED, "the feed has no time at this stop; the time is interpolated by distance"
    CALL_ORDER_ASSUMED = _GUESSED, "two stop times in a trip have the same stop_sequence; file order is used"

    FREQUENCY_OF_UNKNOWN_TRIP = _NO_EFFECT, "frequencies for an unknown or skipped trip"
    FREQUENCY_UNREADABLE = _LEFT_OUT, "the row cannot be parsed, or it yields no departures or too many"

    TRANSFER_AT_UNKNOWN_STOP = _NO_EFFECT, "a transfer rule at an entrance, or at an unknown or skipped stop"
    TRANSFER_OF_UNKNOWN_ROUTE_OR_TRIP = _NO_EFFECT, "a transfer rule for an unknown route or an unknown or skipped trip"
    TRANSFER_IN_SEAT_UNAPPLIED = _UNUSED, "the second trip does not continue the first; no in-seat transfer is offered"
    TRANSFER_KIND_UNKNOWN = _LEFT_OUT, "transfer_type is unknown; ordinary transfers apply"
    TRANSFER_TOO_MANY = _LEFT_OUT, "too many rules or stop pairs; ordinary transfers apply"

    BLOCK_OF_HEADWAYS_UNAPPLIED = _UNUSED, "the trip has no fixed times; no in-seat transfer is offered"
    BLOCK_OVERLAPS_UNAPPLIED = _UNUSED, "riders must change: trips overlap, or another comes between on some days"
    BLOCK_WITHOUT_RIDERS_UNAPPLIED = (
        _NO_EFFECT,
        "the vehicle turns back, waits too long, or starts its next trip elsewhere",
    )

    PATHWAY_AT_UNKNOWN_STOP = _LEFT_OUT, "a pathway leads to an unknown stop"
    PATHWAY_UNREADABLE = _LEFT_OUT, "pathway_mode is unknown"
    PATHWAY_WITHOUT_TIME_UNAPPLIED = _UNUSED, "the pathway has no duration; it is used for step-free access only"

    SHAPE_POINT_UNREADABLE = _LEFT_OUT, "a shape point cannot be parsed"
    SHAPE_UNKNOWN = _LEFT_OUT, "the shape is not in the feed; the trip is drawn from stop to stop"

    TRANSLATION_OF_UNKNOWN = _NO_EFFECT, "a translation of an unknown record"
    TRANSLATION_UNREADABLE = _LEFT_OUT, "the translation has no language or no text"
    TRANSLATION_OF_OTHER_FIELD_UNAPPLIED = _UNUSED, "the field is not a stop, route or headsign"

    @property
    def code(self) -> str:
        """The name of the reason in stored reports, such as ``trip-without-route``."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingPlace:
    """A table cell, or a whole row if ``column`` is empty."""

    table: str
    line: int
    column: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The deviations from a feed for one ``Reason``: its code, the number of rows, and the first ``places``."""

    reason: str
    count: int
    places: tuple[FindingPlace, ...]


class Findings:
    def __init__(self) -> None:
        self._counts: Counter[Reason] = Counter()
        self._places: defaultdict[Reason, list[FindingPlace]] = defaultdict(list)

    def add(self, reason: Reason, table: str, line: int, column: str = "", *, count: int = 1) -> None:
        self._counts[reason] += count
        if len(self._places[reason]) < MAX_PLACES:
            self._places[reason].append(FindingPlace(table=table, line=line, column=column))

    def add_many(self, reason: Reason, table: str, lines: Int32, column: str = "") -> None:
        for line in np.sort(lines)[:MAX_PLACES].tolist():
            self.add(reason, table, line, column, count=0)
        if len(lines):
            self._counts[reason] += len(lines)

    def drop_faulty(self, table: str, lines: Int32, usable: Bool, faults: Iterable[tuple[Reason, str, Bool]]) -> Bool:
        """Report each faulty row under its first fault (reason, column, mask); return a mask of the usable rows."""
        for reason, column, faulty in faults:
            if faulty.any():
                self.add_many(reason, table, lines[usable & faulty], column)
                usable = usable & ~faulty
        return usable

    def list_all(self) -> tuple[Finding, ...]:
        return tuple(
            Finding(reason=reason.code, count=self._counts[reason], places=tuple(self._places[reason]))
            for reason in Reason
            if reason in self._counts
        )


_BY_CODE: dict[str, FindingMeaning] = {reason.code: reason for reason in Reason}
_UNKNOWN = FindingMeaning(FindingKind.LEFT_OUT, "a finding from another version of fingerpost")


def find_meaning(code: str) -> FindingMeaning:
    """Return the meaning of a reason code; reports from other versions may contain unknown codes."""
    return _BY_CODE.get(code, _UNKNOWN)
