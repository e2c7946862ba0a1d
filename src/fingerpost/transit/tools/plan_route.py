"""planRoute (lookup contract): itineraries between two texts or places within a window of time (rules D1, D3)."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import NamedTuple

from fingerpost.contract.envelope import Family
from fingerpost.contract.published import Call, PublishedTool, ToolReply
from fingerpost.contract.wire import write_stated
from fingerpost.transit.model.itinerary import Itinerary, Leg, Mode, StopPoint
from fingerpost.transit.model.place import distance_m
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.places.candidates import say_shown
from fingerpost.transit.places.resolver import PlaceResolver
from fingerpost.transit.places.trip_ends import TripEndResolver
from fingerpost.transit.rules.alerts import Touched, choose_alerts
from fingerpost.transit.rules.modes import timetable_word
from fingerpost.transit.rules.ranking import route_id, route_key
from fingerpost.transit.rules.realtime_status import answer_age_s
from fingerpost.transit.rules.times import place_in_time, print_utc, read_offset_instant
from fingerpost.transit.rules.warnings import WarningCode, Warnings
from fingerpost.transit.tools.alert_shapes import show_alerts
from fingerpost.transit.tools.map_shapes import LINE_COLORS, WireLineColors, list_leg_colors, reply_with_colors
from fingerpost.transit.tools.plan_route_shapes import (
    LONGEST_WINDOW_MINUTES,
    MissedChanges,
    PlanRouteOutput,
    RouteItinerary,
    RouteLeg,
    RouteMeta,
    RouteNotes,
    RoutePoint,
    RouteRequestInput,
    describe_routes,
    query_of,
)
from fingerpost.transit.tools.route_search import RouteQuestion, RoutesFound, search_routes
from fingerpost.transit.tools.timetable_shapes import show_metadata, show_utc_origin, show_why_empty
from fingerpost.transit.tools.wording import list_stop_ids, warn_of_past, warn_of_provenance, warn_of_rides

MOST_ITINERARIES = 3


class _Route(NamedTuple):
    """An itinerary and what is shown of it."""

    itinerary: Itinerary
    shown: RouteItinerary


class PlanRoute(PublishedTool):
    """Finds the ways between two places within a window of time."""

    name = "planRoute"
    title = "Plan a route"
    description = (
        "Itineraries between two texts or findAddressOrStop answers that leave, or arrive, within a window. "
        "For alternatives to disrupted trips and wishes take plan_trip."
    )
    family = Family.LOOKUP
    group = "timetable"
    input_model = RouteRequestInput
    output_shape = PlanRouteOutput
    long_parts = (("itineraries",),)
    warnings_at = ("metadata", "warnings")
    offers = MappingProxyType({LINE_COLORS: WireLineColors})
    rest = "Ask with a narrower window."
    open_world = True

    def __init__(self, places: PlaceResolver) -> None:
        self._ends = TripEndResolver(places)

    async def handle(self, arguments: RouteRequestInput, call: Call) -> ToolReply:
        warnings = Warnings()
        now = int(call.now.timestamp())
        question = _read_question(arguments, now)
        ends = await self._ends.get_trip_ends(
            query_of(arguments.origin),
            query_of(arguments.destination),
            user=call.user,
            language=question.language,
            warnings=warnings,
            needed=(Ability.PLANS, Ability.ARRIVE_BY) if question.arrive_by else (Ability.PLANS,),
        )
        if question.when.is_past:
            warn_of_past(print_utc(question.when.instant), "these are the trips", warnings)
        found = await search_routes(ends, question, warnings)
        return _answer(arguments, question, found, call, warnings)

    def describe(self, answer: PlanRouteOutput) -> str:
        return describe_routes(answer)


def _read_question(arguments: RouteRequestInput, now: int) -> RouteQuestion:
    arrive_by = arguments.departure_time is None
    field = "arrivalTime" if arrive_by else "departureTime"
    instant = read_offset_instant(arguments.arrival_time or arguments.departure_time or "", now=now, field=field)
    return RouteQuestion(
        now=now,
        when=place_in_time(instant, now),
        arrive_by=arrive_by,
        window_s=60 * min(arguments.search_window_minutes, LONGEST_WINDOW_MINUTES),
        preset=arguments.preset,
        language=arguments.language,
    )


def _answer(
    arguments: RouteRequestInput, question: RouteQuestion, found: RoutesFound, call: Call, warnings: Warnings
) -> ToolReply:
    ranked = sorted((_Route(each, show_route(each)) for each in found.routes), key=lambda route: _key(route, question))
    chosen = ranked[:MOST_ITINERARIES]
    legs = [leg for route in chosen for leg in route.itinerary.legs]
    provenance = found.provenance
    age_s = answer_age_s(legs, provenance, int(call.now.timestamp()))
    if len(ranked) > len(chosen):
        warnings.add(WarningCode.TRUNCATED_RESULTS, _say_more(len(ranked), chosen, question))
    warn_of_rides(legs, warnings)
    warn_of_provenance(provenance, age_s, warnings)
    missed: MissedChanges = {"missedChangesLeftOut": found.missed_changes} if found.missed_changes else {}
    metadata = show_metadata(provenance.zone, warnings, cancelled=found.cancelled, reason=found.reason)
    requested, applied = arguments.search_window_minutes, question.window_s // 60
    body: PlanRouteOutput = {
        "itineraries": [route.shown for route in chosen],
        "window": {"requested": requested, "applied": applied, "clamped": requested != applied},
        "metadata": {**metadata, **missed},
        "meta": _meta(chosen, found, age_s),
    }
    return reply_with_colors(body, list_leg_colors(route.itinerary for route in chosen), call.wants)


def _key(route: _Route, question: RouteQuestion) -> tuple[int, int, int, int, str]:
    shown = route.shown
    return route_key(route.itinerary, question.preset, shown["totalWalkDistanceMeters"], shown["id"])


def _say_more(count: int, chosen: Sequence[_Route], question: RouteQuestion) -> str:
    told = f"{count} itineraries are in the window; {say_shown(len(chosen))}."
    if question.arrive_by:
        return f"{told} For those that arrive last, ask with a smaller searchWindowMinutes."
    last = max(route.itinerary.departure for route in chosen)
    return f"{told} For later ones, ask with departureTime {print_utc(last + 60)}."


def _meta(chosen: Sequence[_Route], found: RoutesFound, age_s: int | None) -> RouteMeta:
    legs = [leg for route in chosen for leg in route.itinerary.legs]
    is_straight = any(leg.is_transit and leg.distance_m is None for leg in legs)
    notes = write_stated(RouteNotes, {"walking": found.provenance.walking, "straightRides": is_straight or None})
    touched = [
        Touched(f"itineraries/{row}/legs/{at}", leg.alerts)
        for row, route in enumerate(chosen)
        for at, leg in enumerate(route.itinerary.legs)
    ]
    return {
        **show_utc_origin(found.provenance, ids=list_stop_ids(legs), realtime_age_s=age_s),
        **show_alerts(choose_alerts(touched), None),
        **show_why_empty(found.why_empty),
        **notes,
    }


def show_route(itinerary: Itinerary) -> RouteItinerary:
    legs = [_show_leg(leg) for leg in itinerary.legs]
    walks = [shown["distanceMeters"] for leg, shown in zip(itinerary.legs, legs, strict=True) if leg.mode is Mode.WALK]
    return {
        "id": route_id(itinerary),
        "durationMinutes": max(1, -(-itinerary.duration_s // 60)),
        "startTime": print_utc(itinerary.departure),
        "endTime": print_utc(itinerary.arrival),
        "numberOfTransfers": itinerary.transfers,
        "totalWalkDistanceMeters": sum(walks),
        "legs": legs,
    }


def _show_leg(leg: Leg) -> RouteLeg:
    straight_m = distance_m(leg.start.coordinate, leg.end.coordinate)
    fields = {
        "mode": timetable_word(leg.mode),
        "from": _show_point(leg.start),
        "to": _show_point(leg.end),
        "departureTime": print_utc(leg.departure),
        "arrivalTime": print_utc(leg.arrival),
        "distanceMeters": round(straight_m if leg.distance_m is None else leg.distance_m),
        "lineName": leg.line if leg.is_transit else None,
        "headsign": leg.headsign if leg.is_transit else None,
    }
    return write_stated(RouteLeg, fields)


def _show_point(point: StopPoint) -> RoutePoint:
    return {"name": point.name, "lat": round(point.coordinate.lat, 6), "lon": round(point.coordinate.lon, 6)}
