"""Collect everything that a transit answer reports: warnings, alerts, the age of its data, and trips."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from fingerpost.contract.wire import Wire, omit_none
from fingerpost.transit.model.itinerary import Departure, Itinerary, Leg, ServiceAlert
from fingerpost.transit.model.provenance import Provenance
from fingerpost.transit.model.ride_ref import list_refs
from fingerpost.transit.places.candidates import format_count_of_shown
from fingerpost.transit.port import DepartureBoard, JourneyQuery
from fingerpost.transit.rules import disruption
from fingerpost.transit.rules.alerts import AffectedPart, AlertNotices, choose_alerts, find_explanation
from fingerpost.transit.rules.modes import to_trip_mode
from fingerpost.transit.rules.preferences import (
    find_long_wait_message,
    find_long_walk_message,
    find_low_walking_warning,
    find_out_of_service_message,
    find_step_free_warning,
    list_walking_notes,
)
from fingerpost.transit.rules.ranking import compute_fingerprint
from fingerpost.transit.rules.realtime_status import find_realtime_age_s, find_stale_message
from fingerpost.transit.rules.warnings import Warning, WarningCode, list_stated, merge_by_code  # noqa: A004
from fingerpost.transit.tools.no_trip import format_next_usable
from fingerpost.transit.tools.plan_trip_shapes import PlanConstraints, WireCause, WireDifference
from fingerpost.transit.tools.shapes import serialize_alerts, serialize_meta
from fingerpost.transit.tools.trip_search import FollowUp, FoundTrips
from fingerpost.transit.tools.wording import FormatTime, format_clock


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
    ride_parts = (AffectedPart(path, ride.alerts) for path, ride in paths if ride.alerts)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TripOption:
    """An itinerary to show, its differences from the disrupted itinerary that it replaces, and a note about walking.

    ``refs`` holds the ref of each leg (rule B15).
    """

    ranked: disruption.ItineraryOption
    refs: Sequence[str | None]
    difference: WireDifference | None
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TripReport:
    """The itineraries to show, best first; ``rides`` is the report on their rides, with all warnings and alerts."""

    query: JourneyQuery
    options: Sequence[TripOption]
    deduplicated_from: int | None
    rides: Report

    def format_time(self, instant: int) -> str:
        return format_clock(instant, self.query.instant, self.rides.provenance.zone)

    @property
    def itineraries(self) -> list[Itinerary]:
        return [option.ranked.itinerary for option in self.options]


def report_trips(
    found: FoundTrips,
    ranked: disruption.RankedItineraries,
    constraints: PlanConstraints,
    warnings: Iterable[Warning],
    *,
    offset: str | None,
    now: int,
) -> TripReport:
    """Report on the itineraries to show; ``offset`` is from ``find_offset_message``."""
    shown = ranked.shown
    provenance = found.merge_provenance(FollowUp.RELAXED_LIMITS)
    format_time = partial(format_clock, reference=found.query.instant, zone=provenance.zone)
    trip_warnings = _list_trip_warnings(found, ranked, constraints, offset, format_time)
    all_warnings = merge_by_code([*warnings, *trip_warnings])
    has_notes = constraints.accessibility.low_walking_distance
    notes = list_walking_notes(shown, ranked.found) if has_notes else [None for _ in shown]
    affected = _list_explained_parts(ranked, all_warnings)
    return TripReport(
        query=found.query,
        options=[
            TripOption(
                ranked=choice,
                refs=list_refs(choice.itinerary),
                difference=_find_difference(choice, format_time),
                note=note,
            )
            for choice, note in zip(ranked.choices, notes, strict=True)
        ],
        deduplicated_from=ranked.deduplicated_from,
        rides=report_rides(
            list_leg_paths(shown), provenance, now, all_warnings, affected, step_free=found.query.step_free
        ),
    )


def _find_difference(option: disruption.ItineraryOption, format_time: FormatTime) -> WireDifference | None:
    """Return how an option differs from the disrupted itinerary that it replaces, or None if there is none."""
    disrupted, itinerary = option.instead_of, option.itinerary
    if disrupted is None:
        return None
    leg = disruption.find_disrupted_leg(disrupted)
    alert = None if leg is None else find_explanation(leg)
    cause_id = alert.id if alert is not None else leg.trip_id if leg is not None else None
    return {
        "fingerprint": option.fingerprint,
        "insteadOf": compute_fingerprint(disrupted),
        "cause": omit_none(
            WireCause, {"text": disruption.name_disrupted([disrupted], format_time), "id": cause_id or None}
        ),
        "laterMinutes": round((itinerary.arrival - disrupted.legs[-1].arrival_scheduled) / 60),
        "moreChanges": itinerary.transfers - disrupted.transfers,
        "moreWalkMeters": round(itinerary.walk_m - disrupted.walk_m),
    }


def _list_trip_warnings(
    found: FoundTrips,
    ranked: disruption.RankedItineraries,
    constraints: PlanConstraints,
    offset: str | None,
    format_time: FormatTime,
) -> Iterator[Warning]:
    query, shown = found.query, ranked.shown
    if not ranked.any_usable:
        yield Warning(WarningCode.NO_USABLE_ITINERARY, format_next_usable(found))
    if query.step_free and (unmet := find_step_free_warning(shown, supported=found.first.step_free_supported)):
        yield unmet
    if constraints.accessibility.low_walking_distance and (long_walk := find_low_walking_warning(ranked.found)):
        yield long_walk
    is_default_walk = "max_walking_distance" not in constraints.model_fields_set
    replaced = f"Left out because it is disrupted: {disruption.name_disrupted(ranked.dropped, format_time)}"
    count = f"{len(ranked.found)} itineraries were found; {format_count_of_shown(len(shown))}."
    yield from list_stated(
        (WarningCode.PREFERENCE_UNMET, find_long_walk_message(shown, query.max_walk_m, is_default=is_default_walk)),
        (WarningCode.DISRUPTED_ITINERARY_REPLACED, replaced if ranked.dropped else None),
        (WarningCode.TRUNCATED_RESULTS, count if len(ranked.found) > len(shown) else None),
        (WarningCode.PREFERENCE_UNMET, offset),
        (WarningCode.PREFERENCE_UNMET, find_long_wait_message(shown)),
    )


def _list_explained_parts(ranked: disruption.RankedItineraries, warnings: Sequence[Warning]) -> Iterator[AffectedPart]:
    for path, leg in list_leg_paths(ranked.shown):
        yield AffectedPart(path, _list_explanations(leg), explains=True)
    replaced = [choice.instead_of for choice in ranked.choices if choice.instead_of is not None]
    for index, cause in enumerate(map(disruption.find_disrupted_leg, replaced)):
        alerts = () if cause is None else _list_explanations(cause)
        yield AffectedPart(f"meta/differences/{index}", alerts, explains=True)
    for index, warning in enumerate(warnings):
        if warning.code is WarningCode.DISRUPTED_ITINERARY_REPLACED:
            for _, leg in list_leg_paths(ranked.dropped):
                yield AffectedPart(f"warnings/{index}", _list_explanations(leg), explains=True)


def _list_explanations(leg: Leg) -> tuple[ServiceAlert, ...]:
    alert = find_explanation(leg) if disruption.is_disrupted_leg(leg) else None
    return () if alert is None else (alert,)
