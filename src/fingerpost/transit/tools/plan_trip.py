"""plan_trip (docs/contracts): itineraries between two places, with what is disrupted and what to do instead."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from fingerpost.contract.envelope import Family
from fingerpost.contract.published import Call, PublishedTool, ToolReply
from fingerpost.contract.wire import write_stated
from fingerpost.runtime.concurrency import compute
from fingerpost.transit.model.itinerary import Leg, Optimize, ServiceAlert
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.places.candidates import say_shown
from fingerpost.transit.places.resolver import PlaceResolver
from fingerpost.transit.places.trip_ends import TripEndResolver, TripEnds
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.rules.accessibility import (
    find_low_walking_warning,
    find_step_free_warning,
    list_walk_notes,
    low_walking_notes,
)
from fingerpost.transit.rules.alerts import Touched, choose_alerts, find_explanation
from fingerpost.transit.rules.differences import Difference, find_differences
from fingerpost.transit.rules.disruption import is_disrupted_leg, name_disrupted
from fingerpost.transit.rules.realtime_status import answer_age_s, data_freshness, schedule_type_of_all
from fingerpost.transit.rules.times import AskedInstant, place_in_time, print_instant, read_instant
from fingerpost.transit.rules.trip_limits import find_long_wait, find_walk_unmet
from fingerpost.transit.rules.warnings import WarningCode, Warnings
from fingerpost.transit.tools.alert_shapes import show_alerts
from fingerpost.transit.tools.itinerary_shapes import show_itinerary
from fingerpost.transit.tools.map_shapes import (
    BASEMAP,
    GEOMETRY,
    LINE_COLORS,
    TripGeometry,
    WireBasemap,
    WireLineColors,
    draw_itineraries,
    find_box,
    list_leg_colors,
    show_basemap,
    show_line_colors,
)
from fingerpost.transit.tools.plan_trip_shapes import (
    PlanMeta,
    PlanNotes,
    PlanTripInput,
    PlanTripOutput,
    show_difference,
    show_fares,
    show_stays,
)
from fingerpost.transit.tools.plan_trip_text import describe_plan
from fingerpost.transit.tools.shapes import show_location, show_meta, show_warnings
from fingerpost.transit.tools.trip_search import TripFound, search_trip
from fingerpost.transit.tools.wording import list_stop_ids, print_clock, warn_of_past, warn_of_provenance, warn_of_rides


class PlanTrip(PublishedTool):
    """Plans a trip between two places."""

    name = "plan_trip"
    title = "Plan a trip"
    description = (
        "Plan a door-to-door public transport trip, realtime-aware, with alternatives to disrupted trips. "
        "A label's token comes from findAddressOrStop. "
        "For the next departures at one stop take get_departures."
    )
    family = Family.PLAN_TRIP
    group = "core"
    input_model = PlanTripInput
    output_shape = PlanTripOutput
    long_parts = (("itineraries",),)
    rest = "Ask with a smaller limit."
    open_world = True
    offers = MappingProxyType({GEOMETRY: TripGeometry, LINE_COLORS: WireLineColors, BASEMAP: WireBasemap})

    def __init__(self, places: PlaceResolver) -> None:
        self._ends = TripEndResolver(places)

    async def handle(self, arguments: PlanTripInput, call: Call) -> PlanTripOutput | ToolReply:
        warnings = Warnings()
        now = int(call.now.timestamp())
        # A time that cannot be read is refused before any place is looked up (rule A6).
        read_instant(arguments.when.time, zone_name="UTC", now=now, field="when.time")
        ends = await self._ends.get_trip_ends(
            arguments.origin.query(),
            arguments.destination.query(),
            user=call.user,
            language=arguments.constraints.language,
            warnings=warnings,
            needed=_list_needed(arguments),
        )
        zone = ends[0].network.profile.zone
        instant = read_instant(arguments.when.time, zone_name=zone, now=now, field="when.time")
        if instant.note:
            warnings.add(WarningCode.TIMEZONE_ASSUMED, instant.note)
        when = place_in_time(instant.instant, now)
        if when.is_past:
            warn_of_past(print_instant(when.instant, zone), "these are the trips", warnings)
        found = await search_trip(
            ends,
            lambda chosen: _query(arguments, chosen, when),
            limit=arguments.limit,
            with_alternatives=arguments.include_disruption_alt,
            warnings=warnings,
        )
        body = _answer(arguments, call, found, warnings)
        beside: dict[str, Mapping[str, Any]] = {}
        if GEOMETRY in call.wants:
            drawings = [(itinerary, found.find_drawing(itinerary)) for itinerary in found.shown]
            beside[GEOMETRY] = draw_itineraries(drawings)
        if LINE_COLORS in call.wants:
            beside[LINE_COLORS] = show_line_colors(list_leg_colors(found.shown))
        box = find_box(found.shown)
        if BASEMAP in call.wants and box is not None:
            beside[BASEMAP] = await compute(lambda: show_basemap(found.draw_basemap(box)))
        return ToolReply(body, beside)

    def describe(self, answer: PlanTripOutput) -> str:
        return describe_plan(answer)


def _list_needed(arguments: PlanTripInput) -> tuple[Ability, ...]:
    return (Ability.PLANS, Ability.ARRIVE_BY) if arguments.when.type == "arrive" else (Ability.PLANS,)


def _query(arguments: PlanTripInput, ends: TripEnds, when: AskedInstant) -> JourneyQuery:
    constraints = arguments.constraints
    return JourneyQuery(
        origin=ends.origin,
        destination=ends.destination,
        instant=when.instant,
        arrive_by=arguments.when.type == "arrive",
        not_before=when.not_before,
        max_walk_m=constraints.max_walking_distance,
        max_transfers=constraints.max_transfers,
        step_free=constraints.accessibility.step_free,
        optimize=Optimize(constraints.optimize),
        language=constraints.language,
    )


def _answer(arguments: PlanTripInput, call: Call, found: TripFound, warnings: Warnings) -> PlanTripOutput:
    received = int(call.now.timestamp())
    shown, provenance = found.shown, found.provenance
    legs = [leg for itinerary in shown for leg in itinerary.legs]
    zone = provenance.zone
    age_s = answer_age_s(legs, provenance, received)
    notes = _find_notes(arguments, found, warnings)
    _warn(found, legs, age_s, warnings)
    return {
        "origin": show_location(found.ends.origin),
        "destination": show_location(found.ends.destination),
        "requested": {"type": arguments.when.type, "time": print_instant(found.query.instant, zone)},
        "constraints": arguments.constraints.to_wire(),
        "itineraries": [
            show_itinerary(choice, zone, each) for choice, each in zip(found.merged.choices, notes, strict=True)
        ],
        "realtimeUsed": schedule_type_of_all(shown).value,
        "dataFreshness": print_instant(data_freshness(legs, received), zone),
        **show_warnings(warnings),
        "correlationId": call.correlation_id,
        "meta": _meta(found, legs, age_s, warnings),
    }


def _find_notes(arguments: PlanTripInput, found: TripFound, warnings: Warnings) -> list[list[str]]:
    """Return notes on each itinerary's accessibility, and warn of what could not be met."""
    accessibility = arguments.constraints.accessibility
    notes = [list_walk_notes(each) if accessibility.step_free else [] for each in found.shown]
    if accessibility.step_free:
        unmet = find_step_free_warning(found.shown, supported=found.step_free_supported)
        if unmet:
            warnings.add(unmet.code, unmet.message)
    if not accessibility.low_walking_distance:
        return notes
    unmet = find_low_walking_warning(found.merged.found)
    if unmet:
        warnings.add(unmet.code, unmet.message)
    walked = low_walking_notes(found.shown, found.merged.found)
    return [[*crossed, note] for crossed, note in zip(notes, walked, strict=True)]


def _meta(found: TripFound, legs: Sequence[Leg], age_s: int | None, warnings: Warnings) -> PlanMeta:
    provenance = found.provenance
    differences = find_differences(found.merged, partial(_say_time, found))
    alerts = choose_alerts(_list_touched(found, differences, warnings), step_free=found.query.step_free)
    return {
        **show_meta(provenance, ids=list_stop_ids(legs), realtime_age_s=age_s),
        **_show_notes(found, differences),
        **show_alerts(alerts, provenance.zone),
    }


def _list_touched(found: TripFound, differences: Sequence[Difference], warnings: Warnings) -> Iterator[Touched]:
    for row, itinerary in enumerate(found.shown):
        for at, leg in enumerate(itinerary.legs):
            path = f"itineraries/{row}/legs/{at}"
            yield Touched(path, leg.alerts)
            yield Touched(path, _list_explanations(leg), explains=True)
    for at, difference in enumerate(differences):
        alert = difference.cause.alert
        yield Touched(f"meta/differences/{at}", () if alert is None else (alert,), explains=True)
    codes = [each.code for each in warnings.list_all()]
    for leg in (leg for itinerary in found.merged.dropped for leg in itinerary.legs):
        path = f"warnings/{codes.index(WarningCode.DISRUPTED_ITINERARY_REPLACED)}"
        yield Touched(path, _list_explanations(leg), explains=True)


def _list_explanations(leg: Leg) -> tuple[ServiceAlert, ...]:
    alert = find_explanation(leg) if is_disrupted_leg(leg) else None
    return () if alert is None else (alert,)


def _show_notes(found: TripFound, found_differences: Sequence[Difference]) -> PlanNotes:
    merged = found.merged
    fares = {choice.fingerprint: fare for choice in merged.choices if (fare := found.price(choice)) is not None}
    fields = {
        "walking": found.provenance.walking,
        "deduplicatedFrom": merged.deduplicated_from,
        "staySeated": show_stays(merged.choices) or None,
        "differences": [show_difference(each) for each in found_differences] or None,
        "fares": show_fares(fares) or None,
    }
    return write_stated(PlanNotes, fields)


def _warn(found: TripFound, legs: Sequence[Leg], age_s: int | None, warnings: Warnings) -> None:
    query, merged, shown = found.query, found.merged, found.shown
    unmet = find_walk_unmet(shown, query.max_walk_m)
    if unmet:
        warnings.add(WarningCode.PREFERENCE_UNMET, unmet)
    if merged.dropped:
        named = name_disrupted(merged.dropped, partial(_say_time, found))
        warnings.add(WarningCode.DISRUPTED_ITINERARY_REPLACED, f"Left out because it is disrupted: {named}")
    if len(merged.found) > len(shown):
        warnings.add(
            WarningCode.TRUNCATED_RESULTS, f"{len(merged.found)} itineraries were found; {say_shown(len(shown))}."
        )
    warn_of_rides(legs, warnings)
    waits = None if query.arrive_by else find_long_wait(merged.found, query.instant, found.provenance.zone)
    if waits:
        warnings.add(WarningCode.PREFERENCE_UNMET, waits)
    warn_of_provenance(found.provenance, age_s, warnings)


def _say_time(found: TripFound, instant: int) -> str:
    return print_clock(instant, found.query.instant, found.provenance.zone)
