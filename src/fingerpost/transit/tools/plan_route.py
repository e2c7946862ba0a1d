"""planRoute (lookup contract): itineraries between two texts or places within a window of time (rules D1, D3)."""

from types import MappingProxyType

from fingerpost.contract.envelope import Family
from fingerpost.contract.published import Call, PublishedTool, ToolReply
from fingerpost.contract.wire import write_stated
from fingerpost.transit.model.itinerary import Itinerary, Leg, Mode, StopPoint
from fingerpost.transit.model.place import distance_m
from fingerpost.transit.places.candidates import say_shown
from fingerpost.transit.places.resolver import PlaceResolver
from fingerpost.transit.places.trip_ends import TripEndResolver
from fingerpost.transit.rules.alerts import Touched
from fingerpost.transit.rules.modes import timetable_word
from fingerpost.transit.rules.ranking import route_id, route_key
from fingerpost.transit.rules.times import place_in_time, print_utc, read_offset_instant
from fingerpost.transit.rules.trip_limits import find_long_change
from fingerpost.transit.rules.warnings import WarningCode, Warnings
from fingerpost.transit.tools.map_shapes import LINE_COLORS, WireLineColors, reply_with_colors
from fingerpost.transit.tools.plan_route_shapes import (
    LONGEST_WINDOW_MINUTES,
    PlanRouteOutput,
    RouteItinerary,
    RouteLeg,
    RouteMeta,
    RouteMetadata,
    RoutePoint,
    RouteRequestInput,
    describe_routes,
    query_of,
)
from fingerpost.transit.tools.report import list_leg_paths, list_legs, report_rides
from fingerpost.transit.tools.shapes import show_metadata
from fingerpost.transit.tools.trip_search import RouteQuestion, RoutesFound, search_routes
from fingerpost.transit.tools.wording import find_past_message

MOST_ITINERARIES = 3


class PlanRoute(PublishedTool):
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
        now = int(call.now.timestamp())
        question = _read_question(arguments, now)
        ends, warned = await self._ends.get_trip_ends(
            query_of(arguments.origin),
            query_of(arguments.destination),
            user=call.user,
            language=question.language,
            instant=question.when.instant,
            arrive_by=question.arrive_by,
        )
        warnings = Warnings(warned)
        warnings.add(WarningCode.IN_THE_PAST, find_past_message(question.when, None, "these are the trips"))
        found = await search_routes(ends, question)
        warnings.add_all(found.warnings)
        return _answer(arguments, question, found, call, warnings)


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
    ranked = sorted(found.routes, key=lambda each: route_key(each, question.preset, _walk_m(each), route_id(each)))
    chosen = ranked[:MOST_ITINERARIES]
    if len(ranked) > len(chosen):
        warnings.add(WarningCode.TRUNCATED_RESULTS, _say_more(len(ranked), chosen, question))
    touched = [Touched(path, leg.alerts) for path, leg in list_leg_paths(chosen)]
    warnings.add(WarningCode.PREFERENCE_UNMET, find_long_change(chosen))
    legs = report_rides(list_legs(chosen), touched, found.provenance, question.now, warnings.list_all())
    metadata = show_metadata(found.provenance.zone, legs.warnings, cancelled=found.cancelled, reason=found.reason)
    requested, applied = arguments.search_window_minutes, question.window_s // 60
    is_straight = any(leg.is_transit and leg.distance_m is None for leg in list_legs(chosen))
    meta = {
        **legs.serialize_origin(in_utc=True),
        **legs.serialize_alerts(in_utc=True),
        "whyEmpty": None if found.why_empty is None else found.why_empty.say(print_utc),
        "walking": found.provenance.walking,
        "straightRides": is_straight or None,
    }
    body: PlanRouteOutput = {
        "itineraries": [show_route(each) for each in chosen],
        "window": {"requested": requested, "applied": applied, "clamped": requested != applied},
        "metadata": write_stated(RouteMetadata, {**metadata, "missedChangesLeftOut": found.missed_changes or None}),
        "meta": write_stated(RouteMeta, meta),
    }
    text = describe_routes(body, found.why_empty)
    return reply_with_colors(body, list_leg_paths(chosen), call.wants, text=text)


def _say_more(count: int, chosen: list[Itinerary], question: RouteQuestion) -> str:
    told = f"{count} itineraries are in the window; {say_shown(len(chosen))}."
    if question.arrive_by:
        return f"{told} For those that arrive last, ask with a smaller searchWindowMinutes."
    last = max(itinerary.departure for itinerary in chosen)
    return f"{told} For later ones, ask with departureTime {print_utc(last + 60)}."


def show_route(itinerary: Itinerary) -> RouteItinerary:
    return {
        "id": route_id(itinerary),
        "durationMinutes": max(1, -(-itinerary.duration_s // 60)),
        "startTime": print_utc(itinerary.departure),
        "endTime": print_utc(itinerary.arrival),
        "numberOfTransfers": itinerary.transfers,
        "totalWalkDistanceMeters": _walk_m(itinerary),
        "legs": [_show_leg(leg) for leg in itinerary.legs],
    }


def _walk_m(itinerary: Itinerary) -> int:
    return sum(_length_m(leg) for leg in itinerary.legs if leg.mode is Mode.WALK)


def _length_m(leg: Leg) -> int:
    """Return the length to show, that of the straight line where the source knows none."""
    straight_m = distance_m(leg.start.coordinate, leg.end.coordinate)
    return round(straight_m if leg.distance_m is None else leg.distance_m)


def _show_leg(leg: Leg) -> RouteLeg:
    fields = {
        "mode": timetable_word(leg.mode),
        "from": _show_point(leg.start),
        "to": _show_point(leg.end),
        "departureTime": print_utc(leg.departure),
        "arrivalTime": print_utc(leg.arrival),
        "distanceMeters": _length_m(leg),
        "lineName": leg.line if leg.is_transit else None,
        "headsign": leg.headsign if leg.is_transit else None,
    }
    return write_stated(RouteLeg, fields)


def _show_point(point: StopPoint) -> RoutePoint:
    return {"name": point.name, "lat": round(point.coordinate.lat, 6), "lon": round(point.coordinate.lon, 6)}
