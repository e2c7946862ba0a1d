"""The report of a trip: everything that an answer of plan_trip says, computed once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from fingerpost.transit.model.itinerary import Fare, Leg, ServiceAlert
from fingerpost.transit.places.candidates import say_shown
from fingerpost.transit.rules.accessibility import (
    find_low_walking_warning,
    find_step_free_warning,
    list_walk_notes,
    low_walking_notes,
)
from fingerpost.transit.rules.alerts import ToldAlerts, Touched, choose_alerts, find_explanation
from fingerpost.transit.rules.disruption import Difference, find_differences, is_disrupted_leg, name_disrupted
from fingerpost.transit.rules.realtime_status import answer_age_s
from fingerpost.transit.rules.trip_limits import find_long_wait, find_walk_unmet
from fingerpost.transit.rules.warnings import WarningCode, Warnings
from fingerpost.transit.tools.plan_trip_shapes import Accessibility
from fingerpost.transit.tools.trip_search import TripFound
from fingerpost.transit.tools.wording import print_clock, warn_of_provenance, warn_of_rides


@dataclass(frozen=True, slots=True, kw_only=True)
class TripReport:
    """What an answer says of a trip.

    Attributes:
        found: what was found, and what of it is shown.
        legs: those of all itineraries that are shown.
        age_s: the age of the realtime data, None without any.
        notes: on the accessibility of each itinerary that is shown.
        warnings: all of them; ``alerts`` names one of them by its place.
        fares: by fingerprint, of itineraries that cost something or may.
    """

    found: TripFound
    legs: Sequence[Leg]
    age_s: int | None
    notes: Sequence[list[str]]
    differences: Sequence[Difference]
    warnings: Warnings
    alerts: ToldAlerts
    fares: Mapping[str, Fare]


def report_trip(found: TripFound, accessibility: Accessibility, now: int, warnings: Warnings) -> TripReport:
    """Return the report of a trip; ``warnings`` are those of its places and its search."""
    legs = [leg for itinerary in found.shown for leg in itinerary.legs]
    age_s = answer_age_s(legs, found.provenance, now)
    print_time = partial(print_clock, since=found.query.instant, zone=found.provenance.zone)
    _warn(found, accessibility, legs, print_time, warnings)
    warn_of_provenance(found.provenance, age_s, warnings)
    differences = find_differences(found.ranked, print_time)
    fares = {choice.fingerprint: found.price(choice) for choice in found.ranked.choices}
    return TripReport(
        found=found,
        legs=legs,
        age_s=age_s,
        notes=_list_notes(found, accessibility),
        differences=differences,
        warnings=warnings,
        alerts=choose_alerts(_list_affected(found, differences, warnings), step_free=found.query.step_free),
        fares={name: fare for name, fare in fares.items() if fare is not None},
    )


def _warn(
    found: TripFound,
    accessibility: Accessibility,
    legs: Sequence[Leg],
    print_time: Callable[[int], str],
    warnings: Warnings,
) -> None:
    query, ranked, shown = found.query, found.ranked, found.shown
    if accessibility.step_free:
        supported = found.first_answer.step_free_supported
        warnings.add_found(find_step_free_warning(shown, supported=supported))
    if accessibility.low_walking_distance:
        warnings.add_found(find_low_walking_warning(ranked.found))
    warnings.add(WarningCode.PREFERENCE_UNMET, find_walk_unmet(shown, query.max_walk_m))
    if ranked.dropped:
        named = name_disrupted(ranked.dropped, print_time)
        warnings.add(WarningCode.DISRUPTED_ITINERARY_REPLACED, f"Left out because it is disrupted: {named}")
    if len(ranked.found) > len(shown):
        count = f"{len(ranked.found)} itineraries were found; {say_shown(len(shown))}."
        warnings.add(WarningCode.TRUNCATED_RESULTS, count)
    warn_of_rides(legs, warnings)
    if not query.arrive_by:
        waits = find_long_wait(ranked.found, query.instant, found.provenance.zone)
        warnings.add(WarningCode.PREFERENCE_UNMET, waits)


def _list_notes(found: TripFound, accessibility: Accessibility) -> list[list[str]]:
    """Return notes on the accessibility of each itinerary that is shown."""
    crossed = [list_walk_notes(each) if accessibility.step_free else [] for each in found.shown]
    if not accessibility.low_walking_distance:
        return crossed
    walked = low_walking_notes(found.shown, found.ranked.found)
    return [[*notes, note] for notes, note in zip(crossed, walked, strict=True)]


def _list_affected(found: TripFound, differences: Sequence[Difference], warnings: Warnings) -> Iterator[Touched]:
    for row, itinerary in enumerate(found.shown):
        for at, leg in enumerate(itinerary.legs):
            path = f"itineraries/{row}/legs/{at}"
            yield Touched(path, leg.alerts)
            yield Touched(path, _list_explanations(leg), explains=True)
    for at, difference in enumerate(differences):
        alert = difference.cause.alert
        yield Touched(f"meta/differences/{at}", () if alert is None else (alert,), explains=True)
    codes = [warning.code for warning in warnings.list_all()]
    for leg in (leg for itinerary in found.ranked.dropped for leg in itinerary.legs):
        path = f"warnings/{codes.index(WarningCode.DISRUPTED_ITINERARY_REPLACED)}"
        yield Touched(path, _list_explanations(leg), explains=True)


def _list_explanations(leg: Leg) -> tuple[ServiceAlert, ...]:
    alert = find_explanation(leg) if is_disrupted_leg(leg) else None
    return () if alert is None else (alert,)
