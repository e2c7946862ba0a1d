"""Counts what an import left out, worked out or did not apply, by reason, with the first places of each."""

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
    """Collects findings while a feed is being read."""

    def __init__(self) -> None:
        self._counts: dict[Reason, int] = {}
        self._places: dict[Reason, list[tuple[str, int, str]]] = {}

    def add(self, reason: Reason, table: str, line: int, column: str = "", *, count: int = 1) -> None:
        """Count something, and keep its place (table, line, column) if it is one of the first."""
        self._counts[reason] = self._counts.get(reason, 0) + count
        places = self._places.setdefault(reason, [])
        if len(places) < PLACES_KEPT:
            places.append((table, line, column))

    def add_many(self, reason: Reason, table: str, lines: Int32, column: str = "") -> None:
        """Count one thing for each line."""
        first = np.sort(lines)[:PLACES_KEPT].tolist()
        for line in first:
            self.add(reason, table, line, column)
        if len(lines) > len(first):
            self._counts[reason] += len(lines) - len(first)

    def list_all(self) -> list[tuple[Reason, int, list[tuple[str, int, str]]]]:
        """Return (reason, count, first places), in the order of the reasons."""
        return [(reason, self._counts[reason], self._places[reason]) for reason in Reason if reason in self._counts]
