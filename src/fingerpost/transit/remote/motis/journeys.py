"""Request pages of journeys from a MOTIS server.

A second search, by scheduled times, finds the journeys that realtime data shows as cancelled or impossible (rule B5).
"""

import hashlib
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from fingerpost import clock
from fingerpost.errors import ToolError
from fingerpost.runtime.concurrency import gather_all
from fingerpost.transit.model.itinerary import Access, Itinerary, Leg, ServiceAlert, StopPoint
from fingerpost.transit.model.line_colors import parse_line_colors
from fingerpost.transit.model.place import Coordinate, Location, distance_m
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.kit import journeys as kit
from fingerpost.transit.remote.kit.answers import Answer
from fingerpost.transit.remote.kit.places import UNNAMED, StopIdCodec, to_stop_point
from fingerpost.transit.remote.motis import shapes
from fingerpost.transit.remote.motis.places import find_service_day, new_stop
from fingerpost.transit.remote.motis.server import MotisEndpoint, MotisServer
from fingerpost.transit.remote.motis.shapes import MotisPlan
from fingerpost.transit.rules.times import format_utc

# Low walking speeds, so that the time limit never excludes a walk within the distance limit.
_SLOWEST_M_PER_S, _SLOWEST_WHEELCHAIR_M_PER_S = 1.0, 0.75
_MINUTE_S = 60
# The server rejects windows of four days or more.
_MAX_WINDOW_S = 95 * 3600
# Search by scheduled times; the response still includes realtime data.
_SCHEDULED = "REALTIME_ANNOTATION_ONLY"


def new_params(request: kit.JourneyRequest) -> dict[str, str]:
    """Return a plan request's parameters; ``shorter_walks`` halves the limits of walks and excludes walk-only trips."""
    query, shorter_walks = request.query, request.shorter_walks
    # The server uses whole minutes: round so that no trip departs too early or arrives too late.
    minute = query.instant // _MINUTE_S if query.arrive_by else -(-query.instant // _MINUTE_S)
    pace = _SLOWEST_WHEELCHAIR_M_PER_S if query.step_free else _SLOWEST_M_PER_S
    walk_s = math.ceil(query.max_walk_m / pace / (2 if shorter_walks else 1))
    params = {
        "fromPlace": request.origin.format(7),
        "toPlace": request.destination.format(7),
        "time": format_utc(minute * _MINUTE_S),
        "arriveBy": "true" if query.arrive_by else "false",
        "numItineraries": str(max(kit.PAGE_SIZE, query.wanted + 1)),
        "maxTransfers": str(query.max_transfers),
        "maxPreTransitTime": str(walk_s),
        "maxPostTransitTime": str(walk_s),
        "maxDirectTime": str(walk_s),
        "preTransitModes": "WALK",
        "postTransitModes": "WALK",
        "directModes": "" if shorter_walks else "WALK",
        "joinInterlinedLegs": "false",
    }
    if query.window_s is not None:
        params["searchWindow"] = str(min(-(-query.window_s // _MINUTE_S) * _MINUTE_S, _MAX_WINDOW_S))
    if query.step_free:
        params |= {"pedestrianProfile": "WHEELCHAIR", "useRoutedTransfers": "true"}
    return params


_MAX_PAGES = 3


_FetchPlan = Callable[[Mapping[str, str]], Awaitable[Answer[MotisPlan]]]


async def list_pages(
    server: MotisServer, ids: StopIdCodec, request: kit.JourneyRequest
) -> AsyncIterator[kit.JourneyPage]:
    params, query = new_params(request), request.query
    fetch = partial(server.fetch, MotisEndpoint.PLAN, MotisPlan, language=request.language)
    page, scheduled = await gather_all(
        [_fetch_page(fetch, params, query, ids), _fetch_scheduled(fetch, params, query, ids)]
    )
    yield page
    yield scheduled
    for _ in range(_MAX_PAGES - 1):
        if page.cursor is None:
            return
        page = await _fetch_page(fetch, {**params, "pageCursor": page.cursor}, query, ids)
        yield page


async def _fetch_page(
    fetch: _FetchPlan, params: Mapping[str, str], query: JourneyQuery, ids: StopIdCodec
) -> kit.JourneyPage:
    answer = await fetch(params)
    page = answer.data
    answer.require("itinerary", "itineraries", found=page.itineraries)
    candidates = (*page.direct, *page.itineraries)
    itineraries = read_itineraries(candidates, query, ids)
    left_out = {(kit.LeftOut.OTHER_VEHICLE, candidate) for candidate in candidates if candidate.needs_vehicle}
    found = kit.filter_live(itineraries, query, answer.retrieved_at, answer.notes)
    cursor = page.previous_page_cursor if query.arrive_by else page.next_page_cursor
    # No further page follows an empty one.
    has_next = bool(page.itineraries and cursor) and not found.has_rides
    zone = _find_zone(page)
    return replace(found, left_out=found.left_out | left_out, zone=zone, cursor=cursor if has_next else None)


async def _fetch_scheduled(
    fetch: _FetchPlan, params: Mapping[str, str], query: JourneyQuery, ids: StopIdCodec
) -> kit.JourneyPage:
    try:
        answer = await fetch({**params, "realtimeMode": _SCHEDULED})
    except ToolError as error:
        note = f"Realtime cancellations are unknown ({error.message})."
        return kit.JourneyPage(retrieved_at=clock.now(), notes=(note,))
    itineraries = read_itineraries(answer.data.itineraries, query, ids, adds_walk_delays=False)
    return kit.JourneyPage(
        retrieved_at=answer.retrieved_at,
        timetabled=kit.list_unusable(itineraries, query),
        notes=answer.notes,
        zone=_find_zone(answer.data),
    )


def _find_zone(plan: MotisPlan) -> str | None:
    legs = (leg for itinerary in plan.itineraries for leg in itinerary.legs)
    return next((leg.from_.tz for leg in legs if leg.from_.tz), None)


def list_active_alerts(alerts: Iterable[shapes.MotisAlert], begin: int, end: int) -> tuple[ServiceAlert, ...]:
    """Return the distinct alerts that have text and are active at any time from ``begin`` to ``end``."""
    # Alerts with a code are remarks about the vehicle, such as its power sockets.
    return kit.merge_alerts(_new_alert(alert, begin, end) for alert in alerts if alert.code is None)


def _new_alert(alert: shapes.MotisAlert, begin: int, end: int) -> ServiceAlert | None:
    header, text = (alert.header_text or "").strip(), (alert.description_text or "").strip()
    # Feeds with only one kind of period use the communication period.
    periods = alert.impact_period or alert.communication_period or (shapes.TimeRange(),)
    period = next((period for period in periods if kit.is_active(period.start, period.end, begin, end)), None)
    if period is None:
        return None
    effect, url = alert.effect or kit.UNKNOWN_EFFECT, alert.url or None
    # The server's alerts have no id, so derive one from their content.
    digest = hashlib.sha256("\x00".join((header, text, effect, url or "")).encode()).hexdigest()[:16]
    return ServiceAlert(
        id=digest, header=header, text=text, effect=effect, since=period.start, until=period.end, url=url
    )


# The names that the server gives to the positions in a query.
_POSITIONS = {"START": "Origin", "END": "Destination"}
NOT_ALLOWED = "NOT_ALLOWED"


def new_leg(leg: shapes.MotisLeg, ids: StopIdCodec, start: Location | None, end: Location | None) -> Leg:
    """Convert a leg; ``start`` is the query's origin (first leg only), and ``end`` its destination (last leg only)."""
    ends = _new_stop_point(leg.from_, ids, start), _new_stop_point(leg.to, ids, end)
    if leg.mode == shapes.WALK:
        return kit.new_walk(*ends, (leg.start_time, leg.end_time), leg, cancelled=is_cancelled(leg))
    scheduled_departure = leg.start_time if leg.scheduled_start_time is None else leg.scheduled_start_time
    scheduled_arrival = leg.end_time if leg.scheduled_end_time is None else leg.scheduled_end_time
    cancelled = is_cancelled(leg)
    has_delay = bool(leg.real_time) and not cancelled
    return Leg(
        mode=kit.to_ride_mode(shapes.read_mode(leg.mode, leg.route_type)),
        start=ends[0],
        end=ends[1],
        departure_scheduled=scheduled_departure,
        arrival_scheduled=scheduled_arrival,
        departure_delay_s=leg.start_time - scheduled_departure if has_delay else None,
        arrival_delay_s=leg.end_time - scheduled_arrival if has_delay else None,
        cancelled=cancelled,
        distance_m=_compute_length_m(leg),
        line=name_line(leg),
        headsign=find_destination(leg),
        trip_id=None if leg.trip_id is None else ids.encode_trip(leg.trip_id),
        service_day=None if leg.trip_id is None else find_service_day(leg.trip_id),
        # The server also returns NOT_ACCESSIBLE if its feed has no value.
        wheelchair=Access.YES if leg.wheelchair_accessible == "ACCESSIBLE" else Access.UNKNOWN,
        by_arrangement=leg.mode in shapes.BY_ARRANGEMENT,
        stays_seated=bool(leg.interline_with_previous_leg),
        colors=parse_line_colors(leg.route_color, leg.route_text_color),
        alerts=list_active_alerts((*leg.alerts, *leg.from_.alerts, *leg.to.alerts), leg.start_time, leg.end_time),
        handle=leg,
    )


def is_cancelled(leg: shapes.MotisLeg) -> bool:
    """Whether a leg is cancelled, or its trip skips the stop at which the rider boards or alights."""
    if leg.cancelled or leg.from_.cancelled or leg.to.cancelled:
        return True
    return leg.mode != shapes.WALK and NOT_ALLOWED in (leg.from_.pickup_type, leg.to.dropoff_type)


def name_line(line: shapes.MotisLine) -> str | None:
    return (
        line.route_short_name
        or line.route_long_name
        or line.display_name
        or (line.route_id and (line.route_id.partition("_")[2] or line.route_id))
        or None
    )


def find_destination(line: shapes.MotisLine) -> str | None:
    return line.headsign or line.trip_to_name or None


def _compute_length_m(leg: shapes.MotisLeg) -> float | None:
    if leg.distance is not None:
        return leg.distance
    points = [Coordinate(*point) for point in leg.points]
    return sum(map(distance_m, points, points[1:])) if len(points) > 1 else None


def _new_stop_point(place: shapes.MotisPlace, ids: StopIdCodec, location: Location | None) -> StopPoint:
    if place.stop_id is None:
        name = kit.get_location_name(location) or _POSITIONS.get(place.name, place.name) or UNNAMED
        return StopPoint(name=name, coordinate=place.coordinate)
    return to_stop_point(ids, new_stop(place))


def read_itineraries(
    candidates: Iterable[shapes.MotisItinerary], query: JourneyQuery, ids: StopIdCodec, *, adds_walk_delays: bool = True
) -> list[Itinerary]:
    return [
        kit.read_itinerary(candidate.legs, query, ids, new_leg, adds_walk_delays=adds_walk_delays)
        for candidate in candidates
        if candidate.legs and not candidate.needs_vehicle
    ]
