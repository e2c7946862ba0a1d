"""Request pages of journeys from an OpenTripPlanner server.

OpenTripPlanner cannot limit walking (rule B6), so itineraries with too much walking are dropped here; if none with
rides is left, a second query uses a high walk reluctance.
"""

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from fingerpost.errors import RegionUnsupported, new_outside_calendar_error
from fingerpost.transit.model.itinerary import Itinerary, Leg, Optimize, ServiceAlert, StopPoint
from fingerpost.transit.model.line_colors import parse_line_colors
from fingerpost.transit.model.place import Location
from fingerpost.transit.model.profile import NetworkProfile
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.kit import journeys as kit
from fingerpost.transit.remote.kit.answers import Answer, new_unreadable_error
from fingerpost.transit.remote.kit.places import UNNAMED, StopIdCodec
from fingerpost.transit.remote.opentripplanner import shapes
from fingerpost.transit.remote.opentripplanner.server import Server
from fingerpost.transit.rules.preferences import is_possible

OUTSIDE_SERVICE_PERIOD, OUTSIDE_BOUNDS = "OUTSIDE_SERVICE_PERIOD", "OUTSIDE_BOUNDS"
WALKING_IS_BETTER = "WALKING_BETTER_THAN_TRANSIT"

_ENDS = {"FROM": "the origin", "TO": "the destination"}
_SENTENCES = {
    "LOCATION_NOT_FOUND": "There is no street or stop near {end}",
    "NO_STOPS_IN_RANGE": "No stop is within walking distance of {end}",
    "NO_TRANSIT_CONNECTION": "No service connects the two places on that day or the next",
    "NO_TRANSIT_CONNECTION_IN_SEARCH_WINDOW": "No service connects the two places around that time; try another time",
    WALKING_IS_BETTER: "Walking is quicker than any ride, but exceeds the walking limit; raise the limit",
}


def list_reasons(errors: Iterable[shapes.RoutingError]) -> tuple[str, ...]:
    return tuple(_SENTENCES[error.code].format(end=_name_end(error)) for error in errors if error.code in _SENTENCES)


def _name_end(error: shapes.RoutingError) -> str:
    return _ENDS.get(error.input_field or "", "the origin or destination")


# The page size of queries for all itineraries in a window.
WINDOW_PAGE_SIZE = 40
# By default, servers limit the window to one day, and reject a window of two days.
_MAX_WINDOW_S = 24 * 3600
# The extra cost of a transfer in seconds, for riders who prefer few transfers.
_FEW_TRANSFERS_COST = 1200
# The cost of a minute of walking in minutes of riding, when shorter walks are needed; the server's default is 2.
_SHORT_WALK_RELUCTANCE = 10.0


def to_plan_location(end: kit.JourneyEndpoint) -> dict[str, Any]:
    """Return a PlanLabeledLocationInput, with exactly one of its two keys set and no nulls."""
    if end.stop_id is not None:
        return {"location": {"stopLocation": {"stopLocationId": end.stop_id}}}
    position = end.location.coordinate
    return {"location": {"coordinate": {"latitude": position.lat, "longitude": position.lon}}}


def new_variables(request: kit.JourneyRequest, zone: ZoneInfo) -> dict[str, Any]:
    """Return the variables for the plan query; unset options are left out, because the server rejects nulls."""
    query, shorter_walks = request.query, request.shorter_walks
    bound = "latestArrival" if query.arrive_by else "earliestDeparture"
    instant = query.instant + ARRIVAL_MARGIN_S if query.arrive_by else query.instant
    preferences = _build_preferences(query, shorter_walks=shorter_walks)
    variables: dict[str, Any] = {
        "origin": to_plan_location(request.origin),
        "destination": to_plan_location(request.destination),
        "dateTime": {bound: datetime.fromtimestamp(instant, zone).isoformat()},
        "first": max(kit.PAGE_SIZE, query.wanted + 1),
        "preferences": preferences,
        "withScheduled": True,
        "scheduled": {
            **preferences,
            "transit": {**preferences["transit"], "timetable": {"includeRealTimeCancellations": True}},
        },
    }
    if query.window_s is not None:
        variables["first"] = max(WINDOW_PAGE_SIZE, query.wanted + 1)
        variables["searchWindow"] = f"PT{min(query.window_s, _MAX_WINDOW_S)}S"
    if shorter_walks:
        variables["modes"] = {"transitOnly": True}
    return variables


def _build_preferences(query: JourneyQuery, *, shorter_walks: bool) -> dict[str, Any]:
    transfer: dict[str, Any] = {"maximumTransfers": query.max_transfers}
    if query.optimize is Optimize.FEW_TRANSFERS:
        transfer["cost"] = _FEW_TRANSFERS_COST
    preferences: dict[str, Any] = {"transit": {"transfer": transfer}}
    if query.step_free:
        preferences["accessibility"] = {"wheelchair": {"enabled": True}}
    if shorter_walks:
        preferences["street"] = {"walk": {"reluctance": _SHORT_WALK_RELUCTANCE}}
    return preferences


# A page may be empty even if more pages exist.
_MAX_PAGES = 4


async def list_pages(
    server: Server, ids: StopIdCodec, profile: NetworkProfile, request: kit.JourneyRequest
) -> AsyncIterator[kit.JourneyPage]:
    query = request.query
    variables = new_variables(request, ZoneInfo(profile.zone))
    for _ in range(_MAX_PAGES):
        answer = await server.fetch(shapes.Plan, variables, language=request.language)
        page = _read_page(answer, query, ids)
        if not (page.live or page.timetabled or "after" in variables):
            _raise_if_outside(answer.data.live.routing_errors, profile)
        yield page
        if page.cursor is None or not _may_have_more(page, query):
            return
        variables |= {"withScheduled": False, "after": page.cursor}


def _read_page(answer: Answer[shapes.Plan], query: JourneyQuery, ids: StopIdCodec) -> kit.JourneyPage:
    page = answer.data.live
    itineraries = list_itineraries(page.edges, query, ids)
    live = kit.filter_live(itineraries, query, answer.retrieved_at, answer.notes)
    if page.edges and not any(map(is_possible, itineraries)):
        raise new_unreadable_error("itinerary", live.list_notes())
    codes = {error.code for error in page.routing_errors}
    # Convert only these: most itineraries run as scheduled, and converting all would take half the planning time.
    cancelled = [edge for edge in answer.data.scheduled if any(map(is_cancelled, edge.legs))]
    return replace(
        live,
        timetabled=kit.list_unusable(list_itineraries(cancelled, query, ids), query),
        reasons=list_reasons(page.routing_errors),
        walks_too_far=live.walks_too_far or WALKING_IS_BETTER in codes,
        cursor=page.end_cursor if page.has_next_page else None,
    )


def _raise_if_outside(errors: Iterable[shapes.RoutingError], profile: NetworkProfile) -> None:
    for error in errors:
        if error.code == OUTSIDE_SERVICE_PERIOD:
            raise new_outside_calendar_error(profile.name, profile.first_day, profile.last_day)
        if error.code == OUTSIDE_BOUNDS:
            end = _name_end(error).capitalize()
            raise RegionUnsupported(f"{end} lies outside the area that {profile.name} covers")


def _may_have_more(found: kit.JourneyPage, query: JourneyQuery) -> bool:
    """Whether the next page, which has later departures, may contain a first trip or more trips in the window."""
    if not found.live:
        return True
    if query.window_s is None or query.arrive_by:
        return False
    return max(itinerary.departure for itinerary in found.live) <= query.instant + query.window_s


def list_active_alerts(alerts: Iterable[shapes.OtpAlert], begin: int, end: int) -> tuple[ServiceAlert, ...]:
    """Return the distinct alerts that have text and are active at any time from ``begin`` to ``end``."""
    return kit.merge_alerts(
        ServiceAlert(
            id=alert.id,
            header=(alert.alert_header_text or "").strip(),
            text=(alert.alert_description_text or "").strip(),
            effect=alert.alert_effect or kit.UNKNOWN_EFFECT,
            since=alert.effective_start_date,
            until=alert.effective_end_date,
            url=alert.alert_url or None,
        )
        for alert in alerts
        if kit.is_active(alert.effective_start_date, alert.effective_end_date, begin, end)
    )


CANCELLED = "CANCELED"
BY_ARRANGEMENT = frozenset({"CALL_AGENCY", "COORDINATE_WITH_DRIVER"})


def is_cancelled(leg: shapes.OtpLeg) -> bool:
    """Whether a ride's trip is cancelled, or skips the rider's first or last stop (no pickup or drop-off)."""
    is_skipped = bool(leg.real_time) and None in (leg.pickup_type, leg.dropoff_type)
    return bool(leg.transit_leg) and (leg.realtime_state == CANCELLED or is_skipped)


def new_leg(leg: shapes.OtpLeg, ids: StopIdCodec, start: Location | None, end: Location | None) -> Leg:
    """Convert a leg; ``start`` is the query's origin (first leg only), and ``end`` its destination (last leg only)."""
    ends = _new_stop_point(leg.from_, ids, start), _new_stop_point(leg.to, ids, end)
    if not leg.transit_leg:
        return kit.new_walk(
            *ends, (leg.start.scheduled_time, leg.end.scheduled_time), leg, mode=shapes.read_mode(leg.mode)
        )
    cancelled = is_cancelled(leg)
    return Leg(
        mode=kit.to_ride_mode(shapes.read_mode(leg.mode, None if leg.route is None else leg.route.type)),
        start=ends[0],
        end=ends[1],
        departure_scheduled=leg.start.scheduled_time,
        arrival_scheduled=leg.end.scheduled_time,
        departure_delay_s=None if cancelled else leg.start.delay_s,
        arrival_delay_s=None if cancelled else leg.end.delay_s,
        cancelled=cancelled,
        distance_m=leg.distance,
        line=None if leg.route is None else leg.route.name,
        headsign=leg.headsign or (None if leg.trip is None else leg.trip.destination),
        trip_id=None if leg.trip is None else ids.encode_trip(leg.trip.gtfs_id),
        service_day=leg.service_date,
        wheelchair=shapes.read_access(None if leg.trip is None else leg.trip.wheelchair_accessible),
        by_arrangement=bool(BY_ARRANGEMENT & {leg.pickup_type, leg.dropoff_type}),
        stays_seated=bool(leg.interline_with_previous_leg),
        colors=None if leg.route is None else parse_line_colors(leg.route.color, leg.route.text_color),
        alerts=list_active_alerts(leg.alerts, leg.start.expected_time, leg.end.expected_time),
        handle=leg,
    )


def _new_stop_point(end: shapes.End, ids: StopIdCodec, location: Location | None) -> StopPoint:
    position = end.coordinate
    if end.stop is None:
        return StopPoint(name=kit.get_location_name(location) or end.name or UNNAMED, coordinate=position)
    return StopPoint(
        name=end.stop.name or end.name or UNNAMED,
        coordinate=position,
        id=ids.encode(end.stop.gtfs_id),
        platform=end.stop.platform_code or None,
        wheelchair=shapes.read_access(end.stop.wheelchair_boarding),
    )


# The server omits rides that arrive exactly at the requested second (observed with 2.9).
ARRIVAL_MARGIN_S = 1


def list_itineraries(edges: Iterable[shapes.Edge], query: JourneyQuery, ids: StopIdCodec) -> list[Itinerary]:
    itineraries = [kit.read_itinerary(edge.legs, query, ids, new_leg) for edge in edges if edge.legs]
    return [_undo_margin(itinerary, query) for itinerary in itineraries]


def _undo_margin(itinerary: Itinerary, query: JourneyQuery) -> Itinerary:
    """Shift a walk that is at most ARRIVAL_MARGIN_S late to arrive on time; leave other itineraries unchanged."""
    late_s = itinerary.arrival - query.instant
    if itinerary.rides or not query.arrive_by or not 0 < late_s <= ARRIVAL_MARGIN_S:
        return itinerary
    legs = [
        leg._replace(
            departure_scheduled=leg.departure_scheduled - late_s, arrival_scheduled=leg.arrival_scheduled - late_s
        )
        for leg in itinerary.legs
    ]
    return Itinerary(tuple(legs))
