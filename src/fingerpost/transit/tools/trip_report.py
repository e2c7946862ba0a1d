"""Collect everything that a plan_trip answer reports about its itineraries."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from fingerpost.transit.model.itinerary import Itinerary, Leg, ServiceAlert
from fingerpost.transit.model.ride_ref import list_refs
from fingerpost.transit.places.candidates import format_count_of_shown
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.rules import disruption
from fingerpost.transit.rules.accessibility import find_low_walking_warning, find_step_free_warning, list_walking_notes
from fingerpost.transit.rules.alerts import AffectedPart, find_explanation
from fingerpost.transit.rules.trip_limits import find_long_wait_message, find_long_walk_message
from fingerpost.transit.rules.warnings import Warning, WarningCode, list_stated, merge_by_code  # noqa: A004
from fingerpost.transit.tools.no_trip import format_next_usable
from fingerpost.transit.tools.plan_trip_shapes import PlanConstraints
from fingerpost.transit.tools.report import Report, list_leg_paths, report_rides
from fingerpost.transit.tools.trip_search import FollowUp, FoundTrips
from fingerpost.transit.tools.wording import FormatTime, format_clock


@dataclass(frozen=True, slots=True, kw_only=True)
class TripOption:
    """An itinerary to show, its differences from the disrupted itinerary that it replaces, and a note about walking.

    ``refs`` holds the ref of each leg (rule B15).
    """

    ranked: disruption.ItineraryOption
    refs: Sequence[str | None]
    difference: disruption.Difference | None
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
                difference=disruption.find_difference(choice, format_time),
                note=note,
            )
            for choice, note in zip(ranked.choices, notes, strict=True)
        ],
        deduplicated_from=ranked.deduplicated_from,
        rides=report_rides(
            list_leg_paths(shown), provenance, now, all_warnings, affected, step_free=found.query.step_free
        ),
    )


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
