"""What an import left out, worked out or did not apply: counted by reason, with the first place of each."""

from enum import StrEnum


class Reason(StrEnum):
    """Why something of a feed is not in the timetable as it was written.

    A name that ends in UNAPPLIED or UNREAD leaves the rows around it as they are; ASSUMED and WORKED_OUT fill a gap;
    every other name means that the row was left out.
    """

    ID_MISSING = "id-missing"
    ID_REPEATED = "id-repeated"
    VALUE_UNKNOWN_ASSUMED = "value-unknown-assumed"

    STOP_KIND_UNKNOWN = "stop-kind-unknown"
    STOP_WITHOUT_PLACE = "stop-without-place"
    STOP_NAME_ASSUMED = "stop-name-assumed"
    STOP_PLACE_ASSUMED = "stop-place-assumed"
    STOP_PARENT_UNAPPLIED = "stop-parent-unapplied"

    TRIP_WITHOUT_ROUTE = "trip-without-route"
    TRIP_WITHOUT_SERVICE = "trip-without-service"
    TRIP_WITH_FEWER_THAN_TWO_CALLS = "trip-with-fewer-than-two-calls"
    TRIP_WITHOUT_END_TIMES = "trip-without-end-times"
    TRIP_RUNS_BACKWARDS = "trip-runs-backwards"

    CALL_OF_UNKNOWN_TRIP = "call-of-unknown-trip"
    CALL_OF_LEFT_OUT_TRIP = "call-of-left-out-trip"
    CALL_AT_UNKNOWN_STOP = "call-at-unknown-stop"
    CALL_AT_LEFT_OUT_STOP = "call-at-left-out-stop"
    CALL_WHERE_NOBODY_BOARDS = "call-at-station-entrance-or-node"
    CALL_TIME_WORKED_OUT = "call-time-worked-out"
    CALL_ORDER_ASSUMED = "call-order-assumed"

    SERVICE_WITHOUT_TRIPS = "service-without-trips"
    FREQUENCY_OF_UNKNOWN_TRIP = "frequency-of-unknown-trip"
    FREQUENCY_OF_LEFT_OUT_TRIP = "frequency-of-left-out-trip"
    FREQUENCY_WITHOUT_DEPARTURES = "frequency-without-departures"

    TRANSFER_AT_UNKNOWN_STOP = "transfer-at-unknown-stop"
    TRANSFER_AT_LEFT_OUT_STOP = "transfer-at-left-out-stop"
    TRANSFER_WHERE_NOBODY_BOARDS = "transfer-at-entrance-or-node"
    TRANSFER_BY_ROUTE_OR_TRIP_UNAPPLIED = "transfer-by-route-or-trip-unapplied"
    TRANSFER_IN_SEAT_UNAPPLIED = "transfer-in-seat-unapplied"
    TRANSFER_KIND_UNKNOWN = "transfer-kind-unknown"


class Findings:
    """Counts while a feed is being read."""

    def __init__(self) -> None:
        self._found: dict[Reason, tuple[int, str, int]] = {}

    def add(self, reason: Reason, table: str, line: int, count: int = 1) -> None:
        """Count something, and keep the place (table, line) of the first."""
        before, first_table, first_line = self._found.get(reason, (0, table, line))
        self._found[reason] = (before + count, first_table, first_line)

    def list_all(self) -> list[tuple[Reason, int, str, int]]:
        """Return (reason, count, table and line of the first), in the order of the reasons."""
        return [(reason, *self._found[reason]) for reason in Reason if reason in self._found]
