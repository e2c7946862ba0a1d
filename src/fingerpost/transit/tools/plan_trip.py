"""plan_trip (docs/contracts): itineraries between two places, with what is disrupted and what to do instead."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fingerpost.contract.envelope import Family
from fingerpost.contract.published import Call, PublishedTool, ToolReply
from fingerpost.contract.wire import write_stated
from fingerpost.runtime.concurrency import compute
from fingerpost.transit.model.itinerary import Optimize
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.places.resolver import PlaceResolver
from fingerpost.transit.places.trip_ends import TripEndResolver, TripEnds
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.rules.realtime_status import data_freshness, schedule_type_of_all
from fingerpost.transit.rules.times import AskedInstant, place_in_time, print_instant, read_instant
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
    PlanNotes,
    PlanTripInput,
    PlanTripOutput,
    show_difference,
    show_fares,
    show_stays,
)
from fingerpost.transit.tools.plan_trip_text import describe_plan
from fingerpost.transit.tools.shapes import show_location, show_meta, show_warnings
from fingerpost.transit.tools.trip_report import TripReport, report_trip
from fingerpost.transit.tools.trip_search import search_trip
from fingerpost.transit.tools.wording import list_stop_ids, warn_of_past


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
        body = _answer(arguments, call, report_trip(found, arguments.constraints.accessibility, now, warnings))
        beside: dict[str, Mapping[str, Any]] = {}
        if GEOMETRY in call.wants:
            beside[GEOMETRY] = draw_itineraries([(each.itinerary, each.answer.draw) for each in found.ranked.choices])
        if LINE_COLORS in call.wants:
            beside[LINE_COLORS] = show_line_colors(list_leg_colors(found.shown))
        box = find_box(found.shown)
        if BASEMAP in call.wants and box is not None:
            draw = found.first_answer.draw_basemap
            beside[BASEMAP] = await compute(lambda: show_basemap(None if draw is None else draw(box)))
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


def _answer(arguments: PlanTripInput, call: Call, report: TripReport) -> PlanTripOutput:
    found = report.found
    zone, received = found.provenance.zone, int(call.now.timestamp())
    itineraries = [
        show_itinerary(choice, zone, notes) for choice, notes in zip(found.ranked.choices, report.notes, strict=True)
    ]
    return {
        "origin": show_location(found.ends.origin),
        "destination": show_location(found.ends.destination),
        "requested": {"type": arguments.when.type, "time": print_instant(found.query.instant, zone)},
        "constraints": arguments.constraints.to_wire(),
        "itineraries": itineraries,
        "realtimeUsed": schedule_type_of_all(found.shown).value,
        "dataFreshness": print_instant(data_freshness(report.legs, received), zone),
        **show_warnings(report.warnings),
        "correlationId": call.correlation_id,
        "meta": {
            **show_meta(found.provenance, ids=list_stop_ids(report.legs), realtime_age_s=report.age_s),
            **_show_notes(report),
            **show_alerts(report.alerts, zone),
        },
    }


def _show_notes(report: TripReport) -> PlanNotes:
    ranked = report.found.ranked
    fields = {
        "walking": report.found.provenance.walking,
        "deduplicatedFrom": ranked.deduplicated_from,
        "staySeated": show_stays(ranked.choices) or None,
        "differences": [show_difference(difference) for difference in report.differences] or None,
        "fares": show_fares(report.fares) or None,
    }
    return write_stated(PlanNotes, fields)
