"""The plan_trip tool: itineraries between two places, with disruptions and alternatives."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import Call, Output, ToolDefinition, ToolReply
from fingerpost.contract.wire import omit_none
from fingerpost.transit.model.itinerary import Fare, Itinerary, Leg, Optimize, ServiceAlert
from fingerpost.transit.places.candidates import format_count_of_shown
from fingerpost.transit.places.trip_ends import resolve_journey
from fingerpost.transit.port import JourneyParameters
from fingerpost.transit.rules.accessibility import find_low_walking_warning, find_step_free_warning, list_walking_notes
from fingerpost.transit.rules.alerts import AffectedPart, find_explanation
from fingerpost.transit.rules.disruption import ItineraryOption, find_disrupted_leg, is_disrupted_leg, name_disrupted
from fingerpost.transit.rules.modes import to_trip_mode
from fingerpost.transit.rules.realtime_status import find_data_freshness, find_schedule_type
from fingerpost.transit.rules.times import format_instant, parse_instant
from fingerpost.transit.rules.trip_limits import find_long_wait_message, find_long_walk_message
from fingerpost.transit.rules.warnings import Warning, WarningCode, list_stated, merge_by_code  # noqa: A004
from fingerpost.transit.tools.map_shapes import MAP_PARTS, serialize_map_parts
from fingerpost.transit.tools.no_trip import format_trip
from fingerpost.transit.tools.plan_trip_shapes import (
    PlanConstraints,
    PlanMeta,
    PlanTripInput,
    PlanTripOutput,
    WireDifference,
    serialize_differences,
    serialize_fares,
    serialize_itinerary,
    serialize_stays,
)
from fingerpost.transit.tools.report import Report, list_leg_paths, list_legs, report_rides
from fingerpost.transit.tools.shapes import LocationRef, PlaceTool, serialize_location, serialize_warnings
from fingerpost.transit.tools.trip_search import TripResult, search_trip
from fingerpost.transit.tools.wording import (
    FormatTime,
    format_clock,
    format_count,
    format_itinerary,
    list_alert_lines,
    list_footer_lines,
    list_leg_lines,
    list_ride_names,
    list_time_warnings,
)


class PlanTrip(PlaceTool):
    definition = ToolDefinition(
        name="plan_trip",
        title="Plan a trip",
        description=(
            "Plan a door-to-door public transport trip, realtime-aware, with alternatives to disrupted trips. "
            "A label's token comes from findAddressOrStop. "
            "For the next departures from one stop, use get_departures."
        ),
        contract=Contract.PLAN_TRIP,
        input_model=PlanTripInput,
        outputs=(Output(PlanTripOutput, (("itineraries",),), "Use a smaller limit."),),
        open_world=True,
        optional_parts=MAP_PARTS,
    )

    async def handle(self, arguments: PlanTripInput, call: Call) -> ToolReply:
        constraints, now = arguments.constraints, int(call.now.timestamp())
        # Reject invalid times before looking up any place (rule A6).
        when = parse_instant(arguments.when.time, zone_name="UTC", now=now, field="when.time")
        parameters = JourneyParameters(
            instant=when.instant,
            arrive_by=arguments.when.type == "arrive",
            not_before=when.not_before,
            max_walk_m=constraints.max_walking_distance,
            max_transfers=constraints.max_transfers,
            step_free=constraints.accessibility.step_free,
            optimize=Optimize(constraints.optimize),
            language=constraints.language,
        )
        origin, destination = arguments.origin.to_query(), arguments.destination.to_query()
        journeys, place_warnings = await resolve_journey(self._places, origin, destination, parameters, user=call.user)
        zone = journeys[0].network.profile.zone
        if when.note is not None:
            when = parse_instant(arguments.when.time, zone_name=zone, now=now, field="when.time")
            journeys = [
                journey._replace(query=replace(journey.query, instant=when.instant, not_before=when.not_before))
                for journey in journeys
            ]
        result = await search_trip(journeys, limit=arguments.limit, with_alternatives=arguments.include_disruption_alt)
        format_time = partial(format_clock, reference=when.instant, zone=result.provenance.zone)
        time_warnings = list_time_warnings(when, zone, "these are the trips")
        trip_warnings = _list_trip_warnings(result, constraints, format_time)
        warnings = merge_by_code([*place_warnings, *time_warnings, *result.warnings, *trip_warnings])
        report = report_rides(
            list_leg_paths(result.shown),
            result.provenance,
            now,
            warnings,
            _list_explained_parts(result, warnings),
            step_free=parameters.step_free,
        )
        fares = {
            choice.fingerprint: fare
            for choice in result.ranked.choices
            if (fare := result.network.find_fare(choice.itinerary)) is not None
        }
        differences = serialize_differences(result.ranked.choices, format_time)
        body = _serialize(report, result, differences, fares, arguments, call)
        text = _write_text(body, fares, result.ranked.choices, format_time)
        return ToolReply(body, text, await serialize_map_parts(result.network, result.shown, call.include))


def _list_trip_warnings(result: TripResult, constraints: PlanConstraints, format_time: FormatTime) -> Iterator[Warning]:
    ranked, shown, query = result.ranked, result.shown, result.query
    if query.step_free and (unmet := find_step_free_warning(shown, supported=result.step_free_supported)):
        yield unmet
    if constraints.accessibility.low_walking_distance and (long_walk := find_low_walking_warning(ranked.found)):
        yield long_walk
    is_default_walk = "max_walking_distance" not in constraints.model_fields_set
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


def _list_explained_parts(result: TripResult, warnings: Sequence[Warning]) -> Iterator[AffectedPart]:
    for path, leg in list_leg_paths(result.shown):
        yield AffectedPart(path, _list_explanations(leg), explains=True)
    replaced = [choice.instead_of for choice in result.ranked.choices if choice.instead_of is not None]
    for index, cause in enumerate(map(find_disrupted_leg, replaced)):
        alerts = () if cause is None else _list_explanations(cause)
        yield AffectedPart(f"meta/differences/{index}", alerts, explains=True)
    for index, warning in enumerate(warnings):
        if warning.code is WarningCode.DISRUPTED_ITINERARY_REPLACED:
            for leg in list_legs(result.ranked.dropped):
                yield AffectedPart(f"warnings/{index}", _list_explanations(leg), explains=True)


def _list_explanations(leg: Leg) -> tuple[ServiceAlert, ...]:
    alert = find_explanation(leg) if is_disrupted_leg(leg) else None
    return () if alert is None else (alert,)


def _serialize(
    report: Report,
    result: TripResult,
    differences: Sequence[WireDifference],
    fares: Mapping[str, Fare],
    arguments: PlanTripInput,
    call: Call,
) -> PlanTripOutput:
    choices, shown, zone = result.ranked.choices, result.shown, report.provenance.zone
    meta = {
        **report.serialize(),
        "walking": report.provenance.walking,
        "deduplicatedFrom": result.ranked.deduplicated_from,
        "staySeated": serialize_stays(choices) or None,
        "differences": differences or None,
        "fares": serialize_fares(fares) or None,
    }
    freshness = find_data_freshness(report.rides, int(call.now.timestamp()))
    has_notes = arguments.constraints.accessibility.low_walking_distance
    notes = list_walking_notes(shown, result.ranked.found) if has_notes else [None for _ in shown]
    return {
        "origin": serialize_location(result.query.origin),
        "destination": serialize_location(result.query.destination),
        "requested": {"type": arguments.when.type, "time": format_instant(result.query.instant, zone)},
        "constraints": arguments.constraints.to_wire(),
        "itineraries": [serialize_itinerary(*row, zone) for row in zip(choices, notes, strict=True)],
        "realtimeUsed": find_schedule_type(*shown).value,
        "dataFreshness": format_instant(freshness, zone),
        **serialize_warnings(report.warnings),
        "correlationId": call.correlation_id,
        "meta": omit_none(PlanMeta, meta),
    }


def _write_text(
    body: PlanTripOutput, fares: Mapping[str, Fare], options: Sequence[ItineraryOption], format_time: FormatTime
) -> str:
    requested, meta = body["requested"], body["meta"]
    time = requested["time"]
    ends = f"{_format_location_name(body['origin'])} to {_format_location_name(body['destination'])}"
    lines = [f"{ends}, {requested['type']} {time[:10]} {time[11:16]} ({meta['timeZone']})"]
    differences = {difference["fingerprint"]: difference for difference in meta.get("differences", ())}
    for number, option in enumerate(options, 1):
        trip = option.itinerary
        minutes, walk_m = round(trip.duration_s / 60), round(trip.walk_m)
        head = format_itinerary(trip, format_time, minutes=minutes, walk_m=walk_m)
        fare = fares.get(option.fingerprint)
        if fare is not None and fare.amount is not None:
            head += f", {fare.amount} {fare.currency}"
        notes = body["itineraries"][number - 1].get("accessibilityNotes", ())
        remarks = [_format_disruption(option, differences.get(option.fingerprint)), *notes]
        lines.append(f"{number}. {head}{''.join(f' [{remark}]' for remark in remarks if remark)}")
        lines += list_leg_lines(trip, format_time, to_trip_mode)
    trips = [option.itinerary for option in options]
    alerts = list_alert_lines(meta, list_ride_names(trips, to_trip_mode), "every ride", meta["timeZone"])
    lines += list_footer_lines(body, meta, alerts)
    return "\n".join([*lines, _format_next_query(trips, meta["timeZone"], arrive_by=requested["type"] == "arrive")])


# The suggested next query starts this long after the last, or before the first, trip shown.
_NEXT_SEARCH_AFTER_S = 60


def _format_next_query(trips: Sequence[Itinerary], zone: str, *, arrive_by: bool) -> str:
    instant = max(trip.departure for trip in trips) + _NEXT_SEARCH_AFTER_S
    if arrive_by:
        instant = min(trip.arrival for trip in trips) - _NEXT_SEARCH_AFTER_S
    time = format_instant(instant, zone)
    minute = time[:16] + time[19:]
    return f"For earlier trips, arrive by {minute}." if arrive_by else f"For later trips, depart at {minute}."


def _format_location_name(location: LocationRef) -> str:
    position = location["coordinate"]
    return location.get("name") or location.get("label") or f"{position['lat']},{position['lon']}"


def _format_disruption(option: ItineraryOption, difference: WireDifference | None) -> str | None:
    if option.note is not None or difference is None:
        return option.note or ("instead of a disrupted trip" if option.flagged else None)
    minutes = difference["laterMinutes"]
    later = f"{abs(minutes)} min {'later' if minutes >= 0 else 'earlier'}"
    changes, walk = difference["moreChanges"], difference["moreWalkMeters"]
    more = f", {format_count(abs(changes), 'change')} {'more' if changes > 0 else 'fewer'}" if changes else ""
    more += f", {abs(walk)} m {'more' if walk > 0 else 'less'} walking" if walk else ""
    return f"instead of a disrupted trip, {later}{more}: {difference['cause']['text']}"
