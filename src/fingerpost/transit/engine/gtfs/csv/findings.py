"""Findings of an import: what it skipped, interpolated or did not use, by reason, and what that means for riders."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from fingerpost.transit.engine.timetable.timetable import Int32

# So many places of each reason are kept.
PLACES_KEPT = 5


class Reason(StrEnum):
    """Why something of a feed is not in the timetable as it was written.

    A name that ends in UNAPPLIED or UNSUPPORTED is something that the engine does not use; ASSUMED and WORKED_OUT
    fill a gap; every other name means that the row was left out.
    """

    TABLE_REPEATED_ASSUMED = "table-repeated-assumed"
    TABLE_WITHOUT_COLUMN = "table-without-column"
    ENCODING_ASSUMED = "table-encoding-assumed"
    DELIMITER_ASSUMED = "table-delimiter-assumed"
    ROW_TOO_LONG_ASSUMED = "row-longer-than-header-assumed"
    QUOTE_ASSUMED = "quote-without-end-assumed"

    ID_MISSING = "id-missing"
    ID_REPEATED = "id-repeated"
    VALUE_UNREADABLE = "value-unreadable"
    VALUE_UNREADABLE_ASSUMED = "value-unreadable-assumed"
    VALUE_UNKNOWN_ASSUMED = "value-unknown-assumed"

    ZONE_UNKNOWN_ASSUMED = "zone-unknown-assumed"
    ZONE_OF_OTHER_AGENCY_ASSUMED = "zone-of-other-agency-assumed"

    STOP_KIND_UNKNOWN = "stop-kind-unknown"
    STOP_WITHOUT_PLACE = "stop-without-place"
    STOP_NAME_ASSUMED = "stop-name-assumed"
    STOP_PLACE_ASSUMED = "stop-place-assumed"
    STOP_ZONE_UNAPPLIED = "stop-zone-unapplied"
    STOP_PARENT_UNAPPLIED = "stop-parent-unapplied"
    STOP_NAMED_OTHERWISE_ASSUMED = "stop-named-otherwise-in-earlier-feed-assumed"

    ROUTE_TYPE_ASSUMED = "route-type-assumed"

    CALENDAR_ROW_UNREADABLE = "calendar-row-unreadable"
    CALENDAR_RUNS_BACKWARDS = "calendar-runs-backwards"
    CALENDAR_SHORTENED = "calendar-range-shortened"
    SERVICE_WITHOUT_DAYS = "service-without-days"
    SERVICE_WITHOUT_TRIPS = "service-without-trips"

    TRIP_WITHOUT_ROUTE = "trip-without-route"
    TRIP_WITHOUT_SERVICE = "trip-without-service"
    TRIP_WITH_FEWER_THAN_TWO_CALLS = "trip-with-fewer-than-two-calls"
    TRIP_WITHOUT_END_TIMES = "trip-without-end-times"
    TRIP_RUNS_BACKWARDS = "trip-runs-backwards"
    TRIP_FLEX_UNSUPPORTED = "trip-on-demand-unsupported"

    CALL_OF_UNKNOWN_TRIP = "call-of-unknown-trip"
    CALL_OF_LEFT_OUT_TRIP = "call-of-left-out-trip"
    CALL_FLEX_UNSUPPORTED = "call-on-demand-unsupported"
    CALL_AT_UNKNOWN_STOP = "call-at-unknown-stop"
    CALL_AT_LEFT_OUT_STOP = "call-at-left-out-stop"
    CALL_WHERE_NOBODY_BOARDS = "call-at-station-entrance-or-node"
    CALL_SEQUENCE_UNREADABLE = "call-sequence-unreadable"
    CALL_TIME_UNREADABLE_ASSUMED = "call-time-unreadable-assumed"
    CALL_TIME_WITHOUT_SECONDS_ASSUMED = "call-time-without-seconds-assumed"
    CALL_TIME_WORKED_OUT = "call-time-worked-out"
    CALL_ORDER_ASSUMED = "call-order-assumed"

    FREQUENCY_OF_UNKNOWN_TRIP = "frequency-of-unknown-trip"
    FREQUENCY_OF_LEFT_OUT_TRIP = "frequency-of-left-out-trip"
    FREQUENCY_UNREADABLE = "frequency-unreadable"
    FREQUENCY_WITHOUT_DEPARTURES = "frequency-without-departures"
    FREQUENCY_TOO_DENSE = "frequency-too-dense"

    TRANSFER_AT_UNKNOWN_STOP = "transfer-at-unknown-stop"
    TRANSFER_AT_LEFT_OUT_STOP = "transfer-at-left-out-stop"
    TRANSFER_WHERE_NOBODY_BOARDS = "transfer-at-entrance-or-node"
    TRANSFER_OF_UNKNOWN_ROUTE_OR_TRIP = "transfer-of-unknown-route-or-trip"
    TRANSFER_OF_LEFT_OUT_TRIP = "transfer-of-left-out-trip"
    TRANSFER_BY_ROUTE_OR_TRIP_UNAPPLIED = "transfer-by-route-or-trip-unapplied"
    TRANSFER_IN_SEAT_UNAPPLIED = "transfer-in-seat-unapplied"
    TRANSFER_KIND_UNKNOWN = "transfer-kind-unknown"
    TRANSFER_TOO_MANY = "transfer-too-many"

    BLOCK_WITHOUT_TIMES_UNAPPLIED = "block-of-headways-unapplied"
    BLOCK_OVERLAPS_UNAPPLIED = "block-overlaps-unapplied"
    BLOCK_TURNS_BACK_UNAPPLIED = "block-turns-back-unapplied"
    BLOCK_GOES_ON_ELSEWHERE_UNAPPLIED = "block-goes-on-elsewhere-unapplied"
    BLOCK_STANDS_LONG_UNAPPLIED = "block-stands-long-unapplied"

    PATHWAY_AT_UNKNOWN_STOP = "pathway-at-unknown-stop"
    PATHWAY_UNREADABLE = "pathway-unreadable"
    PATHWAY_WITHOUT_TIME_UNAPPLIED = "pathway-without-time-unapplied"
    PATHWAY_TOO_MANY_UNAPPLIED = "pathways-of-too-many-platforms-unapplied"

    FARE_UNREADABLE = "fare-unreadable-unapplied"
    FARE_RULE_UNREADABLE = "fare-rule-unreadable-unapplied"
    FARE_RULE_OF_UNKNOWN_FARE = "fare-rule-of-unknown-fare"
    FARE_WITHOUT_RULE_UNAPPLIED = "fare-without-rule-unapplied"
    FARE_OF_OTHER_RIDERS_UNAPPLIED = "fare-of-other-riders-unapplied"
    FARE_BY_TIME_UNAPPLIED = "fare-by-time-of-day-unapplied"
    FARE_JOIN_UNAPPLIED = "fare-rule-that-joins-legs-unapplied"
    FARES_OF_FIRST_VERSION_UNAPPLIED = "fares-of-first-version-unapplied"

    SHAPE_POINT_UNREADABLE = "shape-point-unreadable"
    SHAPE_UNKNOWN = "shape-unknown"

    TRANSLATION_OF_UNKNOWN = "translation-of-unknown"
    TRANSLATION_UNREADABLE = "translation-unreadable"
    TRANSLATION_UNAPPLIED = "translation-of-other-field-unapplied"


class Findings:
    def __init__(self) -> None:
        self._counts: dict[Reason, int] = {}
        self._places: dict[Reason, list[tuple[str, int, str]]] = {}

    def add(self, reason: Reason, table: str, line: int, column: str = "", *, count: int = 1) -> None:
        self._counts[reason] = self._counts.get(reason, 0) + count
        places = self._places.setdefault(reason, [])
        if len(places) < PLACES_KEPT:
            places.append((table, line, column))

    def add_many(self, reason: Reason, table: str, lines: Int32, column: str = "") -> None:
        first = np.sort(lines)[:PLACES_KEPT].tolist()
        for line in first:
            self.add(reason, table, line, column)
        if len(lines) > len(first):
            self._counts[reason] += len(lines) - len(first)

    def list_all(self) -> list[tuple[Reason, int, list[tuple[str, int, str]]]]:
        return [(reason, self._counts[reason], self._places[reason]) for reason in Reason if reason in self._counts]


class FindingKind(StrEnum):
    """What became of the rows that a finding counts; the first two are losses."""

    LEFT_OUT = "left out"
    NOT_USED = "not used"
    GUESSED = "guessed"
    WITHOUT_EFFECT = "without effect"


@dataclass(frozen=True, slots=True)
class FindingMeaning:
    """What a finding means for riders; ``subject`` is what is lost or guessed, as a plural, such as ``trips``."""

    kind: FindingKind
    subject: str
    text: str

    @property
    def is_loss(self) -> bool:
        return self.kind in (FindingKind.LEFT_OUT, FindingKind.NOT_USED)


_MEANINGS: dict[tuple[FindingKind, str], dict[Reason, str]] = {
    (FindingKind.LEFT_OUT, "trips"): {
        Reason.TRIP_WITHOUT_ROUTE: "the trip's route is not in the feed",
        Reason.TRIP_WITHOUT_SERVICE: "the days of the trip are not in the feed",
        Reason.TRIP_WITH_FEWER_THAN_TWO_CALLS: "the trip has fewer than two stops",
        Reason.TRIP_WITHOUT_END_TIMES: "the trip has no time at its first or last stop",
        Reason.TRIP_RUNS_BACKWARDS: "the trip arrives before it leaves",
    },
    (FindingKind.NOT_USED, "trips"): {
        Reason.TRIP_FLEX_UNSUPPORTED: "the trip runs on demand (GTFS-Flex), which is not supported",
    },
    (FindingKind.LEFT_OUT, "stops of trips"): {
        Reason.CALL_OF_UNKNOWN_TRIP: "a time of a trip that is not in the feed",
        Reason.CALL_AT_UNKNOWN_STOP: "a trip stops where the feed has no stop; the trip skips it",
        Reason.CALL_AT_LEFT_OUT_STOP: "a trip stops at a stop that was left out; the trip skips it",
        Reason.CALL_WHERE_NOBODY_BOARDS: "a trip stops at a station or an entrance, not at a platform; skipped",
        Reason.CALL_SEQUENCE_UNREADABLE: "stop_sequence cannot be read; the trip skips the stop",
    },
    (FindingKind.NOT_USED, "stops of trips"): {
        Reason.CALL_FLEX_UNSUPPORTED: "a stop on demand (GTFS-Flex), which is not supported",
    },
    (FindingKind.GUESSED, "times"): {
        Reason.CALL_TIME_UNREADABLE_ASSUMED: "the time cannot be read; interpolated from the stops before and after",
        Reason.CALL_TIME_WITHOUT_SECONDS_ASSUMED: "the time is written HH:MM; read as HH:MM:00",
        Reason.CALL_TIME_WORKED_OUT: "the feed has no time for this stop; interpolated from the stops around it",
        Reason.CALL_ORDER_ASSUMED: "two stops of a trip claim the same place in it; they stay in the order of the file",
    },
    (FindingKind.LEFT_OUT, "days of service"): {
        Reason.CALENDAR_ROW_UNREADABLE: "a day cannot be read; the trips of the row do not run by it",
        Reason.CALENDAR_RUNS_BACKWARDS: "a span of days ends before it begins; the trips of the row do not run by it",
        Reason.CALENDAR_SHORTENED: "the feed has more days than can be stored; the last ones are skipped",
    },
    (FindingKind.LEFT_OUT, "trips at intervals"): {
        Reason.FREQUENCY_UNREADABLE: "how often the trip runs cannot be read; the row is left out",
        Reason.FREQUENCY_WITHOUT_DEPARTURES: "the interval ends before it begins; the row has no effect",
        Reason.FREQUENCY_TOO_DENSE: "the row would make more departures than can be stored",
    },
    (FindingKind.LEFT_OUT, "stops"): {
        Reason.STOP_KIND_UNKNOWN: "location_type is unknown",
        Reason.STOP_WITHOUT_PLACE: "the feed does not say where the stop is",
    },
    (FindingKind.NOT_USED, "stations"): {
        Reason.STOP_PARENT_UNAPPLIED: "the station of the stop is not in the feed; the stop stands alone",
    },
    (FindingKind.NOT_USED, "stops"): {
        Reason.STOP_ZONE_UNAPPLIED: "the stop is in another time zone; its times are shown in the agency's",
    },
    (FindingKind.GUESSED, "stops"): {
        Reason.STOP_NAME_ASSUMED: "the stop has no name; it takes its station's, or its id",
        Reason.STOP_PLACE_ASSUMED: "the stop has no position; it takes its station's",
        Reason.STOP_NAMED_OTHERWISE_ASSUMED: "an earlier feed has the same stop under another name, which is kept",
    },
    (FindingKind.GUESSED, "modes"): {
        Reason.ROUTE_TYPE_ASSUMED: "route_type cannot be read; the mode is OTHER",
    },
    (FindingKind.GUESSED, "time zones"): {
        Reason.ZONE_UNKNOWN_ASSUMED: "the time zone is unknown; the one of the feed's other agencies is used",
        Reason.ZONE_OF_OTHER_AGENCY_ASSUMED: "agencies have different time zones; the first one is used for all",
    },
    (FindingKind.LEFT_OUT, "rules for changes"): {
        Reason.TRANSFER_KIND_UNKNOWN: "transfer_type is unknown; ordinary transfers apply",
        Reason.TRANSFER_TOO_MANY: "the rule speaks of more pairs of stops than can be stored; ordinary transfers apply",
    },
    (FindingKind.NOT_USED, "rules for changes"): {
        Reason.TRANSFER_BY_ROUTE_OR_TRIP_UNAPPLIED: "too many trip rules meet here; ordinary transfers apply",
    },
    (FindingKind.NOT_USED, "riding on in the same vehicle"): {
        Reason.TRANSFER_IN_SEAT_UNAPPLIED: "the two trips do not follow one another; staying seated is not offered",
        Reason.BLOCK_WITHOUT_TIMES_UNAPPLIED: "the trip has no fixed times; staying seated after it is not offered",
        Reason.BLOCK_OVERLAPS_UNAPPLIED: "one vehicle would be in two places; staying seated is not offered",
    },
    (FindingKind.WITHOUT_EFFECT, "riding on in the same vehicle"): {
        Reason.BLOCK_TURNS_BACK_UNAPPLIED: "the vehicle goes back the way it came; nobody stays seated for that",
        Reason.BLOCK_GOES_ON_ELSEWHERE_UNAPPLIED: "the vehicle starts its next trip elsewhere, without riders",
        Reason.BLOCK_STANDS_LONG_UNAPPLIED: "the vehicle waits long; riding on is shown as a transfer",
    },
    (FindingKind.LEFT_OUT, "ways in stations"): {
        Reason.PATHWAY_AT_UNKNOWN_STOP: "a way leads to a place that is not in the feed",
        Reason.PATHWAY_UNREADABLE: "pathway_mode is unknown",
    },
    (FindingKind.NOT_USED, "ways in stations"): {
        Reason.PATHWAY_WITHOUT_TIME_UNAPPLIED: "the way has no duration; it counts for step-free access only",
        Reason.PATHWAY_TOO_MANY_UNAPPLIED: "the station has too many platforms; ordinary transfers apply",
    },
    (FindingKind.LEFT_OUT, "fares"): {
        Reason.FARE_RULE_OF_UNKNOWN_FARE: "a rule names an unknown fare; trips that need it have no price",
    },
    (FindingKind.NOT_USED, "fares"): {
        Reason.FARE_UNREADABLE: "the fare cannot be read; trips that need it have no price",
        Reason.FARE_RULE_UNREADABLE: "the rule cannot be read; trips that need it have no price",
        Reason.FARE_WITHOUT_RULE_UNAPPLIED: "no rule says for which trips the fare is; it is not offered",
        Reason.FARE_OF_OTHER_RIDERS_UNAPPLIED: "the fare is for some riders only; prices are an ordinary rider's",
        Reason.FARE_BY_TIME_UNAPPLIED: "the fare holds at certain hours; trips that need it have no price",
        Reason.FARE_JOIN_UNAPPLIED: "rides are priced together, which is not supported; they have no price",
    },
    (FindingKind.WITHOUT_EFFECT, "fares"): {
        Reason.FARES_OF_FIRST_VERSION_UNAPPLIED: "the feed states its fares in two ways; the newer one counts",
    },
    (FindingKind.LEFT_OUT, "lines on the map"): {
        Reason.SHAPE_POINT_UNREADABLE: "a point of a line's course cannot be read",
        Reason.SHAPE_UNKNOWN: "the course of the trip is not in the feed; it is drawn from stop to stop",
    },
    (FindingKind.LEFT_OUT, "translated names"): {
        Reason.TRANSLATION_UNREADABLE: "the translation has no language or no text",
    },
    (FindingKind.NOT_USED, "translated names"): {
        Reason.TRANSLATION_UNAPPLIED: "the translation is of something else than stops, routes and headsigns",
    },
    (FindingKind.GUESSED, "tables"): {
        Reason.TABLE_REPEATED_ASSUMED: "the archive holds the table more than once; the last one is read",
    },
    (FindingKind.LEFT_OUT, "tables"): {
        Reason.TABLE_WITHOUT_COLUMN: "the table lacks a column that it cannot be read without",
    },
    (FindingKind.LEFT_OUT, "rows"): {
        Reason.ID_MISSING: "the row has no id",
        Reason.ID_REPEATED: "an earlier row has the same id; this one is left out",
    },
    (FindingKind.GUESSED, "values"): {
        Reason.VALUE_UNREADABLE: "the number cannot be read; the row is used without it",
        Reason.VALUE_UNREADABLE_ASSUMED: "the value cannot be read; it counts as not stated",
        Reason.VALUE_UNKNOWN_ASSUMED: "the value means nothing in GTFS; it counts as not stated",
    },
    (FindingKind.GUESSED, "files"): {
        Reason.ENCODING_ASSUMED: "the file is not UTF-8; it was read as Windows-1252",
        Reason.DELIMITER_ASSUMED: "the delimiter is not a comma; it was guessed",
        Reason.ROW_TOO_LONG_ASSUMED: "the row has more fields than the table has columns; those beyond are not read",
        Reason.QUOTE_ASSUMED: "a quotation mark is never closed; the row ends where its line does",
    },
    (FindingKind.WITHOUT_EFFECT, "rows about what is not there"): {
        Reason.SERVICE_WITHOUT_DAYS: "these trips run on no day at all",
        Reason.SERVICE_WITHOUT_TRIPS: "no trip runs on these days",
        Reason.CALL_OF_LEFT_OUT_TRIP: "a time of a trip that is left out, and counted as such",
        Reason.FREQUENCY_OF_UNKNOWN_TRIP: "intervals of a trip that is not in the feed",
        Reason.FREQUENCY_OF_LEFT_OUT_TRIP: "intervals of a skipped trip, which is counted",
        Reason.TRANSFER_AT_UNKNOWN_STOP: "a rule for changes at a stop that is not in the feed",
        Reason.TRANSFER_AT_LEFT_OUT_STOP: "a rule for changes at a skipped stop, which is counted",
        Reason.TRANSFER_WHERE_NOBODY_BOARDS: "a rule for changes at an entrance, where nothing stops",
        Reason.TRANSFER_OF_UNKNOWN_ROUTE_OR_TRIP: "a rule for changes of a route or trip that is not in the feed",
        Reason.TRANSFER_OF_LEFT_OUT_TRIP: "a rule for changes of a skipped trip, which is counted",
        Reason.TRANSLATION_OF_UNKNOWN: "a translation of something that is not in the feed",
    },
}

_BY_REASON = {
    reason.value: FindingMeaning(kind, subject, text)
    for (kind, subject), texts in _MEANINGS.items()
    for reason, text in texts.items()
}
_UNKNOWN = FindingMeaning(FindingKind.LEFT_OUT, "rows", "a finding of another version of fingerpost")


def find_meaning(reason: str) -> FindingMeaning:
    """Return what a finding means; reports of other versions may hold unknown reasons."""
    return _BY_REASON.get(reason, _UNKNOWN)
