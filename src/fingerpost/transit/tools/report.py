"""Collect the warnings, alerts, fares and data age of the rides in a transit answer."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fingerpost.contract.wire import Wire
from fingerpost.transit.model.itinerary import Departure, Fare, Itinerary, Leg, ServiceAlert
from fingerpost.transit.model.provenance import Provenance
from fingerpost.transit.places.candidates import format_count_of_shown
from fingerpost.transit.port import DepartureBoard
from fingerpost.transit.rules.accessibility import (
    find_low_walking_warning,
    find_step_free_warning,
    list_walking_notes,
)
from fingerpost.transit.rules.alerts import AffectedPart, AlertNotices, choose_alerts, find_explanation
from fingerpost.transit.rules.disruption import Difference, find_differences, is_disrupted_leg, name_disrupted
from fingerpost.transit.rules.modes import to_trip_mode
from fingerpost.transit.rules.realtime_status import find_realtime_age_s, find_stale_message
from fingerpost.transit.rules.trip_limits import (
    find_long_wait_message,
    find_long_walk_message,
    find_out_of_service_message,
)
from fingerpost.transit.rules.warnings import Warning, WarningCode, list_stated, merge_by_code  # noqa: A004
from fingerpost.transit.tools.no_trip import format_trip
from fingerpost.transit.tools.shapes import serialize_alerts, serialize_meta
from fingerpost.transit.tools.trip_search import TripResult
from fingerpost.transit.tools.wording import FormatTime


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Facts about the rides in an answer; only plan_trip sets ``notes``, ``fares`` and ``differences``."""

    rides: Sequence[Leg | Departure]
    provenance: Provenance
    age_s: int | None
    warnings: tuple[Warning, ...]
    alerts: AlertNotices
    notes: Sequence[Sequence[str]] = ()
    fares: Mapping[str, Fare] = field(default_factory=dict)
    differences: Sequence[Difference] = ()

    def serialize(self, ids: Iterable[str] | None = None, *, in_utc: bool = False) -> Wire:
        """Serialize provenance and alerts; ``ids`` are the stop ids in the answer, by default those of its legs."""
        zone = None if in_utc else self.provenance.zone
        if ids is None:
            legs = (ride for ride in self.rides if isinstance(ride, Leg))
            ids = [point.id for leg in legs for point in (leg.start, leg.end) if point.id is not None]
        origin = serialize_meta(self.provenance, zone, ids=ids, realtime_age_s=self.age_s)
        return {**origin, **serialize_alerts(self.alerts, zone)}


def report_rides(
    rides: Sequence[Leg | Departure],
    affected: Iterable[AffectedPart],
    provenance: Provenance,
    now: int,
    warnings: Iterable[Warning],
) -> Report:
    age_s = find_realtime_age_s(rides, provenance, now)
    return Report(
        rides=rides,
        provenance=provenance,
        age_s=age_s,
        warnings=join_warnings([*warnings, *_list_ride_warnings(rides)], provenance, age_s),
        alerts=choose_alerts(affected),
    )


def report_board(
    board: DepartureBoard, shown: Sequence[Departure], stop_path: str, now: int, warnings: Iterable[Warning]
) -> Report:
    rows = [AffectedPart(path, departure.alerts) for path, departure in list_row_paths(shown)]
    return report_rides(shown, [*rows, AffectedPart(stop_path, board.alerts)], board.provenance, now, warnings)


def report_trip(
    result: TripResult,
    now: int,
    format_time: FormatTime,
    warnings: Iterable[Warning],
    *,
    low_walking: bool,
    is_default_walk: bool,
) -> Report:
    """Report on the trips found; ``is_default_walk`` means that the caller set no walking limit."""
    shown, query, ranked = result.shown, result.query, result.ranked
    differences = find_differences(ranked, format_time)
    about_trips = _list_trip_warnings(result, format_time, low_walking=low_walking, is_default_walk=is_default_walk)
    report = report_rides(list_legs(shown), (), result.provenance, now, [*warnings, *about_trips])
    notes = [[note] for note in list_walking_notes(shown, ranked.found)] if low_walking else [[] for _ in shown]
    fares = [(option, result.ends.network.find_fare(option.itinerary)) for option in ranked.choices]
    return replace(
        report,
        alerts=choose_alerts(_list_affected(result, differences, report.warnings), step_free=query.step_free),
        notes=notes,
        fares={option.fingerprint: fare for option, fare in fares if fare is not None},
        differences=differences,
    )


def _list_trip_warnings(
    result: TripResult, format_time: FormatTime, *, low_walking: bool, is_default_walk: bool
) -> Iterator[Warning]:
    ranked, shown, query = result.ranked, result.shown, result.query
    no_steps = find_step_free_warning(shown, supported=result.first_answer.step_free_supported)
    if query.step_free and no_steps is not None:
        yield no_steps
    far = find_low_walking_warning(ranked.found)
    if low_walking and far is not None:
        yield far
    better = None if result.better is None else f"{format_trip(result.better, result.provenance.zone)}."
    replaced = f"Left out because it is disrupted: {name_disrupted(ranked.dropped, format_time)}"
    count = f"{len(ranked.found)} itineraries were found; {format_count_of_shown(len(shown))}."
    yield from list_stated(
        (WarningCode.PREFERENCE_UNMET, find_long_walk_message(shown, query.max_walk_m, is_default=is_default_walk)),
        (WarningCode.PREFERENCE_UNMET, better),
        (WarningCode.DISRUPTED_ITINERARY_REPLACED, replaced if ranked.dropped else None),
        (WarningCode.TRUNCATED_RESULTS, count if len(ranked.found) > len(shown) else None),
        (WarningCode.PREFERENCE_UNMET, result.offset),
        (WarningCode.PREFERENCE_UNMET, find_long_wait_message(shown)),
    )


def _list_affected(
    result: TripResult, differences: Sequence[Difference], warnings: Sequence[Warning]
) -> Iterator[AffectedPart]:
    for path, leg in list_leg_paths(result.shown):
        if leg.alerts:
            yield AffectedPart(path, leg.alerts)
            yield AffectedPart(path, _list_explanations(leg), explains=True)
    for at, difference in enumerate(differences):
        alert = difference.cause.alert
        yield AffectedPart(f"meta/differences/{at}", () if alert is None else (alert,), explains=True)
    for at, warning in enumerate(warnings):
        if warning.code is WarningCode.DISRUPTED_ITINERARY_REPLACED:
            for leg in list_legs(result.ranked.dropped):
                yield AffectedPart(f"warnings/{at}", _list_explanations(leg), explains=True)


def _list_explanations(leg: Leg) -> tuple[ServiceAlert, ...]:
    alert = find_explanation(leg) if is_disrupted_leg(leg) else None
    return () if alert is None else (alert,)


def _list_ride_warnings(rides: Sequence[Leg | Departure]) -> Iterator[Warning]:
    for ride in (ride for ride in rides if ride.headway_s or ride.by_arrangement):
        name = f"Line {ride.line}" if ride.line else f"A ride ({to_trip_mode(ride.mode)})"
        if ride.headway_s:
            about = f"{name} runs about every {round(ride.headway_s / 60)} min; its times are approximate."
            yield Warning(WarningCode.FREQUENCY_BASED, about)
        if ride.by_arrangement:
            yield Warning(WarningCode.BY_ARRANGEMENT, f"{name} must be booked with the operator.")
    if any(ride.is_interpolated for ride in rides):
        approximate = "Some times are approximate: the feed has none for these stops, so they are interpolated."
        yield Warning(WarningCode.TIMES_INTERPOLATED, approximate)


def join_warnings(warnings: Iterable[Warning], provenance: Provenance, age_s: int | None = None) -> tuple[Warning, ...]:
    """Add the warnings from the provenance, and merge them all by code."""
    stated = list(warnings)
    is_outside = any(warning.code is WarningCode.OUTSIDE_CALENDAR for warning in stated)
    out_of_service = None if is_outside else find_out_of_service_message(provenance.out_of_service)
    stated += list_stated(
        (WarningCode.REALTIME_STALE, find_stale_message(age_s, provenance.realtime_problems)),
        *((WarningCode.REALTIME_UNMATCHED, unmatched) for unmatched in provenance.realtime_unmatched),
        (WarningCode.FEED_NOT_IN_SERVICE, out_of_service),
        *((WarningCode.NETWORK_LEFT_OUT, lost) for lost in provenance.lost),
    )
    return merge_by_code(stated)


def list_legs(itineraries: Iterable[Itinerary]) -> list[Leg]:
    return [leg for itinerary in itineraries for leg in itinerary.legs]


def list_leg_paths(itineraries: Iterable[Itinerary]) -> Iterator[tuple[str, Leg]]:
    for row, itinerary in enumerate(itineraries):
        for at, leg in enumerate(itinerary.legs):
            yield f"itineraries/{row}/legs/{at}", leg


def list_row_paths(departures: Iterable[Departure]) -> Iterator[tuple[str, Departure]]:
    return ((f"departures/{at}", departure) for at, departure in enumerate(departures))
