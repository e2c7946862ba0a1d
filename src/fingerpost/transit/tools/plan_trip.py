"""The plan_trip tool: itineraries between two places, with disruptions and alternatives."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import Call, Output, ToolDefinition, ToolReply
from fingerpost.contract.wire import omit_none
from fingerpost.transit.model.itinerary import Itinerary, Leg, Optimize, StopPoint
from fingerpost.transit.places.trip_ends import resolve_journey
from fingerpost.transit.port import JourneyParameters
from fingerpost.transit.rules.disruption import find_leg_note
from fingerpost.transit.rules.modes import to_trip_mode
from fingerpost.transit.rules.realtime_status import find_data_freshness, find_schedule_type, get_status
from fingerpost.transit.rules.times import format_instant, parse_instant
from fingerpost.transit.tools import plan_trip_shapes as shapes
from fingerpost.transit.tools import wording
from fingerpost.transit.tools.map_shapes import MAP_PARTS, serialize_map_parts
from fingerpost.transit.tools.no_trip import build_no_itinerary, find_offset_message
from fingerpost.transit.tools.plan_trip_shapes import PlanTripInput, PlanTripOutput
from fingerpost.transit.tools.report import TripOption, TripReport, report_trips
from fingerpost.transit.tools.shapes import (
    LocationRef,
    PlaceTool,
    serialize_coordinate,
    serialize_location,
    serialize_warnings,
)
from fingerpost.transit.tools.trip_search import choose_trip_follow_up, search_trips


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
        constraints = arguments.constraints
        now = int(call.now.timestamp())
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
        resolve = partial(resolve_journey, self._places, origin, destination, user=call.user)
        journeys, place_warnings = await resolve(parameters)
        zone = journeys[0].network.profile.zone
        if when.note is not None:
            # The time zone determines the instant, and the instant determines which networks are in service.
            instant_as_utc = when.instant
            when = parse_instant(arguments.when.time, zone_name=zone, now=now, field="when.time")
            parameters = replace(parameters, instant=when.instant, not_before=when.not_before)
            if await self._places.has_same_service(instant_as_utc, when.instant):
                journeys = [journey.at_time_of(parameters) for journey in journeys]
            else:
                journeys, place_warnings = await resolve(parameters)
        found = await search_trips(
            journeys, partial(choose_trip_follow_up, with_alternatives=arguments.include_disruption_alt)
        )
        if not found.known:
            raise await build_no_itinerary(found)
        ranked = found.rank(arguments.limit)
        offset = await find_offset_message(found, ranked.found)
        map_parts = await serialize_map_parts(found.network, ranked.shown, call.include)
        warnings = [*place_warnings, *wording.list_time_warnings(when, zone, "these are the trips"), *found.warnings]
        report = report_trips(found, ranked, constraints, warnings, offset=offset, now=now)
        body = _serialize(report, arguments, call)
        return ToolReply(body, _write_text(report, body), map_parts)


def _serialize(report: TripReport, arguments: PlanTripInput, call: Call) -> PlanTripOutput:
    rides, shown, zone = report.rides, report.itineraries, report.rides.provenance.zone
    meta = {
        **rides.serialize(),
        "walking": rides.provenance.walking,
        "deduplicatedFrom": report.deduplicated_from,
        "staySeated": _serialize_stays(report.options) or None,
        "differences": [option.difference for option in report.options if option.difference is not None] or None,
    }
    freshness = find_data_freshness(rides.rides, int(call.now.timestamp()))
    return {
        "origin": serialize_location(report.query.origin),
        "destination": serialize_location(report.query.destination),
        "requested": {"type": arguments.when.type, "time": format_instant(report.query.instant, zone)},
        "constraints": arguments.constraints.to_wire(),
        "itineraries": [_serialize_itinerary(option, zone) for option in report.options],
        "realtimeUsed": find_schedule_type(*shown).value,
        "dataFreshness": format_instant(freshness, zone),
        **serialize_warnings(rides.warnings),
        "correlationId": call.correlation_id,
        "meta": omit_none(shapes.PlanMeta, meta),
    }


def _serialize_itinerary(option: TripOption, zone: str) -> shapes.WireItinerary:
    ranked, itinerary = option.ranked, option.ranked.itinerary
    fields = {
        "legs": [serialize_leg(leg, zone, ref) for leg, ref in zip(itinerary.legs, option.refs, strict=True)],
        "totalDuration": itinerary.duration_s,
        "numberOfTransfers": itinerary.transfers,
        "walkingDistance": round(itinerary.walk_m),
        "scheduleType": find_schedule_type(itinerary).value,
        "fingerprint": ranked.fingerprint,
        "accessibilityNotes": None if option.note is None else [option.note],
        "DisruptionFlag": ranked.flagged or None,
        "DisruptionNote": ranked.note,
    }
    return omit_none(shapes.WireItinerary, fields)


def serialize_leg(leg: Leg, zone: str, ref: str | None) -> shapes.WireLeg:
    is_ride, updated = leg.is_transit, leg.last_realtime_update
    fields = {
        "mode": to_trip_mode(leg.mode),
        "from": _serialize_stop_point(leg.start),
        "to": _serialize_stop_point(leg.end),
        "departureTime": format_instant(leg.departure, zone),
        "arrivalTime": format_instant(leg.arrival, zone),
        "duration": leg.duration_s,
        "distance": None if leg.distance_m is None else round(leg.distance_m),
        "line": leg.line if is_ride else None,
        "headsign": leg.headsign if is_ride else None,
        "tripId": leg.trip_id if is_ride else None,
        "status": get_status(leg).value if is_ride else None,
        "delaySeconds": leg.departure_delay_s if is_ride and not leg.cancelled else None,
        "lastRealtimeUpdate": format_instant(updated, zone) if is_ride and updated is not None else None,
        "disruptionNote": find_leg_note(leg),
        "ref": ref,
    }
    return omit_none(shapes.WireLeg, fields)


def _serialize_stop_point(point: StopPoint) -> shapes.WireStopPoint:
    fields = {
        "name": point.name,
        "coordinate": serialize_coordinate(point.coordinate),
        "id": point.id,
        "platform": point.platform,
    }
    return omit_none(shapes.WireStopPoint, fields)


def _serialize_stays(options: Iterable[TripOption]) -> list[shapes.WireStaySeated]:
    ranked = [option.ranked for option in options]
    stays = ((each, [row for row, leg in enumerate(each.itinerary.legs) if leg.stays_seated]) for each in ranked)
    return [{"fingerprint": choice.fingerprint, "legs": legs} for choice, legs in stays if legs]


def _write_text(report: TripReport, body: PlanTripOutput) -> str:
    requested, meta, format_time = body["requested"], body["meta"], report.format_time
    time = requested["time"]
    ends = f"{_format_location_name(body['origin'])} to {_format_location_name(body['destination'])}"
    lines = [f"{ends}, {requested['type']} {time[:10]} {time[11:16]} ({meta['timeZone']})"]
    for number, option in enumerate(report.options, 1):
        trip = option.ranked.itinerary
        minutes, walk_m = trip.arrival // 60 - trip.departure // 60, round(trip.walk_m)
        head = wording.format_itinerary(trip, format_time, minutes=minutes, walk_m=walk_m)
        remarks = "".join(f" [{remark}]" for remark in (_format_disruption(option), option.note) if remark)
        lines.append(f"{number}. {head}{remarks}")
        lines += [*wording.list_leg_lines(trip, format_time, to_trip_mode), *wording.list_ref_lines(option.refs)]
    trips = report.itineraries
    alerts = wording.list_alert_lines(
        meta, wording.list_ride_names(trips, to_trip_mode), "every ride", meta["timeZone"]
    )
    lines += wording.list_footer_lines(body, meta, alerts)
    return "\n".join([*lines, _format_next_query(trips, meta["timeZone"], arrive_by=requested["type"] == "arrive")])


# The suggested next query departs this long after the last trip shown, or arrives this long before the first.
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


def _format_disruption(option: TripOption) -> str | None:
    ranked, difference = option.ranked, option.difference
    if ranked.note is not None or difference is None:
        return ranked.note or ("instead of a disrupted trip" if ranked.flagged else None)
    minutes, changes, walk_m = difference["laterMinutes"], difference["moreChanges"], difference["moreWalkMeters"]
    later = f"{abs(minutes)} min {'later' if minutes >= 0 else 'earlier'}"
    more = f", {wording.format_count(abs(changes), 'change')} {'more' if changes > 0 else 'fewer'}" if changes else ""
    more += f", {abs(walk_m)} m {'more' if walk_m > 0 else 'less'} walking" if walk_m else ""
    return f"instead of a disrupted trip, {later}{more}: {difference['cause']['text']}"
