"""plan_trip (docs/contracts): itineraries between two places, with what is disrupted and what to do instead."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import PublishedTool
from fingerpost.contract.tool_definition import Call, Output, ToolDefinition, ToolReply
from fingerpost.contract.wire import write_stated
from fingerpost.transit.model.itinerary import Leg, Optimize, ServiceAlert
from fingerpost.transit.places.candidates import format_count_of_shown
from fingerpost.transit.places.resolver import PlaceResolver
from fingerpost.transit.places.trip_ends import TripEndResolver, TripEnds
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.rules.accessibility import (
    find_low_walking_warning,
    find_step_free_warning,
    list_walk_notes,
    low_walking_notes,
)
from fingerpost.transit.rules.alerts import AffectedPart, find_explanation
from fingerpost.transit.rules.disruption import (
    ConnectionRisk,
    Difference,
    find_differences,
    is_disrupted_leg,
    name_disrupted,
)
from fingerpost.transit.rules.modes import is_ride, name_ride
from fingerpost.transit.rules.realtime_status import data_freshness, schedule_type_of
from fingerpost.transit.rules.times import AskedInstant, format_instant, place_in_time, read_instant
from fingerpost.transit.rules.trip_limits import find_walk_unmet, list_long_waits
from fingerpost.transit.rules.warnings import WarningCode, Warnings
from fingerpost.transit.tools.map_shapes import (
    BASEMAP,
    GEOMETRY,
    LINE_COLORS,
    TripGeometry,
    WireBasemap,
    WireLineColors,
    draw_itineraries,
    find_box,
    serialize_basemap,
    serialize_line_colors,
)
from fingerpost.transit.tools.no_trip import format_trip
from fingerpost.transit.tools.plan_trip_shapes import (
    Accessibility,
    PlanConstraints,
    PlanMeta,
    PlanTripInput,
    PlanTripOutput,
    WireDifference,
    WireItinerary,
    WireLeg,
    WireStopPoint,
    serialize_difference,
    serialize_fares,
    serialize_itinerary,
    serialize_stays,
)
from fingerpost.transit.tools.report import list_leg_paths, list_legs, report_rides
from fingerpost.transit.tools.shapes import LocationRef, serialize_location, serialize_warnings
from fingerpost.transit.tools.trip_search import TripFound, search_trip
from fingerpost.transit.tools.wording import (
    clock_of,
    describe_alerts,
    find_past_message,
    format_clock,
    format_count,
    format_itinerary,
    said_below,
)


class PlanTrip(PublishedTool):
    definition = ToolDefinition(
        name="plan_trip",
        title="Plan a trip",
        description=(
            "Plan a door-to-door public transport trip, realtime-aware, with alternatives to disrupted trips. "
            "A label's token comes from findAddressOrStop. "
            "For the next departures at one stop take get_departures."
        ),
        contract=Contract.PLAN_TRIP,
        group="core",
        input_model=PlanTripInput,
        outputs=(Output(PlanTripOutput, (("itineraries",),), "Ask with a smaller limit."),),
        open_world=True,
        optional_parts=MappingProxyType({GEOMETRY: TripGeometry, LINE_COLORS: WireLineColors, BASEMAP: WireBasemap}),
    )

    def __init__(self, places: PlaceResolver) -> None:
        self._ends = TripEndResolver(places)

    async def handle(self, arguments: PlanTripInput, call: Call) -> ToolReply:
        now = int(call.now.timestamp())
        # A time that cannot be read is refused before any place is looked up (rule A6).
        nearly = read_instant(arguments.when.time, zone_name="UTC", now=now, field="when.time").instant
        ends, warned = await self._ends.get_trip_ends(
            arguments.origin.query(),
            arguments.destination.query(),
            user=call.user,
            language=arguments.constraints.language,
            instant=nearly,
            arrive_by=arguments.when.type == "arrive",
        )
        zone = ends[0].network.profile.zone
        instant = read_instant(arguments.when.time, zone_name=zone, now=now, field="when.time")
        when = place_in_time(instant.instant, now)
        warnings = Warnings(warned)
        warnings.add(WarningCode.TIMEZONE_ASSUMED, instant.note)
        warnings.add(WarningCode.IN_THE_PAST, find_past_message(when, zone, "these are the trips"))
        found = await search_trip(
            ends,
            lambda chosen: _query(arguments, chosen, when),
            limit=arguments.limit,
            with_alternatives=arguments.include_disruption_alt,
        )
        warnings.add_all(found.warnings)
        body = _answer(arguments, call, found, warnings)
        network = found.ends.network
        extras: dict[str, Mapping[str, Any]] = {}
        if GEOMETRY in call.include:
            extras[GEOMETRY] = draw_itineraries(found.shown, network.find_line)
        if LINE_COLORS in call.include:
            extras[LINE_COLORS] = serialize_line_colors(list_leg_paths(found.shown))
        box = find_box(found.shown)
        if BASEMAP in call.include and box is not None:
            extras[BASEMAP] = serialize_basemap(await network.find_basemap(box))
        return ToolReply(body, describe_plan(body), extras)


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
    query, ranked, shown, zone = found.query, found.ranked, found.shown, found.provenance.zone
    constraints, now = arguments.constraints, int(call.now.timestamp())
    format_time = partial(format_clock, since=query.instant, zone=zone)
    differences = find_differences(ranked, format_time)
    _warn_of_trip(found, constraints, format_time, warnings)
    report = report_rides(
        list_legs(shown),
        _list_touched(found, differences, warnings),
        found.provenance,
        now,
        warnings.list_all(),
        waits=list_long_waits(ranked.found, shown, query.instant, zone, arrive_by=query.arrive_by),
        step_free=query.step_free,
    )
    find_fare = found.ends.network.find_fare
    fares = {each.fingerprint: fare for each in ranked.choices if (fare := find_fare(each.itinerary)) is not None}
    notes = _list_notes(found, constraints.accessibility)
    meta = {
        **report.serialize(),
        "walking": found.provenance.walking,
        "deduplicatedFrom": ranked.deduplicated_from,
        "staySeated": serialize_stays(ranked.choices) or None,
        "differences": [serialize_difference(difference) for difference in differences] or None,
        "fares": serialize_fares(fares) or None,
    }
    return {
        "origin": serialize_location(found.ends.origin),
        "destination": serialize_location(found.ends.destination),
        "requested": {"type": arguments.when.type, "time": format_instant(query.instant, zone)},
        "constraints": constraints.to_wire(),
        "itineraries": [serialize_itinerary(*each, zone) for each in zip(ranked.choices, notes, strict=True)],
        "realtimeUsed": schedule_type_of(*shown).value,
        "dataFreshness": format_instant(data_freshness(report.rides, now), zone),
        **serialize_warnings(report.warnings),
        "correlationId": call.correlation_id,
        "meta": write_stated(PlanMeta, meta),
    }


def _warn_of_trip(
    found: TripFound, constraints: PlanConstraints, format_time: Callable[[int], str], warnings: Warnings
) -> None:
    ranked, shown, accessibility = found.ranked, found.shown, constraints.accessibility
    if accessibility.step_free:
        supported = found.first_answer.step_free_supported
        warnings.add_found(find_step_free_warning(shown, supported=supported))
    if accessibility.low_walking_distance:
        warnings.add_found(find_low_walking_warning(ranked.found))
    is_default = "max_walking_distance" not in constraints.model_fields_set
    walk_unmet = find_walk_unmet(shown, found.query.max_walk_m, is_default=is_default)
    warnings.add(WarningCode.PREFERENCE_UNMET, walk_unmet)
    if found.better is not None:
        warnings.add(WarningCode.PREFERENCE_UNMET, f"{format_trip(found.better, found.provenance.zone)}.")
    if ranked.dropped:
        named = name_disrupted(ranked.dropped, format_time)
        warnings.add(WarningCode.DISRUPTED_ITINERARY_REPLACED, f"Left out because it is disrupted: {named}")
    if len(ranked.found) > len(shown):
        count = f"{len(ranked.found)} itineraries were found; {format_count_of_shown(len(shown))}."
        warnings.add(WarningCode.TRUNCATED_RESULTS, count)


def _list_notes(found: TripFound, accessibility: Accessibility) -> list[list[str]]:
    crossed = [list_walk_notes(each) if accessibility.step_free else [] for each in found.shown]
    if not accessibility.low_walking_distance:
        return crossed
    walked = low_walking_notes(found.shown, found.ranked.found)
    return [[*notes, note] for notes, note in zip(crossed, walked, strict=True)]


def _list_touched(found: TripFound, differences: Sequence[Difference], warnings: Warnings) -> Iterator[AffectedPart]:
    for path, leg in list_leg_paths(found.shown):
        yield AffectedPart(path, leg.alerts)
        yield AffectedPart(path, _list_explanations(leg), explains=True)
    for at, difference in enumerate(differences):
        alert = difference.cause.alert
        yield AffectedPart(f"meta/differences/{at}", () if alert is None else (alert,), explains=True)
    codes = [warning.code for warning in warnings.list_all()]
    for leg in list_legs(found.ranked.dropped):
        path = f"warnings/{codes.index(WarningCode.DISRUPTED_ITINERARY_REPLACED)}"
        yield AffectedPart(path, _list_explanations(leg), explains=True)


def _list_explanations(leg: Leg) -> tuple[ServiceAlert, ...]:
    alert = find_explanation(leg) if is_disrupted_leg(leg) else None
    return () if alert is None else (alert,)


_WAIT_STATED_FROM = timedelta(minutes=3)
_NEXT_SEARCH_AFTER = timedelta(minutes=1)


def describe_plan(answer: PlanTripOutput) -> str:
    requested, meta = answer["requested"], answer["meta"]
    since = requested["time"]
    ends = f"{_name(answer['origin'])} to {_name(answer['destination'])}"
    when = f"{requested['type']} {since[:10]} {since[11:16]} ({meta['timeZone']})"
    lines = [f"{ends}, {when}"]
    told = {each["fingerprint"]: _difference(each) for each in meta.get("differences", ())}
    stays = {each["fingerprint"]: each["legs"] for each in meta.get("staySeated", ())}
    for number, itinerary in enumerate(answer["itineraries"], 1):
        key = itinerary["fingerprint"]
        head, *legs = _list_lines(itinerary, since, told.get(key), stays.get(key, ()), _price(itinerary, meta))
        lines += [f"{number}. {head}", *(f"   {leg}" for leg in legs)]
    parts = [
        (f"itineraries/{row}/legs/{at}", f"{row + 1}: {name_ride(leg['mode'], leg.get('line'))}")
        for row, itinerary in enumerate(answer["itineraries"])
        for at, leg in enumerate(itinerary["legs"])
        if is_ride(leg["mode"])
    ]
    lines += said_below(answer, meta, describe_alerts(meta, parts, "every ride", meta["timeZone"]))
    return "\n".join([*lines, _format_next_query(answer)])


def _format_next_query(answer: PlanTripOutput) -> str:
    legs = [itinerary["legs"] for itinerary in answer["itineraries"]]
    if answer["requested"]["type"] == "arrive":
        before = min(datetime.fromisoformat(ridden[-1]["arrivalTime"]) for ridden in legs) - _NEXT_SEARCH_AFTER
        return f"For earlier trips, arrive by {before.isoformat(timespec='minutes')}."
    after = max(datetime.fromisoformat(ridden[0]["departureTime"]) for ridden in legs) + _NEXT_SEARCH_AFTER
    return f"For later trips, depart at {after.isoformat(timespec='minutes')}."


def _name(location: LocationRef) -> str:
    position = location["coordinate"]
    return location.get("name") or location.get("label") or f"{position['lat']},{position['lon']}"


def _difference(difference: WireDifference) -> str:
    minutes = difference["laterMinutes"]
    later = f"{abs(minutes)} min {'later' if minutes >= 0 else 'earlier'}"
    tight = ", tight connection" if difference["connectionRisk"] == ConnectionRisk.TIGHT else ""
    changes, walk = difference["moreChanges"], difference["moreWalkMeters"]
    more = f", {format_count(abs(changes), 'change')} {'more' if changes > 0 else 'less'}" if changes else ""
    more += f", {abs(walk)} m {'more' if walk > 0 else 'less'} walk" if walk else ""
    return f"instead of a disrupted trip, {later}{more}{tight}: {difference['cause']['text']}"


def _price(itinerary: WireItinerary, meta: PlanMeta) -> str:
    for fare in meta.get("fares", ()):
        is_its = "fingerprints" not in fare or itinerary["fingerprint"] in fare["fingerprints"]
        if "amount" in fare and is_its and any(is_ride(leg["mode"]) for leg in itinerary["legs"]):
            return f"{fare['amount']} {fare['currency']}"
    return ""


def _list_lines(
    itinerary: WireItinerary, since: str, difference: str | None, stays: Sequence[int], price: str
) -> list[str]:
    changes, legs = itinerary["numberOfTransfers"], itinerary["legs"]
    begin, end = legs[0]["departureTime"], legs[-1]["arrivalTime"]
    minutes, walk_m = round(itinerary["totalDuration"] / 60), itinerary["walkingDistance"]
    head = format_itinerary(clock_of(begin, since), clock_of(end, since), minutes, changes, walk_m)
    if price:
        head += f", {price}"
    if "DisruptionNote" in itinerary:
        head += f" [{itinerary['DisruptionNote']}]"
    elif difference:
        head += f" [{difference}]"
    elif itinerary.get("DisruptionFlag"):
        head += " [instead of a disrupted trip]"
    notes = "".join(f" [{note}]" for note in itinerary.get("accessibilityNotes", ()))
    changes_here = ["stay seated, " if at in stays else _wait(*pair) for at, pair in enumerate(pairwise(legs), 1)]
    return [head + notes, *(change + _leg(leg, since) for change, leg in zip(["", *changes_here], legs, strict=True))]


def _wait(leg: WireLeg, following: WireLeg) -> str:
    wait = datetime.fromisoformat(following["departureTime"]) - datetime.fromisoformat(leg["arrivalTime"])
    return f"wait {wait // timedelta(minutes=1)} min, " if wait >= _WAIT_STATED_FROM else ""


def _leg(leg: WireLeg, since: str) -> str:
    begin, end = leg["from"], leg["to"]
    if not is_ride(leg["mode"]):
        times = f"{clock_of(leg['departureTime'], since)} to {clock_of(leg['arrivalTime'], since)}"
        length = f" {leg['distance']} m" if "distance" in leg else ""
        return f"{leg['mode'].lower()}{length}, {times}, to {end['name']}"
    line = name_ride(leg["mode"], leg.get("line")) + (f" towards {leg['headsign']}" if leg.get("headsign") else "")
    length = f", {leg['distance']} m" if "distance" in leg else ""
    return (
        f"{line} {clock_of(leg['departureTime'], since)} {_stop(begin)} "
        f"to {_stop(end)} {clock_of(leg['arrivalTime'], since)}{length}{_status(leg)}"
    )


def _stop(stop: WireStopPoint) -> str:
    return f"{stop['name']} (platform {stop['platform']})" if stop.get("platform") else stop["name"]


def _status(leg: WireLeg) -> str:
    delay_s = leg.get("delaySeconds", 0)
    match leg.get("status"):
        case "cancelled":
            return " CANCELLED"
        case "delayed":
            return f" delayed {delay_s} s"
        case "on_time" if not delay_s:
            return " on time"
    return f" ({abs(delay_s)} s {'early' if delay_s < 0 else 'late'})" if delay_s else ""
