"""What each finding of an import means for who rides, in a sentence without words of our own."""

from dataclasses import dataclass
from enum import StrEnum

from fingerpost.transit.engine.gtfs.csv import Reason


class FindingKind(StrEnum):
    """What became of the rows that a finding counts; the first two are losses."""

    LEFT_OUT = "left out"
    NOT_USED = "not used"
    GUESSED = "guessed"
    WITHOUT_EFFECT = "without effect"


@dataclass(frozen=True, slots=True)
class FindingMeaning:
    """What a finding means.

    Attributes:
        kind: what became of the rows.
        subject: what is lost or guessed, as a plural, such as ``trips``.
        text: what the feed says, and what a rider gets instead.
    """

    kind: FindingKind
    subject: str
    text: str

    @property
    def is_loss(self) -> bool:
        """Whether answers lack something because of it."""
        return self.kind in (FindingKind.LEFT_OUT, FindingKind.NOT_USED)


def find_meaning(reason: str) -> FindingMeaning:
    """Return what a finding means; of one of another version, that it is not known."""
    unknown = FindingMeaning(FindingKind.LEFT_OUT, "rows", "a finding of another version of fingerpost")
    return _MEANINGS.get(reason, unknown)


def _left_out(subject: str, **texts: str) -> dict[str, FindingMeaning]:
    return _meanings(FindingKind.LEFT_OUT, subject, texts)


def _not_used(subject: str, **texts: str) -> dict[str, FindingMeaning]:
    return _meanings(FindingKind.NOT_USED, subject, texts)


def _guessed(subject: str, **texts: str) -> dict[str, FindingMeaning]:
    return _meanings(FindingKind.GUESSED, subject, texts)


def _without_effect(subject: str, **texts: str) -> dict[str, FindingMeaning]:
    return _meanings(FindingKind.WITHOUT_EFFECT, subject, texts)


def _meanings(kind: FindingKind, subject: str, texts: dict[str, str]) -> dict[str, FindingMeaning]:
    return {Reason[name].value: FindingMeaning(kind, subject, text) for name, text in texts.items()}


_MEANINGS = {
    **_left_out(
        "trips",
        TRIP_WITHOUT_ROUTE="the trip's route is not in the feed, so the trip is left out",
        TRIP_WITHOUT_SERVICE="the days of the trip are not in the feed, so the trip is left out",
        TRIP_WITH_FEWER_THAN_TWO_CALLS="the trip has fewer than two stops, so nobody can ride it; it is left out",
        TRIP_WITHOUT_END_TIMES="the trip has no time at its first or last stop, so it is left out",
        TRIP_RUNS_BACKWARDS="the trip arrives before it leaves, so it is left out",
    ),
    **_not_used("trips", TRIP_FLEX_UNSUPPORTED="the trip runs on demand (GTFS-Flex), which trips are not planned with"),
    **_left_out(
        "stops of trips",
        CALL_OF_UNKNOWN_TRIP="a time of a trip that is not in the feed; it is left out",
        CALL_AT_UNKNOWN_STOP="a trip stops where the feed has no stop; the trip goes on without this stop",
        CALL_AT_LEFT_OUT_STOP="a trip stops at a stop that was left out; the trip goes on without this stop",
        CALL_WHERE_NOBODY_BOARDS="a trip stops at a whole station or an entrance, not at a platform; the trip goes on "
        "without this stop",
        CALL_SEQUENCE_UNREADABLE="the place of the stop in its trip cannot be read; the trip goes on without this stop",
    ),
    **_not_used(
        "stops of trips",
        CALL_FLEX_UNSUPPORTED="a stop on demand (GTFS-Flex), which trips are not planned with",
    ),
    **_guessed(
        "times",
        CALL_TIME_UNREADABLE_ASSUMED="the time cannot be read; it is worked out from the stops before and after",
        CALL_TIME_WORKED_OUT="the feed has no time for this stop; it is worked out from the stops before and after",
        CALL_ORDER_ASSUMED="two stops of a trip claim the same place in it; they stay in the order of the file",
    ),
    **_left_out(
        "days of service",
        CALENDAR_ROW_UNREADABLE="a day cannot be read; the trips of the row do not run by it",
        CALENDAR_RUNS_BACKWARDS="a span of days ends before it begins; the trips of the row do not run by it",
        CALENDAR_SHORTENED="the feed states more days than can be kept; the far ones are left out",
    ),
    **_left_out(
        "trips at intervals",
        FREQUENCY_UNREADABLE="how often the trip runs cannot be read; the row is left out",
        FREQUENCY_WITHOUT_DEPARTURES="the span in which the trip runs ends before it begins; it does not run in it",
        FREQUENCY_TOO_DENSE="the row would make more departures than can be kept; it is left out",
    ),
    **_left_out(
        "stops",
        STOP_KIND_UNKNOWN="what kind of stop it is cannot be told; it is left out",
        STOP_WITHOUT_PLACE="the feed does not say where the stop is; it is left out",
    ),
    **_not_used(
        "stations",
        STOP_PARENT_UNAPPLIED="the station of the stop is not in the feed; the stop stands alone",
    ),
    **_guessed(
        "stops",
        STOP_NAME_ASSUMED="the stop has no name; it has its station's, or its id",
        STOP_PLACE_ASSUMED="the feed does not say where the stop is; it has its station's place",
        STOP_NAMED_OTHERWISE_ASSUMED="an earlier feed has the same stop under another name, which is kept",
    ),
    **_guessed("modes", ROUTE_TYPE_ASSUMED="what runs on the route cannot be read; it is told as OTHER"),
    **_guessed(
        "time zones",
        ZONE_UNKNOWN_ASSUMED="the time zone is none that is known; that of the feed's other agencies holds",
        ZONE_OF_OTHER_AGENCY_ASSUMED="two agencies have two time zones; the first one's holds for all",
    ),
    **_left_out(
        "rules for changes",
        TRANSFER_KIND_UNKNOWN="what kind of rule it is cannot be told; ordinary changes hold",
        TRANSFER_TOO_MANY="the rule speaks of more pairs of stops than can be kept; ordinary changes hold",
    ),
    **_not_used(
        "rules for changes",
        TRANSFER_BY_ROUTE_OR_TRIP_UNAPPLIED="rules for single trips meet here in larger number than can be kept; "
        "ordinary changes hold",
    ),
    **_not_used(
        "riding on in the same vehicle",
        TRANSFER_IN_SEAT_UNAPPLIED="the two trips do not follow one another; staying seated is not offered",
        BLOCK_WITHOUT_TIMES_UNAPPLIED="the trip has no fixed times; staying seated after it is not offered",
        BLOCK_OVERLAPS_UNAPPLIED="one vehicle would be in two places; staying seated is not offered",
    ),
    **_without_effect(
        "riding on in the same vehicle",
        BLOCK_TURNS_BACK_UNAPPLIED="the vehicle goes back the way it came; nobody stays seated for that",
        BLOCK_GOES_ON_ELSEWHERE_UNAPPLIED="the vehicle begins its next trip at another stop; nobody rides there",
        BLOCK_STANDS_LONG_UNAPPLIED="the vehicle waits long before its next trip; riding on is told as a change",
    ),
    **_left_out(
        "ways in stations",
        PATHWAY_AT_UNKNOWN_STOP="a way leads to a place that is not in the feed; it is left out",
        PATHWAY_UNREADABLE="what kind of way it is cannot be told; it is left out",
    ),
    **_not_used(
        "ways in stations",
        PATHWAY_WITHOUT_TIME_UNAPPLIED="the feed does not say how long the way takes; it counts for step-free access "
        "only",
        PATHWAY_TOO_MANY_UNAPPLIED="the station has more platforms than ways are worked out for; ordinary changes hold",
    ),
    **_left_out(
        "fares",
        FARE_RULE_OF_UNKNOWN_FARE="a rule names a fare that the feed has not; such trips have no price",
    ),
    **_not_used(
        "fares",
        FARE_UNREADABLE="the fare cannot be read; trips that need it have no price",
        FARE_RULE_UNREADABLE="the rule cannot be read; trips that need it have no price",
        FARE_WITHOUT_RULE_UNAPPLIED="no rule says for which trips the fare is; it is not offered",
        FARE_OF_OTHER_RIDERS_UNAPPLIED="the fare is for some riders only; prices are an ordinary rider's",
        FARE_BY_TIME_UNAPPLIED="the fare holds at certain hours; trips that need it have no price",
        FARE_JOIN_UNAPPLIED="rides are priced together in a way that is not used; trips that need it have no price",
    ),
    **_without_effect(
        "fares",
        FARES_OF_FIRST_VERSION_UNAPPLIED="the feed states its fares in two ways; the newer one counts",
    ),
    **_left_out(
        "lines on the map",
        SHAPE_POINT_UNREADABLE="a point of a line's course cannot be read; it is left out",
        SHAPE_UNKNOWN="the course of the trip is not in the feed; it is drawn from stop to stop",
    ),
    **_left_out(
        "translated names",
        TRANSLATION_UNREADABLE="the translation has no language or no text; it is left out",
    ),
    **_not_used(
        "translated names",
        TRANSLATION_UNAPPLIED="the translation is of something else than stops, routes and headsigns",
    ),
    **_left_out("tables", TABLE_WITHOUT_COLUMN="the table lacks a column that it cannot be read without"),
    **_left_out(
        "rows",
        ID_MISSING="the row has no id; it is left out",
        ID_REPEATED="an earlier row has the same id; this one is left out",
    ),
    **_guessed(
        "values",
        VALUE_UNREADABLE="the number cannot be read; the row goes on without it",
        VALUE_UNREADABLE_ASSUMED="the value cannot be read; it counts as not stated",
        VALUE_UNKNOWN_ASSUMED="the value means nothing in GTFS; it counts as not stated",
    ),
    **_guessed(
        "files",
        ENCODING_ASSUMED="the file is not in UTF-8; it was read as Windows-1252",
        DELIMITER_ASSUMED="the columns are not parted by commas; the sign that parts them was guessed",
        ROW_TOO_LONG_ASSUMED="the row has more fields than the table has columns; those beyond are not read",
        QUOTE_ASSUMED="a quotation mark is never closed; the row ends where its line does",
    ),
    **_without_effect(
        "rows about what is not there",
        SERVICE_WITHOUT_DAYS="these trips run on no day at all",
        SERVICE_WITHOUT_TRIPS="no trip runs on these days",
        CALL_OF_LEFT_OUT_TRIP="a time of a trip that is left out, and counted as such",
        FREQUENCY_OF_UNKNOWN_TRIP="intervals of a trip that is not in the feed",
        FREQUENCY_OF_LEFT_OUT_TRIP="intervals of a trip that is left out, and counted as such",
        TRANSFER_AT_UNKNOWN_STOP="a rule for changes at a stop that is not in the feed",
        TRANSFER_AT_LEFT_OUT_STOP="a rule for changes at a stop that is left out, and counted as such",
        TRANSFER_WHERE_NOBODY_BOARDS="a rule for changes at an entrance, where nothing stops",
        TRANSFER_OF_UNKNOWN_ROUTE_OR_TRIP="a rule for changes of a route or trip that is not in the feed",
        TRANSFER_OF_LEFT_OUT_TRIP="a rule for changes of a trip that is left out, and counted as such",
        TRANSLATION_OF_UNKNOWN="a translation of something that is not in the feed",
    ),
}
