"""Collect the warnings, alerts and data age for the rides in a transit answer."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fingerpost.contract.wire import Wire
from fingerpost.transit.model.itinerary import Departure, Itinerary, Leg
from fingerpost.transit.model.provenance import Provenance
from fingerpost.transit.port import DepartureBoard
from fingerpost.transit.rules.alerts import AffectedPart, AlertNotices, choose_alerts
from fingerpost.transit.rules.modes import to_trip_mode
from fingerpost.transit.rules.realtime_status import find_realtime_age_s, find_stale_message
from fingerpost.transit.rules.trip_limits import find_out_of_service_message
from fingerpost.transit.rules.warnings import Warning, WarningCode, list_stated, merge_by_code  # noqa: A004
from fingerpost.transit.tools.shapes import serialize_alerts, serialize_meta


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The warnings, alerts and data age for the rides in an answer."""

    rides: Sequence[Leg | Departure]
    provenance: Provenance
    age_s: int | None
    warnings: tuple[Warning, ...]
    alerts: AlertNotices

    def serialize(self, ids: Iterable[str] | None = None, *, in_utc: bool = False) -> Wire:
        """Serialize provenance and alerts; ``ids`` are the stop ids in the answer, by default those of its legs."""
        zone = None if in_utc else self.provenance.zone
        if ids is None:
            legs = (ride for ride in self.rides if isinstance(ride, Leg))
            ids = [point.id for leg in legs for point in (leg.start, leg.end) if point.id is not None]
        origin = serialize_meta(self.provenance, zone, ids=ids, realtime_age_s=self.age_s)
        return {**origin, **serialize_alerts(self.alerts, zone)}


def report_rides(
    parts: Iterable[tuple[str, Leg | Departure]],
    provenance: Provenance,
    now: int,
    warnings: Iterable[Warning],
    affected: Iterable[AffectedPart] = (),
    *,
    step_free: bool = False,
) -> Report:
    """Report on the rides in an answer (each with its path), and on other parts that alerts affect."""
    paths = list(parts)
    rides = [ride for _, ride in paths]
    ride_parts = (AffectedPart(path, ride.alerts) for path, ride in paths)
    age_s = find_realtime_age_s(rides, provenance, now)
    return Report(
        rides=rides,
        provenance=provenance,
        age_s=age_s,
        warnings=join_warnings([*warnings, *_list_ride_warnings(rides)], provenance, age_s),
        alerts=choose_alerts([*ride_parts, *affected], step_free=step_free),
    )


def report_board(
    board: DepartureBoard, shown: Sequence[Departure], stop_path: str, now: int, warnings: Iterable[Warning]
) -> Report:
    stop = AffectedPart(stop_path, board.alerts)
    return report_rides(list_row_paths(shown), board.provenance, now, warnings, [stop])


def _list_ride_warnings(rides: Sequence[Leg | Departure]) -> Iterator[Warning]:
    for ride in (ride for ride in rides if ride.headway_s or ride.by_arrangement):
        name = f"Line {ride.line}" if ride.line else f"A ride ({to_trip_mode(ride.mode)})"
        if ride.headway_s:
            message = f"{name} runs about every {round(ride.headway_s / 60)} min; its times are approximate."
            yield Warning(WarningCode.FREQUENCY_BASED, message)
        if ride.by_arrangement:
            message = f"{name} must be booked with the operator, or requested from the driver."
            yield Warning(WarningCode.BY_ARRANGEMENT, message)
    if any(ride.is_interpolated for ride in rides):
        message = "Some times are approximate; they are interpolated because the feed has no times for those stops."
        yield Warning(WarningCode.TIMES_INTERPOLATED, message)


def join_warnings(warnings: Iterable[Warning], provenance: Provenance, age_s: int | None = None) -> tuple[Warning, ...]:
    """Add the warnings from the provenance, and merge all warnings by code.

    The provenance's warnings come last, because callers refer to their own warnings by index.
    """
    all_warnings = list(warnings)
    is_outside = any(warning.code is WarningCode.OUTSIDE_CALENDAR for warning in all_warnings)
    out_of_service = None if is_outside else find_out_of_service_message(provenance.out_of_service)
    all_warnings += list_stated(
        (WarningCode.REALTIME_STALE, find_stale_message(age_s, provenance.realtime_problems)),
        *((WarningCode.REALTIME_UNMATCHED, unmatched) for unmatched in provenance.realtime_unmatched),
        (WarningCode.FEED_NOT_IN_SERVICE, out_of_service),
        *((WarningCode.NETWORK_LEFT_OUT, lost) for lost in provenance.lost),
    )
    return merge_by_code(all_warnings)


def list_leg_paths(itineraries: Iterable[Itinerary]) -> Iterator[tuple[str, Leg]]:
    for row, itinerary in enumerate(itineraries):
        for index, leg in enumerate(itinerary.legs):
            yield f"itineraries/{row}/legs/{index}", leg


def list_row_paths(departures: Iterable[Departure]) -> Iterator[tuple[str, Departure]]:
    return ((f"departures/{row}", departure) for row, departure in enumerate(departures))
